"""Jobs while the processes that run them, or Redis, end: real servers, a real Redis."""

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import serving
from tests.service.redis_server import RedisServer
from tests.service.slow_verifier import installed
from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]


def equations(count: int) -> list[JSON]:
    """Each takes a worker some milliseconds of computer algebra; one in three is wrong."""
    return [
        {"verifier": "math", "response": f"\\boxed{{x^2+{n}}}", "reference": f"x^2+{n if n % 3 else n + 1}+0"}
        for n in range(count)
    ]


def submit(served: Any, batch: list[JSON], **more: Any) -> str:
    reply = httpx.post(f"{served.url}/v1/jobs", json={"items": batch, "cache": "off", **more}, timeout=PATIENCE_S)
    assert reply.status_code == 202, reply.text[:500]
    job_id: str = reply.json()["job_id"]
    return job_id


def look(served: Any, job_id: str, **query: Any) -> JSON:
    reply = httpx.get(f"{served.url}/v1/jobs/{job_id}", params=query, timeout=PATIENCE_S)
    assert reply.status_code == 200, reply.text[:500]
    body: JSON = reply.json()
    return body


def metric(served: Any, name: str) -> float:
    for line in httpx.get(f"{served.url}/metrics").text.splitlines():
        if line.startswith(f"rewardline_jobs_{name} "):
            return float(line.split()[1])
    raise AssertionError(name)


def scores(body: JSON) -> list[float | None]:
    """In the order of the items, each exactly once."""
    assert body["state"] == "done"
    found = sorted(body["results"], key=lambda result: int(result["index"]))
    assert [result["index"] for result in found] == list(range(body["items"]))
    return [result["score"] for result in found]


def expected(count: int) -> list[float]:
    return [float(n % 3 != 0) for n in range(count)]


@pytest.mark.chaos
def test_a_job_outlives_processes_and_redis(serve: Any, start_redis: Any) -> None:
    """Killed in the middle: the other finishes it. Redis restarted: it goes on. SIGTERM: handed back."""
    redis: RedisServer = start_redis("--appendonly", "yes", "--appendfsync", "always")
    settings = {"redis_url": redis.url, "sandbox": "none", "job_claim_idle_s": "1", "workers": "1"}
    servers = [serve(**settings) for _ in range(2)]

    job_id = submit(servers[0], equations(400))
    before = look(servers[1], job_id, after=40, wait_s=60)
    assert before["state"] == "running"
    [busy] = [server for server in servers if metric(server, "under_way")]
    [left] = [server for server in servers if server is not busy]
    busy.process.send_signal(signal.SIGKILL)
    whole = look(left, job_id, wait_s=60)
    assert scores(whole) == expected(400)
    assert whole["summary"]["ok"] == 400
    seen = before["results"]
    assert whole["results"][40 : 40 + len(seen)] == seen
    assert metric(left, "taken_over_total") == 1

    job_id = submit(left, equations(400))
    look(left, job_id, after=20, wait_s=60)
    redis.stop()
    eventually(lambda: httpx.get(f"{left.url}/v1/jobs/{job_id}").status_code == 503)
    reply = httpx.post(f"{left.url}/v1/jobs", json={"items": []})
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
    assert httpx.get(f"{left.url}/readyz").status_code == 200
    redis.start()
    eventually(lambda: httpx.get(f"{left.url}/v1/jobs/{job_id}").status_code == 200)
    assert scores(look(left, job_id, wait_s=60)) == expected(400)

    job_id = submit(left, equations(400))
    look(left, job_id, after=20, wait_s=60)
    assert left.stop() == 0
    attempts, state, done = redis.call("HMGET", f"rl1:{{jobs}}:job:{job_id}", "attempts", "state", "done")
    assert (attempts, state) == (b"0", b"queued")
    stored = [json.loads(line[4:]) for line in redis.call("LRANGE", f"rl1:{{jobs}}:results:{job_id}", 0, -1)]
    assert 20 < len(stored) == int(done) < 400
    assert {(result["status"], result["score"]) for result in stored} <= {("ok", 0.0), ("ok", 1.0)}
    assert redis.call("XLEN", "rl1:{jobs}:queue") == 1
    assert redis.call("XPENDING", "rl1:{jobs}:queue", "workers")["pending"] == 0


@pytest.mark.chaos
def test_without_redis_sigterm_waits_for_the_jobs_and_there_is_only_so_much_room(tmp_path: Path) -> None:
    """The running job holds on to its last item until a file is there."""
    settings = {"sandbox": "none", "workers": "1", "max_jobs": "3", "max_jobs_under_way": "1"}
    goes_on = tmp_path / "goes on"
    last = {"verifier": "slow", "response": "a", "params": {"until": str(goes_on)}}
    plugins = installed(tmp_path / "plugins")
    with (
        serving(tmp_path / "log.jsonl", (), plugins, drain_timeout_s=str(PATIENCE_S), **settings) as served,
        httpx.Client(base_url=served.url, timeout=PATIENCE_S) as caller,
    ):
        running, queued = submit(served, [*equations(20), last]), submit(served, equations(5))
        submit(served, [])
        reply = caller.post("/v1/jobs", json={"items": []})
        assert reply.status_code == 429
        assert int(reply.headers["retry-after"]) >= 1
        assert metric(served, "refused_total") == 1
        eventually(lambda: look(served, running)["done"] == 20)
        served.process.send_signal(signal.SIGTERM)
        eventually(lambda: caller.get("/readyz").status_code == 503)
        assert caller.post("/v1/jobs", json={"items": []}).status_code == 503
        assert look(served, running)["done"] == 20
        with ThreadPoolExecutor() as callers:
            answers = [
                callers.submit(caller.get, f"/v1/jobs/{job}", params={"wait_s": 60}) for job in (running, queued)
            ]
            goes_on.touch()
            assert [scores(answer.result().json()) for answer in answers] == [[*expected(20), 1.0], expected(5)]
        assert served.process.wait() == 0


@pytest.mark.contract
def test_no_job_has_scores_of_two_versions(tmp_path: Path, start_redis: Any) -> None:
    """The service that began it has verifiers that the other lacks, and is killed. What it has not judged fails."""
    redis: RedisServer = start_redis()
    settings: JSON = {"redis_url": redis.url, "sandbox": "none", "job_claim_idle_s": "1", "workers": "1"}
    last = {"verifier": "slow", "response": "a", "params": {"until": str(tmp_path / "never")}}
    plugins = installed(tmp_path / "plugins")
    with serving(tmp_path / "old.jsonl", (), plugins, **settings) as old:
        job_id = submit(old, [*equations(20), last, last])
        eventually(lambda: look(old, job_id)["done"] == 20)
        with serving(tmp_path / "new.jsonl", job_version_wait_s="0.1", **settings) as new:
            old.process.send_signal(signal.SIGKILL)
            whole = look(new, job_id, wait_s=60)
            assert scores(whole) == [*expected(20), None, None]
            assert [result["reason"] for result in whole["results"] if result["score"] is None] == ["version_gone"] * 2
            assert (whole["summary"]["ok"], whole["summary"]["failed"]) == (20, 2)
            assert metric(new, "astray_total") == 1
            assert scores(look(new, submit(new, equations(3)), wait_s=60)) == expected(3)
