"""Reads the wanted calls of a reference, and compares calls with them.

Beside its arguments, a call of a reference may name further right values (`"accept": {"unit": ["C", "celsius"]}`),
arguments that may be left out (`"optional": ["unit"]`), and how arguments are compared (`"compare"`, see `arguments`).
BFCL writes the first two as lists of values, `{"get_weather": {"city": ["Paris"], "unit": ["celsius", ""]}}`, and calls
of several turns as a list of lists.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from verifiers.rules.documents import Unreadable, check_depth, read_json
from verifiers.rules.pairing import can_be_paired
from verifiers.rules.tool_call import forms
from verifiers.rules.tool_call.arguments import AnyOf, Compare, Possible, Strings, compare_of, is_possible
from verifiers.rules.tool_call.calls import MAX_CALLS, Call, Malformed, call_of, objects_of

Fault = Literal["missing_call", "extra_call", "wrong_function", "wrong_arguments", "wrong_order"]
_EQUAL = AnyOf()


@dataclass(frozen=True)
class Policy:
    """The rules by which calls are compared."""

    is_subset: bool
    """Whether arguments that the reference does not have are allowed."""
    strings: Strings
    may_call_more: bool = False
    """Whether calls that the reference does not have are allowed."""


@dataclass(frozen=True)
class Expected:
    name: str
    values: Mapping[str, Sequence[Any]]
    """The right values of each argument; none if its `compare` needs none."""
    optional: frozenset[str]
    compare: Mapping[str, Compare] = field(default_factory=dict)
    said: str = ""
    """The text of the reference's `compare`, for `key`."""
    has_loose_name: bool = False
    """Whether a dot and an underscore in the name are equal, because some APIs do not allow dots."""

    @property
    def has_possible_values(self) -> bool:
        """Whether it is in BFCL's form."""
        return self.said == "bfcl"

    @property
    def only_call(self) -> Call | None:
        """The only call that is right, if there is exactly one."""
        if self.optional or self.compare or any(len(values) != 1 for values in self.values.values()):
            return None
        return Call(self.name, {name: values[0] for name, values in self.values.items()})

    @property
    def key(self) -> str:
        """A key that is equal for equal references, in any order of their keys."""
        return json.dumps(
            [self.values, sorted(self.optional), self.said], sort_keys=True, default=lambda raw: [raw.text]
        )

    def is_of(self, name: str) -> bool:
        """Whether this is the name of the wanted function."""
        return name == self.name or (self.has_loose_name and name.replace(".", "_") == self.name.replace(".", "_"))

    def is_met_by(self, call: Call, policy: Policy) -> bool:
        return (
            self.is_of(call.name)
            and all(
                self.accepts(name, call.arguments[name], policy) if name in call.arguments else name in self.optional
                for name in self.values
            )
            and (policy.is_subset or all(name in self.values for name in call.arguments))
        )

    def accepts(self, name: str, value: Any, policy: Policy) -> bool:
        return name in self.values and self.compare.get(name, _EQUAL).accepts(value, self.values[name], policy.strings)


@dataclass(frozen=True)
class Wanted:
    """The calls of a reference."""

    turns: Sequence[Sequence[Expected]]
    is_by_turn: bool = False
    """Whether the reference has a list of calls for each turn."""

    @property
    def calls(self) -> list[Expected]:
        return [call for turn in self.turns for call in turn]


def read(value: Any) -> Wanted:
    """Read the calls of a reference: objects, or text in any form of a response; for several turns, a list of lists.

    Raises:
        Malformed: the value holds no calls, or exceeds the limits.
    """
    if isinstance(value, str):
        try:
            value = read_json(value, unique_keys=True)
        except Unreadable:
            return Wanted([_of_text(value)])
    try:
        check_depth(value)
    except Unreadable as error:
        raise Malformed("the reference is nested too deep") from error
    if not _is_finite(value):
        raise Malformed("the reference has a number that is not finite")
    # `[[call], [call, call]]`: a list for each turn
    if isinstance(value, list) and value and all(isinstance(turn, list) for turn in value):
        reference = Wanted([_of_turn(turn) for turn in value], is_by_turn=True)
        if len(reference.calls) > MAX_CALLS:
            raise Malformed(f"the reference has more than {MAX_CALLS} calls")
        return reference
    return Wanted([_of_turn(value)])


def _of_turn(value: Any) -> list[Expected]:
    entries = value if isinstance(value, list) else [value]
    # `["get_weather(city='Rome')"]`
    if entries and all(isinstance(entry, str) for entry in entries):
        return [expected for entry in entries for expected in _of_text(entry)]
    # `[{"get_weather": {"city": ["Rome", "Roma"]}}]`
    if entries and all(_is_of_bfcl(entry) for entry in entries):
        return [_of_bfcl(name, values) for entry in entries for name, values in entry.items()]
    objects = objects_of(value)
    if objects is None:
        raise Malformed("expected a list of calls, each with a name and arguments; give [] if no call is wanted")
    return [_expected(call) for call in objects]


def _of_text(text: str) -> list[Expected]:
    text = forms.plain_tokens(text)
    calls = forms.prefilled_calls_in(text) or forms.calls_in(text)
    if not calls:
        raise Malformed("the reference is text without a call; give [] if no call is wanted")
    return [_plain(call) for call in calls]


def _plain(call: Call) -> Expected:
    return Expected(call.name, {name: (value,) for name, value in call.arguments.items()}, frozenset())


def _is_of_bfcl(value: Any) -> bool:
    """Whether a value has BFCL's form: the name of a function, with a list of right values for each argument."""
    return isinstance(value, dict) and len(value) == 1 and is_possible(*value.values()) and not value.keys() & _FIELDS


