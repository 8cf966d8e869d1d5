"""The hostile requests, one after the other, beside a labelled load: it loses nothing and gets nothing wrong, the
service answers probes, and in the end it holds no more memory than before.

How long a probe waits is counted in CPU time of the loop: it is answered after some turns, and other work takes its part of
each turn. `pytest -s` also shows the milliseconds that probes took beside each request, on this machine.
"""

import contextlib
import json
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import grpc
import httpx
import pytest
from rewardline.pb import rewardline_pb2 as pb

from tests.conftest import Served, serving
from tests.service.doors.http.test_app import _all, _open
from tests.siege.hostile_requests import REQUESTS, SCORE, Hostile
from tests.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.siege

MB = 1_000_000
MORE_AT_REST = 50 * MB
MOST_AT_ONCE = 500 * MB
"""More than before, while the largest of these bodies (60 MB) is read: twice the body, and what its values may take."""
LONGEST_S = 0.025
"""The CPU time of a step. 5 ms are meant; on a busy machine, with cold caches, the same step takes several times as long."""
LONGEST_WAIT_S = 0.1
"""The CPU time of all steps while a probe waits: it is accepted, read, answered and written in four turns of the loop. In units of
a fixed work on the same loop (`tests.siege.steps`).
"""
OTHERS = ("_handle_exceptions", "begin")
"""gRPC itself makes a message of its pieces in one step, 20 ms for 16 MB; the start."""
BATCH = 16


class Load:
    """Batches whose verdicts are known, from a caller of its own."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._over = threading.Event()
        self.right = 0
        self.wrong: list[object] = []
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with httpx.Client(base_url=self._served.url, timeout=PATIENCE_S) as client:
            while not self._over.is_set():
                items = [
                    {
                        "verifier": "math",
                        "response": f"\\boxed{{{self.right + n}}}",
                        "reference": f"{self.right + n // 2 * 2}",
                    }
                    for n in range(BATCH)
                ]
                reply = client.post("/v1/score", json={"items": items, "deadline_s": PATIENCE_S})
                scores = [one["score"] for one in reply.json()["results"]] if reply.is_success else reply.text
                if scores == [1.0, 0.0] * (BATCH // 2):
                    self.right += BATCH
                else:
                    self.wrong.append(scores)

    def wait_for_more(self) -> None:
        before = self.right
        eventually(lambda: self.right > before or self.wrong)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()


class Probes:
    """Asks `/healthz` again and again while it is entered."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.failed: list[int] = []
        self.longest_ms = 0.0

    def _run(self) -> None:
        with httpx.Client(base_url=self._served.url, timeout=PATIENCE_S) as client:
            while not self._over.wait(0.02):
                reply = client.get("/healthz")
                self.longest_ms = max(self.longest_ms, reply.elapsed.total_seconds() * 1000)
                if not reply.is_success:
                    self.failed.append(reply.status_code)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._thread.join()


@dataclass
class Siege:
    served: Served
    load: Load
    at_rest: int
    """The bytes of the service beside the load, before anything hostile."""
    peak: int
    stayed_mb: dict[str, int] = field(default_factory=dict)
    """What each left behind when the next batches of the load were judged."""

    def more_at_rest(self) -> int:
        return memory(self.served) - self.at_rest


@pytest.fixture(scope="module")
def siege(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Siege]:
    folder = tmp_path_factory.mktemp("siege")
    options = {"sandbox": "none", "workers": "1", "cache_memory_mb": "1", "body_timeout_s": str(PATIENCE_S)}
    with serving(folder / "log.jsonl", (), None, "tests.siege.served", **options) as served:
        load = Load(served)
        with load.running():
            eventually(lambda: load.right >= 20 * BATCH)
            yield Siege(served, load, memory(served), memory(served, "VmHWM"))


