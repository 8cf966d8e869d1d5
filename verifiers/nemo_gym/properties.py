"""A server that asks for a property of a molecule, in one of thirty-one marks: litmus_agent."""

import math
import re
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, Final

from verifiers import tables
from verifiers.base import InvalidItem
from verifiers.commitment import is_taken_back
from verifiers.nemo_gym.patterns import compile_all
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers

_MARKS: Final = tables.values(resources.files(__package__) / "properties.yaml")
_MARKED, _ON_A_LINE = _MARKS["marked"], _MARKS["on_a_line"]
_TRUE: Final = frozenset(["1", "1.0", "true", "yes", "present", "t", "y"])
_FALSE: Final = frozenset(["0", "0.0", "false", "no", "absent", "f", "n"])
_NUMBER: Final = re.compile(r"-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?")
_COUNTS: Final = frozenset(["count", "bool", "presence", "fragment"])
"""Older kinds of properties whose values are rounded."""
_CLOSE: Final = 1e-6


def litmus_agent(rollout: Rollout) -> Judgement:
    """The last marked answer, compared by the row's rule: numbers, yes or no, or words."""
    kind = rollout.row.get("answer_type")
    expected, match = rollout.row.get("expected_answer"), rollout.row.get("match") or {}
    if kind not in (None, "float", "bool", "string"):
        raise InvalidItem("bad_row", "the row's 'answer_type' must be float, bool or string")
    if expected is None or not isinstance(match, dict):
        raise InvalidItem("bad_row", "the row needs 'expected_answer', and 'match' as an object if there is one")
    legacy = "exact" if kind is None and str(rollout.row.get("property_type")) in _COUNTS else "isclose"
    rule = match.get("rule") or {"bool": "bool_eq", "string": "string_eq"}.get(str(kind), legacy)
    compare = _RULES.get(str(rule))
    if compare is None:
        raise InvalidItem("bad_row", f"the row's 'match.rule' must be one of {', '.join(_RULES)}")
    parse = _PARSERS.get("words" if rule == "string_eq" and kind == "string" else str(kind), _number)
    _check(parse, compare, expected, match)
    captured = _captured(rollout)
    value = None if captured is None else parse(captured)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Judgement(0.0, captured, "no_answer")
    return Judgement(float(compare(value, expected, match)), captured)


SERVERS: Final[Servers] = {"litmus_agent": litmus_agent}


def _check(parse: Callable[[str], Any], compare: Callable[..., bool], expected: Any, match: Mapping[str, Any]) -> None:
    """Refuse a reference that no answer can equal.

    Raises:
        InvalidItem
    """
    try:
        value = parse(str(expected))
        is_right = value is not None and compare(value, expected, match)
    except (TypeError, ValueError, OverflowError):
        is_right = False
    if not is_right:
        raise InvalidItem("bad_row", "the row's 'expected_answer' is not right by its own rule; mend it or 'match'")


def _captured(rollout: Rollout) -> str | None:
    row = rollout.row
    pattern = row.get("output_regex")
    if pattern is None:
        mark = str(row.get("answer_format") or ("fmt_07" if row.get("use_box_format") is True else "fmt_00"))
        number = int(mark[4:]) if re.fullmatch(r"fmt_\d\d", mark) else -1
        if not 0 <= number < len(_MARKED) + len(_ON_A_LINE):
            raise InvalidItem("bad_row", "the row's 'answer_format' must be fmt_00 to fmt_30")
        is_line = number >= len(_MARKED)
        pattern = rf"{_ON_A_LINE[number - len(_MARKED)]}\s*(.+)" if is_line else _MARKED[number]
        (compiled,) = compile_all([pattern], "answer_format", dot_all=not is_line)
    else:
        if not isinstance(pattern, str):
            raise InvalidItem("bad_row", "the row's 'output_regex' must be text")
        (compiled,) = compile_all([pattern], "output_regex", dot_all=True)
        if compiled.groups != 1:
            raise InvalidItem("bad_row", "the row's 'output_regex' must have one group")
    matches = list(compiled.finditer(rollout.text))
    stands = bool(matches) and not is_taken_back(rollout.text, matches[-1].end())
    return (matches[-1].group(1) or "").strip() if stands else None


def _truth(text: str) -> float | None:
    word = text.strip().lower()
    number = 1.0 if word in _TRUE else 0.0 if word in _FALSE else _number(word)
    return None if number is None else float(number != 0.0)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        numbers = _NUMBER.findall(text)
        return float(numbers[-1]) if numbers else None


def _within(absolute: str | None, relative: str | None, default: float) -> Callable[..., bool]:
    def compare(value: float, expected: Any, match: Mapping[str, Any]) -> bool:
        number = float(expected)
        share, absolute_tolerance = (float(match.get(name, default)) if name else 0.0 for name in (relative, absolute))
        if absolute and relative:
            return math.isclose(value, number, rel_tol=share, abs_tol=absolute_tolerance)
        return abs(value - number) <= (absolute_tolerance if absolute else abs(share * number))

    return compare


_RULES: Final[Mapping[str, Callable[..., bool]]] = {
    "exact": lambda value, wanted, _: math.isfinite(value) and round(value) == round(float(wanted)),
    "isclose": _within("abs_tol", "rel_tol", _CLOSE),
    "abs_window": _within("abs_tol", None, 0.0),
    "rel_window": _within(None, "rel_tol", 0.0),
    "bool_eq": lambda value, wanted, _: value == _truth(str(wanted)),
    "string_eq": lambda value, wanted, _: str(value).lower().split() == str(wanted).lower().split(),
}
"""Whether a value is right, by the name of the rule."""
_PARSERS: Final[Mapping[str, Callable[[str], Any]]] = {"bool": _truth, "words": str}
