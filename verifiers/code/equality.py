"""Compares the value that a function returned with the expected value, which is data from JSON.

A tuple equals a list, 2 equals 2.0, but True does not equal 1; nan equals nan if it is expected. Two floats may differ
by a billionth part. Keys of objects may be integers or their digits. A set equals only a value that is written as a set
(`{"$set": [...]}`, or a Python literal), unless order does not count. A value that is not plain data equals nothing.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

SET = "$set"
_MAX_TRIED = 300


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two numbers may differ: by the larger of the two bounds."""

    absolute: float = 0.0
    relative: float = 1e-9


DEFAULT = Tolerance()


def equal(
    value: Any, expected: Any, tolerance: Tolerance | None = None, *, unordered: bool = False, ignore_case: bool = False
) -> bool:
    """Whether a value is the expected one; with `unordered`, lists are sets in which elements may repeat."""
    return _Equality(tolerance or DEFAULT, unordered, ignore_case).holds(value, expected)


def equal_in_python(value: Any, expected: Any) -> bool:
    """Whether two plain values are equal in an `assert`: there a list is not a tuple, and True is 1."""
    try:
        return bool(value == expected)
    except RecursionError:
        return False


def find_difference(value: Any, expected: Any) -> str:
    """Both values as a text for people."""
    return f"expected {_shown(expected)}, found {_shown(value)}"


class _Equality:
    def __init__(self, tolerance: Tolerance, unordered: bool, ignore_case: bool) -> None:
        self._tolerance = tolerance
        self._unordered = unordered
        self._ignore_case = ignore_case

    def holds(self, value: Any, expected: Any) -> bool:
        if isinstance(value, bool) or isinstance(expected, bool):
            return value is expected
        if isinstance(expected, (int, float)):
            return isinstance(value, (int, float)) and self._near(value, expected)
        if isinstance(expected, str):
            return isinstance(value, str) and self._same_text(value, expected)
        if isinstance(expected, dict):
            if set(expected) == {SET} and isinstance(expected[SET], list):
                return isinstance(value, (set, frozenset)) and self._same_members(list(value), expected[SET])
            return isinstance(value, dict) and self._same_fields(value, expected)
        if isinstance(expected, (set, frozenset)):
            return isinstance(value, (set, frozenset)) and self._same_members(list(value), list(expected))
        if isinstance(expected, (list, tuple)):
            if self._unordered:
                return isinstance(value, (list, tuple, set, frozenset)) and self._same_members(list(value), expected)
            return (
                isinstance(value, (list, tuple))
                and len(value) == len(expected)
                and all(self.holds(a, b) for a, b in zip(value, expected, strict=True))
            )
        return type(value) is type(expected) and bool(value == expected)

    def _near(self, value: float, expected: float) -> bool:
        if value == expected or (value != value and expected != expected):
            return True
        if isinstance(value, int) and isinstance(expected, int) and self._tolerance is DEFAULT:
            return False
        try:
            if not (math.isfinite(value) and math.isfinite(expected)):
                return False
            allowed = max(self._tolerance.absolute, self._tolerance.relative * abs(expected))
            return abs(value - expected) <= allowed
        except OverflowError:
            return False

    def _same_text(self, value: str, expected: str) -> bool:
        return value == expected or (self._ignore_case and value.casefold() == expected.casefold())

    def _same_fields(self, answer: dict[Any, Any], expected: dict[Any, Any]) -> bool:
        ours = {_key(key): value for key, value in answer.items()}
        theirs = {_key(key): value for key, value in expected.items()}
        return (
            len(ours) == len(answer) == len(theirs)
            and ours.keys() == theirs.keys()
            and all(self.holds(ours[key], theirs[key]) for key in theirs)
        )

    def _same_members(self, value: Sequence[Any], expected: Collection[Any]) -> bool:
        if len(value) != len(expected):
            return False
        if len(value) > _MAX_TRIED:
            ours, theirs = sorted(value, key=_order), sorted(expected, key=_order)
            return all(self.holds(a, b) for a, b in zip(ours, theirs, strict=True))
        unmatched = list(value)
        for member in expected:
            position = _position(unmatched, member, self.holds)
            if position is None:
                return False
            del unmatched[position]
        return True


def _position(values: Sequence[Any], expected: Any, is_same: Callable[[Any, Any], bool]) -> int | None:
    return next((position for position, value in enumerate(values) if is_same(value, expected)), None)


def _key(key: Any) -> Any:
    """A key as text, because JSON writes every key as text."""
    return str(key) if isinstance(key, int) and not isinstance(key, bool) else key


def _order(value: Any) -> tuple[int, Any, str]:
    """A sort key that gives equal values equal places: numbers by size, other values by their text."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return 0, value, ""
    if isinstance(value, (list, tuple)):
        return 1, 0, repr(list(map(_order, value)))
    return 2, 0, repr(value)


def _shown(value: Any) -> str:
    text = repr(value) if _is_small(value) else f"a large {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:99]}…"


def _is_small(value: Any, depth: int = 0) -> bool:
    if isinstance(value, int):
        return value.bit_length() < 2000
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return len(value) < 100 and depth < 8 and all(_is_small(part, depth + 1) for part in value)
    return not isinstance(value, (str, bytes)) or len(value) < 10_000
