"""Turns, work shared by all who want it, and the rules for images: what needs no daemon."""

import asyncio
import socket
import struct
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from sandbox.base import SandboxUnavailable
from sandbox.containers import Counters, End, NoContainers, Task, TaskRefused
from sandbox.containers.daemon import Image, TaskDaemon, Usage
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


class LateDaemon(TaskDaemon):
    """Says that a command has ended, while a busy machine still holds its output."""

    def __init__(self, stream: socket.socket) -> None:
        super().__init__("unix:///nowhere", at_once=1, patience_s=1)
        self._stream = stream

    async def begin(self, name: str, command: Sequence[str], *, user: str, folder: str) -> tuple[str, socket.socket]:
        return "command", self._stream

    async def exit_code(self, command: str) -> int | None:
        return 0

    async def state(self, name: str) -> dict[str, Any]:
        return {"Running": True}

    async def usage(self, name: str) -> Usage | None:
        return Usage(0.0, 0)


@in_virtual_time
async def test_output_that_comes_after_the_end_of_its_command_is_not_lost() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        said = struct.pack("!B3xI", 1, 7) + b"passed\n"
        asyncio.get_running_loop().call_later(5.0, partial(_send_all, theirs, said))
        image = Image("image", 0, "root")
        container = DockerContainer(
            LateDaemon(ours), "late", Task("image", "/"), image, Counters(), cpus=1.0, is_gvisor=False
        )
        ended = await container.run(["tests"])
    assert (ended.end, ended.exit_code, ended.output) == (End.EXITED, 0, b"passed\n")


def _send_all(stream: socket.socket, data: bytes) -> None:
    stream.sendall(data)
    stream.shutdown(socket.SHUT_WR)
