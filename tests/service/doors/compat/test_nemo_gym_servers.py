"""Rows of NeMo-Gym's servers get the rewards of these."""

import json
from typing import Any

import pytest

from service.doors.compat.nemo_gym import VERIFY
from tests.conftest import Served
from tests.service.doors.compat.recorded import FOLDER, JSON, answer, post
from tests.service.doors.compat.test_nemo_gym import said
from verifiers.nemo_gym import SERVERS

ROLLOUTS = [json.loads(line) for line in (FOLDER.parent / "nemo_gym" / "rollouts.jsonl").read_text().splitlines()]
BASE = VERIFY.removesuffix("/verify")
WE_DIFFER = {("mcqa", 0.0)}
"""Rows that the original does not pay: a right letter with its option's text in the box."""


def verified(served: Served, server: str, row: JSON) -> JSON:
    rewarded: JSON = answer(served, f"{BASE}/{server}/verify", {name: row[name] for name in row if name != "reward"})
    return rewarded


def test_recorded_rollouts_get_the_rewards_of_their_servers(served: Served) -> None:
    for rollout in ROLLOUTS:
        server, row = rollout["server"], rollout["row"]
        if (server, row["reward"]) not in WE_DIFFER:
            assert verified(served, server, row)["reward"] == pytest.approx(row["reward"], abs=1e-9), server


def test_a_server_may_be_named_in_the_query_or_by_the_agent(served: Served) -> None:
    row = said("Final Answer: [a]", expected_answer='["a"]')
    assert answer(served, f"{VERIFY}?server=graphwalks", row)["reward"] == 1.0
    assert answer(served, VERIFY, {**row, "agent_ref": {"name": "graphwalks_simple_agent"}})["reward"] == 1.0


def test_a_server_whose_rows_are_not_judged_here_is_refused(served: Served) -> None:
    refused = post(served, f"{BASE}/blackjack/verify", said("hit", expected_answer="21"))
    assert refused.status_code == 422
    assert "'blackjack'" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("server", "text", "fields"),
    [
        ("mcqa", "\\boxed{4}", {"expected_answer": "4"}),
        ("code_gen", "\\boxed{4}", {"expected_answer": "4"}),
        ("code_gen", "\\boxed{A}", {"expected_answer": "A", "options": [{"A": "x"}, {"B": "y"}]}),
        ("xlam_fc", "hi", {"expected_answers": [], "expected_answer": "hi"}),
    ],
)
def test_no_row_is_judged_as_another_servers(served: Served, server: str, text: str, fields: JSON) -> None:
    assert post(served, f"{BASE}/{server}/verify", said(text, **fields)).status_code == 422


def test_fields_of_another_server_do_not_count(served: Served) -> None:
    row = said("\\boxed{A}", expected_answer="B", options=[{"A": "x"}, {"B": "y"}], expected_answers=[])
    assert answer(served, f"{BASE}/mcqa/verify", row)["reward"] == 0.0


def test_a_response_that_holds_json_is_judged(served: Served) -> None:
    row = said('",' * 300_000 + "\\boxed{4}", expected_answer="4")
    assert answer(served, f"{BASE}/math_with_judge/verify", row)["score"] in (0.0, 1.0)


