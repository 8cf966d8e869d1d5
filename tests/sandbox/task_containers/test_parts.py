"""Turns, work shared by all who want it, and the rules for images: what needs no daemon."""

import asyncio
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from sandbox.base import SandboxUnavailable
from sandbox.containers import Counters, End, NoContainers, Task, TaskLimits, TaskRefused
from sandbox.containers.daemon import Begun, Image, TaskDaemon, Usage
from sandbox.containers.docker import DockerContainer
from sandbox.containers.single_flight import SingleFlight
from sandbox.containers.turns import Turns
from tests.virtual_time import in_virtual_time
from tests.waiting import turns as let_others_run


async def test_turns_come_in_order_and_within_the_memory() -> None:
    turns, ended = Turns(2, 100), [asyncio.Event() for _ in range(4)]
    began: list[int] = []

    async def take(number: int, memory_mb: int) -> None:
        async with turns.turn(memory_mb):
            began.append(number)
            await ended[number].wait()

    async with asyncio.TaskGroup() as group:
        for number, memory_mb in enumerate((60, 60, 10, 40)):
            group.create_task(take(number, memory_mb))
        await let_others_run()
        assert (began, turns.running, turns.waiting) == ([0], 1, 3)  # 2 would fit, but 1 came before it
        ended[0].set()
        await let_others_run()
        assert (began, turns.running, turns.waiting) == ([0, 1, 2], 2, 1)
        for event in ended:
            event.set()
    assert (began, turns.running, turns.waiting) == ([0, 1, 2, 3], 0, 0)


async def test_who_stops_waiting_gives_the_turn_on() -> None:
    turns = Turns(1, 100)
    async with turns.turn(100):
        first = asyncio.create_task(_take(turns, 100))
        second = asyncio.create_task(_take(turns, 100))
        await let_others_run()
        first.cancel()
        await let_others_run()
        assert (turns.running, turns.waiting) == (1, 1)
    await second
    assert (turns.running, turns.waiting) == (0, 0)


async def _take(turns: Turns, memory_mb: int) -> None:
    async with turns.turn(memory_mb):
        pass


async def test_a_turn_that_would_never_come_is_refused() -> None:
    with pytest.raises(TaskRefused, match="101 MB"):
        await _take(Turns(1, 100), 101)


async def test_work_that_many_want_is_done_once() -> None:
    flights: SingleFlight[str, int] = SingleFlight()
    calls = 0

    async def work() -> int:
        nonlocal calls
        calls += 1
        await let_others_run()
        return calls

    assert await asyncio.gather(*(flights.do("key", work) for _ in range(5))) == [1] * 5
    assert await flights.do("key", work) == 2
    assert len(flights) == 0


async def test_work_stops_when_nobody_waits_for_it() -> None:
    flights: SingleFlight[str, None] = SingleFlight()
    stopped = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    waiters = [asyncio.create_task(flights.do("key", work)) for _ in range(2)]
    await let_others_run()
    waiters[0].cancel()
    await let_others_run()
    assert not stopped.is_set()
    waiters[1].cancel()
    await let_others_run()
    assert stopped.is_set()
    assert len(flights) == 0


async def test_an_error_goes_to_all_who_wait() -> None:
    flights: SingleFlight[str, None] = SingleFlight()

    async def work() -> None:
        await let_others_run()
        raise SandboxUnavailable("gone")

    found = await asyncio.gather(*(flights.do("key", work) for _ in range(3)), return_exceptions=True)
    assert [str(error) for error in found] == ["gone"] * 3


async def test_a_service_without_containers_says_so() -> None:
    with pytest.raises(SandboxUnavailable, match="repository_slots"):
        await NoContainers().base(Task("image", "/"))


class ScriptedDaemon(TaskDaemon):
    """Runs no command. A test says what it writes, and what the daemon says of its end."""

    def __init__(self, *, exit_code: int | None) -> None:
        super().__init__("unix:///nowhere", at_once=1, patience_s=1)
        self.mark = b""
        """What a report is to write at its end."""
        self.asked = 0
        """How often it was asked for the end of a command."""
        self._exit_code = exit_code
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)

    def says(self, text: bytes, *, is_last: bool = False, stream: int = 1) -> None:
        with suppress(BrokenPipeError):  # nobody may listen any more
            self._theirs.sendall(struct.pack("!B3xI", stream, len(text)) + text)
        if is_last:
            self._theirs.close()

    async def begin(self, name: str, command: Sequence[str], *, user: str, folder: str) -> Begun:
        self.mark = "".join(command[4:6]).encode()
        assert not self.mark or self.mark.decode() not in " ".join(command)  # an engine's messages may show the command
        return Begun("command", self._ours, b"")

    async def exit_code(self, command: str) -> int | None:
        self.asked += 1
        return self._exit_code

    async def state(self, name: str) -> dict[str, Any]:
        return {"Running": True}

    async def reports(self, name: str, event: str, patience_s: int) -> bool:
        return False

    async def usage(self, name: str) -> Usage | None:
        return Usage(0.0, 0)


