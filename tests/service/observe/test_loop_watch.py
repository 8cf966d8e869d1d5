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
from tests.waiting import PATIENCE_S, turns


@pytest.fixture(autouse=True)
def these_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_watch, "_OURS", ("tests",))


LONG = 0.06
"""Seconds of CPU of a long step. A watch that the machine lets wait for as long does not see it, so it is repeated."""


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


async def watched(work: Callable[[], Awaitable[None]]) -> dict[str, float]:
    """The seconds of long steps by their names, while some work is repeated until a step is counted.

    Raises:
        AssertionError: More was counted than the loop's thread took.
    """
    steps: list[tuple[str, float]] = []
    before = time.thread_time()
    with LoopWatch(lambda name, seconds: steps.append((name, seconds))).watching():
        end = time.monotonic() + PATIENCE_S
        while not steps:
            assert time.monotonic() < end, f"no step was counted in {work}"
            await turns()
            await work()
    assert all(seconds >= LONG_S for _, seconds in steps)
    assert sum(seconds for _, seconds in steps) <= time.thread_time() - before
    return {name: sum(seconds for other, seconds in steps if other == name) for name, _ in steps}


async def last() -> None:
    end = time.thread_time() + LONG
    while time.thread_time() < end:
        pass


LAST = f"{__name__}.last"


def test_a_long_step_is_counted_by_the_function_that_ran() -> None:
    async def work() -> None:
        busy(LONG)

    assert list(uvloop.run(watched(work))) == [f"{__name__}.busy"]


def test_a_long_call_of_c_code_is_counted_by_its_caller() -> None:
    size = closed_size(LONG * 2)

    async def work() -> None:
        closed(size)

    assert list(uvloop.run(watched(work))) == [f"{__name__}.closed"]


@pytest.mark.siege
@pytest.mark.alone
@pytest.mark.parametrize("name", ["busy", "closed"])
def test_most_of_a_long_step_is_counted(name: str) -> None:
    """On a machine that does nothing else, where the watch never comes late."""
    size = closed_size(LONG * 2)

    async def work() -> None:
        if name == "busy":
            busy(LONG * 2)
        else:
            closed(size)

    assert uvloop.run(watched(work))[f"{__name__}.{name}"] > LONG / 2


@pytest.mark.siege
@pytest.mark.alone
def test_many_short_steps_are_not_a_long_one() -> None:
    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(steps())
        await last()

    async def steps() -> None:
        for _ in range(10):
            busy(0.001)
            await asyncio.sleep(0)

    assert list(uvloop.run(watched(work))) == [LAST]


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
        await last()

    assert list(uvloop.run(watched(work))) == [LAST]


async def test_the_number_of_names_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_watch, "_MAX_NAMES", 1)
    names: list[str] = []
    with LoopWatch(lambda name, _: names.append(name)).watching():
        end = time.monotonic() + PATIENCE_S
        while len(set(names)) < 2:  # busy's or last's first, or that of a collection which was longer
            assert time.monotonic() < end
            await turns()
            busy(LONG)
            await turns()
            await last()
    assert set(names) == {names[0], "other"}
