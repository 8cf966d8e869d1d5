"""The clock that tests hold."""

import asyncio

import pytest

from tests.virtual_time import VirtualTimeLoop, in_virtual_time
from tests.waiting import turns, until


@in_virtual_time
async def test_a_day_passes_at_once() -> None:
    loop = asyncio.get_running_loop()
    assert loop.time() == 0.0
    await asyncio.sleep(86_400)
    assert loop.time() == 86_400.0


@in_virtual_time
async def test_timers_come_in_the_order_of_their_times() -> None:
    loop = asyncio.get_running_loop()
    seen: list[tuple[str, float]] = []

    async def wait(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, loop.time()))

    await asyncio.gather(wait("late", 3), wait("soon", 1), wait("between", 2))
    assert seen == [("soon", 1.0), ("between", 2.0), ("late", 3.0)]


@in_virtual_time
async def test_a_timeout_ends_what_never_comes() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(600):
            await asyncio.Event().wait()
    assert asyncio.get_running_loop().time() == 600.0


def test_a_clock_that_does_not_jump_waits_for_the_outside() -> None:
    """A thread's answer arrives though the clock stands still, and a timer comes when the test says so."""
    loop = VirtualTimeLoop(jumps=False)

    async def test() -> None:
        timer = asyncio.create_task(asyncio.sleep(5))
        assert await asyncio.to_thread(lambda: "answer") == "answer"
        await turns()
        assert not timer.done()
        loop.advance(5)
        await timer
        assert loop.time() == 5.0

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(test())


async def test_until_returns_once_it_holds() -> None:
    """The ordinary loop goes on meanwhile."""
    arrived = asyncio.Event()
    asyncio.get_running_loop().call_later(0.02, arrived.set)
    await until(arrived.is_set)
    assert arrived.is_set()