def container_of(daemon: TaskDaemon, output_bytes: int = 100) -> DockerContainer:
    task = Task("image", "/", limits=TaskLimits(output_bytes=output_bytes))
    return DockerContainer(daemon, "scripted", task, Image("image", 0, "root"), Counters(), cpus=1.0, is_gvisor=False)


@in_virtual_time
async def test_output_that_comes_after_the_end_of_its_command_is_not_lost() -> None:
    daemon = ScriptedDaemon(exit_code=0)
    asyncio.get_running_loop().call_later(5.0, lambda: daemon.says(b"passed\n", is_last=True))
    ended = await container_of(daemon).run(["tests"])
    assert (ended.end, ended.exit_code, ended.output) == (End.EXITED, 0, b"passed\n")


@in_virtual_time
@pytest.mark.parametrize("cut", [0, 1, 31, 32])
async def test_a_report_is_whole_when_its_mark_comes(cut: int) -> None:
    """The daemon does not know of an end yet, so it cuts nothing off. What processes write later is not a part of it."""
    daemon = ScriptedDaemon(exit_code=None)
    running = asyncio.create_task(container_of(daemon).run(["tests"], report=""))
    await let_others_run()
    for stream, text in ((2, b"the report"), (1, b"passed")):
        for piece in (text, daemon.mark[:cut], daemon.mark[cut:] + b"later"):
            daemon.says(piece, stream=stream)
    daemon.says(b"later", is_last=True)
    ended = await running
    assert (ended.end, ended.exit_code, ended.output) == (End.EXITED, None, b"passed")
    assert ended.report == b"the report"


@in_virtual_time
async def test_a_report_without_its_mark_is_fetched() -> None:
    daemon = ScriptedDaemon(exit_code=None)
    running = asyncio.create_task(container_of(daemon).run(["tests"], report="report"))
    await let_others_run()
    daemon.says(b"the rep", stream=2)
    daemon.says(b"passed" + daemon.mark, is_last=True)
    ended = await running
    assert (ended.end, ended.output, ended.report) == (End.EXITED, b"passed", None)


@in_virtual_time
async def test_a_report_that_was_killed_has_no_mark_and_is_judged_all_the_same() -> None:
    daemon = ScriptedDaemon(exit_code=137)
    asyncio.get_running_loop().call_later(5.0, lambda: daemon.says(b"passed", is_last=True))
    ended = await container_of(daemon).run(["tests"], report="")
    assert (ended.end, ended.exit_code, ended.output) == (End.EXITED, 137, b"passed")


@in_virtual_time
async def test_the_end_of_a_report_is_seldom_asked_for() -> None:
    daemon = ScriptedDaemon(exit_code=None)
    asyncio.get_running_loop().call_later(20.0, lambda: daemon.says(b"passed" + daemon.mark, is_last=True))
    assert (await container_of(daemon).run(["tests"], report="")).output == b"passed"
    assert 0 < daemon.asked <= 10


class SlowDaemon(ScriptedDaemon):
    """Its command waits for a CPU, and so does whoever asks whether it does."""

    async def is_ready_to_run(self, name: str) -> bool:
        await asyncio.sleep(5.0)
        return True


@in_virtual_time
async def test_a_machine_that_is_too_busy_to_be_looked_at_is_no_time_limit() -> None:
    daemon = SlowDaemon(exit_code=None)
    with pytest.raises(SandboxUnavailable, match="its machine is too busy"):
        await container_of(daemon).run(["tests"], TaskLimits(wall_s=3.0))
    daemon.says(b"late", is_last=True)


class IdleDaemon(ScriptedDaemon):
    """Its command sleeps."""

    async def is_ready_to_run(self, name: str) -> bool:
        return False


@in_virtual_time
@pytest.mark.parametrize(("work_s", "end"), [(50.0, End.EXITED), (70.0, End.TIME_LIMIT)])
async def test_wall_seconds_begin_when_a_command_is_prepared(work_s: float, end: End) -> None:
    """It prepares itself for 800 s, and has 60 s for its work."""
    daemon, call_later = IdleDaemon(exit_code=None), asyncio.get_running_loop().call_later
    call_later(799.0, daemon.says, b"rea")
    call_later(800.0, daemon.says, b"dy")
    call_later(800.0 + work_s, lambda: daemon.says(daemon.mark, is_last=True))
    ended = await container_of(daemon).run(["tests"], TaskLimits(wall_s=60.0), report="", prepared="ready")
    assert (ended.end, ended.output) == (end, b"ready")
    await asyncio.sleep(20.0)  # until the connection is closed


@in_virtual_time
@pytest.mark.parametrize(("written", "end"), [(99, End.EXITED), (100, End.OUTPUT_LIMIT)])
async def test_a_mark_after_the_limit_of_output_is_too_late(written: int, end: End) -> None:
    daemon = ScriptedDaemon(exit_code=None)
    container = container_of(daemon, output_bytes=99)
    running = asyncio.create_task(container.run(["tests"], report=""))
    await let_others_run()
    daemon.says(b"p" * written + daemon.mark, is_last=True)
    ended = await running
    assert (ended.end, ended.output) == (end, b"p" * 99)
