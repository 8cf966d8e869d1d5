"""Compares an argument with the wanted one.

    "compare": {"city": "loose", "note": "any", "tags": "set", "price": {"tolerance": 0.01}, "rate": {"relative": 1e-6},
                "mail": {"pattern": "[^@]+@example[.]org"}, "filter": {"schema": {"type": "object"}}}

`any`, a pattern and a schema need no right value. The others compare an argument with the right values in their way.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import re2

from verifiers.rules.schemas import Schema, compile_schema
from verifiers.rules.tool_call.calls import Malformed
from verifiers.rules.tool_call.raw import Raw
from verifiers.rules.tool_call.sources import Source

Strings = Literal["exact", "loose", "bfcl"]
"""loose: ignore case and space; bfcl: ignore also the signs that the Berkeley leaderboard ignores."""
_MAX_PATTERN_CHARS = 4096
_MAX_PATTERN_BYTES = 2 << 20
_BFCL_SIGNS = re.compile(r"[\s,./\-_*^]+")


class Compare(ABC):
    """A way to compare an argument with the right values."""

    needs_value: ClassVar[bool] = True

    @abstractmethod
    def accepts(self, argument: Any, values: Sequence[Any], strings: Strings) -> bool:
        """Whether the argument is right, where `values` are the right ones."""


def same(value: Any, expected: Any, strings: Strings) -> bool:
    """Whether two JSON values are equal. 1 equals 1.0 but not true; the keys of an object have no order."""
    if isinstance(value, Raw):
        return any(same(reading, expected, strings) for reading in value.readings)
    if isinstance(expected, Raw):
        return any(same(value, reading, strings) for reading in expected.readings)
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    match value, expected:
        case str(), str():
            return value == expected or folded(value, strings) == folded(expected, strings)
        case list(), list():
            return len(value) == len(expected) and all(
                same(item, expected_item, strings) for item, expected_item in zip(value, expected, strict=True)
            )
        case dict(), dict():
            return value.keys() == expected.keys() and all(same(value[key], expected[key], strings) for key in value)
        case (int() | float(), int() | float()) | (None, None):
            return bool(value == expected)
    return False


def folded(text: str, strings: Strings) -> str:
    match strings:
        case "loose":
            return re.sub(r"\s+", " ", text).strip().casefold()
        case "bfcl":
            return _BFCL_SIGNS.sub("", text).casefold().replace("'", '"')
    return text


@dataclass(frozen=True)
class AnyOf(Compare):
    """A value is right if it equals one of the right values."""

    strings: Strings | None = None
    """The way to compare strings; None: as in all other arguments."""

    def accepts(self, argument: Any, values: Sequence[Any], strings: Strings) -> bool:
        return any(same(argument, value, self.strings or strings) for value in values)


@dataclass(frozen=True)
class Possible(Compare):
    """BFCL's form, in which objects hold a list of right values for each key.

    An "" in the list allows the response to leave the key out.
    """

    def accepts(self, argument: Any, values: Sequence[Any], strings: Strings) -> bool:
        if isinstance(argument, Source):
            readings = argument.berkeley_readings if strings == "bfcl" else argument.readings
            if argument.is_variable(readings, values):
                return bool(argument.name) and argument.name in values
        else:
            readings = argument.readings if isinstance(argument, Raw) else (argument,)
        return any(self._is(reading, value) for reading in readings for value in values)

    def _is(self, value: Any, expected: Any) -> bool:
        if isinstance(expected, list) and isinstance(value, list):
            return len(value) == len(expected) and all(map(self._is, value, expected))
        if isinstance(expected, dict) and isinstance(value, dict) and is_possible(expected):
            return value.keys() <= expected.keys() and all(
                self.accepts(value[key], values, "bfcl") if key in value else "" in values
                for key, values in expected.items()
            )
        return same(value, expected, "bfcl")


def is_possible(value: Any) -> bool:
    """Whether an object holds a list of right values for each of its keys."""
    return isinstance(value, dict) and all(isinstance(values, list) and values for values in value.values())


@dataclass(frozen=True)
class AsSet(Compare):
    """A list is right if it differs from a right one only in order and repetition."""

    def accepts(self, argument: Any, values: Sequence[Any], strings: Strings) -> bool:
        readings = argument.readings if isinstance(argument, Raw) else (argument,)
        return any(_as_set(reading, strings) == _as_set(value, strings) for reading in readings for value in values)


def _as_set(value: Any, strings: Strings) -> object:
    return (
        frozenset(_hashable(entry, strings) for entry in value)
        if isinstance(value, list)
        else _hashable(value, strings)
    )


def _hashable(value: Any, strings: Strings) -> object:
    """A hashable key that is equal for equal values."""
    match value:
        case str():
            return folded(value, strings)
        case list():
            return tuple(_hashable(entry, strings) for entry in value)
        case dict():
            return frozenset((key, _hashable(entry, strings)) for key, entry in value.items())
        case bool():
            return ("bool", value)  # for Python, True is 1
    return value


@dataclass(frozen=True)
class Near(Compare):
    """A number is right if it differs by no more than this number, or by no more than this share of the right one."""

    tolerance: float
    is_relative: bool

    def accepts(self, argument: Any, values: Sequence[Any], strings: Strings) -> bool:
        readings = argument.readings if isinstance(argument, Raw) else (argument,)
        return any(self._is(reading, value) for reading in readings for value in values)

    def _is(self, value: Any, expected: Any) -> bool:
        if not _is_number(value) or not _is_number(expected):
            return False
        try:
            max_distance = self.tolerance * abs(expected) if self.is_relative else self.tolerance
            return bool(abs(value - expected) <= max_distance)
        except OverflowError:  # an integer that no float holds
            return bool(value == expected)


@dataclass(frozen=True)
class Anything(Compare):
    """Any value is right."""

    needs_value: ClassVar[bool] = False

    def accepts(self, argument: Any, values: Sequence[Any], strings: Strings) -> bool:
        return True


@dataclass(frozen=True)
class Matching(Compare):
    """A text is right if the pattern, in RE2's syntax, matches all of it."""

    pattern: Any
    needs_value: ClassVar[bool] = False

    def accepts(self, argument: Any, values: Sequence[Any], strings: Strings) -> bool:
        text = argument.text if isinstance(argument, Raw) else argument
        try:
            return isinstance(text, str) and self.pattern.fullmatch(text) is not None
        except UnicodeEncodeError:  # a lone surrogate
            return False


