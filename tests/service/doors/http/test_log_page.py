"""The page of the log in a real browser, as a person uses it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, expect

from tests.browser import Opened, check_accessible, window
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
        if items:
            httpx.post(f"{served.url}/v1/score", json={"items": items}, headers=headers, timeout=PATIENCE_S)
        url = f"{served.url}/v1/log/summary"
        eventually(lambda: httpx.get(url, headers=headers, timeout=PATIENCE_S).json()["records"] == len(items))
        return served

    return start


@pytest.mark.browser
def test_rewards_are_counted_narrowed_and_opened(logged: Logged, context: BrowserContext) -> None:
    served = logged()
    opened = Log(context, served)
    opened.says("4 of 4 records in 1 file, mean reward 0.6667.")
    expect(opened.rows).to_have_count(4)
    opened.page.get_by_role("button", name="wrong answer", exact=True).click()
    opened.says("1 of 4 records")
    found = opened.open("wrong answer")
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
    page.get_by_text("More conditions").click()
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
    found = opened.open("wrong answer")
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
def test_records_are_read_one_after_the_other_by_keys(logged: Logged, context: BrowserContext) -> None:
    items = [{**ITEMS[1], "id": f"n{number}", "response": f"\\boxed{{{number}}}"} for number in range(102)]
    opened = Log(context, logged(items))
    opened.says("102 of 102")
    reader = opened.page.locator("#opened")
    for key, place, answer in (("j", "1 of 100+", "101"), ("j", "2 of 100+", "100"), ("k", "1 of 100+", "101")):
        opened.page.keyboard.press(key)
        expect(reader).to_contain_text(place)
        expect(reader.locator("mark")).to_have_text(answer)
        expect(reader).to_be_focused()
    expect(reader.get_by_role("button", name="Previous")).to_be_disabled()
    opened.page.goto(f"{opened.page.url.partition('#')[0]}#order=oldest")
    expect(opened.rows.first.locator("code")).to_have_text("0")
    opened.rows.nth(99).get_by_role("button").click()
    expect(reader).to_contain_text("100 of 100+")
    reader.get_by_role("button", name="Next").click()
    expect(reader).to_contain_text("101 of 102")
    opened.page.get_by_label("Text in the answer").press("j")
    expect(reader).to_contain_text("101 of 102")
    opened.page.keyboard.press("Escape")
    expect(reader).to_be_hidden()
    assert opened.complaints == []


@pytest.mark.browser
def test_a_heading_orders_the_table(logged: Logged, context: BrowserContext) -> None:
    opened = Log(context, logged())
    opened.says("4 of 4")
    heads, by_reward = (
        opened.page.locator("th[aria-sort]"),
        opened.page.get_by_role("button", name="reward", exact=True),
    )
    expect(heads).to_have_attribute("aria-sort", "descending")
    expect(heads).to_have_text("time (UTC)")
    for order, direction, last in (("highest", "descending", "unknown verifier"), ("lowest", "ascending", "correct")):
        by_reward.press("Enter")
        expect(heads).to_have_attribute("aria-sort", direction)
        expect(heads).to_have_text("reward")
        expect(by_reward).to_be_focused()
        expect(opened.page.get_by_label("Order")).to_have_value(order)
        expect(opened.rows.filter(has_text=last).last).to_be_visible()
    assert opened.complaints == []


SEARCHED = """() => [...(CSS.highlights.get("searched") || [])].map(range => {
    const whole = document.createRange();
    whole.setStart(range.startContainer, range.startOffset);
    whole.setEnd(range.endContainer, range.endOffset);
    return whole.toString();
})"""


@pytest.mark.browser
def test_a_long_conversation_has_an_outline_and_what_was_searched_is_marked(
    logged: Logged, context: BrowserContext
) -> None:
    prompt = [{"role": ("user", "assistant")[n % 2], "content": f"Turn {n} of **MANY**"} for n in range(9)]
    opened = Log(
        context, logged([{"verifier": "math", "response": "Many: 5", "reference": "5", "prompt": prompt}]), "#text=many"
    )
    opened.says("1 of 1")
    opened.page.keyboard.press("j")
    told = opened.page.get_by_role("group", name="Conversation")
    told.get_by_text("Outline of 10 steps").click()
    entries = told.locator(".outline li")
    expect(entries).to_have_count(10)
    expect(entries.nth(3)).to_have_text("assistant: Turn 3 of MANY")
    entries.nth(8).get_by_role("button").press("Enter")
    expect(told.locator(".step").nth(8)).to_be_focused()
    assert {"MANY", "Many"} == set(opened.page.evaluate(SEARCHED))
    opened.page.keyboard.press("Escape")
    opened.page.get_by_label("Text in the answer").fill("")
    opened.page.get_by_label("Text in the answer").press("Enter")
    opened.says("1 of 1")
    opened.rows.get_by_role("button").click()
    expect(told).to_be_visible()
    assert opened.page.evaluate(SEARCHED) == []
    assert opened.complaints == []


@pytest.mark.browser
def test_few_stops_of_the_tabulator_are_before_a_response(logged: Logged, context: BrowserContext) -> None:
    opened = Log(context, logged([{**ITEMS[1], "id": f"n{number}"} for number in range(50)]))
    opened.says("50 of 50")
    stops = 0
    while not opened.rows.first.get_by_role("button").evaluate("button => button === document.activeElement"):
        opened.page.keyboard.press("Tab")
        stops += 1
    opened.page.keyboard.press("Enter")
    expect(opened.page.locator("#opened")).to_be_focused()
    assert stops < 30


MARKUP = (
    "# Head\n\n<img src=x onerror=alert(1)><script>alert(2)</script> [go](javascript:alert(3)) ![see](http://e.example/x)\n\n"
    "1. *one*\n2. **two**\n\n| a | b |\n|---|---|\n| 1 | $x^2$ |\n\n```python\nprint('<b>')\n```\n\n$$\\frac12$$ and \\(y\\), "
    "for $5 and $6. \\boxed{5}"
)
CALLS: list[dict[str, Any]] = [
    {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"q": "<b>"}'}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "**7**"},
    {"role": "assistant", "content": "<think>I *see*</think>" + MARKUP, "reasoning_content": "because"},
]


@pytest.mark.browser
def test_a_conversation_is_rendered_and_none_of_its_markup_is_the_page_s(
    logged: Logged, context: BrowserContext
) -> None:
    prompt = [{"role": "system", "content": "Be **brief**."}, {"role": "user", "content": MARKUP}]
    item = {"verifier": "math", "response": CALLS, "reference": "5", "prompt": prompt}
    opened = Log(context, logged([item]))
    opened.says("1 of 1")
    opened.page.keyboard.press("j")
    told = opened.page.get_by_role("group", name="Conversation")
    expect(told.locator(".who")).to_have_text(["system", "user", "assistant", "tool", "assistant"])
    expect(told.locator(".call")).to_contain_text('"q": "<b>"')
    expect(told.locator(".step").nth(3)).to_have_text("tool**7**")
    expect(told.locator("summary")).to_have_text(["Thinking, 7 characters", "Thinking, 7 characters"])
    last = told.locator(".step").last
    expect(last.locator("ol li")).to_have_text(["one", "two"])
    expect(last.locator("pre code")).to_have_text("print('<b>')")
    expect(last.locator("table .katex")).to_have_count(1)
    expect(last.locator(".katex")).to_have_count(3)
    expect(last).to_contain_text("<img src=x onerror=alert(1)><script>alert(2)</script> [go](javascript:alert(3))")
    expect(last).to_contain_text("for $5 and $6.")
    assert opened.page.locator("main").locator("img, script, a[href^=javascript], b, iframe").count() == 0
    assert opened.complaints == []


OTHER_DIALECTS: dict[str, list[dict[str, Any]]] = {
    "responses": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I *see*"}]},
        {"type": "function_call", "call_id": "c", "name": "find", "arguments": '{"q": "<b>"}'},
        {"type": "function_call_output", "call_id": "c", "output": "**7**"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "**5**"}]},
    ],
    "blocks": [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I *see*"},
                {"type": "tool_use", "id": "c", "name": "find", "input": {"q": "<b>"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "**7**"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "**5**"}]},
    ],
}


@pytest.mark.browser
@pytest.mark.parametrize("dialect", OTHER_DIALECTS)
def test_items_and_blocks_are_rendered_as_messages_are(logged: Logged, context: BrowserContext, dialect: str) -> None:
    opened = Log(context, logged([{"verifier": "math", "response": OTHER_DIALECTS[dialect], "reference": "5"}]))
    opened.says("1 of 1")
    opened.page.keyboard.press("j")
    told = opened.page.get_by_role("group", name="Conversation")
    expect(told.locator("summary")).to_have_text("Thinking, 7 characters")
    expect(told.locator(".call")).to_have_text('calls find{ "q": "<b>" }')
    expect(told.locator("pre", has_text="**7**")).to_be_visible()
    expect(told.locator("strong")).to_have_text(["5"])
    expect(told).not_to_contain_text("(empty)")
    assert opened.complaints == []


@pytest.mark.browser
def test_texts_that_are_hard_to_read_hold_nothing_up(logged: Logged, context: BrowserContext) -> None:
    texts = ["> ", "[", "*a ", "\\[", "$a$ ", "`", "- ", "<a ", "[a](", "|a|\n|-|\n", "**", "~~", "$$", "\\("]
    items = [{"verifier": "contains", "response": text * 10_000, "reference": "x"} for text in texts]
    opened = Log(context, logged(items, audit_max_text_chars="100000"))
    opened.says(f"{len(texts)} of {len(texts)}")
    for number in range(len(texts)):
        opened.page.keyboard.press("j")
        expect(opened.page.locator("#opened")).to_contain_text(f"{number + 1} of {len(texts)}")
        expect(opened.page.get_by_role("group", name="Conversation")).to_be_visible()
    assert opened.complaints == []


TRAINING = {"base": {"one": "777", "two": "787", "three": "777"}, "next": {"one": "778", "two": "777", "three": "888"}}
"""The answers of two runs to each prompt in the step after 3; 7 is right."""


@pytest.fixture
def trained(logged: Logged) -> Served:
    """A service whose log has two runs."""
    served = logged([])
    for run, prompts in TRAINING.items():
        for step in (3, 4):
            items = [
                {
                    "verifier": "numeric",
                    "prompt": f"**{prompt}**?",
                    "response": answer,
                    "reference": "7",
                    "metadata": {"step": step},
                }
                for prompt, answers in prompts.items()
                for answer in answers
            ]
            headers = {"X-Run-Id": run}
            httpx.post(f"{served.url}/v1/score", json={"items": items}, headers=headers, timeout=PATIENCE_S)
    eventually(lambda: httpx.get(f"{served.url}/v1/log/summary", timeout=PATIENCE_S).json()["records"] == 36)
    return served


@pytest.mark.browser
def test_groups_show_responses_to_one_prompt_side_by_side(trained: Served, context: BrowserContext) -> None:
    opened = Log(context, trained, "#view=groups&run=base")
    opened.says("6 groups of responses to one prompt in one step; 4 of them without signal")
    opened.page.get_by_label("Order of groups").select_option("mixed")
    first = opened.page.locator("#view tbody tr").first
    expect(first.locator(".chip")).to_have_text(["1", "0", "1"])
    first.get_by_role("button").click()
    group = opened.page.locator("#group")
    expect(group.locator("article")).to_have_count(3)
    expect(group.locator("article .score")).to_have_text(["1", "1", "0"])
    expect(group.locator("strong", has_text="two")).to_be_visible()
    group.get_by_role("link", name="Open the record").last.click()
    expect(opened.page.locator("#opened")).to_contain_text("wrong answer")
    opened.page.get_by_role("button", name="Other responses to this prompt").click()
    opened.says("2 groups of responses")
    opened.page.go_back()
    expect(opened.page.locator("#opened")).to_contain_text("wrong answer")
    assert opened.complaints == []


@pytest.mark.browser
def test_steps_are_a_curve_and_a_table_that_lead_to_groups(trained: Served, context: BrowserContext) -> None:
    opened = Log(context, trained)
    opened.says("36 of 36")
    opened.page.get_by_role("button", name="Steps").click()
    opened.says("4 points of 2 runs.")
    expect(opened.page.locator("#view polyline")).to_have_count(2)
    expect(opened.page.locator("#view tbody tr").first).to_contain_text("step 3basenumeric0.888990")
    opened.page.get_by_role("button", name="step 4").first.click()
    opened.says("3 groups")
    expect(opened.page.get_by_role("combobox", name="Run", exact=True)).to_have_value("base")
    assert opened.complaints == []


@pytest.mark.browser
def test_two_runs_are_compared_flips_first(trained: Served, context: BrowserContext) -> None:
    opened = Log(context, trained, "#view=compare")
    opened.says("Name two runs")
    form = opened.page.get_by_role("form", name="Two runs")
    form.get_by_label("Run", exact=True).fill("base")
    form.get_by_label("Other run").fill("next")
    form.get_by_role("button", name="Compare").click()
    opened.says("3 prompts in both: mean reward 0.8889 and 0.5556; 0 gained, 1 lost.")
    rows = opened.page.locator("#view tbody tr")
    expect(rows).to_contain_text(["**three**?numeric1 (6)0 (6)lost", "**one**", "**two**"])
    rows.first.get_by_role("button").click()
    expect(opened.page.locator("#group article .score")).to_have_text(["1"] * 6 + ["0"] * 6)
    assert opened.complaints == []


@pytest.mark.browser
def test_a_condition_in_sql_chooses_and_a_wrong_one_says_why(logged: Logged, context: BrowserContext) -> None:
    opened = Log(context, logged(), "#where=reward+%3C+0.5")
    opened.says("1 of 4")
    opened.page.get_by_label("Condition in SQL").fill("read_text('/etc/passwd') = ''")
    opened.page.keyboard.press("Enter")
    opened.says("the function 'read_text' is not possible here")


@pytest.mark.browser
def test_a_verdict_is_corrected_and_saved_as_a_case(logged: Logged, context: BrowserContext) -> None:
    opened = Log(context, logged())
    found = opened.open("wrong answer")
    found.get_by_text("Correct this verdict").click()
    expect(found.get_by_label("It should be")).to_have_value("1")
    found.get_by_label("Why").fill("seven is right")
    found.get_by_role("button", name="Keep the correction").click()
    expect(found).to_contain_text("Kept. It is the only case")
    with opened.page.expect_download() as download:
        found.get_by_role("link", name="save them").click()
    case = json.loads(download.value.path().read_bytes())
    assert {name: case[name] for name in ITEMS[1]} == ITEMS[1]
    assert (case["expected"], case["note"], case["was"]["reason"]) == (1, "seven is right", "wrong_answer")
    assert opened.complaints == []


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1400)])
@pytest.mark.parametrize("view", ["groups", "steps", "compare"])
def test_axe_finds_no_fault_in_views(trained: Served, browser: Browser, scheme: Any, width: int, view: str) -> None:
    with window(browser, scheme, width) as context:
        opened = Log(context, trained, f"#view={view}&run=base&other=next")
        opened.says({"groups": "6 groups", "steps": "2 points", "compare": "3 prompts"}[view])
        if view != "steps":
            opened.page.locator("#view tbody button").first.click()
            expect(opened.page.locator("#group article").first).to_be_visible()
        check_accessible(opened, width)
        assert opened.complaints == []


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1400), ("light", 1400), ("dark", 390)])
def test_axe_finds_no_fault(logged: Logged, browser: Browser, scheme: Any, width: int) -> None:
    served = logged()
    with window(browser, scheme, width) as context:
        opened = Log(context, served)
        opened.says("4 of 4")
        opened.open("wrong answer")
        for summary in opened.page.locator("summary").all():
            if summary.is_visible() and summary.evaluate("summary => !summary.parentElement.open"):
                summary.click()
        check_accessible(opened, width)
        assert opened.complaints == []
