"""NeMo-Gym's resources server, against a stand-in for its base class, and through its web server."""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import yaml

if TYPE_CHECKING:
    from tests.conftest import Served

EXAMPLES = Path(__file__).parents[2] / "client" / "examples" / "nemo_gym"
STAND_INS = Path(__file__).parent / "stand_ins"
NOWHERE = "http://127.0.0.1:9"
Verify = Callable[..., "httpx.Response"]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(STAND_INS))
    yield importlib.import_module("rewardline.nemo_gym")
    for name in [name for name in sys.modules if name.split(".")[0] == "nemo_gym"]:
        del sys.modules[name]
    del sys.modules["rewardline.nemo_gym"]


def rollout(text: str, **columns: Any) -> dict[str, Any]:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }
    response = {
        "id": "resp_1",
        "created_at": 0.0,
        "model": "m",
        "object": "response",
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "output": [message],
    }
    asked = {"input": [{"role": "user", "content": "2+2="}]}
    return {"responses_create_params": asked, "response": response, "uuid": "u1", **columns}


async def verify(module: Any, body: dict[str, Any], **options: Any) -> httpx.Response:
    async with gym(module, **options) as client:
        return await client.post("/verify", json=body)


def gym(module: Any, **options: Any) -> httpx.AsyncClient:
    """A client of the resources server with these options."""
    config = module.VerifierConfig(rewardline=options)
    app = module.VerifierResourcesServer(config=config).setup_webserver()
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://gym")


async def test_a_rollout_comes_back_with_its_reward(served: Served, module: Any) -> None:
    row = rollout("so \\boxed{4}", expected_answer="4", _ng_task_index=7)
    answer = await verify(module, row, url=served.url, verifier="math")
    assert answer.status_code == 200
    body = answer.json()
    assert body["reward"] == 1.0
    assert {name: body[name] for name in row} == row
    wrong = await verify(module, rollout("so \\boxed{5}", expected_answer="4"), url=served.url, verifier="math")
    assert wrong.json()["reward"] == 0.0


async def test_what_could_not_be_judged_is_marked_for_both_trainers(module: Any) -> None:
    row = rollout("so \\boxed{4}", expected_answer="4", instance_config={"seed": 1})
    answer = await verify(module, row, url=NOWHERE, verifier="math", deadline_s=0.2, on_failed="abstain")
    body = answer.json()
    assert answer.status_code == 200
    assert body["_ng_failure_class"] == "judge_failed"
    assert body["instance_config"] == {"seed": 1, "mask_sample": True}
    assert body["mask_sample"] is True
    assert body["_ng_failure_judge_error"]
    assert body["response"] == row["response"]


async def test_without_being_told_so_it_is_a_503_and_no_number(module: Any) -> None:
    row = rollout("so \\boxed{4}", expected_answer="4")
    answer = await verify(module, row, url=NOWHERE, verifier="math", deadline_s=0.2)
    assert answer.status_code == 503


async def test_a_row_to_be_mended_is_a_422(served: Served, module: Any) -> None:
    answer = await verify(module, rollout("so \\boxed{4}"), url=served.url, verifier="maths")
    assert answer.status_code == 422
    assert "maths" in answer.text


async def test_rollouts_can_be_verified_again(module: Any) -> None:
    async with gym(module) as client:
        assert (await client.get("/reverify_mode")).json() == "stateless"


EPISODE = {"episode_id": {"rollout_id": "0-1", "attempt": 0}, "task_id": {"taskset": "sums", "task_id": "7"}}


def episode(text: str, **columns: Any) -> dict[str, Any]:
    return {**EPISODE, "verification_input": rollout(text, **columns)}


async def test_an_episode_is_verified_as_its_row_is(served: Served, module: Any) -> None:
    for text, reward in (("\\boxed{4}", 1.0), ("\\boxed{5}", 0.0)):
        body = episode(text, expected_answer="4")
        answer = (await verify(module, body, url=served.url, verifier="math")).json()
        assert (answer["reward"], answer["mask_sample"], answer["failure_kind"]) == (reward, False, None)
        assert answer["response"] == body["verification_input"]["response"]


async def test_an_episode_that_was_not_judged_is_masked_unless_that_is_to_be_an_error(
    served: Served, module: Any
) -> None:
    lost = episode("\\boxed{4}", expected_answer="4")
    invalid = episode("x", expected_answer="\\frac{")
    nowhere = {"url": NOWHERE, "verifier": "math", "deadline_s": 0.2}
    there = {"url": served.url, "verifier": "math"}
    body = (await verify(module, lost, **nowhere)).json()
    assert body["mask_sample"]
    assert body["failure_kind"] in ("transport_unreachable", "transport_timeout")  # as far as the deadline let it get
    body = (await verify(module, invalid, **there)).json()
    assert (body["mask_sample"], body["failure_kind"]) == (True, "rewardline:unparseable_reference")
    assert (await verify(module, lost, **nowhere, on_failed="raise")).status_code == 503
    assert (await verify(module, invalid, **there, on_failed="raise")).status_code == 422


async def test_a_session_that_was_closed_is_not_seeded_again(served: Served, module: Any) -> None:
    session = {"resources_session_id": "of the hook"}
    closing = {**session, "episode_id": EPISODE["episode_id"]}
    async with gym(module, url=served.url) as client:
        for _ in range(2):
            seeded = await client.post("/seed_session", json={**session, **EPISODE, "task_data": {}})
            assert (seeded.status_code, seeded.json()) == (200, session)
        for _ in range(2):
            assert (await client.post("/close_session", json=closing)).json() == session
        late = await client.post("/seed_session", json={**session, **EPISODE, "task_data": {}})
        assert late.status_code == 409
        assert (await client.post("/seed_session", json=session)).status_code == 422


async def test_the_session_of_an_older_client_needs_no_server(module: Any) -> None:
    async with gym(module, url=NOWHERE, deadline_s=0.2) as client:
        for body in ({}, {"expected_answer": "4"}):
            assert (await client.post("/seed_session", json=body)).json() == {}
        late = {"resources_session_id": "s", **EPISODE, "task_data": {}}
        assert (await client.post("/seed_session", json=late)).status_code == 503


def test_the_door_is_told_by_what_to_judge(module: Any) -> None:
    def path(**options: Any) -> str:
        return str(module.path_of(module.hook_of(options)))

    assert path() == "/compat/nemo_gym/verify"
    assert path(recipe="think_math") == "/compat/nemo_gym/verify?recipe=think_math"
    assert path(verifier="math", params={"a": "b&c"}) == (
        "/compat/nemo_gym/verify?verifier=math&params=%7B%22a%22%3A+%22b%26c%22%7D"
    )
    with pytest.raises(ValueError, match="checks"):
        path(checks=[{"verifier": "math"}])


async def test_the_example_is_a_server_and_its_configuration(
    served: Served, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWARDLINE_URL", served.url)
    written = yaml.safe_load((EXAMPLES / "configs" / "rewardline.yaml").read_text())
    config = module.VerifierConfig(**written["rewardline_verifier"]["resources_servers"]["rewardline"])
    assert runpy.run_path(str(EXAMPLES / "app.py"))["VerifierResourcesServer"] is module.VerifierResourcesServer
    answer = await verify(module, rollout("so \\boxed{4}", expected_answer="4"), **config.rewardline)
    assert answer.json()["reward"] == 1.0