NODES = {"expected_answer": '["a", "b"]'}
MUST: dict[str, list[tuple[JSON, str, float | None]]] = {
    "graphwalks": [
        (NODES, "Final Answer: [b, a]", 1.0),
        (NODES, "Final Answer: [a]\nThat is all.", 0.0),
        (NODES, "Final Answer: [a, b, c]", 0.8),
        ({"expected_answer": "[]"}, "Final Answer: []", 1.0),
        ({"expected_answer": "a, b"}, "Final Answer: [a, b]", None),
    ],
    "lc_niah": [(NODES, "Final Answer: ['b', \"a\"]", 1.0)],
    "mrcr": [
        ({"expected_answer": "xyab", "random_string_to_prepend": "xy"}, "xyab", 1.0),
        ({"expected_answer": "xyab", "random_string_to_prepend": "xy"}, "ab", 0.0),
        ({"expected_answer": "xyab"}, "xyab", None),
    ],
    "equivalence_rule": [
        ({"expected_answer": "A  b"}, "a B\n", 1.0),
        ({"expected_answer": "ab", "grading_rule": "seq_match"}, "ab cd", 4 / 7),
        ({"expected_answer": "ab", "grading_rule": "soundex"}, "ab", None),
    ],
    "ruler": [
        ({"outputs": ["1", "22"], "subset": "vt"}, "It is 22.", 0.5),
        ({"outputs": [""], "subset": "vt"}, "x", None),
        ({"outputs": ["Rome", "ROM"], "subset": "qa_1"}, "rome", 1.0),
        ({"subset": "vt"}, "22", None),
    ],
    "ruler2": [
        ({"expected_answer": ["one two"]}, "one three", 0.5),
        ({"expected_answer": ["one two"], "match_type": "2steps"}, "one two\n\nno", 0.0),
        ({"expected_answer": ["one two"], "match_type": "part"}, "Document 1: one\ntwo\n\nthree four", 0.0),
    ],
    "imo_gradingbench": [
        ({"expected_answer": "almost"}, "So: **Almost**.", 1.0),
        ({"expected_answer": "almost"}, "almost correct", 0.0),
        ({"expected_answer": "good"}, "almost", None),
    ],
    "math_proof_judgement": [
        ({"expected_judgement": "Judgement: No"}, "**Judgement**: **No**, as Yes fails", 1.0),
        ({"expected_judgement": "Judgement: No"}, "No.", 0.0),
    ],
    "ragtruth": [
        ({"is_halu": False}, '```json\n{"hallucination list": []}\n```', 1.0),
        ({"is_halu": False}, "I see none.", 0.0),
        ({"is_halu": True}, '{"hallucination list": ["x"]}', 1.0),
        ({}, '{"hallucination list": ["x"]}', None),
    ],
    "circle_count": [
        ({"target_color": "red", "circles": [{"color": "red"}, {"color": "blue"}]}, "\\boxed{1}", 1.0),
        ({"target_color": "red", "circles": [{"color": "red"}]}, "\\boxed{1} \\boxed{2}", 0.0),
    ],
    "spartqa": [
        ({"target": "both of them", "options": ["a cat", "a dog"]}, "Final answer: both", 1.0),
        ({"target": "the cat", "options": ["the cat", "the big cat"]}, "Final answer: the big cat", 0.0),
        ({"target": "the cat", "options": ["the cat", "the dog"]}, "Answer: the cat or the dog", 0.0),
        ({"target": "a bird", "options": ["the cat", "the dog"]}, "a bird", None),
    ],
    "format_verification": [
        ({"verifier": {"type": "string_match", "expected_markers": ["#1"], "patterns": ["#\\d"]}}, "#1 a", 1.0),
        ({"verifier": {"type": "string_match", "expected_markers": ["#1"], "patterns": ["#\\d"]}}, "#1 #2", 0.0),
        ({"verifier": {"type": "regex", "verify_regex": ["(?=a)"]}}, "a", None),
        ({"verifier": {"type": "poem"}}, "a", None),
    ],
    "structeval": [
        ({"output_type": "JSON", "raw_output_metric": ["a[0].b", "a.*.c"]}, '```json\n{"a": [{"b": 1}]}\n```', 0.6),
        ({"output_type": "YAML", "raw_output_metric": ["a.`b.c`"]}, "a:\n  b.c: 1", 1.0),
        ({"output_type": "JSON", "raw_output_metric": ["a"]}, "{", 0.0),
        ({"output_type": "SVG", "raw_output_metric": ["a"]}, "<svg/>", None),
    ],
    "single_step_tool_use_with_argument_comparison": [
        ({"expected_action": {"type": "message", "content": "x"}}, "Any message.", 1.0),
        ({"expected_action": {"type": "function_call", "name": "f", "arguments": "{}"}}, "No.", 0.0),
        ({"expected_action": {"type": "dance"}}, "No.", None),
    ],
    "simpleqa": [
        ({"judge_output": "The grade is A.", "extracted_answer": "Rome"}, "Rome", 1.0),
        ({"judge_output": "The grade is B.", "extracted_answer": "Rome"}, "Rome", 0.0),
        ({"judge_output": "The grade is A.", "extracted_answer": "Rome"}, "Paris", None),
        ({"judge_output": "A good answer?", "extracted_answer": "Rome"}, "Rome", 1.0),
        ({"judge_output": "Well.", "extracted_answer": "Rome"}, "Rome", None),
        ({}, "Rome", None),
    ],
    "abstention": [({"judge_output": "D", "extracted_answer": "I don't know"}, "I don't know", 0.5)],
    "frontierscience_judge": [({"judge_output": "Judgement: NO", "extracted_answer": "4"}, "4", 0.0)],
}


@pytest.mark.parametrize("server", MUST)
def test_each_server_pays_what_it_should(served: Served, server: str) -> None:
    assert server in SERVERS
    for row, text, reward in MUST[server]:
        answered = post(served, f"{BASE}/{server}/verify", said(text, **row))
        judged: Any = answered.json().get("reward") if answered.status_code == 200 else None
        assert judged == (reward if reward is None else pytest.approx(reward)), (row, text, answered.text)


def test_words_of_a_judge_about_an_unknown_response_count_only_if_the_caller_vouches(served: Served) -> None:
    row = said("164,000", judge_text="It is right: [[2]]")
    assert post(served, f"{BASE}/finance_sec_search/verify", row).status_code == 422
    assert answer(served, f"{BASE}/finance_sec_search/verify?replay=true", row)["reward"] == 1.0
    assert post(served, f"{BASE}/finance_sec_search/verify", {**row, "replay": True}).status_code == 422
