"""The watch of the event loop: it counts long steps, with their names, and nothing else."""

import asyncio
import itertools
import threading
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import msgspec
import pytest
import uvloop

from service.observe import loop_watch
from service.observe.loop_watch import LONG_S, LoopWatch
from tests.waiting import turns, until


@pytest.fixture(autouse=True)
def these_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_watch, "_OURS", ("tests",))


LONG = 0.06
"""Seconds of CPU that no look of the watch can miss."""


def busy(seconds: float) -> None:
    """Python code that takes this much CPU."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def closed(size: int) -> None:
    """One call of C code that keeps the interpreter to itself."""
    msgspec.json.decode(b"[" + b"0," * size + b"0]")


def closed_size(seconds: float) -> int:
    """The size for `closed` to take about this much CPU, on this machine."""
    before = time.thread_time()
    closed(1_000_000)
    return int(1_000_000 * seconds / (time.thread_time() - before))


async def watched(work: Awaitable[None]) -> dict[str, float]:
    """The seconds of long steps by their names, for some work and a last long step."""
    steps: list[tuple[str, float]] = []
    with LoopWatch(lambda name, seconds: steps.append((name, seconds))).watching():
        await turns()
        await work
        asyncio.get_running_loop().call_soon(last)
        await until(lambda: any(name == LAST for name, _ in steps))
    counted: dict[str, float] = {}
    for name, seconds in steps:
        assert seconds >= LONG_S
        counted[name] = counted.get(name, 0.0) + seconds
    assert counted.pop(LAST) > LONG / 2
    return counted


def last() -> None:
    end = time.thread_time() + LONG
    while time.thread_time() < end:
        pass


LAST = f"{__name__}.last"


def test_a_long_step_is_counted_by_the_function_that_ran() -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        busy(LONG)

    counted = uvloop.run(watched(work()))
    assert list(counted) == [f"{__name__}.busy"]
    assert LONG / 2 < counted[f"{__name__}.busy"] < LONG * 1.5


def test_a_long_call_of_c_code_is_counted_by_its_caller() -> None:
    async def work() -> None:
        closed(closed_size(LONG * 2))

    counted = uvloop.run(watched(work()))
    assert list(counted) == [f"{__name__}.closed"]
    assert counted[f"{__name__}.closed"] > LONG / 2


@pytest.mark.siege
def test_many_short_steps_are_not_a_long_one() -> None:
    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(steps())

    async def steps() -> None:
        for _ in range(10):
            busy(0.001)
            await asyncio.sleep(0)

    assert uvloop.run(watched(work())) == {}


async def test_short_steps_while_the_watch_waits_are_not_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """C code that gives the interpreter up often wakes the watch each time, and other threads are sooner."""
    waits = itertools.count(0, 60)
    clock = time.pthread_getcpuclockid(threading.get_ident())
    is_over = threading.Event()
    steps: list[float] = []

    def come_late(seconds: float) -> None:
        until_s = time.clock_gettime(clock) + 2 * LONG
        while time.clock_gettime(clock) < until_s and not is_over.is_set():
            time.sleep(seconds)

    async def work(is_done: Callable[[], object]) -> None:
        while not is_done():
            busy(0.001)
            await asyncio.sleep(0)

    watch = LoopWatch(lambda _, seconds: steps.append(seconds))
    monkeypatch.setattr(loop_watch, "time", SimpleNamespace(**{**vars(time), "sleep": come_late}))
    monkeypatch.setattr(loop_watch, "_waits", lambda: next(waits))
    with watch.watching():
        await work(lambda: watch._looks > 4)
        is_over.set()
    assert max(steps, default=0.0) < LONG


def test_waiting_is_not_a_long_step() -> None:
    def idle() -> None:
        time.sleep(LONG)

    async def work() -> None:
        asyncio.get_running_loop().call_soon(idle)
        await asyncio.to_thread(busy, LONG)

    assert uvloop.run(watched(work())) == {}


async def test_the_number_of_names_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_watch, "_MAX_NAMES", 1)
    names: list[str] = []
    with LoopWatch(lambda name, _: names.append(name)).watching():
        await turns()
        busy(LONG)
        await until(lambda: names)
        name = names[0]  # busy's, or that of a collection which was longer
        last()
        await until(lambda: set(names) == {name, "other"})