_FIELDS = frozenset(("arguments", "parameters", "args", "input", "function", "functionCall", "tool_calls"))
"""Keys that belong to the other forms of calls. An object with only one of these keys is not in BFCL's form."""


def _of_bfcl(name: str, possible: Mapping[str, Sequence[Any]]) -> Expected:
    # BFCL writes "" among the values of an argument that may be left out.
    optional = frozenset(argument for argument, values in possible.items() if "" in values)
    compare = dict.fromkeys(possible, Possible())
    return Expected(name, possible, optional, compare, said="bfcl", has_loose_name=True)


def _expected(value: Mapping[str, Any]) -> Expected:
    plain = _plain(call_of(value))
    accept, optional, compare = value.get("accept", {}), value.get("optional", []), value.get("compare", {})
    if not isinstance(accept, dict) or not all(isinstance(accepted, list) and accepted for accepted in accept.values()):
        raise Malformed("accept must be an object with a list of values for each argument")
    values = {name: (*plain.values.get(name, ()), *accept.get(name, ())) for name in (*plain.values, *accept)}
    if not isinstance(compare, dict):
        raise Malformed("compare must be an object with a comparison for each argument")
    compared = {name: compare_of(how) for name, how in compare.items()}
    for name, how in compared.items():
        if how.needs_value and name not in values:
            raise Malformed(f"compare: the call has no argument {name[:100]!r} to compare with")
        values.setdefault(name, ())
    if not isinstance(optional, list) or not all(isinstance(name, str) and name in values for name in optional):
        raise Malformed("optional must be a list of names of the call's arguments")
    policy_text = json.dumps(compare, sort_keys=True) if compare else ""
    return Expected(plain.name, values, frozenset(optional), compared, policy_text)


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


# --- calls


def fault_of(calls: Sequence[Call], expected: Sequence[Expected], policy: Policy, *, ordered: bool) -> Fault | None:
    """The fault of the calls, if they do not match the wanted calls one to one; else None."""
    found_names, wanted_names = Counter(_names(calls, expected)), Counter(expectation.name for expectation in expected)
    if found_names != wanted_names:
        # `f(), g()` is expected, and only `f()` is called.
        if found_names <= wanted_names:
            return "missing_call"
        # `f(), g()` is expected, and `f(), h()` is called.
        if not found_names >= wanted_names:
            return "wrong_function"
        # `f()` is expected, and `f(), f()` is called.
        if not policy.may_call_more:
            return "extra_call"
    if _are_in_order(calls, expected, policy):
        return None
    if not _can_be_matched(calls, expected, policy):
        return "wrong_arguments"
    return "wrong_order" if ordered else None


def _names(calls: Sequence[Call], expected: Sequence[Expected]) -> list[str]:
    """The names of the called functions, as the reference writes them."""
    loose = [expectation for expectation in expected if expectation.has_loose_name]
    return [
        next((expectation.name for expectation in loose if expectation.is_of(call.name)), call.name) for call in calls
    ]


def _are_in_order(calls: Sequence[Call], expected: Sequence[Expected], policy: Policy) -> bool:
    """Whether the wanted calls are made in order. Surplus calls are skipped; `fault_of` has checked them."""
    remaining = iter(calls)
    return all(any(expectation.is_met_by(call, policy) for call in remaining) for expectation in expected)


def _can_be_matched(calls: Sequence[Call], expected: Sequence[Expected], policy: Policy) -> bool:
    return can_be_paired(
        [[index for index, call in enumerate(calls) if expectation.is_met_by(call, policy)] for expectation in expected]
    )


def graded(calls: Sequence[Call], expected: Sequence[Expected], policy: Policy) -> Fraction:
    """The correctness by ToolRL (arXiv 2504.13958, section 3.3), scaled from -3…3 to 0…1.

    It is the sum of two parts: the Jaccard index of the names (as multisets), and for each pair of calls with one name,
    the Jaccard index of the names of their arguments plus the number of right arguments. The most similar calls are
    paired first, and each call is used once.
    """
    names, wanted_names = Counter(_names(calls, expected)), Counter(expectation.name for expectation in expected)
    max_score = 1 + sum(1 + len(expectation.values) for expectation in expected)
    total = Fraction((names & wanted_names).total(), (names | wanted_names).total() or 1)
    keys = [expectation.key for expectation in expected]
    pairs = sorted(
        (-_likeness(call, expectation, policy), call.key, keys[index], number, index)
        for number, call in enumerate(calls)
        for index, expectation in enumerate(expected)
        if expectation.is_of(call.name)
    )
    used_calls: set[int] = set()
    used_places: set[int] = set()
    for likeness, _, _, number, index in pairs:
        if number not in used_calls and index not in used_places:
            used_calls.add(number)
            used_places.add(index)
            total -= likeness * (1 + len(expected[index].values))
    return total / max_score


def _likeness(call: Call, expected: Expected, policy: Policy) -> Fraction:
    """The likeness of two calls of one function, from 0 to 1. An optional argument that was left out is right."""
    left_out = {name for name in expected.optional if name not in call.arguments}
    expected_names = expected.values.keys() - left_out
    names = set(call.arguments) & expected_names if policy.is_subset else set(call.arguments)
    shared = names & expected_names
    jaccard = Fraction(len(shared), len(names | expected_names)) if names | expected_names else Fraction(1)
    right = sum(expected.accepts(name, call.arguments[name], policy) for name in shared)
    return (jaccard + right + len(left_out)) / (1 + len(expected.values))
