"""Interactions from outside: two real servers on one real Redis, one of which dies; and what HTTP has to say."""

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import httpx
import pytest

from tests.conftest import Served, serving
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]
Two: TypeAlias = tuple[Served, Served]
KEY = "0123456789abcdef-a-key"
HEADERS = {"Authorization": f"Bearer {KEY}"}
client = httpx.Client(headers=HEADERS, timeout=PATIENCE_S, trust_env=False)


@pytest.fixture(scope="module")
def redis_of_two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, redis_of_two: RedisServer) -> Iterator[Two]:
    """Two servers on one Redis."""
    folder = tmp_path_factory.mktemp("served")

    def starting(name: str) -> AbstractContextManager[Served]:
        keys = f"tester@default={KEY}"
        return serving(folder / name, redis_url=redis_of_two.url, sandbox="none", workers="1", api_keys=keys)

    with starting("one") as one, starting("other") as other, client:
        yield one, other


def call(served: Served, method: str, path: str = "", body: Any = None, **headers: str) -> httpx.Response:
    content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    url = f"{served.url}/v1/interactions{path}"
    return client.request(method, url, content=content, headers=headers)


def open_interaction(served: Served, name: str, **more: Any) -> None:
    fields = {"verifier": "math", "query": "7 times 8?", "reference": "56", "max_turns": 20}
    reply = call(served, "POST", "", {"instance_id": name, **fields, **more})
    assert reply.status_code in (200, 201), reply.text


def turn(served: Served, name: str, index: int, answer: object, **more: Any) -> httpx.Response:
    messages = [{"role": "assistant", "content": f"It is \\boxed{{{answer}}}."}]
    return call(served, "POST", f"/{name}/turns", {"messages": messages, "turn_index": index, **more})


def problem(reply: httpx.Response, status: int) -> JSON:
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    body: JSON = reply.json()
    assert body["status"] == status
    return body


def test_the_same_turn_posted_to_both_at_once_is_taken_once(two: Two) -> None:
    open_interaction(two[0], "raced", max_turns=1000)
    with ThreadPoolExecutor(8) as threads:
        for index in range(1, 9):
            # Answers no cache has, so that both servers judge.
            futures = [threads.submit(turn, two[n % 2], "raced", index, f"0.{index}7") for n in range(8)]
            replies = {future.result().text for future in futures}
            assert len(replies) == 1
            assert json.loads(replies.pop())["turn"] == index
    assert call(two[0], "GET", "/raced").json()["turn"] == 8


def test_of_different_answers_to_one_turn_posted_at_once_one_counts(two: Two) -> None:
    open_interaction(two[0], "disputed", max_turns=1000)
    with ThreadPoolExecutor(8) as threads:
        for index in range(1, 9):
            futures = [threads.submit(turn, two[n % 2], "disputed", index, f"{n}.{index}3") for n in range(8)]
            replies = [future.result() for future in futures]
            assert sorted(reply.status_code for reply in replies) == [200] + [409] * 7
    assert call(two[1], "GET", "/disputed").json()["turn"] == 8


def test_what_is_answered(two: Two) -> None:
    one, _ = two
    body = {
        "instance_id": "told",
        "verifier": "math",
        "ground_truth": "56",
        "language": "zh",
        "trajectory": "improving",
    }
    first = call(one, "POST", "", body)
    assert (first.status_code, call(one, "POST", "", body).status_code) == (201, 200)
    assert first.json() == {
        "id": "told", "state": "open", "turn": 0, "max_turns": 3, "success_threshold": 1.0, "ttl_s": 3600.0,
        "judged_by": {"verifier": "math"}, "trajectory": "improving", "trajectory_score": None, "turns": [],
    }  # fmt: skip
    answer = turn(one, "told", 1, 54).json()
    info = answer.pop("info")
    assert answer == {
        "should_terminate": False, "response": "❌ 还不正确，请检查推理过程后重新给出最终答案。", "reward": 0.0, "score": 0.0,
        "status": "ok", "reason": "wrong_answer", "turn": 1, "trajectory_score": -0.05,
    }  # fmt: skip
    assert info.pop("version")
    assert info == {"state": "open", "turns_left": 2, "extracted": "54", "verifier": "math", "step_reward": -0.05}
    assert "56" not in call(one, "GET", "/told").text
    problem(call(one, "POST", "", {**body, "ground_truth": "57"}), 409)
    assert "the next turn is 2" in problem(turn(one, "told", 3, 56), 409)["detail"]


def test_a_server_of_another_version_finds_it_under_its_key_in_redis(two: Two, redis_of_two: RedisServer) -> None:
    open_interaction(two[0], "lasting")
    turn(two[0], "lasting", 1, 55)
    held = redis_of_two.call("HGETALL", "rl1ix:{lasting}")
    assert set(held) == {b"version", b"body", b"plan", b"progress", b"item", b"turn:1"}


