"""Gives free memory back to the system regularly, and not in between.

glibc serves large requests from mappings of their own, which go back to the system when they are freed. But each freed
mapping raises the size that counts as large, up to 32 MB (mallopt(3), M_MMAP_THRESHOLD). From then on the bodies of
large requests leave holes in the heap, below verdicts and references that stay. After a few minutes of load the holes
were an eighth of the heap, and growing.

A fixed size has a price, because the kernel fills each new page with zeros. At 128 kB, glibc's first size, each body of
64 items of 4 kB was mapped anew and the heap was cut after each batch, which cost 200 to 300 new pages. Now such a batch
stays on the heap and costs 30 to 50, and large cuts of the heap are left to `trim_regularly`.

glibc gives threads heaps of their own (M_ARENA_MAX), up to eight for each CPU. A message of 60 MB comes in pieces that
threads of gRPC take from theirs: after a few of them 56 MB stayed. With one heap for all, 1 MB does.
"""

import asyncio
import contextlib
import ctypes
from collections.abc import Callable

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_LARGE_BYTES = 512 * 1024
"""A threshold that is set explicitly stays."""
_SPARE_BYTES = 32 * 1024 * 1024
"""Free memory at the end of the heap that is kept until the next trimming."""
_TRIM_EVERY_S = 30.0
"""The interval of trimming, which takes less than a millisecond."""


def share_heap() -> None:
    """Have all threads share one heap. Those that have one of their own already keep it, so this comes before them."""
    with contextlib.suppress(AttributeError):  # without glibc
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


async def trim_regularly() -> None:
    """Trim for as long as the service runs. Without glibc this does nothing."""
    trim = _glibc()
    while trim is not None:
        await asyncio.to_thread(trim)
        await asyncio.sleep(_TRIM_EVERY_S)


def _glibc() -> Callable[[], None] | None:
    """The function that gives free pages back. Before, this gives large values mappings of their own."""
    library = ctypes.CDLL(None)
    try:
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        library.mallopt(_M_TRIM_THRESHOLD, _SPARE_BYTES)
        malloc_trim = library.malloc_trim
    except AttributeError:
        return None
    return lambda: malloc_trim(0)
