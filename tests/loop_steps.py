"""An event loop that measures its steps: the CPU time of each callback, whatever else the machine does."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from contextvars import Context
from time import thread_time
from typing import TypeVarTuple

Arguments = TypeVarTuple("Arguments")


class MeasuredLoop(asyncio.SelectorEventLoop):
    """Other tasks wait while a step runs. `longest_s` is the longest one since it was set to 0."""

    longest_s = 0.0

    def call_soon(
        self, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.Handle:
        def step(*args: *Arguments) -> None:
            began = thread_time()
            try:
                callback(*args)
            finally:
                self.longest_s = max(self.longest_s, thread_time() - began)

        return super().call_soon(step, *args, context=context)


async def longest_step_s(work: Awaitable[object]) -> float:
    """The longest step while some work is done, in a task of its own. Meanwhile no garbage is collected."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, MeasuredLoop)
    gc.collect()
    gc.disable()
    try:
        await asyncio.sleep(0)
        loop.longest_s = 0.0
        await asyncio.ensure_future(work)
    finally:
        gc.enable()
    return loop.longest_s
