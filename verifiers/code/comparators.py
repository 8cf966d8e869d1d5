"""Compares a program's output with the expected output. The functions are pure and never run inside a box.

    exact    the same characters
    trim     the same lines, without blanks at their ends
    lines    the same lines of the same tokens; blank lines at the edges do not count
    tokens   the same tokens, whatever is between them
    json     the same value, written as JSON

In all of them CRLF is LF. In `lines` and `tokens` two tokens are the same if they are the same characters or the same
decimal number (3 and 3.0, but not 50000000000000001 and 5e16), or, with a tolerance, two finite numbers within it. nan
and inf equal only themselves as text. Letter case counts unless `ignore_case` says otherwise.
"""

import re
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from functools import partial
from typing import Literal

import msgspec
from pydantic import Field, model_validator

from verifiers.base import Params
from verifiers.code.equality import Tolerance, equal, find_difference

Mode = Literal["tokens", "lines", "exact", "json", "trim"]


class Comparator(Params):
    """How an output, or the value of a function, is compared."""

    mode: Mode = "lines"
    """The mode for outputs; values of functions are always compared as values."""
    abs_tol: float | None = Field(default=None, ge=0)
    """A number may differ by this much from the expected number."""
    rel_tol: float | None = Field(default=None, ge=0, lt=1)
    """A number may differ by the larger of `abs_tol` and this share of the expected number."""
    ignore_case: bool = False
    """Whether capital letters are equal to small ones."""
    unordered: bool = False
    """Whether the lines, or the elements of the value, may be in any order."""

    @model_validator(mode="after")
    def _check(self) -> "Comparator":
        if self.unordered and self.mode in ("exact", "tokens"):
            raise ValueError(f"unordered: mode {self.mode} has no lines to put in order")
        if self.mode in ("exact", "trim") and self.tolerance is not None:
            raise ValueError(f"abs_tol, rel_tol: mode {self.mode} compares characters")
        return self

    @property
    def tolerance(self) -> Tolerance | None:
        if self.abs_tol is None and self.rel_tol is None:
            return None
        return Tolerance(self.abs_tol or 0.0, self.rel_tol or 0.0)


_MAX_SHOWN_CHARS = 100
_MAX_NUMBER_CHARS = 400
"""Longer tokens are compared as text, so that no output makes the judge compute with a million digits."""
_MAX_TRIED = 100
"""With a tolerance and in any order, at most this many lines are compared with each other."""


def difference(output: str, expected: str, comparator: Comparator) -> str | None:
    """The first difference as a text for people; None if there is none."""
    if output == expected:
        return None
    output, expected = output.replace("\r\n", "\n"), expected.replace("\r\n", "\n")
    if comparator.ignore_case:
        output, expected = output.casefold(), expected.casefold()
    if comparator.mode == "exact":
        return None if output == expected else _shown("output", output, expected)
    if comparator.mode == "json":
        return _json_difference(output, expected, comparator)
    is_same_token = partial(_same_token, tolerance=comparator.tolerance)
    if comparator.mode == "tokens":
        return _sequence_difference("token", output.split(), expected.split(), is_same_token)
    same_line = _same_characters if comparator.mode == "trim" else partial(_same_line, tolerance=comparator.tolerance)
    lines = _lines(output), _lines(expected)
    if comparator.unordered:
        return _unordered_difference(*lines, comparator)
    return _sequence_difference("line", *lines, same_line)


