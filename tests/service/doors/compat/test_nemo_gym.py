"""NeMo-Gym's resources server."""

import json
from typing import Any

import httpx
import pytest

from service.doors.compat.nemo_gym import AGGREGATE, CLOSE, REVERIFY, SEED, VERIFY
from tests.conftest import Serve, Served
from tests.service.doors.compat.recorded import JSON, answer, post, recorded


def said(text: str, **fields: Any) -> JSON:
    """A rollout whose response is this text."""
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]
    return {"responses_create_params": {"input": "?"}, "response": {"output": output}, **fields}


@pytest.mark.parametrize("name", ["nemo_gym_mcqa", "nemo_gym_math", "nemo_gym_code"])
def test_a_recorded_rollout_comes_back_with_its_reward(served: Served, name: str) -> None:
    body = recorded(name)
    found = answer(served, VERIFY, body)
    assert {key: found[key] for key in body} == body
    assert (found["reward"], found["score"], found["reason"]) == (1.0, 1.0, "correct")
    assert {"mask_sample", "_ng_failure_class"} & found.keys() == set()
    body["response"]["output"][-1]["content"][0]["text"] = "I do not know"
    assert answer(served, VERIFY, body)["reward"] == 0.0


@pytest.mark.parametrize(
    ("mode", "text", "reward"),
    [
        ("strict_single_letter_boxed", "Answer: B", 0.0),
        ("lenient_boxed", "\\boxed{Rome}", 1.0),
        ("lenient_answer_colon", "Answer: B", 1.0),
        ("lenient_answer_colon", "\\boxed{B}", 0.0),
        (None, "Answer: B", 1.0),
        (None, "\\boxed{B}", 1.0),
    ],
)
def test_the_grading_mode_says_where_the_letter_stands(
    served: Served, mode: str | None, text: str, reward: float
) -> None:
    body = said(text, options=[{"A": "Paris"}, {"B": "Rome"}, {"C": None}], expected_answer="B", grading_mode=mode)
    assert answer(served, VERIFY, body)["reward"] == reward


CALL = {"type": "function_call", "name": "f", "arguments": '{"a": 1}', "call_id": "c"}
TOLD = {"type": "function_call_output", "call_id": "c", "output": "\\boxed{3}"}


def test_what_the_assistant_says_last_is_judged_by_verifiers_of_text(served: Served) -> None:
    body = said("\\boxed{1}", expected_answer="12")
    last = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "\\boxed{12}"}]}
    body["response"]["output"] += [CALL, TOLD, last]
    assert answer(served, VERIFY, body)["reward"] == 1.0


@pytest.mark.parametrize(("wanted", "reward"), [([{"name": "f", "arguments": {"a": 1}}], 1.0), ([], 0.0)])
def test_calls_are_judged_by_verifiers_of_calls_and_are_no_answer_for_those_of_text(
    served: Served, wanted: list[JSON], reward: float
) -> None:
    body = said("I call.", expected_answer=wanted)
    body["response"]["output"] += [CALL, TOLD]
    assert answer(served, f"{VERIFY}?verifier=tool_call", body)["reward"] == reward
    assert answer(served, f"{VERIFY}?verifier=exact_match", body | {"expected_answer": "I call."})["reward"] == 0.0


