"""ROLL's remote reward system: its client's loops, and tasks that outlive the process that took them."""

import json
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from service.doors.compat.roll import RESULT, SUBMIT
from tests.conftest import Serve, Served
from tests.service.doors.compat.recorded import JSON, answer, metric, post, recorded
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S, eventually

KEY = "0123456789abcdef-a-key"
MATH, CODE = recorded("roll_submit_task"), recorded("roll_submit_task_code")


def poll(served: Served, task_id: str, query: str = "", timeout_s: float = 20) -> JSON:
    url = f"{served.url}{RESULT[0]}{query}"
    reply = httpx.request("GET", url, json={"reward_request_id": task_id}, timeout=timeout_s)
    assert reply.status_code == 200, reply.text
    found: JSON = reply.json()
    return found


def submit(served: Served, body: JSON = MATH, query: str = "") -> str:
    found = answer(served, f"{SUBMIT[0]}{query}", body)
    assert (found["errcode"], found["errmsg"]) == (0, "")
    return str(found["reward_request_id"])


def sleeper(seconds: float, **more: Any) -> JSON:
    """A task that takes so long, and whose answer is right."""
    program = f"import time\ntime.sleep({seconds})\nprint(sum(map(int, input().split())))"
    return CODE | {"response": f"```python\n{program}\n```"} | more


class Client:
    """How RemoteRewardSystemWorker submits and polls, less its pauses."""

    def __init__(self, base: str, **headers: str) -> None:
        self.base = base
        self.headers = {"Content-Type": "application/json", "BusinessType": "online", **headers}
        self.polls = 0

    def score(self, body: JSON) -> Any:
        for _ in range(5):
            score = self._attempt(body)
            if score is not None:
                return score
        return 0

    def _attempt(self, body: JSON) -> Any:
        reply = httpx.post(f"{self.base}/submit_task", headers=self.headers, json=body, timeout=PATIENCE_S)
        if reply.status_code >= 300 or int(reply.json().get("errcode", -1)) != 0:
            return None
        task = {"reward_request_id": reply.json()["reward_request_id"]}
        until = time.monotonic() + body["timeout"] + 5
        while time.monotonic() < until:
            self.polls += 1
            reply = httpx.request(
                "GET", f"{self.base}/task_result", headers=self.headers, json=task, timeout=PATIENCE_S
            )
            if reply.status_code < 300 and int(reply.json().get("errcode", -1)) == 0:
                for dimension in reply.json().get("dimention_reward_score", {}).values():
                    assert all(plugin["time_cost"] >= 0 for plugin in dimension["debug_info"].values())
                return reply.json().get("reward_score")
        return None


@pytest.mark.contract
@pytest.mark.parametrize("base", ["/compat/roll", "/apis/custom/reward-system/v1"])
def test_its_client_gets_each_score_with_its_first_poll(served: Served, base: str) -> None:
    client = Client(f"{served.url}{base}")
    assert client.score(MATH) == 1.0
    assert client.score(MATH | {"response": "so \\boxed{5}"}) == 0.0
    assert client.score(CODE) == 1.0
    assert client.score(sleeper(1.5)) == 1.0
    assert client.polls == 4


def test_a_result_has_the_clients_names(served: Served) -> None:
    found = poll(served, submit(served))
    assert set(found) == {"errcode", "reward_score", "dimention_reward_score", "start_time", "end_time"}
    assert found["dimention_reward_score"]["math_rule"]["score"] == 1.0
    assert found["start_time"] <= found["end_time"]


def test_a_result_may_be_asked_for_again(served: Served) -> None:
    task_id = submit(served)
    first = poll(served, task_id)
    assert first["errcode"] == 0
    assert poll(served, task_id) == first


