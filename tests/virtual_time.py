"""An event loop with a clock that the test controls.

Everything that reads `loop.time()`, sleeps, has a timeout or calls later follows this clock. So a test of retries,
breakers and deadlines checks exact times without waiting.

    @in_virtual_time
    async def test_the_third_try_comes_after_three_seconds() -> None:
        ...
        assert asyncio.get_running_loop().time() == 3.0

If the loop waits only for timers, the clock jumps to the next one. A loop that waits for the outside (a socket, a
process, a thread) must not jump: with `VirtualTimeLoop(jumps=False)` the clock stands still until `advance` is called.
"""

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

P = ParamSpec("P")


class _Selector(selectors.DefaultSelector):
    """A selector that finds ready events, but never waits for a timer: it moves the clock instead."""

    def __init__(self, wait: Callable[[float | None], float | None]) -> None:
        super().__init__()
        self._wait = wait

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if ready := super().select(0):
            return ready
        return super().select(self._wait(timeout))


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop with a time that begins at 0.0 s."""

    def __init__(self, *, jumps: bool = True) -> None:
        self._now = 0.0
        self._jumps = jumps
        super().__init__(_Selector(self._waits))

    def time(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass. The loop's next turns do what is due then."""
        self._now += seconds

    def _waits(self, timeout: float | None) -> float | None:
        """The real seconds to wait for events from outside. `timeout` is the time until the next timer."""
        if timeout is None or timeout <= 0 or not self._jumps:
            return timeout if timeout is not None and timeout <= 0 else None
        self._now += timeout
        return 0


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test in a loop that jumps from timer to timer."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run
