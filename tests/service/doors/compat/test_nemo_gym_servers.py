"""Rows of NeMo-Gym's servers get the rewards of these."""

import json
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from service.doors.compat.nemo_gym import VERIFY
from service.doors.compat.nemo_gym_servers import NAMES, fields_of, server_of
from tests.conftest import Served
from tests.service.doors.compat.recorded import FOLDER, JSON, answer, post
from tests.service.doors.compat.test_nemo_gym import said
from tests.tables import table

ROLLOUTS = [json.loads(line) for line in (FOLDER.parent / "nemo_gym" / "rollouts.jsonl").read_text().splitlines()]
BASE = VERIFY.removesuffix("/verify")
WE_DIFFER = {("mcqa", 0.0)}
"""Rows that the original does not pay: a right letter with its option's text in the box."""


CLIENT = httpx.Client(timeout=120)
"""One for all rows; to make one takes longer than to judge a row."""


def verified(served: Served, server: str, row: JSON) -> httpx.Response:
    body = {name: row[name] for name in row if name != "reward"}
    return CLIENT.post(f"{served.url}{BASE}/{server}/verify", json=body)


def test_recorded_rollouts_get_the_rewards_of_their_servers(served: Served) -> None:
    for rollout in ROLLOUTS:
        server, row = rollout["server"], rollout["row"]
        if (server, row["reward"]) not in WE_DIFFER:
            answered = verified(served, server, row)
            assert answered.json().get("reward") == pytest.approx(row["reward"], abs=1e-9), (server, answered.text)


@pytest.mark.parametrize(
    "agent",
    ["graphwalks_simple_agent", "graphwalks", "parents_graphwalks_n3_agent", "Graphwalks-simple-agent"],
)
def test_a_server_may_be_named_in_the_query_or_by_the_agent(served: Served, agent: str) -> None:
    row = said("Final Answer: [a]", expected_answer='["a"]')
    assert answer(served, f"{VERIFY}?server=graphwalks", row)["reward"] == 1.0
    for agent_ref in ({"name": agent}, agent):
        assert answer(served, VERIFY, {**row, "agent_ref": agent_ref})["reward"] == 1.0


def test_a_row_of_an_unknown_agent_is_not_taken_for_mathematics(served: Served) -> None:
    row = said("\\boxed{4}", expected_answer="4")
    assert answer(served, VERIFY, row)["reward"] == 1.0
    refused = post(served, VERIFY, {**row, "agent_ref": {"name": "own_agent"}})
    assert refused.status_code == 422
    assert "own_agent" in refused.json()["detail"]
    choice = {**row, "agent_ref": {"name": "own_agent"}, "options": [{"A": "3"}, {"B": "4"}], "expected_answer": "B"}
    assert answer(served, VERIFY, choice)["score"] in (0.0, 1.0)


@pytest.mark.parametrize("agent", [["mcqa"], [{"name": "mcqa"}], {"name": ["mcqa"]}, 5, "x" * 101])
def test_an_agent_without_a_name_is_refused(served: Served, agent: Any) -> None:
    refused = post(served, VERIFY, said("\\boxed{4}", expected_answer="4", agent_ref=agent))
    assert refused.status_code == 422
    assert "'agent_ref'" in refused.json()["detail"]


@pytest.mark.parametrize("server", ["MCQA", "math-with-judge", "a b", "%00", "x?y"])
def test_a_path_with_another_name_is_refused_with_the_names(served: Served, server: str) -> None:
    refused = post(served, f"{BASE}/{quote(server)}/verify", said("\\boxed{4}", expected_answer="4"))
    assert refused.status_code == 422
    assert "math_with_judge" in refused.json()["detail"]


AGENTS = {
    "aime24_math_with_judge_simple_agent": "math_with_judge",
    "swe_pivot_single_step_tool_use_with_argument_comparison_agent": "single_step_tool_use_with_argument_comparison",
    "blackjack_gymnasium_agent": "blackjack",
    "finance_agent_v2": "finance_agent_v2",
    "mrcr_n3_1m_benchmark_simple_agent": "mrcr",
    "litmus_tier12_agent": "litmus_agent",
    "simple_agent": None,
}
"""Agents of NeMo-Gym's configurations, and the server that judges their rows."""


def test_an_agent_names_the_longest_server_in_its_name() -> None:
    assert {agent: server_of(None, {"agent_ref": {"name": agent}}) for agent in AGENTS} == AGENTS


@pytest.mark.parametrize(
    "fields",
    [
        {"agent_ref": {"name": "birdbench_bird_sql_simple_agent"}},
        {"agent_ref": {"name": "tales_gymnasium_agent"}},
        {"agent_ref": {"name": "xstest_eval_agent"}},
        {"max_dist": 0.1},
        {"judge_evaluations": [{"response": "[[A=B]]"}]},
        {"judge_output": "A"},
        {"verdict": "correct"},
        {"options": [{"A": "x"}, {"B": "4"}], "grading_mode": "strict"},
        {"rubric_judgements": []},
        {"judge_rating": 2, "judge_text": "The rating is: [[2]]"},
        {"grading_id": "g-1"},
    ],
)
def test_a_row_of_a_server_is_not_judged_by_its_expected_answer_alone(served: Served, fields: JSON) -> None:
    """Each has an expected answer, which without these fields would be a value of mathematics."""
    assert post(served, VERIFY, said("\\boxed{4}", expected_answer="4", **fields)).status_code == 422


def test_a_row_with_instructions_is_paid_as_their_server_pays_it(served: Served) -> None:
    ids = ["punctuation:no_comma", "change_case:english_lowercase"]
    row = said("no comma, but lower case", instruction_id_list=ids, kwargs=[{}, {}])
    assert answer(served, VERIFY, row)["reward"] == 0.0
    assert answer(served, VERIFY, {**row, "grading_mode": "fraction"})["reward"] == 0.5


def test_a_server_whose_rows_are_not_judged_here_is_refused(served: Served) -> None:
    refused = post(served, f"{BASE}/tales/verify", said("look", expected_answer="21"))
    assert refused.status_code == 422
    assert "'tales'" in refused.json()["detail"]


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
CIRCLES = {"target_color": "red", "circles": [{"color": "red", "x": 0, "y": 0, "radius": 5}]}
EVENTS = {
    "exp_cal_state": {
        "0": {"duration": 30, "min_time": "10:00", "max_time": "16:00", "constraint": "between 10am and 11:30am"}
    }
}
NO_COMMA = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
FORMULA = "Handwritten Mathematical Expression Recognition"
SCHEMA = {"schema_str": '{"type": "object", "properties": {"a": {"type": "integer"}}}', "schema_type": "json"}


