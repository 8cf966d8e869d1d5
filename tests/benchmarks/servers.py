"""The measured servers: ours, and bare ones that decode the same bodies and answer with as many bytes.

    http-json      a Starlette route with Starlette's own `await request.json()`
    http-msgspec   a Starlette route that decodes with msgspec into the service's own types: the toughest opponent
    grpc-parse     a grpc.aio servicer whose request is parsed and not looked at
    grpc-read      the same, but it reads each item's verifier, response and reference, as any servicer must

The bare servers run on uvloop and httptools, with the garbage collector tuned as ours. The header `answer-bytes` says
how many bytes they must answer. `python -m tests.benchmarks.servers <kind>` runs one.
"""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
import msgspec
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from service.doors.grpc.pb import rewardline_pb2 as pb
from service.wire import ScoreRequest
from tests.conftest import ROOT, serving

PATH = "/v1/score"
METHOD = "/rewardline.v1.Verifier/Score"
BARE_HTTP = ("http-msgspec", "http-json")
BARE_GRPC = ("grpc-parse", "grpc-read")
_CORES = sorted(os.sched_getaffinity(0))
_CPU_CLOCK = 2
"""Linux's CPUCLOCK_SCHED: user and system time in nanoseconds."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. `http` and `grpc` are host:port, or empty if it has no such door."""

    name: str
    pid: int
    http: str = ""
    grpc: str = ""


def cores() -> list[int]:
    """The cores of this run. Servers run on the first, the load generator on the last."""
    return _CORES


PLUGINS = Path(__file__).parent / "plugin"
"""A folder with the verifier `trivial`, as pip would install it."""


@contextmanager
def ours(cores: Sequence[int], **settings: str) -> Iterator[Server]:
    """The service as `rewardline serve` starts it, with its workers, on these cores."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        with on_cores(cores):
            served = stack.enter_context(serving(Path(folder) / "log.jsonl", (), PLUGINS, **settings))
        yield Server("ours", served.process.pid, served.url.removeprefix("http://"), served.grpc)


@contextmanager
def bare(kind: str, cores: Sequence[int]) -> Iterator[Server]:
    """One of the bare servers, in a process of its own."""
    command = [sys.executable, "-m", __name__, kind]
    with on_cores(cores):
        started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    with started as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address, f"the bare server {kind} did not start"
            door = {"http": address} if kind in BARE_HTTP else {"grpc": address}
            yield Server(kind, process.pid, **door)
        finally:
            process.kill()


def cpu_s(pids: Sequence[int]) -> float:
    """CPU seconds these processes have used with all their threads, by the clock of each (clock_getcpuclockid(3))."""
    return sum(time.clock_gettime(~pid << 3 | _CPU_CLOCK) for pid in pids)


def rss_mb(pid: int) -> float:
    return int(_stat(pid)[21]) * _PAGE_BYTES / 1e6


def _stat(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat, from the state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


@contextmanager
def on_cores(cores: Sequence[int]) -> Iterator[None]:
    """Run this thread, and the processes started in the block, on these cores. The processes stay there."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@cache
def _answer(size: int) -> bytes:
    return b"x" * size


def _http_app(kind: str) -> Starlette:
    decode = msgspec.json.Decoder(ScoreRequest).decode

    async def with_json(request: Request) -> Response:
        await request.json()
        return _respond(request)

    async def with_msgspec(request: Request) -> Response:
        decode(await request.body())
        return _respond(request)

    endpoint = with_json if kind == "http-json" else with_msgspec
    return Starlette(routes=[Route(PATH, endpoint, methods=["POST"])])


def _respond(request: Request) -> Response:
    return Response(_answer(int(request.headers["answer-bytes"])), media_type="application/json")


async def _serve_http(kind: str) -> None:
    config = uvicorn.Config(
        _http_app(kind),
        port=0,
        http="httptools",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
    )
    bound = config.bind_socket()
    bound.listen(4096)
    host, port = bound.getsockname()[:2]
    print(f"{host}:{port}", flush=True)
    await uvicorn.Server(config).serve(sockets=[bound])


async def _serve_grpc(kind: str) -> None:
    async def score(request: Any, context: Any) -> bytes:
        if kind == "grpc-read":
            [(item.verifier, item.response, item.reference_json) for item in request.items]
        return _answer(int(dict(context.invocation_metadata())["answer-bytes"]))

    limit = 100_000_000
    server = grpc.aio.server(
        options=[("grpc.max_receive_message_length", limit), ("grpc.max_send_message_length", limit)]
    )
    handler = grpc.unary_unary_rpc_method_handler(score, request_deserializer=pb.ScoreRequest.FromString)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("rewardline.v1.Verifier", {"Score": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


def _main(kind: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    uvloop.run(_serve_http(kind) if kind in BARE_HTTP else _serve_grpc(kind))


if __name__ == "__main__":
    _main(sys.argv[1])
