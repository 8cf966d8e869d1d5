"""The playground in a real browser, as a person uses it."""

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.browser import Opened, check_accessible, window
from tests.conftest import Serve, Served
from tests.judge_upstream.grader import Grader, honest
from tests.waiting import PATIENCE_S

KEY = "console-secret-0123456"
HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script> \u202eabc\u202c {{7*7}} \\boxed{5}"


class Playground(Opened):
    """The first page."""

    def try_it(self, name: str, response: str, reference: str, *, is_json: bool = False) -> None:
        self.page.get_by_role("searchbox").fill(name)
        self.page.locator("#catalogue button", has_text=name).first.click()
        self.page.get_by_label("as JSON").set_checked(is_json)
        self.page.locator("#reference").fill(reference)
        self.page.locator("#response").fill(response)

    def verdict(self, reason: str) -> Any:
        found = self.page.locator("#verdict")
        expect(found).not_to_have_attribute("aria-busy", "true")
        expect(found).to_contain_text(reason)
        return found

    def copied(self, form: str) -> str:
        self.page.get_by_role("button", name=form).click()
        expect(self.page.locator("#copied")).to_have_text("Copied.")
        return str(self.page.evaluate("navigator.clipboard.readText()"))


def test_a_verdict_is_explained_as_one_types(served: Served, context: BrowserContext) -> None:
    opened = Playground(context, served.url)
    opened.try_it("math", "First \\boxed{3}. No, \\boxed{\\frac{2}{4}}.", "0.5")
    found = opened.verdict("correct by math")
    assert found.locator("mark.answer").inner_text() == "\\frac{2}{4}"
    expect(found.locator(".katex")).to_have_count(2)
    opened.page.locator("#response").fill("So it is \\boxed{7}.")
    opened.verdict("wrong answer by math")
    opened.page.get_by_label("abs_tol").fill("10")
    opened.verdict("correct by math")
    assert opened.page.get_by_label("abs_tol").get_attribute("class") == "changed"
    assert opened.complaints == []


@pytest.mark.browser
def test_every_example_gives_the_verdict_that_it_promises(served: Served, context: BrowserContext) -> None:
    opened = Playground(context, served.url)
    opened.page.get_by_role("searchbox").fill("numeric")
    opened.page.locator("#catalogue button", has_text="numeric").first.click()
    examples = opened.page.locator("#examples button")
    expect(examples.first).to_be_visible()
    for example in examples.all():
        opened.page.locator("#verdict").evaluate("box => box.replaceChildren()")
        example.click()
        wanted = example.inner_text().partition(":")[0]
        shown = opened.page.locator("#verdict .badge, #verdict .score").first
        expect(shown).to_have_text(wanted)
    assert opened.complaints == []


@pytest.mark.browser
def test_a_link_holds_the_whole_case_and_a_copied_call_gives_its_verdict(
    served: Served, context: BrowserContext
) -> None:
    first = Playground(context, served.url)
    first.try_it("math", "It's \\boxed{0.51}", "0.5")
    first.page.get_by_label("abs_tol").fill("0.1")
    first.verdict("correct by math")
    link = first.copied("Copy link")
    second = Playground(context, link)
    second.verdict("correct by math")
    assert second.page.locator("#response").input_value() == "It's \\boxed{0.51}"
    assert second.page.get_by_label("abs_tol").input_value() == "0.1"
    done = subprocess.run(
        shlex.split(second.copied("Copy as curl")), capture_output=True, check=True, timeout=PATIENCE_S
    )
    (result,) = json.loads(done.stdout)["results"]
    assert (result["score"], result["extracted"]) == (1.0, "0.51")
    for form in ("Copy as Python", "Copy as TRL", "Copy as verl"):
        assert served.url in second.copied(form)
    compile(second.copied("Copy as Python"), "copied", "exec")
    with second.page.expect_download() as download:
        second.page.get_by_role("button", name="Save as a row").click()
    row = json.loads(download.value.path().read_text())
    assert row == {"verifier": "math", "response": "It's \\boxed{0.51}", "reference": "0.5", "params": {"abs_tol": 0.1}}
    assert first.complaints + second.complaints == []


