"""Every memory of this process by its name: what it holds, halving all, forgetting what texts left behind."""

import gc
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from random import Random
from typing import Any, Final, Protocol
from weakref import WeakSet

from memory.sizes import size_of

_LIBRARY_BYTES: Final = 16_000_000
_REGEX: Final = "regex._main"
_SAMPLES: Final = 8
_random: Final = Random(0)  # noqa: S311 - it chooses what is measured


class Memory(Protocol):
    """What the registry asks of a memory."""

    @property
    def name(self) -> str: ...
    @property
    def entries(self) -> int: ...
    @property
    def used_bytes(self) -> int: ...
    def halve(self) -> None:
        """Drop about half of the bytes, or all of them if the memory cannot tell its older half."""

    def clear(self) -> None: ...


class Remembered(Memory, Protocol):
    """A memory of a function."""

    @property
    def cached(self) -> "_lru_cache_wrapper[Any]": ...
    def settle(self) -> None:
        """Measure, and drop what is beyond the bound."""


@dataclass(frozen=True, slots=True)
class Holding:
    """What the memories of one name hold."""

    entries: int
    bytes: int


class _Libraries:
    """The functions of libraries that remember results: sympy's, RE2's. And the patterns that `re` and `regex` keep.

    Each is bounded by its library, in entries. Here they are bounded in bytes, all together.
    """

    name = "libraries"

    def __init__(self) -> None:
        self.caches: list[_lru_cache_wrapper[Any]] = []
        self._used_bytes = 0
        self._measured: dict[int, tuple[int, int]] = {}
        """The misses of each cache when it was measured, and its bytes."""

    @property
    def entries(self) -> int:
        functions = sum(cache.cache_info().currsize for cache in self.caches)
        return functions + sum(len(patterns) for patterns in _kept_patterns())

    @property
    def used_bytes(self) -> int:
        """The bytes when it was last measured."""
        return self._used_bytes

    def measuring(self) -> Iterator[None]:
        """Measure all, with a stop behind each."""
        patterns = [pattern for pattern_cache in _kept_patterns() for pattern in [*pattern_cache.values()]]
        size = _estimated(patterns)
        for cache in self.caches:
            yield
            size += self._bytes_of(cache)
        self._used_bytes = size

    def _bytes_of(self, cache: "_lru_cache_wrapper[Any]") -> int:
        """The bytes of the entries of a cache. They are measured again only if there was a new one."""
        misses = cache.cache_info().misses
        measurement = self._measured.get(id(cache))
        if measurement is None or measurement[0] != misses:
            measurement = self._measured[id(cache)] = misses, sampled_bytes(cache)
        return measurement[1]

    def halve(self) -> None:
        self.clear()

    def clear(self) -> None:
        for cache in self.caches:
            cache.cache_clear()
        self._measured.clear()
        re.purge()
        if (regex := sys.modules.get(_REGEX)) is not None:
            regex.purge()
            for kept in (regex._named_args, regex._replacement_cache):  # texts that its purge leaves
                kept.clear()
        self._used_bytes = 0


_libraries: Final = _Libraries()
_functions: Final[list[Remembered]] = []
_stores: "Final[WeakSet[Any]]" = WeakSet()
_overfull: Final[list[Callable[[], object]]] = []
_forgetting: Final[list[Callable[[], object]]] = []


def add_function(memory: Remembered) -> None:
    _functions.append(memory)


def add_store(memory: Memory) -> None:
    """Count a memory for as long as it exists."""
    _stores.add(memory)


def forgets(memory: Callable[[], object]) -> None:
    """Have this called when a process is to forget: for memories of texts that are not functions'."""
    _forgetting.append(memory)


def memories() -> Iterator[Memory]:
    yield from _functions
    yield from [*_stores]
    yield _libraries


def holdings() -> Mapping[str, Holding]:
    """What is held, by the names of memories. Those that hold nothing are left out."""
    by_name: dict[str, Holding] = {}
    for memory in memories():
        if entries := memory.entries:
            holding = by_name.get(memory.name, Holding(0, 0))
            by_name[memory.name] = Holding(holding.entries + entries, holding.bytes + memory.used_bytes)
    return by_name


def total_bytes() -> int:
    return sum(memory.used_bytes for memory in memories())


def halve() -> None:
    """Drop half of what is remembered: the older half of each store, and then the largest of the others."""
    target = total_bytes() // 2
    for store in [*_stores]:
        store.halve()
    remaining = total_bytes()
    memories: list[Memory] = [*_functions, _libraries]
    for memory in sorted(memories, key=lambda memory: memory.used_bytes, reverse=True):
        if remaining <= target:
            return
        remaining -= memory.used_bytes
        memory.halve()


def forget() -> None:
    """Forget all that was remembered of texts: owners of texts are to learn nothing of each other, not even from the time
    that an answer takes.
    """
    for memory in _forgetting:
        memory()
    for function in _functions:
        function.clear()
    _libraries.clear()


def find_libraries() -> None:
    """Find the memories of libraries. Call it when all are imported.

    Each refers to its type. A list of all objects would write to all of them, and so copy the pages that forks share.
    """
    is_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()  # what is frozen is not listed
    ours = {id(function.cached) for function in _functions}
    _libraries.caches[:] = [
        cache
        for cache in gc.get_referrers(_lru_cache_wrapper)
        if isinstance(cache, _lru_cache_wrapper) and id(cache) not in ours and _is_bounded(cache)
    ]
    if is_frozen:
        gc.freeze()


def is_overfull(clear: Callable[[], object]) -> None:
    """Have a memory cleared soon: it holds one entry that is larger than it may be."""
    _overfull.append(clear)


def drop_overfull() -> None:
    while _overfull:
        _overfull.pop()()


def settle() -> None:
    """Measure what does not count itself, and drop what is beyond a bound."""
    for _ in settling():
        pass


def settling() -> Iterator[None]:
    """`settle`, with a stop behind each memory."""
    for function in [*_functions]:
        function.settle()
        yield
    yield from _libraries.measuring()
    if _libraries.used_bytes > _LIBRARY_BYTES:
        _libraries.clear()


def sampled_bytes(cache: "_lru_cache_wrapper[Any]") -> int:
    """The bytes of the entries of a cache, from some of them."""
    entries = cache.cache_info().currsize
    if not entries:
        return 0
    # The referents of such a cache are the key and the result of each entry, and a few objects of its own.
    referents = [part for part in gc.get_referents(cache) if not isinstance(part, type)][: 2 * entries]
    sampled = range(entries) if entries <= _SAMPLES else _random.sample(range(entries), _SAMPLES)
    measured = sum(size_of(referents[2 * index]) + size_of(referents[2 * index + 1]) for index in sampled)
    return ENTRY_BYTES * entries + entries * measured // len(sampled)


def _estimated(values: Sequence[object]) -> int:
    sampled = values if len(values) <= _SAMPLES else _random.sample(values, _SAMPLES)
    return len(values) * sum(map(size_of, sampled)) // max(1, len(sampled))


ENTRY_BYTES: Final = 200
"""What an entry takes beside its key and its value: its link and its share of the table, which doubles when it is full."""


def _is_bounded(function: "_lru_cache_wrapper[Any]") -> bool:
    return function.cache_parameters()["maxsize"] is not None


def _kept_patterns() -> Iterator[dict[Any, Any]]:
    for name in ("re", _REGEX):
        cache = getattr(sys.modules.get(name), "_cache", None)
        if isinstance(cache, dict):
            yield cache
