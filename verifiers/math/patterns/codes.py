"""The names of the patterns in their order, and the description of one that was found."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """The names of the patterns, in the order in which they are looked for."""

    EMPTY = "EMPTY"
    NO_ANSWER = "NO_ANSWER"
    TRUNCATED = "TRUNCATED"
    THINK_MALFORMED = "THINK_MALFORMED"
    CONFLICTING_ANSWERS = "CONFLICTING_ANSWERS"
    UNPARSEABLE = "UNPARSEABLE"
    REPETITION = "REPETITION"
    LANGUAGE_MIX = "LANGUAGE_MIX"
    SIGN = "SIGN"
    PERCENT = "PERCENT"
    POWER10 = "POWER10"
    OFF_BY_ONE = "OFF_BY_ONE"
    FACTOR_TWO = "FACTOR_TWO"
    ROUNDING = "ROUNDING"
    ORDER = "ORDER"
    INTERVAL_END = "INTERVAL_END"
    DIRECTION = "DIRECTION"
    MISSING_ELEMENT = "MISSING_ELEMENT"
    EXTRA_ELEMENT = "EXTRA_ELEMENT"
    UNIT_MISMATCH = "UNIT_MISMATCH"
    UNIT_MISSING = "UNIT_MISSING"
    DIMENSION_MISMATCH = "DIMENSION_MISMATCH"
    UNSIMPLIFIED = "UNSIMPLIFIED"
    STOPPED_EARLY = "STOPPED_EARLY"
    COPIED_INPUT = "COPIED_INPUT"
    ARITHMETIC = "ARITHMETIC"


_MAX_DETAIL_CHARS = 160


@dataclass(frozen=True, slots=True)
class Pattern:
    """One mistake that an answer shows."""

    code: Code
    detail: str
    """A text for people; at most 160 characters."""

    def __post_init__(self) -> None:
        if len(self.detail) > _MAX_DETAIL_CHARS:
            object.__setattr__(self, "detail", self.detail[: _MAX_DETAIL_CHARS - 1] + "…")

    def as_json(self) -> dict[str, str]:
        return {"code": self.code.value, "detail": self.detail}


def in_order(patterns: Iterable[Pattern]) -> list[Pattern]:
    """Patterns in the order of `Code`."""
    return sorted(patterns, key=lambda pattern: _PLACES[pattern.code])


_PLACES = {code: place for place, code in enumerate(Code)}