@pytest.mark.parametrize(
    ("query", "fields", "score"),
    [
        ("", {"reward_manager": [{"plugin_name": "math", "weight": 2.0, "other": 1}]}, 1.0),
        ("", {"reward_manager": [{"plugin_name": "qa"}], "response": "4"}, 1.0),
        ("", {"reward_manager": [{"plugin_name": "slime.dapo"}], "response": "Answer: 5"}, -1.0),
        ("", {"reward_manager": [{"plugin_name": "MathRuleRewardWorker"}]}, 1.0),
        ("?verifier=qa", {"response": "4"}, 1.0),
        ("?recipe=slime.dapo", {"response": "Answer: 5"}, -1.0),
        ("", {"reward_info": {"ground_truth": "4", "tag": "gsm8k"}, "reward_manager": []}, 1.0),
        ("?verifier=math", {"reward_info": "4", "reward_manager": None}, 1.0),
        ("", {"reward_info": {"verifier": "qa", "reference": "no"}, "response": "no"}, 1.0),
        ("", {"reward_manager": [{"plugin_name": "math_verify", "weight": 3}, {"plugin_name": "repetition"}]}, 1.0),
    ],
)
def test_what_judges_is_named_by_the_url_the_row_or_the_plugins(
    served: Served, query: str, fields: JSON, score: float
) -> None:
    assert poll(served, submit(served, MATH | fields, query))["reward_score"] == score


@pytest.mark.parametrize(
    "fields",
    [
        {"reward_manager": [{"plugin_name": "nothing_of_this_name"}]},
        {"reward_manager": [{"plugin_name": "nothing"}, {"plugin_name": "math_verify"}]},
        {"reward_manager": None},
        {"reward_info": {"ground_truth": None}},
    ],
)
def test_what_is_invalid_ends_the_clients_step_and_is_never_a_zero(served: Served, fields: JSON) -> None:
    task_id = submit(served, MATH | fields)
    found = poll(served, task_id)
    assert found["errcode"] == 0
    with pytest.raises(ValueError, match="rewardline: invalid"):  # as torch does of such a score
        float(found["reward_score"])
    refused = poll(served, task_id, "?on_invalid=poll")
    assert (refused["errcode"], "reward_score" in refused) == (2, False)
    assert "invalid" in refused["errmsg"]


@pytest.mark.contract
def test_a_task_that_is_under_way_is_polled_again(served: Served) -> None:
    task_id = submit(served, sleeper(3))
    with pytest.raises(httpx.ReadTimeout):
        poll(served, task_id, timeout_s=0.5)
    assert poll(served, task_id)["reward_score"] == 1.0


@pytest.mark.chaos
def test_a_poll_is_answered_before_its_caller_gives_up(served: Served) -> None:
    """A test may take 20 CPU seconds, and sleep for three times that."""
    task_id = submit(served, sleeper(21))
    assert poll(served, task_id) == {"errcode": 1, "errmsg": "not judged yet"}
    assert poll(served, task_id)["reward_score"] == 1.0


@pytest.mark.parametrize("task_id", ["", "nope", "0" * 32, "x" * 5000, "process:1", "\0"])
def test_an_id_that_is_not_known_is_not_dropped_without_redis(served: Served, task_id: str) -> None:
    """Another process may know it."""
    found = poll(served, task_id)
    assert (found["errcode"], "reward_score" in found) == (2, False)


@pytest.mark.parametrize(
    "body", [{}, {"response": 1}, {"response": "x", "timeout": 0}, {"response": "x", "timeout": "5"}]
)
def test_what_is_no_task_is_refused(served: Served, body: JSON) -> None:
    assert post(served, SUBMIT[0], body).status_code == 422


def test_a_new_verdict_is_asked_for_where_it_is_wished(served: Served) -> None:
    def kept() -> float:
        return metric(served, 'items_cached_total{layer="memory"}')

    assert poll(served, submit(served))["errcode"] == 0
    before = kept()
    assert poll(served, submit(served, MATH, "?cache=off"))["errcode"] == 0
    assert kept() == before
    assert poll(served, submit(served))["errcode"] == 0
    assert kept() == before + 1


@pytest.mark.load
def test_many_tasks_at_once(served: Served) -> None:
    client = Client(f"{served.url}/compat/roll")
    bodies = [
        MATH | {"response": f"\\boxed{{{n}}}", "reward_info": {"ground_truth": str(n - n % 2)}} for n in range(64)
    ]
    with ThreadPoolExecutor(64) as threads:
        assert list(threads.map(client.score, bodies)) == [float(n % 2 == 0) for n in range(64)]
    assert client.polls == 64


