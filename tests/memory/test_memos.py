"""Functions that remember results."""

import sys
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from typing import Any

import pytest
import regex

import memory
from memory import registry, remember


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Forget the functions of each test."""
    before = list(registry._functions)
    yield
    registry._functions[:] = before


def of(function: "_lru_cache_wrapper[Any]") -> Any:
    return next(known for known in registry._functions if known.cached is function)


def test_results_are_remembered_and_seen_in_the_registry() -> None:
    calls: list[str] = []

    @remember(8)
    def read(text: str) -> str:
        """Its words."""
        calls.append(text)
        return text + "!"

    assert [read("a"), read("a"), read("b")] == ["a!", "a!", "b!"]
    assert calls == ["a", "b"]
    assert read.__wrapped__("c") == "c!"
    assert read.__doc__ == "Its words."
    held = memory.holdings()[of(read).name]
    assert held.entries == 2
    assert held.bytes > 2 * sys.getsizeof("a!")


def test_texts_beyond_the_bound_in_bytes_are_forgotten() -> None:
    @remember(10_000, max_bytes=100_000)
    def read(text: str) -> int:
        return len(text)

    for number in range(1000):
        read(f"{number:05}" * 200)
        assert of(read).used_bytes <= 100_000
    assert 0 < of(read).entries <= 100
    assert of(read).used_bytes >= of(read).entries * 1000


@pytest.mark.parametrize("recursive", [False, True])
def test_values_are_counted_with_all_that_they_hold(recursive: bool) -> None:
    @remember(100, max_bytes=10_000_000, recursive=recursive)
    def read(number: int) -> list[bytes]:
        return [bytes(1000) for _ in range(number % 2 + 10)]

    for number in range(50):
        read(number)
    of(read).settle()
    assert 0.9 * 50 * 10_500 < of(read).used_bytes < 1.3 * 50 * 10_500


def test_the_bound_in_entries_counts_what_it_drove_out() -> None:
    @remember(10, max_bytes=1_000_000)
    def read(text: str) -> int:
        return len(text)

    for number in range(1000):
        read(f"{number:05}" * 200)
    assert of(read).entries == 10
    assert of(read).used_bytes < 20_000


def test_one_text_that_is_too_long_is_not_kept() -> None:
    @remember(10, max_bytes=10_000)
    def read(text: str) -> int:
        return len(text)

    read("a")
    read("b" * 100_000)
    memory.drop_overfull()
    assert of(read).entries == 0


def test_a_function_that_calls_itself_keeps_its_depth() -> None:
    @remember(10_000, recursive=True)
    def depth(number: int) -> int:
        return 0 if number == 0 else 1 + depth(number - 1)

    frames = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        frames, frame = frames + 1, frame.f_back
    assert depth((sys.getrecursionlimit() - frames) // 2 - 50) > 0


def test_what_is_beyond_the_bound_is_forgotten_when_it_is_measured() -> None:
    @remember(10_000, max_bytes=100_000, recursive=True)
    def read(text: str) -> str:
        return text * 2

    for number in range(200):
        read(f"{number:05}" * 200)
    assert of(read).entries == 200
    memory.settle()
    assert of(read).entries == 0
    read("a")
    assert of(read).used_bytes == 0, "the bytes of what was forgotten are no longer counted"


def test_patterns_that_regex_keeps_are_counted_and_forgotten_with_their_texts() -> None:
    memory.forget()
    before = registry._libraries.entries
    regex.sub("(?i)counted", r"\g<0>!", "")
    assert registry._libraries.entries > before
    memory.forget()
    kept = vars(sys.modules[registry._REGEX])
    assert [len(kept[name]) for name in ("_cache", "_named_args", "_replacement_cache")] == [0, 0, 0]


def test_halving_leaves_at_most_half_and_forgetting_leaves_nothing() -> None:
    @remember(1000)
    def small(text: str) -> str:
        return text

    @remember(1000)
    def large(text: str) -> str:
        return text * 50

    memory.forget()
    for number in range(200):
        small(f"{number:010}")
        large(f"{number:010}")
    before = memory.total_bytes()
    memory.halve()
    assert memory.total_bytes() <= before // 2
    assert (of(small).entries, of(large).entries) == (200, 0)
    memory.forget()
    assert of(small).entries == 0
