"""The reference of the HTTP API in a real browser: every operation is there and can be tried, and the browser has
nothing to complain of.
"""

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from service.doors.http.pages import CONSOLE, REFERENCE
from tests.conftest import Serve, Served
from tests.waiting import PATIENCE_S

KEY = "reference-secret-0123456"


class Reference:
    """The page, with everything that the browser complained of and asked of other hosts."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        context.set_default_timeout(PATIENCE_S * 1000)
        expect.set_options(timeout=PATIENCE_S * 1000)
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda call: None if call.url.startswith((url, "data:")) else self._note(call.url))
        self.page.goto(f"{url}/docs")
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()

    def _note(self, url: str) -> None:
        self.elsewhere.append(url)

    def open(self, operation: str) -> None:
        self.page.get_by_text(operation, exact=True).first.click()

    def execute(self) -> None:
        self.page.get_by_role("button", name="Execute").click()

    def faults(self) -> list[str]:
        return [fault["id"] for fault in Axe().run(self.page).response["violations"]]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_operation_is_tried_in_the_page(served: Served, browser: Browser, scheme: str) -> None:
    with browser.new_context(color_scheme="dark" if scheme == "dark" else "light") as context:
        reference = Reference(context, served.url)
        assert reference.faults() == []
        reference.open("Judge a batch")
        reference.page.get_by_label("X-Run-Id").fill("by-hand")
        with reference.page.expect_response(f"{served.url}/v1/score") as answered:
            reference.execute()
        sent = answered.value.request.all_headers()
        assert (sent.get("x-run-id"), sent.get("x-tenant")) == ("by-hand", None)
        (result,) = answered.value.json()["results"]
        assert (result["status"], result["reward"]) == ("ok", 1.0)
        expect(reference.page.get_by_text('"correct"').first).to_be_visible()
        assert reference.faults() == []
        assert (reference.complaints, reference.elsewhere) == ([], [])


@pytest.mark.browser
def test_every_operation_of_the_contract_is_in_the_list(served: Served, browser: Browser) -> None:
    paths = httpx.get(f"{served.url}/openapi.json").json()["paths"]
    summaries = {operation["summary"] for operations in paths.values() for operation in operations.values()}
    assert len(summaries) > 20
    with browser.new_context() as context:
        reference = Reference(context, served.url)
        for summary in summaries:
            expect(reference.page.get_by_text(summary, exact=True).first).to_be_attached()


@pytest.mark.browser
def test_a_key_is_asked_of_calls_and_not_of_the_page(serve: Serve, browser: Browser) -> None:
    server = serve(api_keys=f"me={KEY}")
    with browser.new_context() as context:
        reference = Reference(context, server.url)
        reference.open("Judge a batch")
        with reference.page.expect_response(f"{server.url}/v1/score") as answered:
            reference.execute()
        assert answered.value.status == 401
        reference.open("Authentication")
        reference.page.get_by_placeholder("api-token").fill(KEY)
        reference.page.get_by_role("button", name="Set").click()
        reference.open("Judge a batch")
        with reference.page.expect_response(f"{server.url}/v1/score") as answered:
            reference.execute()
        assert answered.value.status == 200


def test_scripts_of_the_page_come_from_the_service_alone(served: Served) -> None:
    policy = httpx.get(f"{served.url}/docs").headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "connect-src 'self';" in policy
    assert "default-src 'none';" in policy


def test_all_that_the_pages_bring_is_below_two_megabytes() -> None:
    assert sum(path.stat().st_size for folder in (CONSOLE, REFERENCE) for path in folder.rglob("*")) < 2_000_000
