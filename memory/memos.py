"""Functions that remember their results, as with `functools.lru_cache`, whose speed they have, but bounded in bytes, too."""

import sys
from collections.abc import Callable, Hashable
from functools import _lru_cache_wrapper, lru_cache, update_wrapper
from typing import Any, Final, TypeVar

from memory.registry import ENTRY_BYTES, add_function, is_overfull, sampled_bytes
from memory.sizes import size_of

R = TypeVar("R")

MAX_BYTES: Final = 2_000_000
_ALWAYS_MEASURED: Final = 16
_MEASURE_EVERY: Final = 8


def remember(
    entries: int, *, max_bytes: int = MAX_BYTES, typed: bool = False, recursive: bool = False
) -> "Callable[[Callable[..., R]], _lru_cache_wrapper[R]]":
    """Have a function remember its last results: at most `entries`, and about `max_bytes`.

    A hit costs what it costs with `lru_cache`. The bytes are counted when a result is new; when they are too many, all are
    forgotten. Texts are counted exactly, other values by a sample of them.

    `recursive`: the function calls itself, so nothing may stand between, which would take its depth. The keys are short.
    The bytes are measured now and then (`settle`).
    """

    def decorate(function: Callable[..., R]) -> "_lru_cache_wrapper[R]":
        return _Memo(function, entries, max_bytes, typed, recursive).cached

    return decorate


class _Memo:
    def __init__(
        self, function: Callable[..., Any], entries: int, max_bytes: int, typed: bool, recursive: bool
    ) -> None:
        self.name = f"{function.__module__}.{function.__qualname__}"
        self._max_bytes = max_bytes
        self._counts = not recursive
        self._added = 0
        self._added_bytes = 0
        self._measured = 0
        self._measured_bytes = 0
        self._seen = 0

        def counted(*args: Hashable, **names: Hashable) -> Any:
            value = function(*args, **names)
            self._add((*args, *names.values()) if names else args, value)
            return value

        self.cached: _lru_cache_wrapper[Any] = lru_cache(entries, typed)(function if recursive else counted)
        update_wrapper(self.cached, function)
        add_function(self)

    @property
    def entries(self) -> int:
        return self.cached.cache_info().currsize

    @property
    def used_bytes(self) -> int:
        if not self._counts:
            return self._measured_bytes if self.entries else 0
        return self._bytes_of(self.entries) if self._added else 0

    def _bytes_of(self, entries: int) -> int:
        """What so many entries take. What the bound of entries drove out was of the mean size."""
        return self._added_bytes * min(entries, self._added) // self._added

    def _add(self, args: tuple[Hashable, ...], value: object) -> None:
        size = ENTRY_BYTES
        others = [value]
        for part in args:
            if type(part) is str:
                size += sys.getsizeof(part)
            else:
                others.append(part)
        self._seen += 1
        if self._seen <= _ALWAYS_MEASURED or self._seen % _MEASURE_EVERY == 0:
            measured = sum(map(size_of, others))
            self._measured += 1
            self._measured_bytes += measured
            size += measured
        else:
            size += self._measured_bytes // self._measured
        self._added += 1
        self._added_bytes += size
        # The new result is not kept yet.
        if self._added_bytes > self._max_bytes and self._bytes_of(self.entries + 1) > self._max_bytes:
            self.clear()
            self._added, self._added_bytes = 1, size
            if size > self._max_bytes:
                is_overfull(self.clear)

    def settle(self) -> None:
        if not self._counts:
            self._measured_bytes = sampled_bytes(self.cached)
            if self._measured_bytes > self._max_bytes:
                self.clear()

    def halve(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.cached.cache_clear()
        self._added = self._added_bytes = 0
