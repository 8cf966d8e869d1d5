"""Gives free memory back to the system: the bodies of large requests leave holes between values that stay.

glibc serves large requests from mappings of their own, which go back to the system when they are freed; but each one that is
freed raises what counts as large, up to 32 MB, and from then on bodies leave holes in the heap below verdicts and
references that stay (mallopt(3), M_MMAP_THRESHOLD). Over a few minutes of load that was an eighth of the heap, and rising.
"""

import asyncio
import ctypes
from collections.abc import Callable

_M_MMAP_THRESHOLD = -3
_LARGE_BYTES = 128 * 1024
"""Where glibc begins; said aloud it stays."""
_TRIM_EVERY_S = 30.0
"""Trimming takes less than a millisecond."""


async def trim_regularly() -> None:
    """Runs as long as the service does; nothing where the C library is not glibc."""
    trim = _glibc()
    while trim is not None:
        trim()
        await asyncio.sleep(_TRIM_EVERY_S)


def _glibc() -> Callable[[], None] | None:
    """What gives free pages back, when large values have a place of their own."""
    library = ctypes.CDLL(None)
    try:
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        malloc_trim = library.malloc_trim
    except AttributeError:
        return None
    return lambda: malloc_trim(0)