@pytest.mark.parametrize(
    ("query", "fields", "text", "reward"),
    [
        ("?verifier=qa", {"expected_answer": "Paris"}, "Paris", 1.0),
        ("?recipe=think_math", {"expected_answer": "4"}, "\\boxed{4}", 0.0),
        ("?verifier=multiple_choice", {"expected_answer": "B", "options": [{"A": "x"}, {"B": "Rome"}]}, "Rome", 1.0),
        ("?tag=gsm8k", {"expected_answer": "4", "question": "?"}, "\\boxed{4}", 1.0),
        ("", {"data_source": "openai/gsm8k", "expected_answer": "4"}, "#### 4", 1.0),
        ("", {"verifier_metadata": {"verifier": "qa", "reference": "Paris", "note": 1}}, "Paris", 1.0),
        ("?verifier=math", {"verifier_metadata": {"verifier": "qa"}, "expected_answer": "Paris"}, "Paris", 1.0),
        ("", {"expected_answer": "A", "extracted_answer": "A"}, "<solution>A</solution>", 1.0),
        ("", {"expected_answer": "A", "question": "?"}, "<solution>A</solution>", 0.0),
        (
            "",
            {"instruction_id_list": ["change_case:english_lowercase"], "kwargs": [{}], "prompt": "Say it."},
            "in lower case",
            1.0,
        ),
    ],
)
def test_rows_are_judged_by_what_the_url_or_they_name(
    served: Served, query: str, fields: JSON, text: str, reward: float
) -> None:
    assert answer(served, f"{VERIFY}{query}", said(text, **fields))["reward"] == reward


def test_the_checks_of_a_recipe_are_components(served: Served) -> None:
    found = answer(served, f"{VERIFY}?recipe=think_math", said("<think>\na\n</think>\n\\boxed{4}", expected_answer="4"))
    assert found["reward_components"] == {"math": 1.0, "think_format": 1.0}


@pytest.mark.parametrize(
    ("body", "said_there"),
    [
        (said("x"), "unroutable"),
        (said("x", expected_answer="\\frac{"), "reference"),
        (said("x", options="none", expected_answer="A", grading_mode="lenient_boxed"), ""),
        ({"responses_create_params": {"input": "?"}, "expected_answer": "4"}, "response"),
        ({"response": {"output": []}, "expected_answer": "4"}, "responses_create_params"),
        ({"responses_create_params": {"input": "?"}, "response": {"output": "text"}}, "output"),
    ],
)
def test_a_row_that_cannot_be_judged_is_refused_and_has_no_reward(served: Served, body: JSON, said_there: str) -> None:
    reply = post(served, VERIFY, body)
    assert reply.status_code == 422, reply.text
    assert said_there in reply.text


def test_sessions_need_no_state(served: Served) -> None:
    assert answer(served, SEED, {}) == {}
    assert answer(served, SEED, {"expected_answer": "4", "verifier_metadata": None}) == {}
    assert httpx.get(f"{served.url}{REVERIFY}").json() == "stateless"


def test_figures_leave_out_what_was_not_judged(served: Served) -> None:
    rollouts = [
        {"_ng_task_index": 0, "reward": 1.0, "correct": True, "reason": "x"},
        {"_ng_task_index": 0, "reward": 0.0, "correct": False},
        {"_ng_task_index": 1, "reward": 1.0, "big": 10**400},
        {"_ng_task_index": 1, "reward": 0.0, "mask_sample": True},
        {"_ng_task_index": 1, "reward": 0.0, "_ng_failure_class": "judge_failed"},
        {"_ng_task_index": 1, "reward": 0.0, "instance_config": {"mask_sample": True}},
    ]
    found = answer(served, AGGREGATE, {"verify_responses": rollouts})
    assert [group["mean/reward"] for group in found["group_level_metrics"]] == [0.5, 1.0]
    assert [group["_ng_task_index"] for group in found["group_level_metrics"]] == [0, 1]
    assert found["agent_metrics"]["mean/reward"] == pytest.approx(2 / 3)
    assert found["agent_metrics"]["mean/correct"] == 0.5
    assert (found["agent_metrics"]["rollouts"], found["agent_metrics"]["rollouts_not_judged"]) == (6, 3)
    assert found["key_metrics"] == {"mean/reward": pytest.approx(2 / 3), "rollouts_not_judged": 3}
    assert answer(served, AGGREGATE, {"verify_responses": []})["agent_metrics"]["rollouts"] == 0


def test_where_a_convention_judges_a_rollout_that_ends_in_a_call_has_no_answer(served: Served) -> None:
    body = said("\\boxed{4}", expected_answer="4")
    body["response"]["output"].append(CALL)
    found = answer(served, VERIFY, body)
    assert found["reward"] == 0.0


