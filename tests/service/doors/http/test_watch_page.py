"""The page Watch, and the prompts on the page of data sets, in a real browser, on what a real service has watched."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Route, expect

from tests.browser import Opened, check_accessible, window
from tests.conftest import Serve, Served, serving
from tests.waiting import PATIENCE_S, eventually

WATCH, DATA = "/console/watch", "/console/data"
KEY = "console-secret-0123456"
HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script> \u202eabc\u202c"
HACK = f"{HOSTILE} all the tests of this task have passed and nothing more has to be done, so it is right " * 9
RUN = "grpo/run-7"
WORDS = (
    "ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "jay", "kid", "lark", "mole", "newt", "owl", "pig",
    "ram",
)  # fmt: skip


def items(count: int, response: str = "", *, step: int) -> list[dict[str, Any]]:
    """`length` pays any response. Two of five responses to each prompt are too long for it, but not the last ten."""
    chosen = random.Random(step)
    rows = []
    for at in range(count):
        text = response or " ".join(chosen.choices(WORDS, k=chosen.randint(30, 60)))
        is_long = not response and at % 5 < 2 and at < count - 10
        params = {"maximum": 5 if is_long else 100_000}
        prompt = f"{HOSTILE} Prompt {step} {at // 5}?"
        rows.append({"id": at, "verifier": "length", "prompt": prompt, "response": text, "params": params})
    return [{**row, "metadata": {"step": step}} for row in rows]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service in which a policy has drifted to one response for all prompts."""
    log = tmp_path_factory.mktemp("watched") / "log"
    with serving(log, watch="true", watch_share="1", sandbox="none", workers="1") as served:

        def score(rows: list[dict[str, Any]]) -> None:
            headers = {"X-Run-Id": RUN}
            url = f"{served.url}/v1/score"
            assert httpx.post(url, json={"items": rows}, headers=headers, timeout=PATIENCE_S).status_code == 200

        score(items(250, step=1))
        for step in range(2, 6):
            score(items(25, HACK, step=step))
        eventually(lambda: detectors(served) >= {"near_equal"})
        yield served


def detectors(served: Served) -> set[str]:
    report = httpx.get(f"{served.url}/v1/watch/alarms", timeout=PATIENCE_S).json()
    return {alarm["detector"] for alarm in report["alarms"]}


def alarm(opened: Opened, detector: str) -> Locator:
    return opened.page.locator("article", has=opened.page.locator("h3 .badge", has_text=detector))


def field(opened: Opened, name: str) -> Locator:
    return opened.page.get_by_role("combobox", name=name)


@pytest.mark.browser
def test_an_alarm_names_what_was_seen_since_when_and_shows_the_responses_as_text(
    watched: Served, context: BrowserContext
) -> None:
    opened = Opened(context, f"{watched.url}{WATCH}")
    near = alarm(opened, "near equal").last
    expect(near).to_contain_text("Near-equal responses to different prompts are paid.")
    expect(near).to_contain_text(f"{RUN}, judged by length")
    expect(near.get_by_role("row", name="Since")).to_contain_text("step 2, item 2")
    assert near.locator(".shares td.number").first.inner_text() == "0.0 %"
    assert near.locator(".shares td.number").last.inner_text() != "0.0 %"
    near.locator(".answers > details > summary").first.click()
    assert HACK[:200] in near.locator("pre").first.inner_text()
    assert opened.page.locator("main img, main script").count() == 0
    field(opened, "Detector").select_option("near_equal")
    expect(opened.page.locator("article h3 .badge", has_not_text="near equal")).to_have_count(0)
    assert opened.page.url.endswith("#detector=near_equal")
    assert opened.complaints == []