MANY_STANCES = (
    "A is wrong. My friend says it's B. Maybe D? If it were A, fine. E has a tower. \\boxed{F}\n\nThe answer is (C)."
)
SAID = "My friend says the answer is 12. The answer is not 13. Maybe it is \\boxed{14}?\n\n\\boxed{15} and no more."


@pytest.mark.browser
def test_a_verdict_of_an_older_case_is_not_shared(served: Served, context: BrowserContext) -> None:
    opened = Playground(context, served.url)
    opened.try_it("math", "\\boxed{7}", "7")
    opened.verdict("correct by math")
    assert opened.page.locator("#share").is_visible()
    typed = """() => {
        const response = document.getElementById("response");
        response.value = "\\\\boxed{8}";
        response.dispatchEvent(new Event("input"));
        return [document.getElementById("verdict").ariaBusy, document.getElementById("share").hidden];
    }"""
    assert opened.page.evaluate(typed) == ["true", True]
    opened.verdict("wrong answer by math")
    assert opened.page.locator("#share").is_visible()


@pytest.mark.browser
def test_every_mention_is_marked_by_its_stance(served: Served, context: BrowserContext) -> None:
    opened = Playground(context, served.url)
    opened.try_it("math", SAID, "15")
    found = opened.verdict("correct by math")
    marks = [
        (mark.inner_text(), mark.get_attribute("class"), mark.get_attribute("title"))
        for mark in found.locator("mark").all()
    ]
    assert [(text, kind) for text, kind, _ in marks] == [
        ("12", "stance-attributed"),
        ("13", "stance-denied"),
        ("14", "stance-hedged"),
        ("15", "stance-marked answer"),
    ]
    assert marks[1][2] == "denied: called wrong"
    assert marks[3][2] == "the answer; marked: in a tag, a box, a field or behind ####"
    assert found.locator("pre").first.inner_text() == SAID
    legend = found.locator(".legend li").all_inner_texts()
    assert [entry.split()[0] for entry in legend] == ["answer", "marked", "hedged", "attributed", "denied"]
    decorations = found.locator("mark").evaluate_all(
        "marks => marks.map((mark) => getComputedStyle(mark).textDecoration)"
    )
    assert len(set(decorations)) == len(marks)
    assert opened.complaints == []


@pytest.mark.browser
def test_of_a_long_response_the_parts_around_mentions_are_shown(served: Served, context: BrowserContext) -> None:
    opened = Playground(context, served.url)
    words = "We go on with the work. " * 400
    opened.try_it("math", f"{words}The answer is not 13. {words}So it is \\boxed{{15}}. {words}", "15")
    found = opened.verdict("correct by math")
    shown = found.locator("pre").first.inner_text()
    assert found.locator("mark").all_inner_texts() == ["13", "15"]
    assert shown.count(" characters … ") == 3
    assert len(shown) < 2_000
    hostile = "Maybe it is \\boxed{<img src=x onerror=alert(1)>}? " + HOSTILE
    opened.page.locator("#response").fill(hostile)
    opened.page.locator("#reference").fill("5")
    found = opened.verdict("correct by math")
    expect(found.locator("pre").first).to_contain_text("onerror")
    assert found.locator("pre").first.inner_text() == hostile
    assert opened.page.locator("#verdict img, #verdict script").count() == 0
    opened.page.locator("#response").fill(
        json.dumps([{"role": "user", "content": "?"}, {"role": "assistant", "content": SAID}])
    )
    opened.page.locator("#reference").fill("15")
    opened.verdict("correct by math")
    expect(opened.page.locator("#verdict mark.answer")).to_have_text("15")
    assert opened.complaints == []


@pytest.mark.browser
@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 390)])
def test_the_question_to_a_judge_and_its_answers_are_shown(
    serve: Serve, browser: Browser, tmp_path: Path, scheme: Any, width: int
) -> None:
    with Grader(lambda sections: honest(sections)[:-1] + ', "note": "<img src=x onerror=alert(4)>"}') as grader:
        served = serve(judge_file=str(grader.file(tmp_path)), sandbox="none")
        with window(browser, scheme, width) as context:
            for name in ("judge", "math_then_judge"):
                opened = Playground(context, served.url)
                opened.try_it(name, "I think it is <b>Paris</b>, so it is Paris", "Paris")
                asked = opened.verdict(f"correct by {name}").locator(".asked")
                expect(asked).to_have_count(1)
                asked.locator("summary").first.click()
                asked.get_by_text("Prompt", exact=True).click()
                assert "<b>Paris</b>" in asked.inner_text()
                assert "grader: A, score 1" in asked.inner_text()
                assert "<img src=x onerror=alert(4)>" in asked.inner_text()
                assert grader.url not in opened.page.content()
                check_accessible(opened, width)
                assert opened.page.locator("#verdict img, #verdict b").count() == 0
                assert opened.complaints == []


