"""Compares one output or value with the expected one: in this process if both are small, otherwise in a worker.

The output of a program may be hostile, and megabytes of it must not block the event loop.
"""

from typing import Any

from sandbox.runner.values import encoding
from sandbox.workers import worker_function
from verifiers.code import comparators, equality
from verifiers.code.cases import AssertedCall, Relation
from verifiers.code.comparators import Comparator

INLINE_BYTES = 16_000
"""This much takes about 5 ms for the most hostile outputs."""
_INLINE_UNORDERED_BYTES = 1_000
"""Without an order, each element may have to be compared with each other one, and so may their elements."""
TIME_LIMIT_S = 10.0

_TAGS_OF_OTHER_KINDS = (b'"opaque"', b'"ndarray"', b'"range"', b'"keys"', b'"values"', b'"items"', b'"deque"')
"""Tags of encoded values for which `==` in the tester may differ from `==` of the decoded values."""


def output_difference(actual: bytes, expected: str, comparator: Comparator) -> str | None:
    """The first difference of an output, or None. Bytes that are not text differ from every text."""
    return comparators.difference(actual.decode("utf-8", "surrogateescape"), expected, comparator)


def is_large_value(actual: bytes, accepted: bytes, comparator: Comparator) -> bool:
    """Whether the comparison of a value needs a worker."""
    has_no_order = comparator.unordered or b'set"' in actual
    return len(actual) + len(accepted) > (_INLINE_UNORDERED_BYTES if has_no_order else INLINE_BYTES)


def is_large_assertion(actual: bytes, call: AssertedCall) -> bool:
    """Whether an assertion about a value must run in the box, since to read the value would take long here."""
    return len(actual) + len(call.expected) > INLINE_BYTES


def value_difference(actual: bytes, accepted: bytes, comparator: Comparator) -> str | None:
    """The difference between a returned value and the first accepted one; None if it equals an accepted one.

    Both are images: of a value, and of a list of values.
    """
    expected_values: Any = encoding.decode(accepted)
    try:
        value = encoding.decode(actual)
    except encoding.Undecodable as error:
        return f"the returned value cannot be read: {error}"
    unordered, ignore_case = comparator.unordered, comparator.ignore_case
    for expected in expected_values:
        if equality.equal(value, expected, comparator.tolerance, unordered=unordered, ignore_case=ignore_case):
            return None
    return equality.find_difference(value, expected_values[0])


def may_differ_in_python(actual: bytes) -> bool:
    """Whether an assertion about this value must be left to the real `assert`."""
    return any(tag in actual for tag in _TAGS_OF_OTHER_KINDS)


def assertion_difference(actual: bytes, call: AssertedCall) -> str | None:
    """The reason why an assertion about the returned value fails, or None."""
    try:
        value = encoding.decode(actual)
    except encoding.Undecodable as error:
        return f"the returned value cannot be read: {error}"
    expected = call.value
    if call.relation is Relation.EQUALS:
        holds = equality.equal_in_python(value, expected)
    elif call.relation is Relation.IS:
        holds = value is expected
    else:
        holds = bool(value) is (call.relation is Relation.TRUE)
    if holds:
        return None
    is_truth = call.relation in (Relation.TRUE, Relation.FALSE)
    return equality.find_difference(value, call.relation is Relation.TRUE if is_truth else expected)


@worker_function
def compare_in_worker(payload: list[Any]) -> str | None:
    """Compute `output_difference` or `value_difference`. Runs in a worker."""
    is_value, actual, expected, comparator = payload
    settings = Comparator.model_validate_json(comparator)
    if is_value:
        return value_difference(actual, expected, settings)
    return output_difference(actual, expected, settings)


def of_right(payload: list[Any]) -> list[Any]:
    """The payload of `compare_in_worker` for the same comparison with what is expected."""
    is_value, _, expected, comparator = payload
    values: Any = encoding.decode(expected) if is_value else ()
    right = encoding.encode(values[0]) if is_value else expected.encode("utf-8", "surrogateescape")
    return [is_value, right, expected, comparator]
