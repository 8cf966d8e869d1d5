"""Boxes on other machines: what travels, which host is taken, and what becomes of programs when hosts break off."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from sandbox.base import (
    Built,
    Call,
    Execute,
    Exit,
    Isolation,
    Limits,
    Program,
    Run,
    RunResult,
    SandboxUnavailable,
    TestOutcome,
    Tests,
    TestStyle,
)
from sandbox.boxes.remote import wire
from sandbox.boxes.remote.hosts import Host, Hosts, addresses
from sandbox.boxes.remote.remote import RemoteSandbox
from tests.waiting import until

PROGRAM = Program(
    "print(1)", files={"a/b.bin": b"\x00\xff"}, compile_limits=Limits(cpu_s=1.5), needs_pytest=True, owner="red"
)
RUNS: list[Run] = [
    Execute(b"\xff", ["-x"], {"f": b"\x00"}, ["out"], Limits(wall_s=3.5)),
    Call("f", b"[[1], {}]"),
    Tests(TestStyle.PYTEST, ["a"], "b", "c", {"t.py": "d"}, objects=True),
]
RESULT = RunResult(
    Exit.SIGNALLED,
    None,
    9,
    b"\xff\x00",
    b"err",
    0.5,
    0.7,
    12.5,
    b"v",
    [TestOutcome("t", True, "m")],
    True,
    {"out": b"\xfe"},
)


def test_an_order_arrives_as_it_was_sent() -> None:
    program, runs = wire.decode_order(wire.encode_order(PROGRAM, RUNS))
    assert (program, runs) == (PROGRAM, RUNS)


@pytest.mark.parametrize(
    "frame",
    [
        wire.Result(RESULT),
        wire.Result(RunResult(Exit.EXITED, 0, tests=[])),
        wire.Alive(),
        wire.End(Built(False, "no", Exit.TIME_LIMIT, 1.0, True)),
        wire.Unavailable("m", "box_died"),
    ],
)
def test_a_frame_arrives_as_it_was_sent(frame: wire.Frame) -> None:
    sent = wire.encode_frame(frame)
    assert wire.length_in(sent[: wire.HEAD_BYTES]) == len(sent) - wire.HEAD_BYTES
    assert wire.decode_frame(sent[wire.HEAD_BYTES :]) == frame


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x81\xa7program\x01", b"{}", b"\x80"])
def test_what_is_no_order_is_said_to_be_none(body: bytes) -> None:
    with pytest.raises(wire.MalformedFrame):
        wire.decode_order(body)


Answer = Callable[[web.Request, Program, list[Run]], Awaitable[web.StreamResponse]]


class ScriptedHost:
    """A box host that answers as it is told, and otherwise as if every run had written its standard input."""

    def __init__(self) -> None:
        self.url = ""
        self.answers: list[Answer] = []
        self.orders: list[list[Run]] = []
        self.described: dict[str, Any] = {
            "state": "ready",
            "slots": 2,
            "languages": ["python"],
            "isolation": "namespaces",
            "caveats": ["one"],
        }
        self.status = 200

    async def describe(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(self.described, status=self.status)

    async def work(self, request: web.Request) -> web.StreamResponse:
        program, runs = wire.decode_order(await request.read())
        self.orders.append(runs)
        if self.answers:
            return await self.answers.pop(0)(request, program, runs)
        return await stream(request, [*map(echo, runs), wire.End(Built(True))])


def echo(run: Run) -> wire.Frame:
    assert isinstance(run, Execute)
    return wire.Result(RunResult(Exit.EXITED, 0, stdout=run.stdin))


async def stream(request: web.Request, frames: Sequence[wire.Frame], *, rest: bytes = b"") -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Type": wire.MEDIA})
    await answer.prepare(request)
    for frame in frames:
        await answer.write(wire.encode_frame(frame))
    if rest:
        await answer.write(rest)
    return answer


def breaks_off(after: int) -> Answer:
    async def answer(request: web.Request, program: Program, runs: list[Run]) -> web.StreamResponse:
        results = await stream(request, [wire.Alive(), *map(echo, runs[:after])])
        assert request.transport is not None
        transport = request.transport
        await until(lambda: isinstance(transport, asyncio.WriteTransport) and not transport.get_write_buffer_size())
        transport.abort()
        return results

    return answer


def says(*frames: wire.Frame, rest: bytes = b"") -> Answer:
    async def answer(request: web.Request, program: Program, runs: list[Run]) -> web.StreamResponse:
        return await stream(request, frames, rest=rest)

    return answer


def refuses(status: int) -> Answer:
    async def answer(request: web.Request, program: Program, runs: list[Run]) -> web.StreamResponse:
        return web.Response(status=status, text="no")

    return answer


@asynccontextmanager
async def hosts(count: int, slots_of_first: int = 2) -> AsyncIterator[tuple[RemoteSandbox, list[ScriptedHost]]]:
    scripted = [ScriptedHost() for _ in range(count)]
    scripted[0].described["slots"] = slots_of_first
    runners = []
    for host in scripted:
        app = web.Application()
        app.router.add_get("/v1/sandbox", host.describe)
        app.router.add_post(wire.PATH, host.work)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        runners.append(runner)
    sandbox = RemoteSandbox([host.url for host in scripted], None, slots=8)
    try:
        await sandbox.start()
        yield sandbox, scripted
    finally:
        await sandbox.stop()
        for runner in runners:
            await runner.cleanup()


async def outputs(sandbox: RemoteSandbox, *stdins: bytes, until: bytes = b"") -> list[bytes]:
    taken: list[tuple[int, bytes]] = []

    def take(position: int, result: RunResult) -> bool:
        taken.append((position, result.stdout))
        return result.stdout != until

    built = await sandbox.run(Program("x"), [Execute(stdin) for stdin in stdins], take)
    assert built.ok
    assert [position for position, _ in taken] == list(range(len(taken)))
    return [stdout for _, stdout in taken]


async def test_results_come_in_order_from_the_least_busy_host() -> None:
    async with hosts(2) as (sandbox, scripted):
        assert await outputs(sandbox, b"a", b"b") == [b"a", b"b"]
        await asyncio.gather(*(outputs(sandbox, b"c") for _ in range(8)))
        assert all(host.orders for host in scripted)
        assert sandbox.isolation is Isolation.NAMESPACES
        assert sandbox.languages == {"python"}
        assert sandbox.busy == 0
        assert sandbox.counters.runs[Exit.EXITED] == 10


async def test_a_program_goes_on_elsewhere_where_its_host_broke_off() -> None:
    async with hosts(2, slots_of_first=64) as (sandbox, scripted):
        scripted[0].answers.append(breaks_off(after=2))
        assert await outputs(sandbox, b"a", b"b", b"c") == [b"a", b"b", b"c"]
        assert [len(order) for host in scripted for order in host.orders] == [3, 1]


async def test_a_program_that_was_under_way_on_two_lost_hosts_is_not_given_to_a_third() -> None:
    async with hosts(3) as (sandbox, scripted):
        for host in scripted:
            host.answers.append(breaks_off(after=0))
        with pytest.raises(SandboxUnavailable) as caught:
            await outputs(sandbox, b"a")
        assert caught.value.reason == "box_died"
        assert sum(len(host.orders) for host in scripted) == 2


@pytest.mark.parametrize("status", [429, 503])
async def test_a_host_that_takes_nothing_more_is_passed_over(status: int) -> None:
    async with hosts(3) as (sandbox, scripted):
        for host in scripted:
            host.answers.append(refuses(status))
        scripted[2].answers.clear()
        assert await outputs(sandbox, b"a") == [b"a"]
        for host in scripted:
            host.answers = [refuses(status)]
        with pytest.raises(SandboxUnavailable) as caught:
            await outputs(sandbox, b"a")
        assert caught.value.reason == "sandbox_busy"


@pytest.mark.parametrize(
    "answer",
    [
        says(rest=b"\xff\xff\xff\xff"),
        says(rest=b"\x00\x00\x00\x01\xc1"),
        says(rest=b"\x00\x00"),
        says(wire.End(Built(True))),
        says(echo(Execute(b"a")), echo(Execute(b"a")), wire.End(Built(True))),
        refuses(500),
        refuses(404),
    ],
    ids=["length", "garbage", "cut", "end too early", "too many", "500", "404"],
)
async def test_a_host_that_talks_nonsense_is_lost_and_the_program_done_elsewhere(answer: Answer) -> None:
    async with hosts(2) as (sandbox, scripted):
        for host in scripted:
            host.answers.append(answer)
        with pytest.raises(SandboxUnavailable):
            await outputs(sandbox, b"a")
        assert [len(host.orders) for host in scripted] == [1, 1]


async def test_what_its_boxes_say_of_a_program_is_not_asked_of_another_host() -> None:
    async with hosts(2) as (sandbox, scripted):
        for host in scripted:
            host.answers.append(says(wire.Unavailable("two boxes died", "box_died")))
        with pytest.raises(SandboxUnavailable, match="two boxes died"):
            await outputs(sandbox, b"a")
        assert sum(len(host.orders) for host in scripted) == 1


async def test_a_program_that_cannot_be_loaded_is_told_so() -> None:
    async with hosts(1) as (sandbox, scripted):
        scripted[0].answers.append(says(wire.End(Built(False, "SyntaxError"))))
        built = await sandbox.run(Program("("), [Execute()])
        assert (built.ok, built.message) == (False, "SyntaxError")


async def test_files_no_box_takes_are_the_callers_mistake() -> None:
    async with hosts(1) as (sandbox, scripted):
        scripted[0].answers.append(refuses(422))
        with pytest.raises(ValueError, match="no"):
            await outputs(sandbox, b"a")


async def test_runs_that_are_not_wanted_any_more_are_stopped() -> None:
    stopped = asyncio.Event()

    async def endless(request: web.Request, program: Program, runs: list[Run]) -> web.StreamResponse:
        answer = await stream(request, [echo(runs[0])])
        transport = request.transport
        assert transport is not None
        await until(transport.is_closing)
        stopped.set()
        return answer

    async with hosts(1) as (sandbox, scripted):
        scripted[0].answers.append(endless)
        assert await outputs(sandbox, b"wrong", b"b", until=b"wrong") == [b"wrong"]
        await until(stopped.is_set)


async def test_without_a_host_programs_are_refused_with_the_reason() -> None:
    sandbox = RemoteSandbox(["http://127.0.0.1:9"], None, slots=1)
    await sandbox.start()
    try:
        with pytest.raises(SandboxUnavailable, match="no box host is up"):
            await outputs(sandbox, b"a")
        assert "cannot be reached" in sandbox.trouble
    finally:
        await sandbox.stop()


async def test_a_language_no_host_has_is_no_matter_of_waiting() -> None:
    async with hosts(1) as (sandbox, _):
        with pytest.raises(SandboxUnavailable) as caught:
            await sandbox.run(Program("x", "cobol"), [Execute()])
        assert caught.value.reason == "language_unavailable"


async def test_every_address_of_a_name_is_a_host() -> None:
    found = await addresses("http://localhost:8080")
    assert "http://127.0.0.1:8080#http://localhost:8080" in found
    assert "https://127.0.0.1:443#https://localhost" in await addresses("https://localhost")
    assert await addresses("http://[::1]:80") == {"http://[::1]:80#http://[::1]:80"}


def test_the_isolation_told_is_the_weakest() -> None:
    known = {}
    for kind in (Isolation.GVISOR, Isolation.LANDLOCK, Isolation.DOCKER):
        host = Host(kind)
        host.update({"state": "ready", "isolation": kind, "slots": 1, "languages": ["python"]})
        known[str(kind)] = host
    assert Hosts([], None, None, known).weakest_isolation() is Isolation.LANDLOCK  # type: ignore[arg-type]  # no session is used
    known["landlock"].update({"state": "lost", "message": "gone"})
    assert Hosts([], None, None, known).weakest_isolation() is Isolation.DOCKER  # type: ignore[arg-type]