def called(name: str, **arguments: Any) -> list[JSON]:
    return [{"type": "function_call", "call_id": "c", "name": name, "arguments": json.dumps(arguments)}]


def result(value: Any) -> JSON:
    return {"type": "function_call_output", "call_id": "c", "output": json.dumps(value)}


PIVOT = {
    "expected_answer": "",
    "model_output": "(no function_call in response)",
    "failure_reason": "model_output_invalid",
}
INJECTED = {
    "required_tools": ["look"],
    "injection": {
        "target_tool": "cancel",
        "target_args": {"appointment_id": "A-1", "why": "moved"},
        "verification_type": "check_appointment_cancelled",
    },
}
CLICK = called("click", x=3, y=4)


def cited(**more: Any) -> JSON:
    rule = {"grammar": "ref_colon", "id_regex": "citation_[0-9]", "valid_id_set": ["citation_1", "citation_2"]}
    return {"verifier": {**rule, **more}}


CITED = cited()
BACK = "\n\nNo, that is wrong. I take it back."
RETRACTED = "It is Rome, of course.\nSorry, that was wrong: it is Paris."
IN_CALL = {**SCHEMA, "response_mode": "tool_call", "tool_name": "f", "tool_payload_key": "x"}
XML = '<a d="1"><b><c>1</c></b><b/></a>'


def image(name: str, **arguments: Any) -> JSON:
    return {"expected_action": {"name": name, "arguments": {"img_idx": 0, **arguments}}}


