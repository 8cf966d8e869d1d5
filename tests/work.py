"""Counts the work of a thread: calls of functions, and expressions that are compiled."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import FrameType
from typing import Any, Final

_COMPILERS: Final = frozenset(
    {
        import_module("re._compiler").compile.__code__,
        import_module("regex._regex_core")._compile_firstset.__code__,
        import_module("re2")._Regexp.__init__.__code__,
    }
)
"""The functions that `re`, `regex` and `re2` call for an expression that they do not know yet."""


@dataclass
class Work:
    """What a thread has done."""

    calls: int = 0
    """Calls of Python functions."""
    calls_of_c: int = 0
    compiled: int = 0


@contextmanager
def counted() -> Iterator[Work]:
    """Count the work of this thread in the block."""
    work = Work()

    def count(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            work.calls += 1
            work.compiled += frame.f_code in _COMPILERS
        elif event == "c_call":
            work.calls_of_c += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield work
    finally:
        sys.setprofile(before)
