"""Waits for a condition instead of sleeping for a time.

No test says how fast a machine must be. `PATIENCE_S` only ends a test that hangs: it is far beyond every wait, also on
a busy machine. Tests use it as a far deadline, too.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

PATIENCE_S: Final = 300.0
_POLL_S: Final = 0.01


def eventually(condition: Callable[[], object], describe: Callable[[], object] = str) -> None:
    """Return when `condition` holds. It is about another thread or process, so there is nothing to await.

    Args:
        condition: What will hold.
        describe: Called when it never does, for the message.
    """
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"it never became true: {condition} {describe()}"
        time.sleep(_POLL_S)


async def until(condition: Callable[[], object], describe: Callable[[], object] = str) -> None:
    """Wait for a condition in an event loop, which continues meanwhile."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"it never became true: {condition} {describe()}"
        await asyncio.sleep(_POLL_S)


async def turns(count: int = 20) -> None:
    """Let every task continue that can: enough turns of the event loop for all that wait for nothing outside.

    Tasks that wait for the outside may get their answers meanwhile. To stop a task at its first step, take one turn.
    """
    for _ in range(count):
        await asyncio.sleep(0)
