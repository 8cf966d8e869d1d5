"""What the reference wants, and whether calls are that.

A reference call may name further acceptable values of an argument (`"accept": {"unit": ["C", "celsius"]}`), and
arguments that may be left out (`"optional": ["unit"]`); BFCL writes both as lists of values.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from verifiers.rules.documents import Unreadable, check_depth, read_json
from verifiers.rules.pairing import can_be_paired
from verifiers.rules.tool_call import forms
from verifiers.rules.tool_call.calls import Call, Malformed, call_of, objects_of
from verifiers.rules.tool_call.raw import Raw

Fault = Literal["missing_call", "extra_call", "wrong_function", "wrong_arguments", "wrong_order"]


@dataclass(frozen=True)
class Policy:
    """How a call is compared."""

    is_subset: bool
    is_loose: bool


@dataclass(frozen=True)
class Expected:
    name: str
    values: Mapping[str, Sequence[Any]]
    """The acceptable values of each argument."""
    optional: frozenset[str]

    @property
    def only_call(self) -> Call | None:
        """The one call that is right, if there is just one."""
        if self.optional or any(len(values) != 1 for values in self.values.values()):
            return None
        return Call(self.name, {name: values[0] for name, values in self.values.items()})

    @property
    def key(self) -> str:
        """Equal for equal references, whatever order their keys came in."""
        return json.dumps([self.values, sorted(self.optional)], sort_keys=True, default=lambda raw: [raw.text])

    def is_met_by(self, call: Call, policy: Policy) -> bool:
        return (
            call.name == self.name
            and all(
                self.accepts(name, call.arguments[name], policy) if name in call.arguments else name in self.optional
                for name in self.values
            )
            and (policy.is_subset or all(name in self.values for name in call.arguments))
        )

    def accepts(self, name: str, value: Any, policy: Policy) -> bool:
        return any(same(value, wanted, policy) for wanted in self.values.get(name, ()))


def read(value: Any) -> list[Expected]:
    """The calls of a reference: objects, or text in any form that a response may have.

    Raises:
        Malformed: it is none, or beyond the limits.
    """
    if isinstance(value, str):
        try:
            value = read_json(value, unique_keys=True)
        except Unreadable:
            return _of_text(value)
    try:
        check_depth(value)
    except Unreadable as error:
        raise Malformed("nested too deep") from error
    if not _is_finite(value):
        raise Malformed("numbers must be finite")
    objects = objects_of(value)
    if objects is None:
        raise Malformed("expected a list of calls, each with a name and arguments; [] where none is wanted")
    return [_expected(inner) for inner in objects]


def _of_text(text: str) -> list[Expected]:
    text = forms.plain_tokens(text)
    calls = forms.prefilled_calls_in(text) or forms.calls_in(text)
    if not calls:
        raise Malformed("the reference is text without a call; give [] where none is wanted")
    return [_plain(call) for call in calls]


def _plain(call: Call) -> Expected:
    return Expected(call.name, {name: (value,) for name, value in call.arguments.items()}, frozenset())


def _expected(value: Mapping[str, Any]) -> Expected:
    plain = _plain(call_of(value))
    accept, optional = value.get("accept", {}), value.get("optional", [])
    if not isinstance(accept, dict) or not all(isinstance(inner, list) and inner for inner in accept.values()):
        raise Malformed("accept is an object of lists of values")
    values = {name: (*plain.values.get(name, ()), *accept.get(name, ())) for name in (*plain.values, *accept)}
    if not isinstance(optional, list) or not all(isinstance(name, str) and name in values for name in optional):
        raise Malformed("optional is a list of names of arguments")
    return Expected(plain.name, values, frozenset(optional))


def _is_finite(value: Any) -> bool:
    match value:
        case dict():
            return all(map(_is_finite, value.values()))
        case list():
            return all(map(_is_finite, value))
        case float():
            return value - value == 0
        case _:
            return True


# --- values


def same(found: Any, wanted: Any, policy: Policy) -> bool:
    """Whether two JSON values are equal: 1 is 1.0 and not true; an object's keys have no order."""
    if isinstance(found, Raw):
        return any(same(reading, wanted, policy) for reading in found.readings)
    if isinstance(wanted, Raw):
        return any(same(found, reading, policy) for reading in wanted.readings)
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    match found, wanted:
        case str(), str():
            return found == wanted or (policy.is_loose and _loose(found) == _loose(wanted))
        case list(), list():
            return len(found) == len(wanted) and all(
                same(one, other, policy) for one, other in zip(found, wanted, strict=True)
            )
        case dict(), dict():
            return found.keys() == wanted.keys() and all(same(found[key], wanted[key], policy) for key in found)
        case (int() | float(), int() | float()) | (None, None):
            return bool(found == wanted)
    return False


def _loose(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold()


# --- calls


def fault_of(calls: Sequence[Call], wanted: Sequence[Expected], policy: Policy, *, ordered: bool) -> Fault | None:
    """Why the calls are not those that are wanted, one for one; None when they are."""
    found_names, wanted_names = Counter(call.name for call in calls), Counter(one.name for one in wanted)
    if found_names != wanted_names:
        if found_names <= wanted_names:
            return "missing_call"
        return "extra_call" if found_names >= wanted_names else "wrong_function"
    if all(one.is_met_by(call, policy) for call, one in zip(calls, wanted, strict=True)):
        return None
    if not _can_be_matched(calls, wanted, policy):
        return "wrong_arguments"
    return "wrong_order" if ordered else None


def _can_be_matched(calls: Sequence[Call], wanted: Sequence[Expected], policy: Policy) -> bool:
    return can_be_paired([[place for place, one in enumerate(wanted) if one.is_met_by(call, policy)] for call in calls])


def graded(calls: Sequence[Call], wanted: Sequence[Expected], policy: Policy) -> Fraction:
    """The correctness of ToolRL (arXiv 2504.13958, section 3.3), from -3…3 to 0…1.

    Shared names (Jaccard index of multisets), and for each pair of calls of one name the Jaccard index of the names of
    their arguments plus the arguments that are right. Pairs are taken from the most alike on, each call once.
    """
    names, wanted_names = Counter(call.name for call in calls), Counter(one.name for one in wanted)
    most = 1 + sum(1 + len(one.values) for one in wanted)
    total = Fraction((names & wanted_names).total(), (names | wanted_names).total() or 1)
    keys = [one.key for one in wanted]
    pairs = sorted(
        (-_likeness(call, one, policy), call.key, keys[place], number, place)
        for number, call in enumerate(calls)
        for place, one in enumerate(wanted)
        if call.name == one.name
    )
    used_calls: set[int] = set()
    used_places: set[int] = set()
    for likeness, _, _, number, place in pairs:
        if number not in used_calls and place not in used_places:
            used_calls.add(number)
            used_places.add(place)
            total -= likeness * (1 + len(wanted[place].values))
    return total / most


def _likeness(call: Call, one: Expected, policy: Policy) -> Fraction:
    """Of two calls of one name, from 0 to 1; an optional argument that was left out is right."""
    left_out = {name for name in one.optional if name not in call.arguments}
    wanted = one.values.keys() - left_out
    found = set(call.arguments) & wanted if policy.is_subset else set(call.arguments)
    shared = found & wanted
    jaccard = Fraction(len(shared), len(found | wanted)) if found | wanted else Fraction(1)
    right = sum(one.accepts(name, call.arguments[name], policy) for name in shared)
    return (jaccard + right + len(left_out)) / (1 + len(one.values))