@dataclass(frozen=True)
class Valid(Compare):
    """A value is right if a JSON schema holds for it."""

    schema: Schema
    needs_value: ClassVar[bool] = False

    def accepts(self, argument: Any, values: Sequence[Any], strings: Strings) -> bool:
        readings = argument.readings if isinstance(argument, Raw) else (argument,)
        return any(map(self.schema.holds, readings))


_NAMED: Mapping[str, Compare] = {
    "exact": AnyOf("exact"),
    "loose": AnyOf("loose"),
    "bfcl": AnyOf("bfcl"),
    "set": AsSet(),
    "any": Anything(),
}


def compare_of(value: Any) -> Compare:
    """Read the comparison that a reference sets for one argument.

    Raises:
        Malformed: the value is not a comparison.
    """
    if isinstance(value, str) and value in _NAMED:
        return _NAMED[value]
    if isinstance(value, dict) and len(value) == 1:
        ((kind, of),) = value.items()
        if kind in ("tolerance", "relative"):
            if not _is_number(of) or not of >= 0:
                raise Malformed(f"compare: {kind} is a number from 0, not {str(of)[:100]!r}")
            return Near(float(of), kind == "relative")
        if kind == "pattern":
            return Matching(compiled(of))
        if kind == "schema":
            schema = compile_schema(of, check_formats=False)
            if isinstance(schema, str):
                raise Malformed(f"compare: {schema}")
            return Valid(schema)
    raise Malformed(
        f"compare is one of {', '.join(_NAMED)}, "
        f"or an object with tolerance, relative, pattern or schema, not {str(value)[:100]!r}"
    )


def compiled(pattern: Any) -> Any:
    """Compile a pattern with RE2.

    Raises:
        Malformed: it is not a pattern of RE2.
    """
    if not isinstance(pattern, str) or len(pattern) > _MAX_PATTERN_CHARS:
        raise Malformed(f"a pattern is text of at most {_MAX_PATTERN_CHARS} characters")
    options = re2.Options()
    options.max_mem = _MAX_PATTERN_BYTES
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        raise Malformed(f"the pattern {pattern[:100]!r} is not RE2's syntax: {str(error)[:100]}") from error


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
