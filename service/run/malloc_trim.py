"""Gives free memory back to the system regularly.

glibc serves large requests from mappings of their own, which go back to the system when they are freed. But each freed
mapping raises the size that counts as large, up to 32 MB (mallopt(3), M_MMAP_THRESHOLD). From then on the bodies of
large requests leave holes in the heap, below verdicts and references that stay. After a few minutes of load the holes
were an eighth of the heap, and growing.
"""

import asyncio
import ctypes
from collections.abc import Callable

_M_MMAP_THRESHOLD = -3
_LARGE_BYTES = 128 * 1024
"""glibc's initial threshold. If it is set explicitly, it stays."""
_TRIM_EVERY_S = 30.0
"""The interval of trimming, which takes less than a millisecond."""


async def trim_regularly() -> None:
    """Trim for as long as the service runs. Without glibc this does nothing."""
    trim = _glibc()
    while trim is not None:
        trim()
        await asyncio.sleep(_TRIM_EVERY_S)


def _glibc() -> Callable[[], None] | None:
    """The function that gives free pages back. Before, this gives large values mappings of their own."""
    library = ctypes.CDLL(None)
    try:
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        malloc_trim = library.malloc_trim
    except AttributeError:
        return None
    return lambda: malloc_trim(0)
