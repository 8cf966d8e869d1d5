"""The bytes of a value."""

import gc
import re
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import re2
import regex
import sympy

from memory import size_of


@dataclass(slots=True)
class Slotted:
    text: str
    others: list[Any]


@pytest.mark.parametrize(
    "make",
    [
        lambda: [f"{number:020}" for number in range(1000)],
        lambda: {f"{number:020}": f"{number:030}" for number in range(1000)},
        lambda: Slotted("a" * 5000, [Slotted("b" * number, []) for number in range(1000, 1100)]),
        lambda: re.compile("|".join(f"[a-{chr(98 + number % 20)}]x{number}" for number in range(300))),
    ],
)
def test_a_size_is_what_was_allocated(make: Callable[[], object]) -> None:
    make()
    re.purge()
    gc.freeze()  # what is there is not looked at again
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        value = make()
        re.purge()
        gc.collect()  # `re` leaves cycles
        allocated = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 0.8 * allocated < size_of(value) < 1.25 * allocated


def test_what_other_languages_hold_is_counted() -> None:
    short, long = re2.compile("ab"), re2.compile("|".join(f"w{number}" for number in range(1000)))
    assert size_of(long) > 20_000 + size_of(short)
    assert size_of(regex.compile("|".join(f"w{number}" for number in range(1000)))) > 100_000


def test_values_with_cycles_have_a_size_and_classes_none() -> None:
    ring: list[Any] = [bytes(10_000)]
    ring.append(ring)
    assert 10_000 < size_of(ring) < 10_300
    assert size_of((Slotted, re, len)) < 200
    x = sympy.Symbol("x")
    assert 1000 < size_of((x + 1) ** 20 + sympy.sin(x) * 3) < 50_000


def test_a_large_value_is_estimated() -> None:
    value = [f"{number:06}" for number in range(100_000)]
    exact = sys.getsizeof(value) + sum(map(sys.getsizeof, value))
    assert 0.5 * exact < size_of(value) < 10 * exact
