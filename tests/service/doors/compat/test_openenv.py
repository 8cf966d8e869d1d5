"""Interactions as OpenEnv's environments, by its protocol; what its own package does with them is in tests/e2e."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from service.doors.compat.openenv import BASE, BadTasks, tasks_of
from tests.conftest import Serve, Served
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.contract

JSON = dict[str, Any]
KEY = "0123456789abcdef-a-key"
TASK = {"reference": "56", "prompt": "7 times 8?", "max_turns": 3}
CALL = {"type": "function", "function": {"name": "add", "arguments": {"a": 7, "b": 8}}}


def url_of(served: Served, path: str = "/verifier/math", key: str = "") -> str:
    host = served.url.removeprefix("http://")
    return f"ws://{f'any:{key}@' if key else ''}{host}{BASE}{path}/ws"


@pytest.fixture
def env(served: Served) -> Iterator[ClientConnection]:
    with connect(url_of(served), proxy=None) as connection:
        yield connection


def ask(connection: ClientConnection, kind: str, data: JSON | None = None) -> JSON:
    connection.send(json.dumps({"type": kind, **({} if data is None else {"data": data})}))
    answer: JSON = json.loads(connection.recv())
    return answer


def test_an_episode_goes_on_until_it_is_solved(env: ClientConnection) -> None:
    first = ask(env, "reset", TASK)
    assert first["type"] == "observation"
    assert (first["data"]["reward"], first["data"]["done"]) == (None, False)
    observation = first["data"]["observation"]
    assert (observation["prompt"], observation["turns_left"]) == ("7 times 8?", 3)
    wrong = ask(env, "step", {"message": "\\boxed{55}"})["data"]
    assert (wrong["reward"], wrong["done"], wrong["observation"]["turn"]) == (0.0, False, 1)
    assert wrong["observation"]["feedback"]
    state = ask(env, "state")
    assert (state["type"], state["data"]["step_count"]) == ("state", 1)
    assert state["data"]["episode_id"] == observation["episode_id"]
    right = ask(env, "step", {"message": "\\boxed{56}"})["data"]
    assert (right["reward"], right["done"]) == (1.0, True)
    over = ask(env, "step", {"message": "\\boxed{56}"})
    assert (over["type"], over["data"]["code"]) == ("error", "VALIDATION_ERROR")
    again = ask(env, "reset", TASK)["data"]
    assert again["observation"]["episode_id"] != observation["episode_id"]
    assert ask(env, "step", {"content": "\\boxed{56}"})["data"]["reward"] == 1.0


@pytest.mark.parametrize(
    ("action", "reward"),
    [
        ({"tool_calls": [CALL]}, 1.0),
        ({"message": "I add.", "tool_calls": [CALL]}, 1.0),
        ({"messages": [{"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "content": "15"}]}, 1.0),
        ({"message": "15"}, 0.0),
    ],
)
def test_calls_are_judged(served: Served, action: JSON, reward: float) -> None:
    with connect(url_of(served, "/verifier/tool_call"), proxy=None) as env:
        ask(env, "reset", {"reference": [{"name": "add", "arguments": {"a": 7, "b": 8}}]})
        assert ask(env, "step", action)["data"]["reward"] == reward


@pytest.mark.parametrize(
    ("kind", "data", "code", "message"),
    [
        ("step", {"message": "x"}, "VALIDATION_ERROR", "reset first"),
        ("state", None, "VALIDATION_ERROR", "reset first"),
        ("dance", None, "UNKNOWN_TYPE", "dance"),
        ("reset", {"nosuch": 1}, "VALIDATION_ERROR", "nosuch"),
        ("reset", {"verifier": "nosuch"}, "VALIDATION_ERROR", "nosuch"),
        ("reset", {**TASK, "episode_id": {}}, "VALIDATION_ERROR", "episode_id"),
    ],
)
def test_what_cannot_be_done_is_an_error_and_no_number(
    env: ClientConnection, kind: str, data: JSON | None, code: str, message: str
) -> None:
    answer = ask(env, kind, data)
    assert (answer["type"], answer["data"]["code"]) == ("error", code)
    assert message in answer["data"]["message"]


def test_an_action_that_says_nothing_is_an_error_and_the_episode_goes_on(env: ClientConnection) -> None:
    ask(env, "reset", TASK)
    assert "tool_calls, message" in ask(env, "step", {"value": 1})["data"]["message"]
    assert "tool_calls" in ask(env, "step", {"message": "x", "tool_calls": "add(7, 8)"})["data"]["message"]
    assert ask(env, "step", {"message": "\\boxed{56}", "tool_calls": [CALL]})["data"]["reward"] == 0.0
    assert ask(env, "step", {"message": "\\boxed{56}"})["data"]["reward"] == 1.0


def test_what_is_no_message_is_an_error_and_the_connection_stays(env: ClientConnection) -> None:
    for text in ("{", "[]", "5", '{"data": {}}'):
        env.send(text)
        assert json.loads(env.recv())["data"]["code"] == "INVALID_JSON"
    assert ask(env, "reset", TASK)["type"] == "observation"
    env.send('{"type": "close"}')
    with pytest.raises(ConnectionClosed):
        env.recv()


def test_over_http_a_step_names_its_episode(served: Served) -> None:
    with httpx.Client(base_url=f"{served.url}{BASE}/verifier/math") as client:
        reset = client.post("/reset", json={**TASK, "episode_id": "an-episode-of-http"})
        assert reset.json()["observation"]["episode_id"] == "an-episode-of-http"
        step = {"action": {"message": "\\boxed{56}"}, "episode_id": "an-episode-of-http"}
        assert client.post("/step", json=step).json()["reward"] == 1.0
        state = client.get("/state", params={"episode_id": "an-episode-of-http"}).json()
        assert (state["step_count"], state["state"]) == (1, "solved")
        assert client.post("/step", json={"action": {"message": "x"}}).status_code == 422
        assert client.post("/step", json=step | {"episode_id": "nobody's"}).status_code == 404
        assert client.get("/reset").status_code == 405
        assert client.get("/health").json() == {"status": "healthy"}
        assert client.get("/metadata").json()["name"] == "rewardline"
        assert set(client.get("/schema").json()) == {"action", "observation", "state"}


def test_the_document_has_the_routes_and_its_examples_are_an_episode(served: Served) -> None:
    document = httpx.get(f"{served.url}/openapi.json").json()
    paths = {path: operations for path, operations in document["paths"].items() if path.startswith(BASE)}
    assert set(paths) == {
        *(f"{BASE}/{what}" for what in ("reset", "step", "state", "health", "schema", "metadata")),
        f"{BASE}/{{kind}}/{{name}}/reset",
    }
    examples = {
        path: operation["requestBody"]["content"]["application/json"]["example"]
        for path, operations in paths.items()
        for operation in operations.values()
        if "requestBody" in operation
    }
    by_name = examples.pop(f"{BASE}/{{kind}}/{{name}}/reset")
    assert httpx.post(f"{served.url}{BASE}/verifier/math/reset", json=by_name).json()["done"] is False
    assert httpx.post(f"{served.url}{BASE}/reset", json=examples[f"{BASE}/reset"]).json()["done"] is False
    assert httpx.post(f"{served.url}{BASE}/step", json=examples[f"{BASE}/step"]).json()["reward"] == 1.0
    (episode,) = (each for each in paths[f"{BASE}/state"]["get"]["parameters"] if "name" in each)
    state = httpx.get(f"{served.url}{BASE}/state", params={"episode_id": episode["example"]}).json()
    assert (state["state"], {*state, "mixed_versions"}) == (  # which is there only where versions are mixed
        "solved",
        set(document["components"]["schemas"]["OpenEnvState"]["properties"]),
    )


def test_a_seed_chooses_a_task(serve: Serve, tmp_path: Path) -> None:
    tasks = [{"verifier": "math", "reference": str(n), "prompt": f"{n}?"} for n in range(3)]
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(map(json.dumps, tasks)) + "\n\n")
    served = serve(openenv_tasks=str(path), workers="1")
    with connect(url_of(served, ""), proxy=None) as env:
        assert [ask(env, "reset", {"seed": n})["data"]["observation"]["prompt"] for n in (0, 2, 4)] == [
            "0?",
            "2?",
            "1?",
        ]
        assert ask(env, "step", {"message": "\\boxed{1}"})["data"]["reward"] == 1.0
        assert ask(env, "reset", {})["data"]["observation"]["prompt"] in ("0?", "1?", "2?")
        assert ask(env, "reset", {**TASK, "verifier": "math"})["data"]["observation"]["prompt"] == "7 times 8?"


@pytest.mark.parametrize("line", ["{", "[]"])
def test_a_line_that_is_no_task_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{{}}\n{line}\n")
    with pytest.raises(BadTasks, match="line 2"):
        tasks_of(path)


def test_a_key_comes_in_the_url(serve: Serve) -> None:
    served = serve(api_keys=f"tester={KEY}", workers="1")
    with connect(url_of(served, key=KEY), proxy=None) as env:
        assert ask(env, "reset", TASK)["type"] == "observation"
    for key in ("", "wrong"):
        with pytest.raises(InvalidStatus) as caught:
            connect(url_of(served, key=key), proxy=None)
        assert caught.value.response.status_code == 403


def test_there_is_no_other_websocket(served: Served) -> None:
    for path in ("/v1/score", f"{BASE}/nosuch/ws", f"{BASE}/reset"):
        with pytest.raises(InvalidStatus):
            connect(f"ws://{served.url.removeprefix('http://')}{path}", proxy=None)
    assert httpx.get(f"{served.url}{BASE}/ws").status_code == 404


def test_an_open_websocket_keeps_no_service_from_ending(serve: Serve) -> None:
    served = serve(workers="1")
    with connect(url_of(served), proxy=None) as env:
        ask(env, "reset", TASK)
        served.process.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionClosed):
            env.recv(PATIENCE_S)
    assert served.process.wait() == 0
