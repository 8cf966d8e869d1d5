"""The routes of background jobs, as a caller of a real server meets them; its jobs are in memory."""

import json
import zlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]


@pytest.fixture
def caller(served: Any) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as client:
        yield client


def numbers(count: int, salt: str = "") -> list[JSON]:
    """One in three is wrong."""
    return [
        {"verifier": "numeric", "response": f"{salt} \\boxed{{{n}}}", "reference": str(n if n % 3 else n + 1)}
        for n in range(count)
    ]


def sleepers(count: int) -> list[JSON]:
    """Equations that take a worker some milliseconds each."""
    return [{"verifier": "math", "response": f"\\boxed{{x^2+{n}}}", "reference": f"x^2+{n}+0"} for n in range(count)]


def submitted(caller: httpx.Client, batch: list[JSON], **more: Any) -> str:
    reply = caller.post("/v1/jobs", json={"items": batch, **more})
    assert reply.status_code == 202, reply.text[:500]
    job_id: str = reply.json()["job_id"]
    assert reply.headers["location"] == f"/v1/jobs/{job_id}"
    return job_id


def problem(reply: httpx.Response, status: int) -> JSON:
    assert reply.status_code == status, reply.text[:500]
    assert reply.headers["content-type"] == "application/problem+json"
    body: JSON = reply.json()
    assert body["status"] == status
    return body


def test_a_job_gives_what_a_batch_gives(caller: httpx.Client) -> None:
    batch = [*numbers(600), {"response": "lost"}]
    batch[3]["id"] = "three"
    job_id = submitted(caller, batch, references={"p": "1"}, explain=True)
    body = caller.get(f"/v1/jobs/{job_id}", params={"wait_s": 60}).json()
    assert (body["job_id"], body["state"], body["items"], body["done"]) == (job_id, "done", 601, 601)
    direct = caller.post("/v1/score", json={"items": batch, "explain": True}).json()
    found = sorted(body["results"], key=lambda result: int(result["index"]))
    assert [result.pop("index") for result in found] == list(range(601))
    for ours, its in zip(found, direct["results"], strict=True):
        assert {**ours, "elapsed_ms": 0, "cached": None} == {**its, "elapsed_ms": 0, "cached": None}
    for name in ("items", "ok", "invalid", "failed"):
        assert body["summary"][name] == direct["summary"][name]


def test_results_are_followed_as_they_come(caller: httpx.Client) -> None:
    job_id = submitted(caller, sleepers(150), cache="off")
    found: list[JSON] = []
    replies = 0
    while True:
        body = caller.get(f"/v1/jobs/{job_id}", params={"wait_s": 60, "after": len(found)}).json()
        found += body["results"]
        replies += 1
        assert body["done"] == len(found)
        assert (body["summary"] is None) == (body["state"] != "done")
        if body["state"] == "done":
            break
    assert replies > 1
    assert sorted(result["index"] for result in found) == list(range(150))
    assert caller.get(f"/v1/jobs/{job_id}").json()["results"] == found
    assert caller.get(f"/v1/jobs/{job_id}", params={"after": 149}).json()["results"] == found[149:]
    assert caller.get(f"/v1/jobs/{job_id}", params={"after": 10_000, "wait_s": 60}).json()["results"] == []


def test_the_wait_is_bounded_by_what_was_asked(caller: httpx.Client) -> None:
    job_id = submitted(caller, sleepers(2000), cache="off")
    body = caller.get(f"/v1/jobs/{job_id}", params={"wait_s": 0.05}).json()
    assert body["state"] in ("queued", "running")
    assert body["done"] < 2000
    reply = caller.delete(f"/v1/jobs/{job_id}")
    assert reply.json() == {"job_id": job_id, "state": "cancelled"}
    left = caller.get(f"/v1/jobs/{job_id}", params={"wait_s": 60}).json()
    assert left["state"] == "cancelled"
    assert left["summary"] is None
    assert len(left["results"]) == left["done"] < 2000
    assert caller.delete(f"/v1/jobs/{job_id}").json()["state"] == "cancelled"
    eventually(lambda: is_idle(caller))