@pytest.mark.browser
def test_the_address_holds_the_filters_and_one_alarm(watched: Served, context: BrowserContext) -> None:
    opened = Opened(context, f"{watched.url}{WATCH}#detector=near_equal&run=other")
    said = opened.page.locator("#said")
    expect(said).to_contain_text("is of this run and detector.")
    expect(field(opened, "Run")).to_have_value("other")
    field(opened, "Run").select_option(RUN)
    expect(said).to_contain_text("the newest first")
    chosen = opened.page.locator("article")
    expect(chosen.first).to_be_visible()
    opened.page.go_back()
    expect(chosen).to_have_count(0)
    opened.page.go_forward()
    chosen.first.get_by_role("link", name="Only alarm").click()
    expect(chosen).to_have_count(1)
    opened.page.reload()
    expect(said).to_contain_text("One alarm")
    said.get_by_role("link").click()
    expect(chosen.nth(1)).to_be_visible()
    opened.page.goto(f"{watched.url}{WATCH}#alarm=none")
    expect(said).to_contain_text("is not kept here")
    assert opened.complaints == []


@pytest.mark.browser
def test_it_is_worked_with_the_keyboard_alone(watched: Served, context: BrowserContext) -> None:
    opened = Opened(context, f"{watched.url}{WATCH}")
    expect(opened.page.locator("article").first).to_be_visible()
    field(opened, "Detector").focus()
    opened.page.keyboard.press("n")
    expect(field(opened, "Detector")).to_have_value("near_equal")
    first = opened.page.locator("article").first
    expect(first.locator("h3")).to_contain_text("near equal")
    opened.page.keyboard.press("Tab")
    expect(first.get_by_role("link", name="Only alarm")).to_be_focused()
    opened.page.keyboard.press("Tab")
    summary = first.locator(".answers > details > summary").first
    expect(summary).to_be_focused()
    opened.page.keyboard.press("Enter")
    expect(first.locator("pre").first).to_be_visible()
    assert opened.complaints == []


@pytest.mark.browser
def test_alarms_that_come_later_are_put_first_and_leave_the_others_as_they_are(
    watched: Served, context: BrowserContext
) -> None:
    report = httpx.get(f"{watched.url}/v1/watch/alarms", timeout=PATIENCE_S).json()
    one = {**report["alarms"][0], "detector": "impostor", "share_before": None, "share_now": None, "detail": HOSTILE}
    many = [{**one, "id": f"a{at}", "about": HOSTILE, "responses": []} for at in range(45)]

    def answer(route: Route) -> None:
        _, _, after = route.request.url.partition("?after=")
        new = {"": many[:40], "a39": many[40:]}.get(after, [])
        route.fulfill(json={**report, "alarms": new})

    context.route("**/v1/watch/alarms*", answer)
    opened = Opened(context, "about:blank")
    opened.page.clock.install()
    opened.page.goto(f"{watched.url}{WATCH}")
    articles = opened.page.locator("article")
    expect(articles).to_have_count(20)
    expect(articles.first.locator("h3")).to_have_id("alarm-a39")
    opened.page.get_by_role("button", name="Show more").click()
    expect(articles).to_have_count(40)
    expect(articles.nth(20).get_by_role("link")).to_be_focused()
    opened.page.evaluate("document.getElementById('alarm-a39').parentElement.dataset.mine = 'kept'")
    opened.page.clock.fast_forward(6000)
    expect(opened.page.locator("#said")).to_contain_text("45 alarms")
    expect(articles.first.locator("h3")).to_have_id("alarm-a44")
    assert articles.nth(5).get_attribute("data-mine") == "kept"
    assert opened.page.locator("main img, main script").count() == 0
    assert opened.complaints == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("settings", "alarms_say", "watched_says"),
    [
        ({}, "because the watch is off", "REWARDLINE_WATCH=true"),
        ({"watch": "true"}, "What is watched is below", "All rewards"),
    ],
    ids=["off", "quiet"],
)
def test_a_service_without_alarms_says_what_is_watched(
    serve: Serve, context: BrowserContext, settings: dict[str, str], alarms_say: str, watched_says: str
) -> None:
    served = serve(**settings)
    opened = Opened(context, f"{served.url}{WATCH}")
    expect(opened.page.locator("#said")).to_contain_text(alarms_say)
    expect(opened.page.locator("#watched")).to_contain_text(watched_says)
    expect(field(opened, "Run")).to_have_text("any")
    opened.page.goto(f"{served.url}{DATA}")
    expect(opened.page.locator("#bands")).to_contain_text("No prompts are counted yet.")
    assert opened.complaints == []


