"""Ends tasks, as their owner."""

import asyncio
from typing import Any


async def cancel(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel the tasks, and wait until they have ended. None is a task that was never begun."""
    started = [task for task in tasks if task is not None]
    for task in started:
        task.cancel()
    if started:
        await asyncio.wait(started)