def memory(served: Served, name: str = "VmRSS") -> int:
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def answer(served: Served, request: Hostile, body: bytes) -> str:
    if request.how == "grpc":
        return _answer_of_grpc(served, body)
    if request.how in ("half-closed", "raw", "chunked", "head"):
        return _answer_to_bytes(served, request, body)
    if request.how == "cut":
        body = body[:-5]
    headers = {"Content-Type": "application/json", "Content-Encoding": request.encoding}
    reply = httpx.post(served.url + request.path, content=body, headers=headers, timeout=PATIENCE_S)
    return _outcome(reply.status_code, reply.content)


def _outcome(status: int, body: bytes) -> str:
    if status == 200 and json.loads(body).get("summary", {}).get("invalid"):
        return "invalid"
    return str(status)


def _answer_of_grpc(served: Served, body: bytes) -> str:
    with grpc.insecure_channel(served.grpc) as channel:
        call = channel.unary_unary("/rewardline.v1.Verifier/Score", bytes, bytes)
        try:
            reply = pb.ScoreResponse.FromString(call(body, timeout=PATIENCE_S))
        except grpc.RpcError as error:
            return str(error.code().name)
    return "invalid" if reply.summary.invalid else "OK"


def _answer_to_bytes(served: Served, request: Hostile, body: bytes) -> str:
    head = b"POST /v1/score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n"
    if request.how == "head":
        sent = f"POST {SCORE} HTTP/1.1\r\n{request.path}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}".encode()
    elif request.how == "chunked":
        sent = (
            head
            + b"Transfer-Encoding: chunked\r\n\r\n"
            + b"".join(b"1\r\n%c\r\n" % byte for byte in body)
            + b"0\r\n\r\n"
        )
    else:
        sent = head + b"Content-Length: %d\r\n\r\n" % (len(body) + 9 * (request.how == "raw")) + body
    with _open(served) as caller:
        caller.settimeout(PATIENCE_S)
        caller.sendall(sent)
        if request.how != "chunked":
            caller.shutdown(socket.SHUT_WR)
        reply = _all(caller)
    final = reply.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"")
    return final.split()[1].decode() if final else "closed"


def long_steps(served: Served) -> dict[str, float]:
    """Steps of the event loop that took more CPU time than they may, by name, and the longest wait if it is too long."""
    text = httpx.get(f"{served.url}/metrics", timeout=PATIENCE_S).text
    steps = re.findall(r'rewardline_siege_step_seconds\{task="([^"]*)"\} (\S+)', text)
    long = {step: float(taken) for step, taken in steps if float(taken) > LONGEST_S and step not in OTHERS}
    wait_s, slowness = (
        float(re.findall(rf"^rewardline_siege_{name} (\S+)$", text, re.MULTILINE)[0])
        for name in ("wait_seconds", "slowness")
    )
    return long if wait_s <= LONGEST_WAIT_S * slowness else {**long, "a probe waits": wait_s / slowness}


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda hostile: f"{hostile.how} {hostile.name}")
def test_a_hostile_request_is_refused_and_nobody_else_notices(siege: Siege, request_: Hostile) -> None:
    served, load = siege.served, siege.load
    body = request_.packed()
    os.kill(served.process.pid, signal.SIGUSR2)
    with Probes(served) as probes:
        outcome = answer(served, request_, body)
        load.wait_for_more()
    siege.stayed_mb[f"{request_.how} {request_.name}"] = siege.more_at_rest() // MB
    print(f"the longest probe took {probes.longest_ms:.0f} ms")
    assert outcome in request_.answers
    assert probes.failed == []
    assert load.wrong == []
    assert memory(served, "VmHWM") - max(siege.at_rest, siege.peak) < MOST_AT_ONCE
    assert long_steps(served) == {}


def test_hostile_requests_leave_nothing(siege: Siege) -> None:
    assert siege.stayed_mb, "it counts what the tests before it left"
    eventually(
        lambda: siege.more_at_rest() < MORE_AT_REST,
        lambda: f"{siege.more_at_rest() // MB} MB more than at the start; after each of them: {siege.stayed_mb}",
    )
