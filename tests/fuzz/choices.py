"""Decisions read from a string of bytes, so that a fuzzer that changes bytes changes one decision at a time."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """A source of decisions. When the bytes are used up, every further decision is the first alternative, so that
    everything made from it is finite.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return max(0, len(self._data) - self._at)

    def below(self, bound: int) -> int:
        """A number from 0 to `bound` - 1, from one byte, or from several if one is not enough."""
        value, span = 0, 1
        while span < bound:
            value = value * 256 + (self._data[self._at] if self._at < len(self._data) else 0)
            span *= 256
            self._at += 1
        return value % bound

    def one(self, alternatives: Sequence[T]) -> T:
        return alternatives[self.below(len(alternatives))]

    def chance(self, one_in: int) -> bool:
        """True about once in this many times. Never true when the bytes are used up."""
        return self.below(one_in) == one_in - 1

    def integer(self) -> int:
        """An integer, mostly small, sometimes large."""
        span = self.one((10, 10, 10, 10, 100, 100, 100, 1000, 10**6, 10**15, 10**40, 10**400))
        return self.below(span)

    def rational(self) -> Fraction:
        return Fraction(self.integer(), self.one((1, 1, 2, 3, 4, 5, 7, 10, 12, 100, 1000)))