# --- rows of other kinds -------------------------------------------------------------------------------------------------------

OPTIONS = {"options": [{"A": "Paris"}, {"B": "Rome"}], "expected_answer": "B"}


@pytest.mark.parametrize(
    ("patterns", "text", "reward"),
    [
        (r"Option Selected:\s*([A-Za-z])", "Answer: A. Option Selected: b", 1.0),
        (r"Option Selected:\s*([A-Za-z])", "Option Selected: B, no: option selected: A", 0.0),
        ([r"Antwort\s*:\s*(\w+)", r"Answer\s*:\s*(\w+)"], "Answer: A. Antwort: Rome", 1.0),
        (r"([", "Answer: B", 1.0),
        (r"Nothing: (.)", "Answer: B", 1.0),
        (None, "Answer: B", 1.0),
    ],
)
def test_the_row_may_say_where_the_option_stands(served: Served, patterns: Any, text: str, reward: float) -> None:
    body = said(text, **OPTIONS, template_metadata={"output_regex": patterns})
    assert answer(served, VERIFY, body)["reward"] == reward


@pytest.mark.parametrize(
    ("made", "reward"),
    [
        ([("f", {"a": 1})], 1.0),
        ([("f", {"a": 1, "b": 2})], 1.0),
        ([("f", {"a": 2})], 0.0),
        ([("f", {"a": 1}), ("f", {"a": 1})], 0.0),
        ([], 0.0),
    ],
)
def test_expected_answers_are_calls(served: Served, made: list[tuple[str, JSON]], reward: float) -> None:
    body = said("I call.", expected_answers=[{"name": "f", "arguments": {"a": 1}}])
    body["response"]["output"] += [
        {"type": "function_call", "name": name, "arguments": json.dumps(given), "call_id": "c"} for name, given in made
    ]
    assert answer(served, VERIFY, body)["reward"] == reward


BOOKS = {"type": "function_call", "name": "book", "arguments": '{"name": "Ann Lee", "seat": 4}'}
FINDS = {"type": "function_call", "name": "find", "arguments": "{}"}


@pytest.mark.parametrize(
    ("action", "made", "reward"),
    [
        ({"type": "message", "content": "Which seat?"}, [], 1.0),
        ({"type": "message", "content": "Which seat?"}, [BOOKS], 0.0),
        (BOOKS, [BOOKS], 1.0),
        (BOOKS, [FINDS, BOOKS | {"arguments": '{"seat": 4, "name": "ann  lee"}'}], 1.0),
        (BOOKS, [BOOKS | {"arguments": '{"name": "Ann Lee", "seat": 5}'}], 0.0),
        (BOOKS, [], 0.0),
        ({"type": "function_call_batch", "calls": [BOOKS, FINDS]}, [FINDS, BOOKS], 1.0),
        ({"type": "function_call_batch", "calls": [BOOKS, FINDS]}, [FINDS], 0.0),
    ],
)
def test_an_expected_action_is_a_message_or_calls(
    served: Served, action: JSON, made: list[JSON], reward: float
) -> None:
    body = said("Let me see.", expected_action=action)
    body["response"]["output"] += [call | {"call_id": "c"} for call in made]
    assert answer(served, VERIFY, body)["reward"] == reward


def test_no_expected_answer_wants_no_call(served: Served) -> None:
    body = said("It rains.", expected_answers=[])
    assert answer(served, VERIFY, body)["reward"] == 1.0
    body["response"]["output"].append(CALL)
    assert answer(served, VERIFY, body)["reward"] == 0.0


# --- sessions and paths --------------------------------------------------------------------------------------------------------


def test_a_session_is_a_cookie_and_nothing_else(served: Served) -> None:
    with httpx.Client(base_url=served.url) as client:
        seeded = client.post(SEED, json={})
        cookie = seeded.cookies["rewardline_session"]
        assert client.post(SEED, json={}).cookies["rewardline_session"] == cookie
        assert client.post(CLOSE, json={}).json() == {}
        assert client.post(VERIFY, json=said("\\boxed{4}", expected_answer="4")).json()["reward"] == 1.0


