"""Each part of a trajectory's verdict, alone and together."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sandbox.workers import Workers
from tests.tables import table
from tests.verifiers.found import Found
from verifiers import registry
from verifiers.base import InvalidItem, Item, Resources, Status
from verifiers.conversation import dialects
from verifiers.trajectory import Answer, TrajectoryParams

JSON = dict[str, Any]
DATA = Path(__file__).parents[2] / "data" / "trajectory"


def calls(*made: tuple[str, JSON]) -> JSON:
    functions = [{"type": "function", "function": {"name": name, "arguments": given}} for name, given in made]
    return {"role": "assistant", "content": None, "tool_calls": functions}


def tool_result(text: str, **more: Any) -> JSON:
    return {"role": "tool", "content": text, **more}


def says(text: str) -> JSON:
    return {"role": "assistant", "content": text}


FIND, BOOK, CANCEL = ("find", {"to": "Rome"}), ("book", {"flight": "LH1"}), ("cancel", {"flight": "LH1"})
BOOKED = [calls(FIND), tool_result("LH1"), calls(BOOK), tool_result("ok"), says("You fly with \\boxed{12} others.")]
WANTED = [{"name": "find", "arguments": {"to": "Rome"}}, {"name": "book", "arguments": {"flight": "LH1"}}]


@pytest.mark.parametrize(
    ("messages", "params", "reason"),
    [
        (BOOKED, {"required": WANTED}, "correct"),
        (BOOKED, {"reference": WANTED}, "correct"),
        (BOOKED, {"required": json.dumps(WANTED)}, "correct"),
        (BOOKED, {"required": ["book(flight='LH1')"]}, "correct"),
        (BOOKED, {"required": [{"find": {"to": ["Rome", "Milan"], "by": [""]}}]}, "correct"),
        (BOOKED, {"required": WANTED[::-1]}, "correct"),
        (BOOKED, {"required": WANTED, "ordered": True}, "correct"),
        (BOOKED, {"required": WANTED[::-1], "ordered": True}, "wrong_order"),
        (BOOKED, {"required": [*WANTED, WANTED[1]]}, "missing_call"),
        (BOOKED, {"required": [{"name": "book", "arguments": {"flight": "LH2"}}]}, "wrong_arguments"),
        (BOOKED, {"required": [{"name": "pay", "arguments": {}}]}, "wrong_function"),
        (BOOKED, {"required": WANTED, "others": "refused"}, "correct"),
        (BOOKED, {"required": WANTED[1:], "others": "refused"}, "extra_call"),
        (BOOKED, {"required": WANTED[1:], "others": "refused", "reads": ["find"]}, "correct"),
        ([calls(BOOK, BOOK)], {"required": WANTED[1:], "others": "refused"}, "extra_call"),
        ([says("No flight.")], {"required": [], "others": "refused"}, "correct"),
        ([calls(BOOK), tool_result("ok")], {"required": [], "others": "refused"}, "extra_call"),
        (BOOKED, {"forbidden": ["cancel"]}, "correct"),
        ([*BOOKED, calls(CANCEL)], {"forbidden": ["cancel"]}, "forbidden_call"),
        ([*BOOKED, calls(CANCEL)], {"forbidden": [{"name": "cancel", "arguments": {"flight": "LH2"}}]}, "correct"),
        (
            [*BOOKED, calls(CANCEL)],
            {"forbidden": [{"name": "cancel", "arguments": {"flight": "LH1"}}]},
            "forbidden_call",
        ),
        (BOOKED, {"max_steps": 3}, "correct"),
        (BOOKED, {"max_steps": 2}, "too_many_steps"),
        (BOOKED, {"max_calls": 2}, "correct"),
        (BOOKED, {"max_calls": 1}, "too_many_calls"),
        (BOOKED, {"max_repeats": 1}, "correct"),
        ([*BOOKED, calls(BOOK)], {"max_repeats": 1}, "repeated_call"),
        ([calls(BOOK), calls(("book", {"flight": "LH2"}))], {"max_repeats": 1}, "correct"),
    ],
)
def test_a_part_holds_or_says_why_not(found: Found, messages: list[JSON], params: JSON, reason: str) -> None:
    verdict = found.judge("trajectory", messages, **params)
    assert (verdict.status, verdict.reason, verdict.score) == (Status.OK, reason, float(reason == "correct"))


def user(text: str) -> JSON:
    return {"role": "user", "content": text}


ASKED = [user("Book LH1."), says("LH1 costs 1,010 dollars. Shall I book it?")]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([*ASKED, user("yes"), calls(FIND), tool_result("LH1"), calls(BOOK)], "correct"),
        ([*ASKED, user("Yes, please."), calls(BOOK), tool_result("ok"), says("Done."), user("Thanks")], "correct"),
        ([*ASKED, calls(FIND)], "correct"),
        ([*ASKED, user("Hm."), user("Go ahead"), calls(BOOK)], "correct"),
        ([*ASKED, user("No."), calls(BOOK)], "unconfirmed_call"),
        ([*ASKED, user("yesterday?"), calls(BOOK)], "unconfirmed_call"),
        ([*ASKED, calls(BOOK)], "unconfirmed_call"),
        ([user("yes"), calls(BOOK)], "unconfirmed_call"),
        ([*ASKED, user("yes"), says("Done."), user("And LH2?"), calls(BOOK)], "unconfirmed_call"),
        ([*ASKED, user("yes"), calls(BOOK), user("yes"), calls(BOOK)], "unconfirmed_call"),
        ([*ASKED, user("No."), says('<tool_call>{"name": "book", "arguments": {}}</tool_call>')], "unconfirmed_call"),
    ],
)
def test_calls_that_want_the_users_consent_come_after_it(found: Found, messages: list[JSON], reason: str) -> None:
    verdict = found.judge("trajectory", messages, confirmed=["book", "cancel"])
    assert (verdict.status, verdict.reason, verdict.score) == (Status.OK, reason, float(reason == "correct"))


def test_what_consent_is_may_be_said_in_another_language(found: Found) -> None:
    messages = [user("Buche."), says("Soll ich?"), user("ja, gern"), calls(BOOK)]
    assert found.judge("trajectory", messages, confirmed=["book"]).score == 0.0
    assert found.judge("trajectory", messages, confirmed=["book"], consent_pattern="(?i)^ja").score == 1.0


@pytest.mark.parametrize(
    ("outputs", "reason"),
    [
        (["1010"], "correct"),
        (["1,010", "lh1", "done"], "correct"),
        (["10"], "missing_output"),
        (["LH"], "missing_output"),
        (["1010", "7"], "missing_output"),
        (["secret"], "missing_output"),
    ],
)
def test_outputs_are_said_in_any_message_of_the_assistant(found: Found, outputs: list[str], reason: str) -> None:
    thinks = says("<think>secret</think>Done, have a nice day.")
    verdict = found.judge("trajectory", [*ASKED, user("7"), calls(BOOK), tool_result("7"), thinks], outputs=outputs)
    assert (verdict.status, verdict.reason, verdict.score) == (Status.OK, reason, float(reason == "correct"))


def test_the_answer_may_stand_in_an_earlier_message(found: Found) -> None:
    messages = [*ASKED, user("yes"), calls(BOOK), tool_result("1010"), says("<think>4711</think>Done.")]
    contains = {"metric": "contains", "turn": "all"}
    for reference, params, score in (
        ("LH1", contains, 1.0),
        ("LH1", {"metric": "contains"}, 0.0),
        ("4711", contains, 0.0),
    ):
        answer = {"verifier": "qa", "params": params}
        assert found.judge("trajectory", messages, reference=reference, answer=answer).score == score


def test_a_reference_for_others_is_no_call(found: Found) -> None:
    assert found.judge("trajectory", BOOKED, reference="12", max_steps=3).score == 1.0
    assert found.judge("trajectory", BOOKED, reference="12", forbidden=["cancel"]).score == 1.0
    assert found.judge("trajectory", BOOKED, reference=WANTED, others="refused").score == 1.0


def test_text_with_calls_is_judged_like_messages(found: Found) -> None:
    text = f"<tool_call>{json.dumps(WANTED[1])}</tool_call>"
    assert found.judge("trajectory", text, required=WANTED[1:]).score == 1.0
    assert found.judge("trajectory", text, forbidden=["book"]).reason == "forbidden_call"
    assert found.judge("trajectory", text.replace("}}", "}"), forbidden=["book"]).reason == "malformed_call"


@pytest.mark.parametrize(
    ("results", "params", "recovered"),
    [
        ([tool_result("ok")], {}, True),
        ([tool_result('{"error": "no such flight"}')], {}, False),
        ([tool_result('{"error": null}')], {}, True),
        ([tool_result("no", is_error=True)], {}, False),
        ([tool_result("no", status="error")], {}, False),
        ([tool_result("Traceback: x")], {}, True),
        ([tool_result("Traceback: x")], {"error_pattern": "^Traceback"}, False),
        ([tool_result("no", is_error=True), calls(BOOK), tool_result("ok")], {}, True),
        ([tool_result("no", is_error=True), calls(FIND), tool_result("ok")], {}, False),
        ([tool_result("no", is_error=True), says("I give up.")], {}, False),
        ([tool_result("ok"), calls(BOOK), tool_result("no", is_error=True)], {}, False),
    ],
)
def test_an_error_is_recovered_by_a_call_of_the_same_function(
    found: Found, results: list[JSON], params: JSON, recovered: bool
) -> None:
    verdict = found.judge("trajectory", [calls(BOOK), *results], recovered=True, **params)
    assert verdict.reason == ("correct" if recovered else "unrecovered_error")


_NO = tool_result("Error: no seats")


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([calls(CANCEL), _NO, calls(BOOK), tool_result("ok")], "correct"),
        ([calls(BOOK), _NO, calls(BOOK), tool_result("ok")], "correct"),
        ([calls(CANCEL, BOOK), _NO, tool_result("ok")], "correct"),
        ([calls(BOOK, CANCEL), tool_result("ok"), tool_result("no", is_error=True)], "correct"),
        ([calls(BOOK), _NO], "missing_call"),
        ([calls(CANCEL), tool_result("ok"), calls(BOOK), _NO], "wrong_function"),
        ([calls(CANCEL), tool_result("ok"), calls(BOOK), tool_result("ok")], "extra_call"),
        ([calls(BOOK), tool_result("ok"), calls(CANCEL)], "extra_call"),
        ([says('<tool_call>{"name": "cancel", "arguments": {}}</tool_call>'), _NO, calls(BOOK)], "correct"),
        ([says('<tool_call>{"name": "cancel", "arguments": {}}</tool_call>\nError: no'), calls(BOOK)], "extra_call"),
    ],
)
def test_a_call_that_ended_in_an_error_changed_nothing(found: Found, messages: list[JSON], reason: str) -> None:
    params: JSON = {"required": WANTED[1:], "others": "refused", "reads": ["find"], "error_pattern": "^Error"}
    assert found.judge("trajectory", messages, **params).reason == reason
    assert found.judge("trajectory", messages, required=WANTED[1:]).reason == "correct"


_READS = [
    "get_user_details", "get_reservation_details", "list_all_airports", "search_direct_flight", "search_onestop_flight",
    "calculate", "think", "transfer_to_human_agents",
]  # fmt: skip


@pytest.mark.parametrize("row", [json.loads(line) for line in (DATA / "tau_bench.jsonl").read_text().splitlines()])
def test_episodes_of_tau_bench_get_its_rewards(found: Found, row: JSON) -> None:
    required = [
        {"name": action["name"], "arguments": action["kwargs"]}
        for action in row["actions"]
        if action["name"] not in _READS
    ]
    params: JSON = {"required": required, "others": "refused", "reads": _READS, "error_pattern": "^Error"}
    if row["outputs"]:
        params["outputs"] = row["outputs"]
    assert found.judge("trajectory", row["traj"], **params).score == row["reward"]


def test_results_belong_to_calls_by_their_ids(found: Found) -> None:
    both = calls(FIND, BOOK)
    for place, call in enumerate(both["tool_calls"]):
        call["id"] = str(place)
    results = [tool_result("ok", tool_call_id="1"), tool_result("no", tool_call_id="0", is_error=True)]
    again = [*results, calls(FIND), tool_result("ok")]
    assert found.judge("trajectory", [both, *results], recovered=True).score == 0.0
    assert found.judge("trajectory", [both, *again], recovered=True).score == 1.0


@pytest.mark.parametrize(
    ("reports", "params", "reason"),
    [
        ([{"role": "environment", "content": '{"seats": 3, "paid": true}'}], {}, "correct"),
        ([{"role": "environment", "content": '{"seats": 3.0, "paid": true}'}], {}, "correct"),
        ([{"role": "environment", "content": '{"seats": 3, "paid": true, "x": 1}'}], {}, "wrong_state"),
        (
            [{"role": "environment", "content": '{"seats": 3, "paid": true, "x": 1}'}],
            {"state_match": "subset"},
            "correct",
        ),
        ([{"role": "environment", "content": '{"seats": 3, "paid": 1}'}], {}, "wrong_state"),
        ([tool_result('{"seats": 3, "paid": true}', name="get_state")], {"state_from": "get_state"}, "correct"),
        ([{"role": "environment", "content": '{"seats": 3, "paid": true}'}] * 2 + [tool_result("{}")], {}, "correct"),
        (
            [{"role": "environment", "content": text} for text in ('{"seats": 3, "paid": true}', '{"seats": 2}')],
            {},
            "wrong_state",
        ),
    ],
)
def test_the_state_is_what_the_environment_reports_last(
    found: Found, reports: list[JSON], params: JSON, reason: str
) -> None:
    verdict = found.judge("trajectory", [*BOOKED, *reports], state={"seats": 3, "paid": True}, **params)
    assert verdict.reason == reason


@pytest.mark.parametrize(
    "report", [tool_result('{"seats": 3}'), says('{"seats": 3}'), {"role": "environment", "content": "three"}]
)
def test_without_a_state_there_is_no_judgement(found: Found, report: JSON) -> None:
    verdict = found.judge("trajectory", [*BOOKED, report], state={"seats": 3})
    assert (verdict.status, verdict.reason, verdict.score) == (Status.INVALID, "no_state", None)


def test_the_answer_is_judged_by_another_verifier(found: Found) -> None:
    asked: JSON = {"answer": {"verifier": "math"}, "reference": "12", "required": WANTED}
    verdict = found.judge("trajectory", BOOKED, **asked)
    assert (verdict.score, verdict.reason, verdict.extracted) == (1.0, "correct", "12")
    assert verdict.detail["parts"] == {"required": 1.0, "answer": 1.0}
    wrong = found.judge("trajectory", [*BOOKED[:-1], says("\\boxed{13}")], **asked)
    assert (wrong.score, wrong.reason) == (0.0, "wrong_answer")
    half = found.judge("trajectory", [*BOOKED[:-1], says("\\boxed{13}")], **asked, credit="mean", weights={"answer": 3})
    assert half.score == 0.25
    own: JSON = {"answer": {"verifier": "math", "reference": "12"}, "reference": WANTED, "required": WANTED}
    assert found.judge("trajectory", BOOKED, **own).score == 1.0


@pytest.mark.parametrize("end", [calls(BOOK), says("")])
def test_a_conversation_that_ends_without_an_answer_has_none(found: Found, end: JSON) -> None:
    verdict = found.judge("trajectory", [*BOOKED, end], answer={"verifier": "math"}, reference="12")
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "no_answer")


def test_answers_of_one_call_are_given_to_their_items(found: Found) -> None:
    entry = found.registry["trajectory"]
    params = entry.verifier.params.model_validate({"answer": {"verifier": "math"}, "reference": "12"})
    texts = [f"\\boxed{{{12 + number % 3}}}" for number in range(150)]
    verdicts = found.score(entry, [Item(text, params) for text in texts])
    assert [verdict.score for verdict in verdicts] == [float(number % 3 == 0) for number in range(150)]


def test_no_judgement_of_the_answer_is_no_score(found: Found) -> None:
    without_judges = registry.load(Resources(workers=Workers(1)))["trajectory"]
    params = TrajectoryParams(answer=Answer(verifier="judge"), reference="12")
    conversation = dialects.read(BOOKED)
    item = Item(conversation.text("last"), params, conversation=conversation)
    assert found.score(without_judges, [item])[0].score is None
    bad = found.judge("trajectory", BOOKED, answer={"verifier": "math"}, reference="\\frac{")
    assert (bad.status, bad.reason) == (Status.INVALID, "unparseable_reference")


def test_what_nobody_judges_is_wrong(found: Found) -> None:
    shown = {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    verdict = found.judge("trajectory", [*BOOKED, shown], max_steps=9)
    assert (verdict.score, verdict.reason, verdict.detail) == (0.0, "unjudged_parts", {"unjudged": ["image_url"]})


@table(
    ("params", "message"),
    [
        ({}, "nothing is asked"),
        ({"others": "refused", "max_steps": 1}, "others: refused goes with required"),
        (
            {"max_steps": 1, "weights": {"answer": 1}},
            "weights must be numbers from 0, for the given parts only: max_steps",
        ),
        ({"max_steps": 1, "weights": {"max_steps": -1}}, "weights must be numbers from 0"),
        ({"max_steps": 1, "credit": "mean", "weights": {"max_steps": 0}}, "at least one part must have more than 0"),
        ({"max_steps": 0}, "greater than or equal to 1"),
    ],
)
def test_parameters_that_ask_for_nothing_are_refused(params: JSON, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TrajectoryParams.model_validate(params)


@pytest.mark.parametrize(
    "params",
    [
        {"required": "no call"},
        {"required": [["f()"], ["g()"]]},
        {"forbidden": [{"arguments": {}}]},
        {"recovered": True, "error_pattern": "(?=x)"},
    ],
)
def test_what_is_no_call_or_pattern_is_the_callers_to_mend(found: Found, params: JSON) -> None:
    assert found.judge("trajectory", BOOKED, **params).reason == "bad_params"


@pytest.mark.accuracy(beyond=1)
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"verifier": "nosuch"}, "is not a verifier of text"),
        ({"verifier": "tool_call"}, "is not a verifier of text"),
        ({"verifier": "math", "params": {"nosuch": 1}}, "answer: params.nosuch"),
    ],
)
def test_an_answer_that_nobody_can_judge_is_told_before(found: Found, answer: JSON, message: str) -> None:
    verifier = found.registry["trajectory"].verifier
    with pytest.raises(InvalidItem, match=message):
        verifier.judged_with(TrajectoryParams.model_validate({"answer": answer, "reference": "1"}))
