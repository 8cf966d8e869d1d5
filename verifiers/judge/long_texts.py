"""Runs work on long texts in a thread, so that the event loop goes on.

Reading a hostile text takes a microsecond for each ten characters.
"""

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_SHORT_CHARS: Final = 50_000


async def by_length(chars: int, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function at once, or in a thread if the text has many characters."""
    if chars <= _SHORT_CHARS:
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)