def test_what_is_refused(two: Two) -> None:
    one, _ = two
    open_interaction(one, "refusing")
    assert problem(call(one, "POST", "", b"{"), 400)
    assert problem(call(one, "POST", "", b"{}", **{"content-type": "text/plain"}), 415)
    assert problem(call(one, "POST", "", {"verifier": "maths"}), 422)["detail"]
    assert problem(call(one, "POST", "/refusing/turns", {"messages": []}), 422)["errors"][0]["loc"] == ["turn_index"]
    assert problem(call(one, "POST", "", {"metadata": "x" * 1_000_000}), 413)
    assert problem(call(one, "POST", "/refusing/turns", b" " * 16_000_001), 413)
    for path in ("/absent", "/%0A", "/a%2Fb", "/refusing%0A", "/refusing/more"):
        problem(call(one, "GET", path), 404)
    problem(call(one, "DELETE", "/absent"), 404)
    problem(turn(one, "absent", 1, 56), 404)
    for path, allowed in (("", "POST"), ("/refusing", "GET, DELETE"), ("/refusing/turns", "POST")):
        reply = call(one, "PATCH", path)
        problem(reply, 405)
        assert reply.headers["allow"] == allowed
    assert httpx.get(f"{one.url}/v1/interactions/refusing").status_code == 401


def test_what_could_not_be_judged_is_to_be_sent_again(two: Two) -> None:
    open_interaction(two[0], "late")
    reply = turn(two[0], "late", 1, "0.123", deadline_s=1e-9)
    assert "deadline" in problem(reply, 503)["detail"]
    assert int(reply.headers["retry-after"]) >= 1
    assert turn(two[1], "late", 1, "0.123").json()["turn"] == 1
    open_interaction(
        two[0], "boxless", verifier="code", reference={"test_cases": [{"input": "", "expected_output": "1"}]}
    )
    program = {"messages": [{"role": "assistant", "content": "```python\nprint(1)\n```"}], "turn_index": 1}
    assert "56" not in problem(call(two[0], "POST", "/boxless/turns", program), 503)["detail"]
    assert call(two[1], "GET", "/boxless").json()["turn"] == 0


def test_it_is_counted(two: Two) -> None:
    one, _ = two
    open_interaction(one, "counted", max_turns=1)
    turn(one, "counted", 1, 55)
    text = client.get(f"{one.url}/metrics").text
    counted = {line.split(" ")[0]: float(line.split(" ")[1]) for line in text.splitlines() if line[0] != "#"}
    assert counted['rewardline_interactions_total{event="created"}'] >= 1
    assert counted['rewardline_interactions_total{event="exhausted"}'] >= 1
    assert counted['rewardline_interaction_turns_total{outcome="taken"}'] >= 1
    labels = [line for line in counted if line.startswith("rewardline_requests_total") and "/v1/interactions" in line]
    assert {line.partition('method="')[2].partition('"')[0] for line in labels} <= {
        "/v1/interactions", "/v1/interactions/{id}", "/v1/interactions/{id}/turns",
    }  # fmt: skip


def test_without_redis_nobody_is_scored_and_with_it_again_nothing_is_made_up(
    two: Two, redis_of_two: RedisServer
) -> None:
    open_interaction(two[0], "kept")
    redis_of_two.kill()
    for reply in (turn(two[0], "kept", 1, 56), call(two[1], "GET", "/kept"), call(two[1], "DELETE", "/kept")):
        assert "Redis" in problem(reply, 503)["detail"]
        assert int(reply.headers["retry-after"]) >= 1
    problem(call(two[0], "POST", "", {"verifier": "math", "reference": "1"}), 503)
    redis_of_two.start()
    problem(turn(two[0], "kept", 1, 56), 404)
    open_interaction(two[1], "kept")
    eventually(lambda: turn(two[0], "kept", 1, 56).status_code == 200)


def test_two_servers_take_turns_and_one_goes_on_when_the_other_is_killed(two: Two) -> None:
    """Stands last: the second server is gone after it."""
    one, other = two
    open_interaction(other, "alternating")
    open_interaction(one, "alternating")
    answers = [turn((one, other)[index % 2], "alternating", index, index).json() for index in range(1, 6)]
    assert [answer["turn"] for answer in answers] == [1, 2, 3, 4, 5]
    assert all(answer["reward"] == 0.0 and not answer["should_terminate"] for answer in answers)
    other.process.send_signal(signal.SIGKILL)
    other.process.wait()
    assert turn(one, "alternating", 5, 5).json() == answers[-1]
    assert turn(one, "alternating", 6, 56).json()["should_terminate"]
    view = call(one, "GET", "/alternating").json()
    assert (view["state"], [each["reward"] for each in view["turns"]]) == ("solved", [0.0] * 5 + [1.0])
    assert call(one, "DELETE", "/alternating").json() == call(one, "DELETE", "/alternating").json()