def test_the_clients_own_header_holds_the_key(serve: Serve) -> None:
    served = serve(api_keys=f"train={KEY}", sandbox="none", workers="1")
    assert post(served, SUBMIT[0], MATH).status_code == 401
    client = Client(f"{served.url}/compat/roll", **{"XRL-Authorization": f"Bearer {KEY}"})
    assert client.score(MATH) == 1.0


def test_what_nobody_could_judge_in_its_time_is_submitted_again(without_boxes: Served) -> None:
    task_id = submit(without_boxes, CODE | {"timeout": 1})
    found = poll(without_boxes, task_id)
    assert (found["errcode"], "reward_score" in found) == (1, False)
    assert "sandbox_unavailable" in found["errmsg"]
    stopped = poll(without_boxes, task_id, "?on_failed=stop")
    assert stopped["errcode"] == 0
    assert stopped["reward_score"].startswith("rewardline: failed: sandbox_unavailable")


@pytest.mark.chaos
def test_sigterm_waits_for_a_task_and_for_who_polls_for_it(serve: Serve) -> None:
    served = serve(sandbox="auto", box_slots="1", workers="1")
    task_id = submit(served, sleeper(3))
    served.process.send_signal(signal.SIGTERM)
    eventually(lambda: httpx.get(f"{served.url}/readyz").status_code == 503)
    assert post(served, SUBMIT[0], MATH).status_code == 503
    assert poll(served, task_id)["reward_score"] == 1.0
    assert served.process.wait(timeout=PATIENCE_S) == 0


@pytest.mark.chaos
def test_with_redis_every_replica_answers_for_a_task_even_for_one_of_a_dead_process(
    serve: Serve, redis_server: RedisServer, start_redis: Callable[..., RedisServer]
) -> None:
    settings = {"redis_url": redis_server.url, "sandbox": "auto", "box_slots": "1", "workers": "1"}
    one, other = serve(**settings), serve(**settings)

    # Submitted here, polled for there: done, and under way.
    assert poll(other, submit(one))["reward_score"] == 1.0
    task_id = submit(one, sleeper(2))
    assert poll(other, task_id)["reward_score"] == 1.0
    assert metric(other, "roll_tasks") == 0

    # What is in Redis nowhere was lost, or damaged: it is to be submitted again at once.
    (process, *_) = redis_server.call("KEYS", "rl1rt:{process:*")
    for lost in ("0" * 32, "nope", process.decode()[len("rl1rt:{") : -1]):
        assert poll(other, lost)["reward_score"] is None
    redis_server.call("HSET", f"rl1rt:{{{task_id}}}", "outcome", "no json")
    assert poll(one, task_id)["reward_score"] is None

    # Redis is away for a while: submissions wait for it, polls are told to come again.
    task_id = submit(one)
    redis_server.stop()
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(submit, one)
        reply = httpx.request("GET", f"{other.url}{RESULT[0]}", json={"reward_request_id": task_id}, timeout=PATIENCE_S)
        assert reply.status_code == 503
        redis_server.start()
        assert poll(other, waiting.result())["reward_score"] == 1.0
    assert poll(one, task_id)["reward_score"] in (1.0, None)

    # Its process is killed: another one judges it.
    task_id = submit(one, sleeper(4))
    one.process.send_signal(signal.SIGKILL)
    one.process.wait()
    found = poll(other, task_id)
    found = found if found["errcode"] == 0 else poll(other, task_id)
    assert found["reward_score"] == 1.0

    # Its process ends in good order: the task is finished first.
    third = serve(**settings)
    task_id = submit(third, sleeper(2))
    assert third.stop() == 0
    assert poll(other, task_id)["reward_score"] == 1.0


@pytest.mark.chaos
def test_a_process_that_has_no_time_left_leaves_its_tasks_to_others(serve: Serve, redis_server: RedisServer) -> None:
    settings = {"redis_url": redis_server.url, "sandbox": "auto", "box_slots": "1", "workers": "1"}
    one, other = serve(**settings, drain_timeout_s="1"), serve(**settings)
    task_id = submit(one, sleeper(5))
    assert one.stop() == 0
    assert poll(other, task_id)["reward_score"] == 1.0
    record = redis_server.call("HGETALL", f"rl1rt:{{{task_id}}}")
    assert json.loads(record[b"outcome"])["result"]["status"] == "ok"
    assert b"body" not in record