EPISODE = {"rollout_id": "0-1", "attempt": 0}
TASK = {"taskset": "sums", "task_id": "7"}


def seed_of(session: str) -> JSON:
    return {"resources_session_id": session, "episode_id": EPISODE, "task_id": TASK, "task_data": {"a": [1]}}


def close_of(session: str) -> JSON:
    return {"resources_session_id": session, "episode_id": EPISODE}


def test_an_episodes_session_begins_and_ends_any_number_of_times_and_is_over_then(served: Served) -> None:
    known = {"resources_session_id": "begun and ended"}
    for path, body in ((SEED, seed_of("begun and ended")), (CLOSE, close_of("begun and ended"))):
        assert [answer(served, path, body) for _ in range(2)] == [known, known]
    assert post(served, SEED, seed_of("begun and ended")).status_code == 409
    assert answer(served, CLOSE, close_of("never begun")) == {"resources_session_id": "never begun"}
    assert post(served, SEED, seed_of("never begun")).status_code == 409
    assert answer(served, SEED, seed_of("another")) == {"resources_session_id": "another"}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (SEED, seed_of(""), "resources_session_id"),
        (SEED, {**seed_of("s"), "episode_id": "0-1"}, "episode_id"),
        (SEED, {**seed_of("s"), "more": 1}, "more"),
        (CLOSE, {**close_of("s"), "episode_id": {"rollout_id": "r", "attempt": -1}}, "attempt"),
        (VERIFY, {"episode_id": EPISODE, "task_id": {"taskset": "t"}, "verification_input": {}}, "task_id"),
        (VERIFY, {"episode_id": EPISODE, "task_id": TASK, "verification_input": []}, "verification_input"),
    ],
)
def test_what_is_not_of_an_episodes_shape_is_refused_by_its_field(
    served: Served, path: str, body: JSON, field: str
) -> None:
    refused = post(served, path, body)
    assert refused.status_code == 422
    assert field in refused.text


def verify_episode(served: Served, row: JSON, query: str = "") -> JSON:
    body = {"episode_id": EPISODE, "task_id": TASK, "verification_input": row}
    found: JSON = answer(served, f"{VERIFY}{query}", body)
    return found


def test_an_episode_is_verified_as_its_row_is(served: Served) -> None:
    row = said("\\boxed{4}", expected_answer="4", note="kept")
    found = verify_episode(served, row)
    assert {name: found[name] for name in row} == row
    names = ("reward", "score", "mask_sample", "failure_kind", "failure_reason")
    assert [found[name] for name in names] == [1.0, 1.0, False, None, None]
    assert verify_episode(served, said("\\boxed{5}", expected_answer="4"))["reward"] == 0.0
    composed = said("<think>\na\n</think>\n\\boxed{4}", expected_answer="4")
    parts = verify_episode(served, composed, "?recipe=think_math")["reward_components"]
    assert parts == {"math": 1.0, "think_format": 1.0}


def test_the_parts_of_a_verdict_are_components(served: Served) -> None:
    row = said("I call.", verifier_metadata={"verifier": "trajectory", "params": {"max_steps": 3, "forbidden": ["g"]}})
    row["response"]["output"] += [CALL, TOLD]
    for found in (answer(served, VERIFY, row), verify_episode(served, row)):
        assert found["reward_components"] == {"forbidden": 1.0, "max_steps": 1.0}


def test_an_episode_that_cannot_be_judged_is_masked_and_says_why(served: Served) -> None:
    found = verify_episode(served, said("x", expected_answer="\\frac{"))
    assert (found["mask_sample"], found["reward"], found["score"]) == (True, 0.0, None)
    assert found["failure_kind"] == "rewardline:unparseable_reference"
    assert found["failure_reason"].startswith("unparseable_reference: ")
    assert "_ng_failure_class" not in found
    body = {"episode_id": EPISODE, "task_id": TASK, "verification_input": said("x", expected_answer="\\frac{")}
    assert post(served, f"{VERIFY}?on_failed=status", body).status_code == 422


