"""Whole lives of what callers begin and end: interactions, jobs, audits, searches, sessions, runs, prompts, groups. Each is new."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from websockets.sync.client import connect

from tests.siege.fresh.draw import Draw
from tests.siege.fresh.items import item
from tests.siege.stand import Caller
from tests.waiting import eventually

_NEMO_GYM: Final = "/compat/nemo_gym"
_OPENENV: Final = "/compat/openenv/verifier/exact_match"


def interaction(caller: Caller, index: int) -> None:
    """One of two turns, of which the second is right; then it is deleted."""
    draw = Draw("interaction", index)
    name, answer = draw.name(), draw.phrase()
    begun = {"instance_id": name, "verifier": "exact_match", "ground_truth": answer, "query": draw.sentence()}
    caller.post("/v1/interactions", begun)
    for turn, said in enumerate((draw.phrase(), answer), start=1):
        messages = [{"role": "assistant", "content": said}]
        told = caller.post(f"/v1/interactions/{name}/turns", {"turn_index": turn, "messages": messages})
        assert told["should_terminate"] is (turn == 2), told
    caller.request("DELETE", f"/v1/interactions/{name}")


def job(caller: Caller, index: int) -> None:
    begun = caller.post("/v1/jobs", {"items": [item("exact_match", 2 * index), item("numeric", 2 * index + 1)]})
    path = f"/v1/jobs/{begun['job_id']}"
    results = caller.request("GET", f"{path}?wait_s=60")["results"]
    assert [result["status"] for result in results] == ["ok", "ok"], results
    caller.request("DELETE", path)


def audit(caller: Caller, index: int) -> None:
    """An audit of a data set of some rows."""
    draw = Draw("audit", index)
    rows = "".join(json.dumps({"prompt": draw.sentence(), "answer": draw.phrase()}) + "\n" for _ in range(4))
    path = "/v1/audits?verifier=exact_match&reference=answer"
    begun = caller.request("POST", path, rows.encode(), {"Content-Type": "application/x-ndjson"})
    audited = f"/v1/audits/{begun['audit_id']}"
    eventually(lambda: caller.request("GET", audited)["state"] != "running")
    caller.request("DELETE", audited)


def log_search(caller: Caller, index: int) -> None:
    """A search for a text that some record of the log may have, and a summary."""
    draw = Draw("log", index)
    found = caller.request("GET", f"/v1/log?text={draw.name()}&max_reward={draw.fraction()}&limit=20")
    assert found["rows"] == [], found
    caller.request("GET", f"/v1/log/summary?run={draw.name()}&since=1h")


def nemo_gym_session(caller: Caller, index: int) -> None:
    draw = Draw("session", index)
    session, answer = draw.name(), draw.phrase()
    episode = {"rollout_id": draw.name(), "attempt": 0}
    task = {"taskset": "siege", "task_id": draw.name()}
    seeded = {"resources_session_id": session, "episode_id": episode, "task_id": task, "task_data": {}}
    caller.post(f"{_NEMO_GYM}/seed_session", seeded)
    content = [{"type": "output_text", "text": answer}]
    row = {
        "responses_create_params": {"input": draw.sentence()},
        "response": {"output": [{"type": "message", "role": "assistant", "content": content}]},
        "expected_answer": answer,
        "verifier_metadata": {"verifier": "exact_match"},
    }
    judged = caller.post(f"{_NEMO_GYM}/verify", {"episode_id": episode, "task_id": task, "verification_input": row})
    assert judged["reward"] == 1.0, judged
    caller.post(f"{_NEMO_GYM}/close_session", {"resources_session_id": session, "episode_id": episode})


def openenv_session(caller: Caller, index: int) -> None:
    """A connection of its own, in which one episode is played."""
    draw = Draw("openenv", index)
    answer = draw.phrase()
    with connect(f"{caller.url.replace('http', 'ws', 1)}{_OPENENV}/ws", proxy=None) as connection:

        def ask(kind: str, data: Mapping[str, Any]) -> Any:
            connection.send(json.dumps({"type": kind, "data": data}))
            return json.loads(connection.recv())["data"]

        ask("reset", {"reference": answer, "prompt": draw.sentence(), "max_turns": 2})
        assert ask("step", {"message": answer})["reward"] == 1.0


def run(caller: Caller, index: int) -> None:
    """A batch of one item, for a run that no other is for."""
    name = Draw("run", index).name()
    answer = caller.post("/v1/score", {"items": [item("exact_match", index)], "run_id": name})
    assert answer["summary"]["ok"] == 1, answer


def prompt(caller: Caller, index: int) -> None:
    """A new prompt with its responses, for the watch; then it is asked which prompts teach, and for alarms."""
    asked = Draw("prompt", index).sentence()
    items = [{**item("exact_match", 4 * index + number), "prompt": asked} for number in range(4)]
    caller.post("/v1/score", {"items": items, "run_id": "siege"})
    caller.request("GET", "/v1/prompts?run=siege&count=4&by_variance=true")
    caller.request("GET", "/v1/watch/alarms?run=siege")


def receipt(caller: Caller, index: int) -> None:
    [result] = caller.post("/v1/score", {"items": [item("exact_match", index)], "receipts": True})["results"]
    assert result["detail"]["receipt"]["id"] == result["id"], result


def group(caller: Caller, index: int) -> None:
    """A whole group, by majority."""
    answers = [2 * index, 2 * index, 2 * index + 1]
    responses = [f"\\boxed{{{answer}}}" for answer in answers]
    posted = {"method": "majority", "groups": [{"verifier": "math", "responses": responses}]}
    [found] = caller.post("/v1/groups/score", posted)["groups"]
    assert [member["reward"] for member in found["members"]] == [1, 1, 0], found


def group_of_members(caller: Caller, index: int) -> None:
    """The same, as members that come in a batch."""
    named = {"id": Draw("group", index).name(), "size": 3, "method": "majority", "wait_s": 1}
    items = [
        {"verifier": "math", "response": f"\\boxed{{{answer}}}", "group": {**named, "member": at}}
        for at, answer in enumerate((2 * index, 2 * index, 2 * index + 1))
    ]
    results = caller.post("/v1/score", {"items": items})["results"]
    assert [result["reward"] for result in results] == [1, 1, 0], results


LIVES: Final[Mapping[str, Callable[[Caller, int], None]]] = {
    make.__name__: make
    for make in (
        interaction,
        job,
        audit,
        log_search,
        nemo_gym_session,
        openenv_session,
        run,
        prompt,
        receipt,
        group,
        group_of_members,
    )
}