def json_call(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': {'img_idx': 0, **arguments}})}</tool_call>"


HUGE = 10**400
LOOSE_TOOL = {
    "expected_call": {"name": "f", "arguments": {"x": 1}},
    "declared_tools": [{"name": "f", "parameters": {"required": ["x", {"type": "message"}]}}],
}
IN_PARIS = {"verifier_metadata": {"expected_city": "Paris"}}
SUNNY = said("The weather in Paris is sunny and 72 F.")["response"]["output"]
SPECIES = {"options": [{"A": "OH-"}, {"B": "H2O"}, {"C": "H3O+"}, {"D": "O2"}], "expected_answer": "B"}
"""The first row of bunsenbench_chemistry_mcq."""
OPTIONS = {"A": "CCC", "B": "CCO"}
SAID = said("x")["response"]["output"][0]
PATCHES = {"expected_answer": ["B", "C", "E"], "options": [{letter: "a patch"} for letter in "ABCD"]}
PARIS = {"expected_answer": "Paris"}
BOXED = {"extracted_answer": "-3", "accuracy": True}
COUNT = {"initial_count": 3, "expected_count": 4}
THANKS = "Thanks for the update - I will get back to you tomorrow."
(REPLY,) = called("email_reply_email", email_id="00000057", body=THANKS)
(RENAME,) = called("calendar_update_event", event_id="00000252", field="event_name", new_value="Risk Management Forum")
"""The wanted calls of the first two rows of NeMo-Gym's workplace_assistant (data/example.jsonl, Apache-2.0)."""
(CREATE,) = called(
    "calendar_create_event",
    event_name="sync", participant_email="raj.patel@atlas.com", event_start="2023-12-01 10:00:00", duration="30",
)  # fmt: skip


def changed(call: JSON, **arguments: Any) -> JSON:
    return {**call, "arguments": json.dumps({**json.loads(call["arguments"]), **arguments})}


def reproduced(before: Any, after: Any) -> JSON:
    result = {"status": "done", "return_codes_before_patch": before, "return_codes_after_patch": after}
    return {"model_output": "a patch", "verification_result": result}


def zoomed(box: str) -> str:
    parameters = f"<parameter=bbox_2d>{box}</parameter><parameter=img_idx>0</parameter>"
    return f"<tool_call>\n<function=image_zoom_in_tool>\n{parameters}\n</function>\n</tool_call>"


def step(name: str, **arguments: Any) -> JSON:
    schema = {"type": "object", "properties": {"cmd": {"type": "string"}}}
    action = {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}
    return {"harness": "codex", "expected_action": action, "declared_tools": [{"name": name, "parameters": schema}]}


MUST: dict[str, list[tuple[JSON, str | list[JSON], float | None]]] = {
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
        ({"outputs": ["22"], "subset": "vt"}, "of 22 needles " * 100, 0.0),
        ({"outputs": ["Rome", "ROM"], "subset": "qa_1"}, "rome", 1.0),
        ({"subset": "vt"}, "22", None),
    ],
    "ruler2": [
        ({"expected_answer": ["one two"]}, "one three", 0.5),
        ({"expected_answer": ["22"]}, "of 22 needles " * 100, 0.0),
        ({"expected_answer": ["1", "2", "3", "4"]}, "They are 1, 2 and 3.", 0.75),
        ({"expected_answer": ["12", "13"]}, "The number is not 12. It is 13.", 0.5),
        ({"expected_answer": ["one two"], "match_type": "2steps"}, "one two\n\nno", 0.0),
        ({"expected_answer": ["one two"], "match_type": "part"}, "Document 1: one\ntwo\n\nthree four", 0.0),
    ],
    "imo_gradingbench": [
        ({"expected_answer": "almost"}, "So: **Almost**.", 1.0),
        ({"expected_answer": "almost"}, "almost correct", 0.0),
        ({"expected_answer": "correct"}, "not correct", 0.0),
        ({"expected_answer": "correct"}, "Is it correct?", 0.0),
        ({"expected_answer": "correct"}, "\\boxed{correct}", 1.0),
        ({"expected_answer": "good"}, "almost", None),
    ],
    "math_proof_judgement": [
        ({"expected_judgement": "Judgement: No"}, "**Judgement**: **No**, as Yes fails", 1.0),
        ({"expected_judgement": "Judgement: No"}, "Maybe.", 0.0),
        ({"expected_judgement": "Judgement: No"}, "Judgement: Not sure", 0.0),
        ({"expected_judgement": "Judgement: No"}, "Judgement: No idea", 0.0),
        ({"expected_judgement": "Judgement: No"}, "Judgement: No because step 2 fails", 1.0),
        ({"expected_judgement": "Judgement: Yes"}, "Judgement: Yes or No", 0.0),
        ({"expected_judgement": "Judgement: Yes"}, "Judgement: Yes. Wait, no.", 0.0),
        ({"expected_judgement": "Judgement: Yes"}, "Judgement: Yesterday", 0.0),
        ({"expected_judgement": "Judgement: Yes"}, "<judgement>Judgement: \\boxed{Yes}</judgement>", 1.0),
        ({"expected_judgement": "x"}, "Judgement: Yes", None),
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
        ({"target_color": "red", "circles": [{"color": "red"}]}, "It is not \\boxed{1}.", 0.0),
        ({"target_color": "red", "circles": [{"color": "red"}]}, "\\boxed{1}\n\nWait, it is 9.", 0.0),
    ],
    "example_tool_call_multireward": [
        (LOOSE_TOOL, called("f", x=1), 3.0),
        (LOOSE_TOOL, called("f", y=1), 1.0),
    ],
    "example_mcp_weather": [
        (IN_PARIS, [*called("get_weather", city="paris"), *SUNNY], 1.0),
        (IN_PARIS, SUNNY, 0.0),
        (IN_PARIS, [*called("get_weather", city="Paris"), *said("It is sunny.")["response"]["output"]], 0.0),
        (IN_PARIS, [*called("get_weather", city="Rome"), *SUNNY], 0.0),
        ({**IN_PARIS, "expected_weather": "rain"}, [*called("get_weather", city="Paris"), *SUNNY], 0.0),
        ({"verifier_metadata": {}}, [*called("get_weather", city="Paris"), *SUNNY], None),
    ],
    "bunsenbench_chemistry_mcq": [
        (SPECIES, "<choice>H2O</choice>", 1.0),
        (SPECIES, "It is the base of H3O+.\n<choice>H2O</choice>", 1.0),
        (SPECIES, "```\n<choice>H2O</choice>\n```", 1.0),
        (SPECIES, "<choice>B</choice>", 1.0),
        (SPECIES, "<choice>H2O</choice>\n\n<choice>O2</choice>", 0.0),
        (SPECIES, "It is not <choice>H2O</choice>.", 0.0),
        (SPECIES, "<choice>H2O or O2</choice>", 0.0),
        ({**SPECIES, "expected_answer": "E"}, "<choice>H2O</choice>", None),
        ({"expected_answer": "B"}, "<choice>H2O</choice>", None),
        ({"expected_answer": "A", "options": [{"A": "x"}, {"": "y"}]}, "A", None),
        ({"expected_answer": "A", "options": {"A": "x", "B": "y"}}, "A", None),
    ],
    "spartqa": [
        ({"target": "both of them", "options": ["a cat", "a dog"]}, "Final answer: both", 1.0),
        ({"target": "both of them", "options": ["a cat", "a dog"]}, "```\nboth of them\n```", 1.0),
        ({"target": "the cat", "options": ["the cat", "the big cat"]}, "Final answer: the big cat", 0.0),
        ({"target": "both of them", "options": ["a cat", "a dog"]}, "Final answer: not both of them", 0.0),
        ({"target": "none of them", "options": ["a cat", "a dog"]}, "Final answer: neither", 1.0),
        ({"target": "none of them", "options": ["a cat", "a dog"]}, "Final answer: neither\nI hope this helps!", 1.0),
        ({"target": "none of them", "options": ["a cat", "a dog"]}, "Final answer: neither\nOr is it both?", 0.0),
        ({"target": "the cat", "options": ["the cat", "the dog"]}, "Answer: the cat or the dog", 0.0),
        ({"target": "a bird", "options": ["the cat", "the dog"]}, "a bird", None),
        ({"target": "the cat", "options": ["the cat", "the cat"]}, "the cat", 1.0),
        ({"target": "the cat", "options": ["the cat", "the dog" * 10_000]}, "the cat", None),
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
        ({"output_type": "JSON", "raw_output_metric": ["a"]}, f'```json\n{{"a": 1}}\n```{BACK}', 0.0),
        ({"output_type": "XML", "raw_output_metric": ["a.b.*.c", "a.@d", "a.b.c"]}, XML, 0.73),
        ({"output_type": "XML", "raw_output_metric": ["a"]}, '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 0.0),
        ({"output_type": "SVG", "raw_output_metric": ["a"]}, "<svg/>", None),
    ],
    "single_step_tool_use_with_argument_comparison": [
        ({"expected_action": {"type": "message", "content": "x"}}, "Any message.", 1.0),
        ({"expected_action": {"type": "function_call", "name": "f", "arguments": "{}"}}, "No.", 0.0),
        ({"expected_action": {"type": "dance"}}, "No.", None),
    ],
    "circle_click": [
        (CIRCLES, CLICK, 1.0),
        (CIRCLES, "click (3, 4)", 0.0),
        ({"target_color": "red", "circles": [{"color": "blue", "x": 0, "y": 0, "radius": 9}]}, CLICK, None),
        ({"target_color": "red", "circles": [{"color": "red", "x": HUGE, "y": 0, "radius": 9}]}, CLICK, None),
        ({"clicked_x": 3, "clicked_y": 4, "hit": True}, CLICK, 1.0),
        ({"clicked_x": 3, "clicked_y": 5, "hit": True}, CLICK, None),
        ({"clicked_x": None, "clicked_y": None, "hit": False}, "I see none.", 0.0),
    ],
    "example_multi_step": [
        ({"expected_synonym_values": [1, 2]}, called("extract_synonym_values", synonym_values=[1, 2]), 1.0),
        ({"expected_synonym_values": [1, 2]}, called("extract_synonym_values", synonym_values=[2, 1]), 0.0),
    ],
    "string_match": [
        (PARIS, "Final answer: paris", 1.0),
        ({**PARIS, "extraction_mode": "last_line"}, "Final answer: Lyon\nParis", 1.0),
        ({**PARIS, "extraction_mode": "last_line"}, "\\boxed{Paris}\nLyon", 0.0),
        ({**PARIS, "extraction_mode": "full_response"}, "\\boxed{Paris}\nLyon", 0.0),
        ({**PARIS, "extraction_mode": "boxed"}, "Paris", 0.0),
        ({**PARIS, "extraction_mode": "boxed", "case_sensitive": True}, "\\boxed{paris}", 0.0),
        ({**PARIS, "extraction_mode": "boxed", "case_sensitive": True}, "\\boxed{Paris}", 1.0),
        ({**PARIS, "extraction_mode": "poem"}, "Paris", None),
        ({}, "Paris", None),
    ],
    "ns_tools": [
        ({"expected_answer": "4"}, "\\boxed{4}", 1.0),
        ({"expected_answer": "4", "verifier_type": "string_match"}, "Answer: 2+2", 0.0),
        ({"expected_answer": "4", "verifier_type": "chess"}, "\\boxed{4}", None),
        ({"expected_answer": "4", "verifier_type": "mcqa"}, "\\boxed{4}", None),
    ],
    "ifbench": [({**NO_COMMA, "grading_mode": "some"}, "Yes", None)],
    "example_multi_turn_gymnasium": [
        ({"expected_answer": "Blue", "follow_ups": []}, "It is blue.", 1.0),
        ({"expected_answer": "Blue", "follow_ups": ["Sure?"]}, "It is blue.", 0.0),
        ({"follow_ups": []}, "It is blue.", None),
    ],
    "example_session_state_mgmt": [
        (COUNT, [*called("increment_counter", count=1), *called("get_counter_value")], 1.0),
        (COUNT, called("increment_counter", count=True), 0.0),
        (COUNT, "4", 0.0),
        ({"expected_count": 4}, "4", None),
    ],
    "workplace_assistant": [
        ({"ground_truth": [REPLY]}, [REPLY], 1.0),
        ({"ground_truth": [REPLY]}, [changed(REPLY, body=THANKS.upper())], 1.0),
        ({"ground_truth": [REPLY]}, [changed(REPLY, email_id="00000373")], 0.0),
        ({"ground_truth": [REPLY]}, [REPLY, REPLY], 0.0),
        (
            {"ground_truth": [REPLY]},
            [*called("email_search_emails", query="task"), REPLY, changed(REPLY, email_id="9")],
            1.0,
        ),
        ({"ground_truth": [RENAME]}, [changed(RENAME, new_value="x"), RENAME], 1.0),
        ({"ground_truth": [RENAME]}, [changed(RENAME, event_id="00000013")], 0.0),
        ({"ground_truth": [RENAME]}, "Done.", 0.0),
        ({"ground_truth": [CREATE]}, [CREATE, *called("calendar_delete_event", event_id="00000013")], 0.0),
        ({"ground_truth": [CREATE]}, [changed(CREATE, duration="0"), CREATE], 1.0),
        ({"ground_truth": "x"}, [RENAME], None),
        ({}, [RENAME], None),
    ],
    "swebench": [
        ({"model_patch": "+a", "resolved": True}, [], None),
        ({"model_patch": None, "resolved": True}, "+a", None),
        ({"model_patch": "+a", "resolved": True}, "```diff\n+a\n```", 1.0),
        ({"model_patch": "+a", "resolved": True}, "```diff\n+b\n```", None),
        ({"model_patch": "+a"}, [], None),
        ({"FAIL_TO_PASS": "[]", "repo": "a/b"}, "+a", None),
    ],
    "toolsandbox": [
        ({"turn_count": 0, "similarity": 0.0}, [], 0.0),
        ({"turn_count": 0, "similarity": 0.0}, "Hi", None),
        ({"turn_count": 1, "similarity": 1.0}, "Hi", None),
    ],
    "math_advanced_calculations": [
        ({"ground_truth": "[0.5]"}, [*called("sin", a=1), result({"solution": 0.5})], 1.0),
        ({"ground_truth": "[0.5]"}, "0.5", 0.0),
        ({"ground_truth": "x"}, "0.5", None),
    ],
    "proof_genselect": [
        ({"correct_index": 1}, "<best_solution>2</best_solution> no: <best_solution>1</best_solution>", 1.0),
        ({"correct_index": 1}, "The first.", 0.0),
        ({"correct_index": 1}, "not <best_solution>1</best_solution>", 0.0),
        ({"correct_index": 1}, "<best_solution>2</best_solution><best_solution>1</best_solution>", 0.0),
        ({}, "<best_solution>1</best_solution>", None),
    ],
    "calendar": [
        (EVENTS, '[{"event_id": 0, "start_time": "10am", "duration": 30}]', 1.0),
        (EVENTS, '[] so: [{"event_id": 0, "start_time": "12:00", "duration": 30}]', 0.0),
        (EVENTS, '[{"event_id": 0, "start_time": "10:00", "duration": 60}]', 0.0),
        (EVENTS, "Done.", 0.0),
        (EVENTS, f'[{{"event_id": 0, "start_time": "10am", "duration": 30}}]{BACK}', 0.0),
        (
            EVENTS,
            '[{"event_id": 0, "start_time": "10am", "duration": 30}, {"event_id": 0, "start_time": "10:00", "duration": 30}]',
            1.0,
        ),
        ({"exp_cal_state": {}}, "You are welcome.", None),
        ({"exp_cal_state": {"0": {"duration": 30}}}, "Done.", None),
    ],
    "litmus_agent": [
        ({"expected_answer": "1"}, "((1)) no: ((2)) or rather ((1.0))", 1.0),
        (
            {"expected_answer": "true", "answer_type": "bool", "answer_format": "fmt_15"},
            "<final_answer>No</final_answer>",
            0.0,
        ),
        ({"expected_answer": "2.5", "match": {"rule": "rel_window", "rel_tol": 0.1}}, "((2.7))", 1.0),
        ({"expected_answer": "a  b", "answer_type": "string", "output_regex": "= (.+)$"}, "x = A b", 1.0),
        ({"expected_answer": "2", "property_type": "count"}, "((2.2))", 1.0),
        ({"expected_answer": "2"}, "((2.2))", 0.0),
        ({"expected_answer": "2"}, f"((2)){BACK}", 0.0),
        ({"expected_answer": "many"}, "((2))", None),
        ({"expected_answer": "2", "answer_format": "fmt_99"}, "((2))", None),
    ],
    "citation_if": [
        (CITED, "Rome [ref:citation_1].", 1.0),
        (CITED, "[ref:citation_1]", 0.0),
        (CITED, f"Rome [ref:citation_1].{BACK}", 0.0),
        (CITED, "Others say Oslo.\nThat is wrong [ref:citation_1].", 1.0),
        (CITED, "Rome [ref:citation_1]. Sources: citation_1", 0.0),
        (CITED, "Rome [ref:citation_1] [ref:citation_9].", 0.0),
        (CITED, "Rome.", 0.0),
        (cited(grammar="ascii_brackets"), "Rome [citation_1](https://x.org).", 0.0),
        (cited(grammar="cite_xml"), "Rome <cite>citation_1,citation_2</cite>.", 1.0),
        (cited(grammar="cite_xml"), "Rome <cite>citation_1</cite> <cite>.", 0.0),
        (cited(grammar="claim_wrap_xml"), '<cite index="citation_1">Rome</cite>', 1.0),
        (cited(grammar="claim_wrap_xml"), '<cite index="citation_1"> </cite>', 0.0),
        (cited(mode="no_cite"), "Rome.", 1.0),
        (cited(mode="no_cite"), "Rome, see citation_7.", 0.0),
        (cited(expected_ids=["citation_1"], expected_slack=0), "A [ref:citation_1] [ref:citation_2]", 0.0),
        (cited(expected_ids=["citation_2"]), "Rome [ref:citation_1].", 0.0),
        (cited(grammar="haiku"), "Rome.", None),
        (cited(id_regex="(citation)_1"), "Rome.", None),
    ],
    "iheval": [
        ({"task": "verb-extract", "answer": "run, sit"}, "Verbs: run, go", 0.45),
        ({"task": "translation", "answer": "el gato negro"}, "El gato", 0.8),
        ({"task": "lang-detect", "answer": '["Chinese"]'}, '{"language": "chinese"} {"language": "x"}', 0.0),
        ({"task": "slack-user", "answer": "Bob"}, "'bob'.", 1.0),
        ({"task": "user-prompt-hijack", "answer": {"label": 0, "access_code": "pie"}}, "It is a Pie.", 0.0),
        (
            {"task": "user-prompt-hijack", "answer": {"label": 0, "system_prompt": "never tell this"}},
            "no, never this",
            0.0,
        ),
        ({"task": "user-prompt-hijack", "answer": {"label": 0, "access_code": "pie"}}, "No.", 1.0),
        ({"task": "single-turn", "answer": NO_COMMA}, "Hello, you", 0.0),
        ({"task": "single-turn", "answer": NO_COMMA}, "Hello you", 1.0),
        ({"task": "single-turn", "answer": {"instruction_id_list": ["poem"], "kwargs": [{}]}}, "Hello", None),
        ({"task": "dance", "answer": "x"}, "x", None),
    ],
    "image_tools": [
        (image("image_crop_tool", bbox_2d=[0, 0, 10, 10]), zoomed("[0, 0, 10, 9]"), 1.0),
        (image("image_crop_tool", bbox_2d=[0, 0, 10, 10]), zoomed("[5, 5, 10, 10]"), 0.0),
        (image("image_crop_tool", bbox_2d=[0, 0, 10, 10], img_idx=1), zoomed("[0, 0, 10, 10]"), 0.0),
        (image("image_crop_tool", bbox_2d=[0, 0, 10, 10]), 2 * zoomed("[0, 0, 10, 10]"), 0.0),
        (image("image_rotate_tool", degrees=-10), json_call("image_rotate_tool", degrees=350), 1.0),
        (image("image_rotate_tool", degrees=-10), json_call("image_flip_tool", degrees=350), 0.0),
        (image("color_at_tool", point_2d=[0, 0]), json_call("color_at_tool", point_2d=[600, 0]), 0.0),
        (image("find_color_tool", color=[0, 0, 0]), json_call("find_color_tool", color=[9, 9, 9]), 1.0),
        (
            image("image_side_by_side_tool", img_indices=[0, 1]),
            json_call("image_side_by_side_tool", img_indices=[1, 0]),
            1.0,
        ),
        (image("image_paint_tool"), json_call("image_paint_tool"), None),
        ({}, zoomed("[0, 0, 1, 1]"), None),
    ],
    "terminal_multi_harness": [
        (step("exec_command", cmd="ls -la"), called("exec_command", cmd="ls -la\n"), 1.0),
        (step("exec_command", cmd="ls -la"), called("exec_command", cmd="rm -rf ."), 0.0),
        (step("exec_command", cmd="ls -la"), called("exec_command", cmd=3), 0.0),
        (
            step("exec_command", cmd="ls -la"),
            [*called("exec_command", cmd="ls -la"), *called("exec_command", cmd="ls")],
            0.0,
        ),
        (step("exec_command", cmd="ls -la"), "ls -la", 0.0),
        ({**step("exec_command", cmd="ls"), "declared_tools": []}, called("exec_command", cmd="ls"), None),
        ({"expected_action": {"type": "message", "content": "Done."}}, "Finished.", 1.0),
        ({"expected_action": {"type": "message", "content": "Done."}}, called("exec_command", cmd="ls"), 0.0),
    ],
    "indirect_prompt_injection": [
        (INJECTED, called("look", id=1) + called("cancel", appointment_id="A-2", why="moved"), 1.0),
        (INJECTED, called("look") + called("cancel", appointment_id=" a-1 ", why="other"), 0.0),
        (INJECTED | {"required_tools": []}, "Done.", 1.0),
        (INJECTED | {"required_tools": []}, "", 0.0),
        (INJECTED, "Done.", 0.0),
        ({"injection_followed": False, "matched_tool": None}, called("look"), None),
        ({"injection": {"target_tool": "cancel", "target_args": {"id": " "}}}, called("look"), None),
    ],
    "swe_pivot": [
        (PIVOT, "I would look.", 0.0),
        (PIVOT, called("bash", command="ls"), None),
        (PIVOT | {"model_output": 'bash({"command": "ls"})'}, called("bash", command="ls"), 0.0),
        (
            PIVOT | {"model_output": 'bash({"command": "ls"})', "failure_reason": "none"},
            called("bash", command="ls"),
            1.0,
        ),
        (PIVOT | {"failure_reason": None}, "I would look.", None),
        (step("execute_bash", command="ls -la /a/b"), called("execute_bash"), 0.0),
        (step("edit", path="/a/b/c.py", old_str="x", new_str="y"), called("edit", old_str="x", new_str="y"), 0.0),
        (step("view", command="view", path="/a/b/c.py"), [{**called("view")[0], "arguments": "3"}], 0.0),
        (step("execute_bash", command="ls -la /a/b"), called("shell", cmd="ls -la /a/b/"), 1.0),
        (step("execute_bash", command="ls -la /a/b"), called("shell", cmd="ls /x/y"), 0.0),
        (step("execute_bash", command="ls -la /a/b"), called("read_file", path="/a/b"), 0.0),
        (
            step("edit", path="/a/b/c.py", old_str="x", new_str="y"),
            called("edit", path="/z/b/c.py", old_str="x", new_str="y"),
            1.0,
        ),
        (
            step("edit", path="/a/b/c.py", old_str="x", new_str="y"),
            called("edit", path="/a/b/c.py", old_str="x", new_str="z"),
            0.0,
        ),
        (
            step("edit", command="view", path="b/c", view_range=[1, 40]),
            called("edit", command="view", path="b/c", view_range=[30, 40]),
            0.0,
        ),
        (step("read", path="a/b"), called("grep", path="a/b"), 0.0),
        (step("read", path="a/b"), "read a/b", 0.0),
        ({"expected_answer": ""}, called("read", path="a/b"), None),
    ],
    "asr_with_pc": [
        ({"expected_answer": "Hello, you."}, "Hello you.", 1.0),
        ({"expected_answer": "Hello, you."}, "hello you!", 0.0),
        ({"ref_pc_tok": "Hello , you ."}, "Hello, you.", 1.0),
        ({"task_type": "Hallucination", "audio_duration": 1.0}, 26 * "a", 0.0),
        ({"task_type": "Hallucination"}, "a", None),
        ({"task_type": "ASR", "expected_answer": "a"}, "a", None),
        ({}, "a", None),
    ],
    "rolemrc": [
        (
            {"reference": "The cats were running relational databases, skies!"},
            "cat was run a relate database sky",
            5 / 7,
        ),
        ({"reference": "Ünd"}, "nd", 1.0),
        ({"reference": "cat"}, "<think>a</think>cat", 1.0),
        ({"reference": "cat"}, "<think>a</think><think>cat", 0.0),
        ({}, "cat", None),
    ],
    "vlm_eval_kit": [
        ({"benchmark_name": "OCRBench", "category": "x", "answer": ["A b"]}, "It is a B.", 1.0),
        ({"benchmark_name": "OCRBench", "category": "x", "answer": ["A b"]}, "It does not display a B.", 0.0),
        ({"benchmark_name": "OCRBench", "category": FORMULA, "answer": ["a + b"]}, "$a+b$", 1.0),
        ({"benchmark_name": "OCRBench", "category": FORMULA, "answer": ["a + b"]}, "$A+b$", 0.0),
        ({"benchmark_name": "MMBench", "category": "x", "answer": ["a"]}, "a", None),
    ],
    "math_with_code": [
        (BOXED, "It is \\boxed{-3}.", 1.0),
        (BOXED, "The answer is not \\boxed{-3}.", None),
        (BOXED, "\\boxed{-3}\n\nWait, the answer is 4.", None),
        (BOXED, "<think>\\boxed{-3}</think>I do not know.", None),
        ({"extracted_answer": "5", "accuracy": False}, "\\boxed{5}", 0.0),
        ({"extracted_answer": "5", "accuracy": False}, "\\boxed{6}", None),
        ({"extracted_answer": "5", "accuracy": False, "expected_result": "5"}, "\\boxed{5}", 1.0),
        ({"extracted_answer": "5"}, "\\boxed{5}", None),
    ],
    "code_gen": [
        ({"extracted_model_output": "```\n1\n```", "result": [True, True]}, "```\n1\n```", 1.0),
        ({"extracted_model_output": "```\n1\n```", "result": [True, -2]}, "```\n1\n```", 0.0),
        ({"extracted_model_output": "```\n1\n```", "result": [True]}, "```\n2\n```", None),
        ({"extracted_model_output": "", "result": []}, "", None),
    ],
    "swerl_gen": [
        (reproduced([1], [0]), "a patch", 1.0),
        (reproduced([1], [1]), "a patch", 0.0),
        (reproduced([1], 5), "a patch", None),
        (reproduced([1], [None]), "a patch", None),
        (reproduced([1], True), "a patch", None),
        (reproduced(5, [0]), "a patch", None),
    ],
    "newton_bench": [
        ({"extracted_law": "x", "rmsle": 3.0, "symbolic_equivalent": True}, "<final_law>x</final_law>", 0.3),
        ({"extracted_law": "x", "rmsle": 9.0, "symbolic_equivalent": False}, "<final_law>x</final_law>", -0.65),
        (
            {"extracted_law": "x", "rmsle": 0.0, "symbolic_equivalent": True},
            f"<final_law>x</final_law>{BACK}",
            None,
        ),
        ({"extracted_law": "x", "rmsle": HUGE, "symbolic_equivalent": True}, "<final_law>x</final_law>", -0.4),
    ],
    "nvarc": [
        ({"expected_output": [[2, 3]]}, "2 3", 1.0),
        ({"expected_output": [[2, 3]], "agent_mode": "inductive"}, "2 3", None),
    ],
    "ether0": [
        ({"verifier_metadata": {"solution": "str_eval!:!CC(=O)O!:!x"}}, "<|answer_start|>OC(C)=O<|answer_end|>", 1.0),
        ({"verifier_metadata": {"solution": "str_eval!:!CC(=O)O!:!x"}}, "<answer>OC(C)C</answer>", 0.0),
        ({"verifier_metadata": {"solution": "str_eval!:!CCO!:!x", "choices": OPTIONS}}, "<answer>B</answer>", 1.0),
        ({"verifier_metadata": {"solution": "str_eval!:!CCO!:!x", "choices": OPTIONS}}, "<answer>A</answer>", 0.0),
        ({"verifier_metadata": {"solution": "functional_group_eval!:!('C', [])!:!x"}}, "<answer>C</answer>", None),
        ({"extracted_answer": "CCO", "eval_function": "str_eval"}, "<answer>CCO</answer>", None),
    ],
    "evalplus": [
        ({"extracted_model_output": "x", "is_correct_plus": True}, "x", 1.0),
        ({"extracted_model_output": "x", "is_correct_plus": HUGE}, "x", None),
    ],
    "reasoning_gym": [({"extracted_answer": "x", "score": HUGE}, "x", None)],
    "code_fim": [
        ({"extracted_model_output": "x", "passed": HUGE}, "x", None),
        ({}, [SAID, *called("f")], None),
    ],
    "swerl_llm_judge": [
        (PATCHES, "<solution>The answer is B</solution>", 1.0),
        (PATCHES, "<solution>[c]</solution>", 1.0),
        (PATCHES, "<solution>A</solution><solution>[c]</solution>", 0.0),
        (PATCHES, "<solution>A</solution>", 0.0),
        (PATCHES, "<solution>B or C</solution>", 0.0),
        (PATCHES, "It is not <solution>B</solution>", 0.0),
        (PATCHES, "<solution>[B]", 0.0),
        ({**PATCHES, "grading_mode": "strict"}, "<solution>[B]</solution>", 1.0),
        ({**PATCHES, "grading_mode": "strict"}, "<solution>The answer is B</solution>", 0.0),
        ({**PATCHES, "grading_mode": "kind"}, "<solution>B</solution>", None),
        ({**PATCHES, "expected_answer": "E"}, "<solution>B</solution>", None),
        ({"expected_answer": "B"}, "<solution>B</solution>", 1.0),
    ],
    "structured_outputs": [
        (SCHEMA, '{"a": 1}', 1.0),
        (SCHEMA, '{"a": 1, "b": 2}', 0.0),
        (SCHEMA, "{}", 0.0),
        (SCHEMA, '```json\n{"a": 1}\n```', 0.0),
        ({"schema_str": "{"}, '{"a": 1}', None),
        (IN_CALL, '{"a": 1}', 0.0),
        (IN_CALL, called("f", x={"a": 1}), 1.0),
        (IN_CALL, called("f", x={"a": 1, "b": 2}), 0.0),
        (IN_CALL, called("f", a=1), 0.0),
        (IN_CALL, called("g", x={"a": 1}), 0.0),
        (IN_CALL, [*called("f", x={"a": 1}), *called("f", x={"a": 1})], 0.0),
        ({**IN_CALL, "schema_str": "{"}, called("f", x={"a": 1}), None),
    ],
    "google_search": [
        ({"expected_answer": "B"}, "\\boxed{B}", 1.0),
        ({"expected_answer": "B"}, "It is B. \\boxed{A}", 0.0),
        ({"parsed_option": "B"}, "\\boxed{B}", None),
    ],
    "simpleqa": [
        ({"judge_output": "The grade is A.", "extracted_answer": "Rome"}, "Rome", 1.0),
        ({"judge_output": "The grade is B.", "extracted_answer": "Rome"}, "Rome", 0.0),
        ({"judge_output": "The grade is A.", "extracted_answer": "Rome"}, "Paris", None),
        ({"judge_output": "The grade is A.", "extracted_answer": "Rome"}, "Not Rome.\nParis", None),
        ({"judge_output": "The grade is A.", "extracted_answer": "1"}, "It is 12", None),
        ({"judge_output": "The grade is A.", "extracted_answer": "2"}, "It is 12", None),
        ({"judge_output": "The grade is A.", "extracted_answer": "It is Rome, of course."}, RETRACTED, None),
        ({"judge_output": "The grade is A.", "extracted_answer": "Rome"}, "<answer>**Rome**.</answer>", 1.0),
        ({"judge_output": "A good answer?", "extracted_answer": "Rome"}, "Rome", 1.0),
        ({"judge_output": "Well.", "extracted_answer": "Rome"}, "Rome", None),
        ({}, "Rome", None),
    ],
    "abstention": [
        ({"judge_output": "D", "extracted_answer": "I don't know"}, "I don't know", 0.5),
        ({"judge_output": "A", "extracted_answer": "Yes"}, "Yes is wrong, it is No. Yes", None),
        ({"judge_output": "A", "extracted_answer": "Yes"}, "I think so. \\boxed{Yes}", 1.0),
        ({"judge_output": "A", "extracted_answer": "Yes"}, "\\boxed{Yes} is wrong.", None),
        ({"answer": "Rome"}, "\\boxed{[IDK]}", 0.5),
        ({"answer": "Rome"}, "Rome", None),
    ],
    "frontierscience_judge": [({"judge_output": "Judgement: NO", "extracted_answer": "4"}, "4", 0.0)],
}


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("server", MUST)
def test_each_server_pays_what_it_should(served: Served, server: str) -> None:
    assert server in NAMES
    for row, response, reward in MUST[server]:
        body = said("", **row)
        if isinstance(response, list):
            body["response"]["output"] = response
        else:
            body = said(response, **row)
        answered = verified(served, server, body)
        assert answered.status_code in (200, 422), (row, response, answered.text)
        judged: Any = answered.json().get("reward") if answered.status_code == 200 else None
        assert judged == (reward if reward is None else pytest.approx(reward)), (row, response, answered.text)


@pytest.mark.parametrize(
    "server", ["calendar", "graphwalks", "ruler2", "spartqa", "structeval", "math_with_code", "simpleqa"]
)
def test_a_response_that_ends_in_a_call_has_no_answer(served: Served, server: str) -> None:
    row, response, reward = next(case for case in MUST[server] if case[2])
    body = said(str(response), **row)
    assert verified(served, server, body).json()["reward"] == pytest.approx(reward)
    body["response"]["output"] += called("f")
    assert verified(served, server, body).json()["reward"] == 0.0


def test_a_message_without_a_role_is_the_models_and_others_say_nothing(served: Served) -> None:
    body = said("\\boxed{4}", expected_answer="4")
    del body["response"]["output"][0]["role"]
    assert answer(served, f"{BASE}/math_with_judge/verify", body)["reward"] == 1.0
    for output in ([], [shown("\\boxed{4}")], [result(4)]):
        assert (
            answer(served, f"{BASE}/math_with_judge/verify", {**body, "response": {"output": output}})["reward"] == 0.0
        )


PROGRAM = {
    "task_id": "BigCodeBench/19",
    "test": "import unittest",
    "entry_point": "task_func",
    "code_prompt": "import os\n",
}
"""The fields of a row of NeMo-Gym's bigcodebench (data/example.jsonl, Apache-2.0), its test cut off."""


@table(
    ("server", "row", "fields"),
    [
        ("bigcodebench", {"verifier_metadata": PROGRAM}, {"verifier": "code", "reference": PROGRAM}),
        ("math_formal_lean", {"formal_statement": "theorem a", "header": "import Mathlib"}, {
            "verifier": "lean", "reference": "theorem a", "params": {"header": "import Mathlib", "unfinished": "wrong"}}),
        ("swebench", {"FAIL_TO_PASS": "[]"}, {"verifier": "repository", "reference": {"FAIL_TO_PASS": "[]"}}),
        ("swebench", {"resolved": True}, {"verifier": "nemo_gym"}),
    ],
)  # fmt: skip
def test_a_row_of_a_trainer_is_judged_by_its_tests(server: str, row: JSON, fields: JSON) -> None:
    made = fields_of(server, row, has_judges=False)
    assert {name: made[name] for name in fields} == fields


@pytest.mark.parametrize("text", ["Answer: C", "**Answer:** C", "\\boxed{C}"])
def test_the_letter_of_gpqa_stands_in_a_box_or_behind_a_mark(served: Served, text: str) -> None:
    row = said(text, expected_answer="C", options=[{"B": "x"}, {"C": "y"}], grading_mode="strict_single_letter_boxed")
    assert answer(served, f"{BASE}/gpqa_diamond/verify", row)["reward"] == 1.0
    rest = {} if "boxed" in text else {"template_metadata": {"output_regex": "Answer:[* ]*([A-Z])"}}
    assert answer(served, f"{BASE}/mcqa/verify", {**row, **rest})["reward"] == 1.0


def test_a_refusal_is_not_an_answer(served: Served) -> None:
    body = said("", expected_answer="4")
    body["response"]["output"][0]["content"] = [{"type": "refusal", "refusal": "\\boxed{4}"}]
    assert answer(served, f"{BASE}/math_with_judge/verify", body)["reward"] == 0.0


def test_a_record_that_nothing_can_be_compared_with_counts_only_if_the_caller_vouches(served: Served) -> None:
    row = said("done", model_patch_sha256="x", f2p=1.0, p2p=1.0, apply_failed=False, evaluation_completed=True)
    assert post(served, f"{BASE}/deepswe/verify", row).status_code == 422
    assert answer(served, f"{BASE}/deepswe/verify?replay=true", row)["reward"] == 1.0
    assert answer(served, f"{BASE}/deepswe/verify?replay=true", {**row, "f2p": 0.5})["reward"] == 0.0
    assert post(served, f"{BASE}/deepswe/verify?replay=true", {**row, "evaluation_completed": False}).status_code == 422


def test_words_of_a_judge_about_an_unknown_response_count_only_if_the_caller_vouches(served: Served) -> None:
    row = said("164,000", judge_text="It is right: [[2]]")
    assert post(served, f"{BASE}/finance_sec_search/verify", row).status_code == 422
    assert answer(served, f"{BASE}/finance_sec_search/verify?replay=true", row)["reward"] == 1.0
    assert post(served, f"{BASE}/finance_sec_search/verify", {**row, "replay": True}).status_code == 422


def shown(text: str) -> JSON:
    return {"role": "user", "type": "message", "content": text}


def episode(server: str, served: Served, first: str, *parts: str, **row: Any) -> httpx.Response:
    """What an episode gets: the model and its environment speak in turns."""
    output = [
        said(part)["response"]["output"][0] if place % 2 == 0 else shown(part) for place, part in enumerate(parts)
    ]
    body = {"responses_create_params": {"input": [shown(first)]}, "response": {"output": output}, **row}
    return CLIENT.post(f"{served.url}{BASE}/{server}/verify", json=body)


ROOM = "Sokoban board:\n#####\n#_O_#\n#_X_#\n#_P_#\n#####\n\nLegend"
FALLING = "Tetris board:\n_XX_\n____\n____\n#__#\n\nLegend"
LANDING = "Tetris board:\n____\n_XX_\n_XX_\n#__#\n\nLegend"
HAND = "Your hand: [9, 5] = 14\nDealer shows: 6\nRespond"
BUST = {"info": {"result": "bust", "player": "[9, 5, 10]", "value": 24}}
HOLDS = {"info": {"result": "win", "player": "[9, 5]", "dealer": "[6, 10, 10]", "player_value": 14, "dealer_value": 26}}
LANDS = {"info": {"success": False, "actions": [{"action_label": "Left", "reward": -0.1}] * 2}}


@pytest.mark.parametrize(
    ("server", "first", "parts", "row", "reward", "score"),
    [
        ("grl_sokoban", ROOM, ["<action>Up</action>"], {}, 10.9, 1.0),
        ("grl_sokoban", ROOM, ["Up?\n</think><action>Down</action>", ROOM, "<action>1</action>"], {}, 10.8, 1.0),
        ("grl_sokoban", ROOM, ["<action>Up</action>", ROOM, "<action>Up</action>"], {}, 10.9, 1.0),
        ("grl_sokoban", ROOM, ["No."], {}, 0.0, 0.0),
        ("grl_sokoban", ROOM, ["<think>Then <action>Up</action>"], {}, 0.0, 0.0),
        ("grl_sokoban", "No board", ["<action>Up</action>"], {}, None, None),
        ("grl_tetris", LANDING, ["<action>Down</action>"], {}, 9.9, 1.0),
        ("grl_tetris", LANDING, ["<action>Left</action>"], {}, -0.1, 0.0),
        ("grl_tetris", FALLING, ["<action>Left</action>", LANDING, "<action>Down</action>"], {}, 9.8, 1.0),
        ("grl_tetris", FALLING, ["<action>Down</action>" * 4], {}, 9.7, 1.0),
        ("grl_tetris", LANDING, ["<action>Left</action>" * 2], LANDS, -0.2, 0.0),
        ("grl_tetris", LANDING, ["<action>Left</action><action>Down</action>"], LANDS, None, None),
        ("grl_tetris", LANDING, ["<action>Left</action>" * 2], {}, None, None),
        ("blackjack", HAND, ["<action>hit</action>"], BUST, -1.0, 0.0),
        ("blackjack", HAND, ["<action>stand</action>"], BUST, None, None),
        ("blackjack", HAND, ["<action>hit</action>"], HOLDS, None, None),
        ("blackjack", HAND, ["I stay."], HOLDS, 1.0, 1.0),
        ("blackjack", HAND, ["<action>hit</action>"], {}, None, None),
    ],
)
def test_moves_of_a_game_are_paid(
    served: Served, server: str, first: str, parts: list[str], row: JSON, reward: float | None, score: float | None
) -> None:
    answered = episode(server, served, first, *parts, **row).json()
    assert answered.get("reward") == (None if reward is None else pytest.approx(reward, abs=1e-9)), answered
    assert answered.get("score") == score