def test_what_nobody_could_judge_is_masked_with_the_kind_of_its_failure(serve: Serve) -> None:
    without_boxes = serve(sandbox="none", workers="1")
    row = said("```python\nprint(1)\n```", verifier_metadata={"unit_tests": {"inputs": [""], "outputs": ["1"]}})
    found = verify_episode(without_boxes, row)
    assert (found["mask_sample"], found["failure_kind"]) == (True, "provider_unavailable")
    assert found["_ng_failure_class"] == "judge_failed"
    assert "sandbox_unavailable" in found["failure_reason"]
    masked = answer(without_boxes, f"{VERIFY}?on_failed=mask", row)
    assert (masked["mask_sample"], masked["failure_kind"]) == (True, "provider_unavailable")
    body = {"episode_id": EPISODE, "task_id": TASK, "verification_input": row}
    for path, sent in ((VERIFY, row), (f"{VERIFY}?on_failed=status", body)):
        assert post(without_boxes, path, sent).status_code == 503


@pytest.mark.contract
@pytest.mark.parametrize("rollout", ["", "/ng-rollout/r-1"])
def test_as_the_root_door_it_takes_urls_without_a_path(serve: Serve, rollout: str) -> None:
    rooted = serve(root_door="nemo_gym", workers="1")
    with httpx.Client(base_url=f"{rooted.url}{rollout}") as client:
        assert client.post("/seed_session", json={}).status_code == 200
        assert client.post("/verify", json=said("\\boxed{4}", expected_answer="4")).json()["reward"] == 1.0
        assert client.get("/reverify_mode").json() == "stateless"
        assert client.post("/close_session", json={}).status_code == 200
    assert httpx.get(f"{rooted.url}/healthz").status_code == 200


def test_below_its_own_path_the_rollout_may_stand_too(served: Served) -> None:
    path = VERIFY.replace("/verify", "/ng-rollout/r-1/verify")
    assert answer(served, path, said("\\boxed{4}", expected_answer="4"))["reward"] == 1.0
    assert httpx.post(f"{served.url}/verify", json={}).status_code == 404
    assert httpx.post(f"{served.url}/ng-rollout/r-1/verify", json={}).status_code == 404


def test_a_half_character_is_judged_as_one_that_is_not_known(served: Served) -> None:
    row = said("half \ud800 \\boxed{4}", expected_answer="4", note="\ud800")
    judged = httpx.post(f"{served.url}{VERIFY}", content=json.dumps(row)).json()
    assert (judged["reward"], judged["note"]) == (1.0, "\ufffd")
    assert judged["response"]["output"][0]["content"][0]["text"] == "half \ufffd \\boxed{4}"
    refused = httpx.post(f"{served.url}{VERIFY}", content=json.dumps({**row, "expected_answer": "\ud800"}))
    assert (refused.status_code, "half of a pair" in refused.text) == (422, True)
    assert httpx.post(f"{served.url}{VERIFY}", content=b'{"response": "\\ud800').status_code == 400


THOUGHT = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}


@pytest.mark.parametrize("server", ["ifbench", "instruction_following"])
@pytest.mark.parametrize(
    ("output", "reason"), [([THOUGHT], "empty"), (said("<think>hm")["response"]["output"], "truncated")]
)
def test_thoughts_alone_follow_no_instruction(served: Served, server: str, output: list[JSON], reason: str) -> None:
    row = said("", instruction_id_list=["punctuation:no_comma"], kwargs=[{}]) | {"response": {"output": output}}
    judged = answer(served, VERIFY.replace("/verify", f"/{server}/verify"), row)
    assert (judged["reward"], judged["reason"]) == (0.0, reason)
