"""Gives forks the page tables of the interpreter's code that has been used before the fork.

A fork gets no page tables for memory that is mapped from a file and was never written to. It faults on each page anew,
some seventy times in a short run. But a mapping with one private page is copied with its page table. So one byte of
each large mapping is overwritten with itself.
"""

import os
from contextlib import suppress
from typing import Final

_LARGE_BYTES: Final = 128 << 10
_READ_ONLY: Final = ("r-xp", "r--p")

_are_inherited = False


def open_own_memory() -> int | None:
    """Open /proc/self/mem, while other processes may still look into this one; None if that fails."""
    try:
        return os.open("/proc/self/mem", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None


def inherit_page_tables(memory: int | None) -> None:
    """Make future forks inherit page tables; closes `memory`. Where the kernel does not allow it, nothing changes.

    A fork of a process that has done so does nothing: its own forks inherit them, too.
    """
    global _are_inherited
    if memory is None:
        return
    if _are_inherited:
        os.close(memory)
        return
    _are_inherited = True
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        lines = file.read().splitlines()
    for line in lines:
        where, mode, _, _, _, *path = line.split(None, 5)
        start, end = (int(address, 16) for address in where.split("-"))
        if mode in _READ_ONLY and path and path[0].startswith("/") and end - start >= _LARGE_BYTES:
            with suppress(OSError):
                os.pwrite(memory, os.pread(memory, 1, start), start)
    os.close(memory)