def is_idle(caller: httpx.Client) -> bool:
    idle = {"rewardline_jobs_under_way 0.0", "rewardline_in_flight_items 0.0"}
    return idle <= set(caller.get("/metrics").text.splitlines())


def test_what_is_done_is_removed(caller: httpx.Client) -> None:
    job_id = submitted(caller, numbers(3))
    caller.get(f"/v1/jobs/{job_id}", params={"wait_s": 60})
    assert caller.delete(f"/v1/jobs/{job_id}").json() == {"job_id": job_id, "state": "done"}
    problem(caller.get(f"/v1/jobs/{job_id}"), 404)
    problem(caller.delete(f"/v1/jobs/{job_id}"), 404)


def test_an_idempotency_key_belongs_to_one_body(caller: httpx.Client) -> None:
    body = json.dumps({"items": numbers(3)}).encode()
    named = {"Idempotency-Key": "step-17"}
    first = caller.post("/v1/jobs", content=body, headers=named).json()["job_id"]
    packed = {**named, "Content-Encoding": "gzip"}
    compressor = zlib.compressobj(wbits=31)
    again = caller.post("/v1/jobs", content=compressor.compress(body) + compressor.flush(), headers=packed)
    assert (again.status_code, again.json()["job_id"]) == (202, first)
    problem(caller.post("/v1/jobs", content=body + b" ", headers=named), 409)
    assert caller.post("/v1/jobs", content=body).json()["job_id"] != first
    for key in (b"", b"a b", "é".encode(), b"x" * 256):
        problem(caller.post("/v1/jobs", content=body, headers=[(b"Idempotency-Key", key)]), 422)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"not json", 400),
        (b"{}", 422),
        (b'{"items": [{"response": "a", "solution": 1}]}', 422),
        (b'{"items": [], "deadline_s": 0}', 422),
        (json.dumps({"items": [{"response": "a"}] * 4097}).encode(), 413),
        (b'{"items": [{"response": "' + b"x" * 64_000_000 + b'"}]}', 413),
    ],
)
def test_a_body_is_refused_as_one_of_a_batch_is(caller: httpx.Client, body: bytes, status: int) -> None:
    refused = problem(caller.post("/v1/jobs", content=body), status)
    direct = problem(caller.post("/v1/score", content=body), status)
    assert {**refused, "request_id": ""} == {**direct, "request_id": ""}


@pytest.mark.parametrize("job_id", ["0" * 32, "x", "0" * 33, "0" * 32 + "/turns", "%00", "0" * 31 + "\u0660"])
def test_an_unknown_job_is_not_found(caller: httpx.Client, job_id: str) -> None:
    problem(caller.get(f"/v1/jobs/{job_id}"), 404)


@pytest.mark.parametrize(
    "query", ["wait_s=-1", "wait_s=x", "wait_s=nan", "wait_s=inf", "wait_s=", "after=-1", "after=1.5", "after=null",
              "wait=1", "after=1&after=2", "after=99999999999999999999"],
)  # fmt: skip
def test_a_query_that_is_none_is_refused(caller: httpx.Client, query: str) -> None:
    problem(caller.get(f"/v1/jobs/{'0' * 32}?{query}"), 422)


def test_other_methods_are_not_allowed(caller: httpx.Client) -> None:
    for method, path, allowed in (("GET", "/v1/jobs", "POST"), ("POST", f"/v1/jobs/{'0' * 32}", "GET, DELETE")):
        reply = caller.request(method, path)
        problem(reply, 405)
        assert reply.headers["allow"] == allowed


def test_who_hangs_up_is_waited_for_no_longer(caller: httpx.Client) -> None:
    job_id = submitted(caller, sleepers(2000), cache="off")
    with pytest.raises(httpx.ReadTimeout):
        caller.get(f"/v1/jobs/{job_id}", params={"wait_s": 60}, timeout=0.2)
    eventually(lambda: has_seen_one_hang_up(caller))
    assert caller.delete(f"/v1/jobs/{job_id}").json()["state"] == "cancelled"


def has_seen_one_hang_up(caller: httpx.Client) -> bool:
    lines = caller.get("/metrics").text.splitlines()
    return any('code="499"' in line and 'method="/v1/jobs/{id}"' in line for line in lines)