@pytest.mark.browser
def test_of_a_judge_without_a_verdict_the_question_and_what_was_tried_are_shown(
    serve: Serve, context: BrowserContext, tmp_path: Path
) -> None:
    with Grader(lambda _: "It is <b>hard</b> to say.") as grader:
        served = serve(judge_file=str(grader.file(tmp_path)), sandbox="none")
        opened = Playground(context, served.url)
        opened.try_it("judge", "I think it is Paris, so it is Paris", "Paris")
        asked = opened.verdict("judge unparseable by judge").locator(".asked")
        expect(asked).to_contain_text("grader without a verdict: no verdict")
        expect(asked).to_contain_text("It is <b>hard</b> to say.")
        asked.get_by_text("Prompt", exact=True).click()
        expect(asked).to_contain_text("I think it is Paris, so it is Paris")
        grader.trouble = lambda _: (400, "{}")
        opened.try_it("math_then_judge", "I think it is Lyon, so it is Lyon", "Paris")
        asked = opened.verdict("bad upstream request by math_then_judge").locator(".asked")
        expect(asked.get_by_role("listitem")).to_have_text("grader: bad upstream request, HTTP 400")
        check_accessible(opened, 1280)
        assert grader.url.removeprefix("http://") not in asked.inner_text()
        assert opened.complaints == []


@pytest.mark.browser
def test_hostile_text_is_shown_as_text(served: Served, context: BrowserContext) -> None:
    opened = Playground(context, served.url)
    opened.try_it("math", HOSTILE, "5")
    found = opened.verdict("correct by math")
    assert HOSTILE in found.locator("pre").first.inner_text()
    opened.page.locator("#reference").fill("<b>no</b> <img src=x onerror=alert(3)>")
    opened.verdict("wrong answer by math")
    assert opened.page.locator("#verdict img, #verdict script, #verdict b").count() == 0
    opened.page.locator("#response").fill("x" * 1_000_000 + " \\boxed{5}")
    opened.page.locator("#reference").fill("5")
    found = opened.verdict("correct by math")
    assert len(found.locator("pre").first.inner_text()) < 50_000
    assert opened.complaints == []


@pytest.mark.browser
def test_mistakes_are_said_where_they_are(served: Served, context: BrowserContext) -> None:
    opened = Playground(context, served.url)
    opened.try_it("numeric", "5", '{"a": ', is_json=True)
    opened.verdict("The reference is not JSON")
    opened.page.get_by_label("as JSON").uncheck()
    opened.verdict("invalid")
    opened.page.get_by_role("searchbox").fill("no such thing")
    expect(opened.page.locator("#catalogue")).to_have_text("Nothing has these words.")
    assert opened.complaints == []


@pytest.mark.browser
def test_a_whole_number_beyond_those_of_the_browser_is_sent_as_it_is_written(
    served: Served, context: BrowserContext
) -> None:
    opened = Playground(context, served.url)
    opened.try_it("math", "\\boxed{9007199254740992}", '["9007199254740991", 9007199254740993]', is_json=True)
    opened.verdict("by math")
    with opened.page.expect_request("**/v1/score") as request:
        opened.page.locator("#response").fill("\\boxed{9007199254740994}")
    assert '"reference":["9007199254740991",9007199254740993]' in (request.value.post_data or "")
    opened.verdict("by math")
    assert "9007199254740993]" in opened.copied("Copy as Python")
    second = Playground(context, opened.copied("Copy link"))
    second.verdict("by math")
    assert "9007199254740993" in second.page.locator("#reference").input_value()
    assert opened.complaints + second.complaints == []