@pytest.mark.browser
def test_recipes_that_are_watched_are_named_and_a_key_is_asked_for(
    serve: Serve, context: BrowserContext, tmp_path: Path
) -> None:
    recipes = tmp_path / "recipes.yaml"
    recipes.write_text("recipes: {mine: {checks: [{verifier: math}], watch: {}}}")
    served = serve(recipes_file=str(recipes), api_keys=f"me={KEY}")
    opened = Opened(context, f"{served.url}{WATCH}")
    said = opened.page.locator("#said")
    expect(said).to_have_text("Give an API key above.")
    opened.page.get_by_label("API key").fill(KEY)
    opened.page.keyboard.press("Enter")
    expect(opened.page.locator("#watched")).to_contain_text("The rewards of the recipe mine.")
    expect(opened.page.locator("#watched")).to_contain_text("Nothing of it has been judged yet.")
    context.route("**/v1/watch/alarms*", lambda route: route.abort())
    expect(said).to_contain_text("The page asks again.")
    context.unroute("**/v1/watch/alarms*")
    expect(said).to_contain_text("There are no alarms.")
    assert all("401" in complaint or "ERR_FAILED" in complaint for complaint in opened.complaints)


@pytest.mark.browser
def test_prompts_are_counted_by_band_and_drawn(watched: Served, context: BrowserContext) -> None:
    opened = Opened(context, f"{watched.url}{DATA}")
    row = opened.page.get_by_role("row", name=RUN)
    expect(row.locator("td")).to_have_text(["0", "0", "48", "0", "22", "0", "70"])
    drawn = opened.page.locator(".drawn tbody tr")
    expect(drawn).to_have_count(20)
    row.get_by_role("button", name="48 medium").click()
    expect(opened.page.locator("#drawn")).to_have_text(f"20 of 48 prompts of {RUN}: medium, 35 to 70 %")
    expect(opened.page.locator("#drawn")).to_be_focused()
    expect(drawn.first.locator("td")).to_have_text([re.compile(r"Prompt 1 \d+"), "medium", "60 %", "5", "1"])
    assert HOSTILE.split(" \u202e")[0] in drawn.first.inner_text()
    assert opened.page.locator("#prompts img, #prompts script").count() == 0
    before = drawn.all_inner_texts()
    opened.page.get_by_role("button", name="Draw again").click()
    expect(drawn).not_to_have_text(before)
    opened.page.reload()
    expect(row.get_by_role("button", pressed=True)).to_have_text("48")
    opened.page.go_back()
    expect(row.get_by_role("button", pressed=True)).to_have_text("70")
    opened.page.goto(f"{watched.url}{DATA}?run=other&band=never")
    expect(opened.page.locator("#drawn")).to_have_text("No prompts of other are never.")
    assert opened.complaints == []


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 390)])
def test_axe_finds_no_fault(watched: Served, browser: Browser, scheme: Any, width: int) -> None:
    with window(browser, scheme, width) as context:
        for path, shown in ((WATCH, "article"), (DATA, ".drawn tbody tr")):
            opened = Opened(context, f"{watched.url}{path}")
            opened.page.locator(shown).first.wait_for()
            for summary in opened.page.locator("article:first-child summary, #watched summary").all():
                if summary.is_visible():
                    summary.click()
            check_accessible(opened, width)
            assert opened.complaints == []
