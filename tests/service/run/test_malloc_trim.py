"""What is given back to the system, asked of the C library in a process of its own."""

import platform
import subprocess
import sys

import pytest

_ASK = """
import asyncio, ctypes, sys
from service.run import malloc_trim

class Held(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

c = ctypes.CDLL(None)
c.mallinfo2.restype, c.malloc.restype = Held, ctypes.c_void_p
c.malloc.argtypes, c.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]

async def begin():
    task = asyncio.create_task(malloc_trim.trim_regularly())
    await asyncio.sleep(0)
    assert not task.done()
    task.cancel()

if sys.argv[1] == "ours":
    asyncio.run(begin())
c.free(c.malloc(20_000_000))  # from here on 1 MB is not large any more, unless somebody says so
before = c.mallinfo2().hblks
c.malloc(1_000_000)
print(c.mallinfo2().hblks - before)

batch = [c.malloc(100_000) for _ in range(100)]
before = c.mallinfo2().arena
for each in batch:
    c.free(each)
print(before - c.mallinfo2().arena)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries are left as they are")
@pytest.mark.parametrize(("whose", "mappings"), [("ours", "1"), ("theirs", "0")])
def test_large_values_have_mappings_of_their_own_however_large_earlier_ones_were(whose: str, mappings: str) -> None:
    assert _told(whose)[0] == mappings


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries are left as they are")
def test_the_heap_is_not_cut_after_a_batch() -> None:
    assert _told("ours")[1] == "0"


def _told(whose: str) -> list[str]:
    return subprocess.run(
        [sys.executable, "-c", _ASK, whose], capture_output=True, text=True, check=True
    ).stdout.split()