@pytest.mark.browser
def test_a_recipe_shows_its_checks(served: Served, context: BrowserContext) -> None:
    opened = Playground(context, served.url)
    opened.try_it("think_math", "<think>so</think>The answer is 12.", "12")
    found = opened.verdict("correct by think_math")
    assert found.locator("tbody").first.inner_text().split("\n")[0].split()[0] == "math"
    assert "think_format" in found.inner_text()
    assert opened.complaints == []


@pytest.mark.browser
def test_with_keys_the_page_opens_and_asks_for_one(serve: Serve, context: BrowserContext) -> None:
    served = serve(api_keys=f"me={KEY}", sandbox="none")
    opened = Playground(context, served.url)
    opened.verdict("Give an API key above.")
    opened.page.get_by_label("API key").fill(KEY)
    opened.page.keyboard.press("Enter")
    expect(opened.page.locator("#name")).to_have_text("math")
    opened.try_it("math", "12", "12")
    opened.verdict("correct by math")
    assert all("401" in complaint for complaint in opened.complaints)


@pytest.mark.browser
def test_what_is_wrong_is_said_and_the_page_goes_on(serve: Serve, context: BrowserContext) -> None:
    served = serve(api_keys=f"me={KEY}", sandbox="none")
    opened = Playground(context, f"{served.url}/#bm8gY2FzZQ")
    opened.page.get_by_label("API key").fill("another-secret-0123456")
    opened.page.keyboard.press("Enter")
    opened.verdict("The service does not know this API key. Give another one above.")
    opened.page.get_by_label("API key").fill(KEY)
    opened.page.keyboard.press("Enter")
    opened.verdict("This link holds no whole case.")
    expect(opened.page.locator("#name")).to_have_text("math")
    context.route("**/v1/score", lambda route: route.abort())
    opened.try_it("math", "12", "12")
    opened.verdict(f"The service at {served.url} does not answer. Check that it runs.")
    context.unroute("**/v1/score")
    context.route("**/v1/score", lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"))
    opened.page.locator("#response").fill("12.0")
    opened.verdict("/v1/score answers with HTTP 502")
    context.unroute("**/v1/score")
    opened.page.locator("#response").fill("12")
    opened.verdict("correct by math")
    assert opened.page.locator("#verdict").get_attribute("aria-busy") is None
    opened.page.locator("#response").fill("")
    opened.verdict("Choose an example, or write a response.")
    assert all(any(word in said for word in ("401", "502", "ERR_FAILED")) for said in opened.complaints)


@pytest.mark.browser
def test_a_link_holds_a_conversation_too(served: Served, context: BrowserContext) -> None:
    messages = [{"role": "user", "content": "What is it?"}, {"role": "assistant", "content": "It is \\boxed{5}."}]
    first = Playground(context, served.url)
    first.try_it("math", json.dumps(messages), "5")
    first.page.get_by_text("Prompt", exact=True).click()
    first.page.locator("#prompt").fill(json.dumps(messages[:1]))
    first.verdict("correct by math")
    second = Playground(context, first.copied("Copy link"))
    second.verdict("correct by math")
    assert json.loads(second.page.locator("#response").input_value()) == messages
    assert json.loads(second.page.locator("#prompt").input_value()) == messages[:1]
    second.page.locator("#response").fill("12 " * 400_000)
    second.verdict("wrong answer by math")
    assert second.page.get_by_role("button", name="Copy link").is_disabled()
    assert first.complaints + second.complaints == []


@pytest.mark.browser
def test_the_console_can_be_turned_off(serve: Serve, context: BrowserContext) -> None:
    served = serve(console="false", sandbox="none")
    assert context.request.get(served.url).status == 404
    assert context.request.get(f"{served.url}/console/playground.js").status == 404


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 390)])
def test_axe_finds_no_fault(served: Served, browser: Browser, scheme: Any, width: int) -> None:
    with window(browser, scheme, width) as context:
        marks = ("multiple_choice", MANY_STANCES, "C")
        for name, response, reference in (("math", "\\boxed{7}", "8"), ("think_math", "<think>a</think>7", "7"), marks):
            opened = Playground(context, served.url)
            opened.try_it(name, response, reference)
            opened.verdict(f"by {name}")
            for summary in opened.page.locator("#verdict summary").all():
                summary.click()
            check_accessible(opened, width)