def _lines(text: str) -> list[str]:
    """The lines without blanks at their ends, and without blank lines at the beginning and the end."""
    lines = [line.rstrip() for line in text.replace("\r", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    start = next((index for index, line in enumerate(lines) if line), 0)
    return lines[start:]


def _same_characters(output: str, expected: str) -> bool:
    return output == expected


def _same_line(output: str, expected: str, tolerance: Tolerance | None) -> bool:
    if output == expected:
        return True
    ours, theirs = output.split(), expected.split()
    return len(ours) == len(theirs) and all(
        _same_token(token, expected_token, tolerance) for token, expected_token in zip(ours, theirs, strict=True)
    )


def _same_token(output: str, expected: str, tolerance: Tolerance | None) -> bool:
    if output == expected:
        return True
    if len(output) > _MAX_NUMBER_CHARS or len(expected) > _MAX_NUMBER_CHARS:
        return False
    if not (_NUMBER.fullmatch(output) and _NUMBER.fullmatch(expected)):
        return False
    ours, theirs = Decimal(output), Decimal(expected)
    if ours == theirs:
        return True
    if tolerance is None:
        return False
    allowed = max(Decimal(tolerance.absolute), _EXACT.multiply(Decimal(tolerance.relative), abs(theirs)))
    return abs(_EXACT.subtract(ours, theirs)) <= allowed


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_EXACT = Context(prec=60, Emax=999_999, Emin=-999_999)


def _sequence_difference(
    kind: str, output: Sequence[str], expected: Sequence[str], is_same: Callable[[str, str], bool]
) -> str | None:
    for number, (ours, theirs) in enumerate(zip(output, expected, strict=False), 1):
        if not is_same(ours, theirs):
            return _shown(f"{kind} {number}", ours, theirs)
    if len(output) != len(expected):
        return f"{len(expected)} {kind}s expected, {len(output)} written"
    return None


def _unordered_difference(output: list[str], expected: list[str], comparator: Comparator) -> str | None:
    if len(output) != len(expected):
        return f"{len(expected)} lines expected, {len(output)} written"
    tolerance = comparator.tolerance
    key = str if comparator.mode == "trim" else _line_key
    unmatched = _without_equal(output, expected, key)
    if tolerance is not None and len(unmatched[1]) <= _MAX_TRIED:
        ours = unmatched[0]
        for line in unmatched[1]:
            match = next((candidate for candidate in ours if _same_line(candidate, line, tolerance)), None)
            if match is None:
                return f"no line for the expected {_clipped(line)!r}"
            ours.remove(match)
        return None
    return f"no line for the expected {_clipped(unmatched[1][0])!r}" if unmatched[1] else None


def _without_equal(output: list[str], expected: list[str], key: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """The remaining lines after lines of equal keys are removed from both lists."""
    ours: dict[str, list[str]] = {}
    for line in output:
        ours.setdefault(key(line), []).append(line)
    missing = []
    for line in expected:
        equal_lines = ours.get(key(line))
        if equal_lines:
            equal_lines.pop()
        else:
            missing.append(line)
    return [line for lines in ours.values() for line in lines], missing


def _line_key(line: str) -> str:
    return " ".join(map(_token_key, line.split()))


def _token_key(token: str) -> str:
    if len(token) <= _MAX_NUMBER_CHARS and _NUMBER.fullmatch(token):
        number = Decimal(token)
        return str(_KEYS.normalize(number)) if number else "0"
    return token


_KEYS = Context(prec=_MAX_NUMBER_CHARS, Emax=999_999, Emin=-999_999)


def _json_difference(output: str, expected: str, comparator: Comparator) -> str | None:
    try:
        theirs = msgspec.json.decode(expected.encode())
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return "the expected output is not JSON"
    try:
        ours = msgspec.json.decode(output.encode("utf-8", "surrogateescape"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _shown("output", output, expected)
    if equal(ours, theirs, comparator.tolerance, unordered=comparator.unordered, ignore_case=comparator.ignore_case):
        return None
    return find_difference(ours, theirs)


def _shown(where: str, output: str, expected: str) -> str:
    start = next(
        (index for index, (a, b) in enumerate(zip(output, expected, strict=False)) if a != b),
        min(len(output), len(expected)),
    )
    start = max(0, start - 20)
    return f"{where}: expected {_clipped(expected, start)!r}, found {_clipped(output, start)!r}"


def _clipped(text: str, start: int = 0) -> str:
    cut = text[start : start + _MAX_SHOWN_CHARS].encode("utf-8", "replace").decode()
    return ("…" if start else "") + cut + ("…" if len(text) > start + _MAX_SHOWN_CHARS else "")
