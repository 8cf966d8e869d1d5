"""Functions that remember their results, as with `functools.lru_cache`, whose speed they have, but bounded in bytes, too."""

from collections.abc import Callable, Hashable
from functools import _lru_cache_wrapper, lru_cache, update_wrapper
from typing import Any, Final, TypeVar

from memory.registry import ENTRY_BYTES, add_function, is_overfull, sampled_bytes
from memory.sizes import size_of

R = TypeVar("R")

MAX_BYTES: Final = 2_000_000
_ALWAYS_MEASURED: Final = 4
_MEASURE_EVERY: Final = 16
_SELDOM_FROM: Final = 512
_SELDOM_EVERY: Final = 64
"""One of so many new results is measured, and stands for the others: a power of two. It may cost as much as to make it."""
_LONG_CHARS: Final = 500
"""A result for a longer text is always measured."""


def remember(
    entries: int, *, max_bytes: int = MAX_BYTES, typed: bool = False, recursive: bool = False
) -> "Callable[[Callable[..., R]], _lru_cache_wrapper[R]]":
    """Have a function remember its last results: at most `entries`, and about `max_bytes`.

    A hit costs what it costs with `lru_cache`. The bytes are counted when a result is new; when they are too many, all are
    forgotten. Long texts are all counted, short ones by a sample of them.

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
        self._new = 0
        """Results that were new since all were forgotten."""
        self._new_bytes = 0
        self._measure_every = _MEASURE_EVERY
        self._measured_bytes = 0
        """By the last `settle`, if the function is recursive."""

        def counted(*args: Hashable, **names: Hashable) -> Any:
            value = function(*args, **names)
            self._new += 1
            if self._new % self._measure_every == 0 or self._new <= _ALWAYS_MEASURED:
                self._add((*args, *names.values()), value)
            else:
                for part in args:
                    if type(part) is str and len(part) > _LONG_CHARS:
                        self._add(args, value)
                        break
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
        return self._bytes_of(self.entries) if self._new else 0

    def _bytes_of(self, entries: int) -> int:
        """What so many entries take. What the bound of entries drove out was of the mean size."""
        return self._new_bytes * min(entries, self._new) // self._new

    def _add(self, args: tuple[Hashable, ...], value: object) -> None:
        """Count a new entry, which is not kept yet."""
        is_long = any(type(part) is str and len(part) > _LONG_CHARS for part in args)
        weight = 1 if is_long or self._new <= _ALWAYS_MEASURED else self._measure_every
        size = ENTRY_BYTES + sum(map(size_of, args)) + size_of(value)
        self._new_bytes += size * weight
        if self._new >= _SELDOM_FROM:
            self._measure_every = _SELDOM_EVERY
        if self._new_bytes > self._max_bytes and self._bytes_of(self.entries + 1) > self._max_bytes:
            self.clear()
            self._new, self._new_bytes = 1, size
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
        self._new = self._new_bytes = self._measured_bytes = 0
        self._measure_every = _MEASURE_EVERY
