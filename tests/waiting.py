"""Wait for a condition instead of sleeping for a time.

No test says how fast a machine must be. `PATIENCE_S` only ends a test that hangs: it is far beyond what any wait takes,
also beside other work. Inside of a test it is given as any "far enough" deadline, too.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

PATIENCE_S: Final = 300.0
_LOOK_AGAIN_S: Final = 0.01


def eventually(condition: Callable[[], object], told: Callable[[], object] = str) -> None:
    """Return when `condition` holds; it is about another thread or process, of which there is nothing to await.

    Args:
        condition: What will hold.
        told: Called when it never does, for the message.
    """
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"it never became true: {condition} {told()}"
        time.sleep(_LOOK_AGAIN_S)


async def until(condition: Callable[[], object], told: Callable[[], object] = str) -> None:
    """The same in an event loop, which goes on meanwhile."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"it never became true: {condition} {told()}"
        await asyncio.sleep(_LOOK_AGAIN_S)


async def turns(count: int = 20) -> None:
    """Let every task that can go on do so: enough turns of the event loop for what waits for nothing outside of it.

    What does wait for the outside may get its answer meanwhile. To stop a task at its first step, take one turn.
    """
    for _ in range(count):
        await asyncio.sleep(0)
