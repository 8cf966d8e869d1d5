"""Collects the garbage of a process when it is told to, and says what it holds."""

import ctypes
import gc
import signal

from memory import watch
from sandbox.workers import worker_function

_trim = watch.trimming()


class _Heap(ctypes.Structure):
    """See mallinfo(3)."""

    _fields_ = [("sizes", ctypes.c_size_t * 10)]


_FREE = 8
"""`fordblks`."""


def free_heap_bytes() -> int:
    """What glibc's heap keeps free, of which whole pages have gone back; 0 with another library."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0
    mallinfo2.restype = _Heap
    return int(mallinfo2().sizes[_FREE])


def collect() -> None:
    gc.collect()
    _trim()


@worker_function
def listen(_: object) -> None:
    """The process that workers are forked from does this once. Each of them collects on SIGUSR1 then."""
    signal.signal(signal.SIGUSR1, lambda *_: collect())
