"""The same conversation in every dialect through every door and hook: one verdict, or a refusal that names the part."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import grpc
import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rewardline import Client
from rewardline.pb import rewardline_pb2 as pb
from rewardline.trl import reward_func

from service.doors.compat.nemo_gym import VERIFY
from tests.service.doors.test_doors_agree import STATUSES
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]
Steps = list[JSON]
"""Of a conversation, free of any dialect: `said` (text, thought, calls with their results) or what the user says."""

words = st.text("ab1 .\n\\{}é", max_size=12)
answers = st.sampled_from(["\\boxed{12}", "The answer is 13.", "12", "It rains."]) | words
arguments = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 2) | st.sampled_from(["a", "b"]), max_size=2)
calls = st.fixed_dictionaries({"name": st.sampled_from(["f", "g"]), "arguments": arguments, "result": words})
saying = st.fixed_dictionaries({"text": answers, "thought": st.just("") | words, "calls": st.lists(calls, max_size=2)})
users = st.fixed_dictionaries({"user": words})
conversations = st.lists(saying | users, min_size=1, max_size=5)


def normal(steps: Steps) -> Steps:
    """As dialects that have items instead of messages can say it: no empty step, none behind another without a cause."""
    kept: Steps = []
    for step in steps:
        if "user" in step:
            kept.append(step)
        elif step["text"].strip() or step["calls"]:
            if kept and "user" not in kept[-1] and not kept[-1]["calls"]:
                kept.append({"user": "go on"})
            kept.append(step)
    return kept


def numbered(steps: Steps) -> list[tuple[JSON, list[str]]]:
    """Each step with the ids of its calls."""
    return [(step, [f"c{at}-{n}" for n in range(len(step.get("calls", ())))]) for at, step in enumerate(steps)]


def chat(steps: Steps, *, as_text: bool = True) -> list[JSON]:
    messages: list[JSON] = []
    for step, ids in numbered(steps):
        if "user" in step:
            messages.append({"role": "user", "content": step["user"]})
            continue
        functions = [
            {
                "id": name,
                "type": "function",
                "function": {
                    "name": call["name"],
                    "arguments": json.dumps(call["arguments"]) if as_text else call["arguments"],
                },
            }
            for name, call in zip(ids, step["calls"], strict=True)
        ]
        said = {"role": "assistant", "content": step["text"]}
        said |= {"reasoning_content": step["thought"]} if step["thought"] else {}
        messages.append(said | ({"tool_calls": functions} if functions else {}))
        messages += [
            {"role": "tool", "tool_call_id": name, "content": call["result"]}
            for name, call in zip(ids, step["calls"], strict=True)
        ]
    return messages


def trl(steps: Steps) -> list[JSON]:
    return chat(steps, as_text=False)


def responses(steps: Steps) -> list[JSON]:
    items: list[JSON] = []
    for step, ids in numbered(steps):
        if "user" in step:
            items.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": step["user"]}]})
            continue
        if step["thought"]:
            items.append({"type": "reasoning", "summary": [{"type": "summary_text", "text": step["thought"]}]})
        if step["text"]:
            part = {"type": "output_text", "text": step["text"], "annotations": []}
            items.append({"type": "message", "role": "assistant", "content": [part]})
        made = list(zip(ids, step["calls"], strict=True))
        items += [
            {"type": "function_call", "call_id": name, "name": call["name"], "arguments": json.dumps(call["arguments"])}
            for name, call in made
        ]
        items += [{"type": "function_call_output", "call_id": name, "output": call["result"]} for name, call in made]
    return items


def anthropic(steps: Steps) -> list[JSON]:
    messages: list[JSON] = []
    for step, ids in numbered(steps):
        if "user" in step:
            messages.append({"role": "user", "content": [{"type": "text", "text": step["user"]}]})
            continue
        made = list(zip(ids, step["calls"], strict=True))
        blocks: list[JSON] = [{"type": "thinking", "thinking": step["thought"]}] if step["thought"] else []
        blocks += [{"type": "text", "text": step["text"]}] if step["text"] else []
        blocks += [
            {"type": "tool_use", "id": name, "name": call["name"], "input": call["arguments"]} for name, call in made
        ]
        messages.append({"role": "assistant", "content": blocks})
        results = [{"type": "tool_result", "tool_use_id": name, "content": call["result"]} for name, call in made]
        messages += [{"role": "user", "content": results}] if results else []
    return messages


DIALECTS: Mapping[str, Callable[[Steps], list[JSON]]] = {
    "chat": chat,
    "trl": trl,
    "responses": responses,
    "anthropic": anthropic,
}
WANTED = [{"name": "f", "arguments": {"x": 1}}]
JUDGES: list[JSON] = [
    {"verifier": "tool_call", "reference": WANTED},
    {"verifier": "tool_call", "reference": [], "params": {"turn": "all"}},
    {"verifier": "trajectory", "reference": "12", "params": {"answer": {"verifier": "math"}, "max_calls": 1}},
    {"verifier": "trajectory", "params": {"required": WANTED, "recovered": True}},
    {"verifier": "math", "reference": "12"},
    {"verifier": "math", "reference": "12", "params": {"turn": 1}},
    {"verifier": "exact_match", "reference": "It rains.", "params": {"turn": "all"}},
]
Verdict = tuple[str, float | None, str]


def by_http(served: Any, items: list[JSON]) -> list[Verdict]:
    reply = httpx.post(f"{served.url}/v1/score", json={"items": items}, timeout=PATIENCE_S)
    assert reply.status_code == 200, reply.text
    return [(each["status"], each["score"], each["reason"]) for each in reply.json()["results"]]


def by_stream(served: Any, items: list[JSON]) -> list[Verdict]:
    headers = {"accept": "application/x-ndjson"}
    reply = httpx.post(f"{served.url}/v1/score", json={"items": items}, headers=headers, timeout=PATIENCE_S)
    lines = [json.loads(line) for line in reply.text.splitlines()]
    found = {line["index"]: (line["status"], line["score"], line["reason"]) for line in lines if "index" in line}
    return [found[at] for at in range(len(items))]


def by_job(served: Any, items: list[JSON]) -> list[Verdict]:
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as client:
        job = client.post("/v1/jobs", json={"items": items}).json()["job_id"]
        while True:
            lines = client.get(f"/v1/jobs/{job}", params={"wait_s": 5}).json()
            if lines["state"] == "done":
                return [(each["status"], each["score"], each["reason"]) for each in lines["results"]]


def by_grpc(served: Any, items: list[JSON]) -> list[Verdict]:
    sent = [
        pb.Item(
            verifier=item["verifier"],
            response_json=json.dumps(item["response"]),
            reference_json=json.dumps(item["reference"]) if "reference" in item else "",
            params_json=json.dumps(item.get("params", {})),
        )
        for item in items
    ]
    with grpc.insecure_channel(served.grpc) as channel:
        score = channel.unary_unary(
            "/rewardline.v1.Verifier/Score", pb.ScoreRequest.SerializeToString, pb.ScoreResponse.FromString
        )
        results = score(pb.ScoreRequest(items=sent), timeout=PATIENCE_S).results
    return [(STATUSES[each.status], each.score if each.HasField("score") else None, each.reason) for each in results]


def by_client_over_grpc(served: Any, items: list[JSON]) -> list[Verdict]:
    with Client(f"grpc://{served.grpc}") as client:
        return [(str(each.status), each.score, each.reason) for each in client.score(items)]


WAYS = (by_http, by_stream, by_grpc, by_client_over_grpc)
CALLED_AND_SAID: Steps = [
    {"text": "", "thought": "hm", "calls": [{"name": "f", "arguments": {"x": 1}, "result": "ok"}]}
]
ANSWERED: Steps = [*CALLED_AND_SAID, {"text": "\\boxed{12}", "thought": "", "calls": []}]


@pytest.mark.contract
@given(conversations)
@example(CALLED_AND_SAID)
@example(ANSWERED)
@example([*ANSWERED, {"user": "no"}, *ANSWERED])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_dialect_by_every_way_has_one_verdict(served: Any, steps: Steps) -> None:
    steps = normal(steps)
    judged = [judge | {"response": chat(steps)} for judge in JUDGES]
    direct = by_http(served, judged)
    for way in WAYS:
        items = [judge | {"response": write(steps)} for write in DIALECTS.values() for judge in JUDGES]
        assert way(served, items) == direct * len(DIALECTS), way


@pytest.mark.contract
@given(conversations)
@example(ANSWERED)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_doors_and_hooks_say_what_the_service_says(served: Any, steps: Steps) -> None:
    steps = normal(steps)
    if not any("user" not in step for step in steps):
        return
    verdicts = by_http(served, [judge | {"response": chat(steps)} for judge in JUDGES])
    for judge, (status, score, _) in zip(JUDGES, verdicts, strict=True):
        expected = score if status == "ok" else None
        assert _by_nemo_gym(served, judge, responses(steps)) == expected
        assert _by_interaction(served, judge, chat(steps)) == expected
        function = reward_func(
            judge["verifier"], url=served.url, params=judge.get("params"), on_invalid="abstain", send_prompt=False
        )
        reference = judge.get("reference")
        column = [reference if isinstance(reference, str) else json.dumps(reference)] if reference is not None else []
        columns = {"solution": column} if column else {}
        assert _run(function, [trl(steps)], columns) == [expected]


def _run(function: Any, completions: list[Any], columns: JSON) -> list[float | None]:
    found: list[float | None] = asyncio.run(function(prompts=[[]], completions=completions, **columns))
    return found


def _by_nemo_gym(served: Any, judge: JSON, items: list[JSON]) -> float | None:
    row = {
        "responses_create_params": {"input": "?"},
        "response": {"output": items},
        "verifier_metadata": judge,
    }
    reply = httpx.post(f"{served.url}{VERIFY}", json=row, timeout=PATIENCE_S)
    if reply.status_code == 422:
        return None
    assert reply.status_code == 200, reply.text
    return float(reply.json()["reward"])


def _by_interaction(served: Any, judge: JSON, messages: list[JSON]) -> float | None:
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as client:
        opened = client.post("/v1/interactions", json={**judge, "ttl_s": 5}).json()
        turn = {"messages": messages, "turn_index": 1}
        reply = client.post(f"/v1/interactions/{opened['id']}/turns", json=turn)
    if reply.status_code == 422:
        return None
    assert reply.status_code == 200, reply.text
    return float(reply.json()["score"])


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("way", [*WAYS, by_job])
@pytest.mark.parametrize(
    ("part", "name"),
    [
        ({"type": "image_url", "image_url": {"url": "data:,x"}}, "image_url"),
        ({"type": "input_audio", "input_audio": {}}, "input_audio"),
        ({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, "server_tool_use"),
    ],
)
def test_what_nobody_judges_is_wrong_everywhere(
    served: Any, way: Callable[[Any, list[JSON]], list[Verdict]], part: JSON, name: str
) -> None:
    said = {"role": "assistant", "content": [{"type": "text", "text": "\\boxed{12}"}, part]}
    items = [judge | {"response": [said]} for judge in JUDGES]
    assert way(served, items) == [("ok", 0.0, "unjudged_parts")] * len(JUDGES)
    reply = httpx.post(f"{served.url}/v1/score", json={"items": items}, timeout=PATIENCE_S).json()
    assert all(each["detail"]["unjudged"] == [name] for each in reply["results"])


def test_a_caller_may_have_calls_refused(served: Any) -> None:
    item = {
        "verifier": "math",
        "reference": "12",
        "params": {"unfinished": "refuse"},
        "response": chat(CALLED_AND_SAID),
    }
    (result,) = httpx.post(f"{served.url}/v1/score", json={"items": [item]}, timeout=PATIENCE_S).json()["results"]
    assert (result["status"], result["reason"]) == ("invalid", "unjudged_parts")


def test_recipes_compose_what_was_done_and_what_was_said(served: Any) -> None:
    checks = [
        {"verifier": "trajectory", "name": "calls", "params": {"max_calls": 1, "recovered": True}, "weight": 0.25},
        {"verifier": "math", "name": "answer", "weight": 0.75},
    ]
    right, wrong = ([*ANSWERED[:1], {"text": f"\\boxed{{{n}}}", "thought": "", "calls": []}] for n in (12, 13))
    often = [*CALLED_AND_SAID, *ANSWERED]
    items = [
        {"checks": checks, "reference": "12", "response": chat(steps)}
        for steps in (right, wrong, often, CALLED_AND_SAID)
    ]
    reply = httpx.post(f"{served.url}/v1/score", json={"items": items}, timeout=PATIENCE_S).json()
    assert [each["reward"] for each in reply["results"]] == [1.0, 0.25, 0.75, 0.25]


def test_a_response_that_ends_in_a_call_has_no_answer_whatever_its_verifier(served: Any) -> None:
    """A verifier that was given the empty text would pay it where nothing is what is wanted."""
    items: list[JSON] = []
    for verifier, reference in (("math", "12"), ("instruction_following", NO_COMMA)):
        judge: JSON = {"verifier": verifier}
        items += [judge | {"reference": reference}, {"checks": [judge], "reference": reference}]
    sent = [item | {"response": chat(CALLED_AND_SAID)} for item in items]
    reply = httpx.post(f"{served.url}/v1/score", json={"items": sent}, timeout=PATIENCE_S).json()
    assert [(each["status"], each["reward"]) for each in reply["results"]] == [("ok", 0.0)] * 4
    assert [each["reason"] for each in reply["results"][::2]] == ["no_answer"] * 2


@pytest.mark.parametrize(
    "task",
    [
        {"verifier": "exact_match", "reference": ""},
        {"verifier": "multiple_choice", "reference": "E", "params": {"choices": ["x", "y"]}},
        {"verifier": "judge", "reference": "Paris"},
        {"verifier": "judge", "params": {"mode": "reference"}},
        {"recipe": "math_then_judge", "reference": "12"},
    ],
)
def test_whether_a_task_is_judged_is_not_for_the_response_to_say(served: Any, task: JSON) -> None:
    responses: list[Any] = ["\\boxed{12}", "x", "", chat(CALLED_AND_SAID)]
    statuses = set(statuses_of(served, [task | {"response": response} for response in responses]))
    assert len(statuses) == 1
    assert "ok" not in statuses


def statuses_of(served: Any, items: list[JSON]) -> list[str]:
    reply = httpx.post(f"{served.url}/v1/score", json={"items": items}, timeout=PATIENCE_S).json()
    return [each["status"] for each in reply["results"]]


NO_COMMA: JSON = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
