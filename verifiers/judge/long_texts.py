"""Long texts are looked at beside the event loop, which goes on meanwhile: reading a hostile one takes a microsecond for
each ten characters.
"""

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_SHORT_CHARS: Final = 50_000


async def by_length(chars: int, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call at once, or, for texts of so many characters, in a thread."""
    if chars <= _SHORT_CHARS:
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)
