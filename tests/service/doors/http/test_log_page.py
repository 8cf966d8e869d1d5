"""The page of the log in a real browser, as a person uses it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, expect

from tests.browser import Opened
from tests.conftest import Serve, Served
from tests.waiting import PATIENCE_S, eventually

KEY = "console-secret-0123456"
HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script> \u202eabc\u202c"
ITEMS: list[dict[str, Any]] = [
    {
        "id": "right",
        "verifier": "math",
        "response": "It is \\boxed{\\frac12}.",
        "reference": "0.5",
        "data_source": "own",
    },
    {"id": "wrong", "verifier": "math", "response": "It is \\boxed{7}.", "reference": "8", "params": {"abs_tol": 0.5}},
    {"id": "lost", "verifier": "nosuch", "response": "12", "reference": "12"},
    {"id": HOSTILE, "verifier": "math", "response": HOSTILE + "\\boxed{5}", "reference": "5", "data_source": HOSTILE},
]
Logged = Callable[..., Served]


class Log(Opened):
    """The page."""

    def __init__(self, context: BrowserContext, served: Served, fragment: str = "") -> None:
        super().__init__(context, f"{served.url}/console/log{fragment}")

    def says(self, text: str) -> None:
        expect(self.page.locator("#said")).to_contain_text(text)

    @property
    def rows(self) -> Locator:
        return self.page.locator(".records tbody tr")

    def open(self, answer: str) -> Locator:
        self.rows.filter(has_text=answer).first.get_by_role("button").click()
        found = self.page.locator("#opened")
        expect(found).to_contain_text("Result as JSON")
        return found


@pytest.fixture
def logged(serve: Serve, tmp_path: Path) -> Logged:
    """Starts a service that has logged some items."""

    def start(items: list[dict[str, Any]] = ITEMS, **settings: str) -> Served:
        served = serve(audit_dir=str(tmp_path / "audit"), **settings)
        headers = {"Authorization": f"Bearer {KEY}"}
        httpx.post(f"{served.url}/v1/score", json={"items": items}, headers=headers, timeout=PATIENCE_S)
        url = f"{served.url}/v1/log/summary"
        eventually(lambda: httpx.get(url, headers=headers, timeout=PATIENCE_S).json()["records"] == len(items))
        return served

    return start


def test_rewards_are_counted_narrowed_and_opened(logged: Logged, context: BrowserContext) -> None:
    served = logged()
    opened = Log(context, served)
    opened.says("4 of 4 records in 1 file, mean reward 0.6667.")
    expect(opened.rows).to_have_count(4)
    opened.page.get_by_role("button", name="wrong answer", exact=True).click()
    opened.says("1 of 4 records")
    found = opened.open("7")
    expect(found.locator("mark")).to_have_text("7")
    assert "#reason=wrong_answer&record=" in opened.page.url
    shared = Log(context, served, "#reason=wrong_answer")
    shared.says("1 of 4 records")
    found.get_by_role("link", name="Open in the playground").click()
    expect(opened.page.locator("#verdict")).to_contain_text("wrong answer by math")
    expect(opened.page.get_by_label("abs_tol")).to_have_value("0.5")
    assert opened.complaints + shared.complaints == []


@pytest.mark.browser
def test_all_that_narrows_narrows(logged: Logged, context: BrowserContext) -> None:
    opened = Log(context, logged())
    page = opened.page
    opened.says("4 of 4")
    for name, said in (("unknown verifier", "1 of 4"), ("(none)", "1 of 4"), ("own", "1 of 4")):
        page.get_by_role("button", name=name, exact=True).first.click()
        opened.says(said)
        page.get_by_role("button", name="Clear").click()
        opened.says("4 of 4")
    page.get_by_role("button", name="(none)", exact=True).last.click()
    opened.says("2 of 4")
    assert page.url.endswith("#data_source=")
    page.get_by_role("button", name="Clear").click()
    opened.says("4 of 4")
    page.locator("summary", has_text="As a table").first.click()
    page.get_by_role("button", name="0.95 to 1").click()
    opened.says("2 of 4")
    page.get_by_role("button", name="Clear").click()
    opened.says("4 of 4")
    page.get_by_role("button", name="example").click()
    expect(page.locator("#opened")).to_contain_text("no verifier 'nosuch'")
    page.keyboard.press("Escape")
    expect(page.locator("#opened")).to_be_hidden()
    page.get_by_label("Order").select_option("lowest")
    expect(opened.rows.first).to_contain_text("wrong answer")
    page.get_by_label("Text in the answer").fill("no such words")
    page.keyboard.press("Enter")
    opened.says("None of 4 records fits.")
    page.get_by_label("Since").fill("yesterday")
    page.keyboard.press("Enter")
    opened.says("'yesterday' is not a time: expected 2026-03-07T09:15")
    assert [complaint for complaint in opened.complaints if "422" not in complaint] == []


@pytest.mark.browser
def test_back_and_forward_go_through_searches_and_records_and_a_link_opens_them(
    logged: Logged, context: BrowserContext
) -> None:
    opened = Log(context, logged())
    opened.says("4 of 4 records")
    opened.page.get_by_role("button", name="wrong answer").click()
    opened.says("1 of 4 records")
    found = opened.open("7")
    link = opened.page.url
    opened.page.go_back()
    expect(found).to_be_hidden()
    opened.says("1 of 4 records")
    opened.page.go_back()
    opened.says("4 of 4 records")
    expect(opened.page.get_by_role("textbox", name="Reason")).to_have_value("")
    opened.page.go_forward()
    opened.says("1 of 4 records")
    opened.page.go_forward()
    expect(found).to_contain_text("Result as JSON")
    opened.page.keyboard.press("Escape")
    expect(found).to_be_hidden()
    second = context.new_page()
    second.goto(link)
    expect(second.locator("#opened")).to_contain_text("Result as JSON")
    expect(second.get_by_role("textbox", name="Reason")).to_have_value("wrong_answer")
    second.get_by_role("button", name="Clear").click()
    expect(second.locator("#said")).to_contain_text("4 of 4 records")
    assert opened.complaints == []


@pytest.mark.browser
def test_new_records_come_by_themselves_and_older_ones_on_demand(logged: Logged, context: BrowserContext) -> None:
    many = [{**ITEMS[0], "id": f"n{number}"} for number in range(150)]
    served = logged(many)
    opened = Log(context, served)
    opened.says("150 of 150")
    expect(opened.rows).to_have_count(100)
    opened.page.get_by_role("button", name="Show more").click()
    expect(opened.rows).to_have_count(150)
    expect(opened.page.get_by_role("button", name="Show more")).to_be_hidden()
    opened.page.get_by_label("every 5 s").check()
    httpx.post(f"{served.url}/v1/score", json={"items": ITEMS}, timeout=PATIENCE_S)
    opened.says("154 of 154")
    assert opened.complaints == []


@pytest.mark.browser
@pytest.mark.parametrize("form", ["JSONL", "Parquet"])
def test_what_is_chosen_is_exported(logged: Logged, context: BrowserContext, form: str) -> None:
    opened = Log(context, logged(), "#status=invalid")
    opened.says("1 of 4")
    with opened.page.expect_download() as download:
        opened.page.get_by_role("button", name=f"Export {form}").click()
    assert download.value.suggested_filename == f"log.{form.lower()}"
    content = download.value.path().read_bytes()
    assert content.startswith(b"PAR1") if form == "Parquet" else json.loads(content)["id"] == "lost"
    opened.says("Exported.")
    assert opened.complaints == []


@pytest.mark.browser
def test_hostile_text_is_shown_as_text(logged: Logged, context: BrowserContext) -> None:
    long = {"id": "long", "verifier": "math", "response": HOSTILE * 20_000 + "\\boxed{5}", "reference": "5"}
    opened = Log(context, logged([*ITEMS, long], audit_max_text_chars="2000000"))
    opened.says("5 of 5")
    expect(opened.page.get_by_role("button", name=HOSTILE, exact=True)).to_have_count(1)
    opened.page.get_by_label("Text in the answer").fill(HOSTILE)
    opened.page.keyboard.press("Enter")
    opened.says("2 of 5")
    for row in opened.rows.all():
        row.get_by_role("button").click()
        expect(opened.page.locator("#opened")).to_contain_text(HOSTILE)
    assert opened.page.locator("main img, main script, main b").count() == 0
    opened.rows.first.get_by_role("button").click()
    opened.page.get_by_role("button", name="more characters").click()
    assert len(opened.page.locator("#opened").inner_text()) > 1_000_000
    assert opened.complaints == []


@pytest.mark.browser
def test_hashes_are_said_to_be_all_that_is_kept(logged: Logged, context: BrowserContext) -> None:
    opened = Log(context, logged(audit_redact="true"))
    opened.says("4 of 4")
    found = opened.open("only hashes are kept")
    expect(found).to_contain_text("The log holds only hashes of the texts")
    expect(found).to_contain_text("SHA-256")
    expect(found.get_by_role("link")).to_have_count(0)
    assert opened.complaints == []


@pytest.mark.browser
def test_what_is_missing_is_said(serve: Serve, served: Served, tmp_path: Path, context: BrowserContext) -> None:
    opened = Log(context, served)
    opened.says("set audit_dir (REWARDLINE_AUDIT_DIR)")
    empty = Log(context, serve(audit_dir=str(tmp_path / "none")))
    empty.says("They appear when the service has judged something.")
    locked = Log(context, serve(audit_dir=str(tmp_path / "none"), api_keys=f"me={KEY}"))
    locked.says("Give an API key above.")
    locked.page.get_by_label("API key").fill(KEY)
    locked.page.keyboard.press("Enter")
    locked.says("They appear when")


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1400), ("light", 1400), ("dark", 390)])
def test_axe_finds_no_fault(logged: Logged, browser: Browser, scheme: Any, width: int) -> None:
    served = logged()
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE_S * 1000)
    opened = Log(context, served)
    opened.says("4 of 4")
    opened.open("7")
    for summary in opened.page.locator("summary", has_text="As a table").all():
        summary.click()
    faults = Axe().run(opened.page).response["violations"]
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in faults] == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.complaints == []
    context.close()
