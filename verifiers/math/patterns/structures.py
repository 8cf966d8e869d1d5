"""Finds how lists, tuples, matrices and single values differ."""

from collections.abc import Sequence

from verifiers.math import values
from verifiers.math.patterns.codes import Code, Pattern
from verifiers.math.patterns.intervals import as_reals, of_reals
from verifiers.math.patterns.known import Known
from verifiers.math.patterns.parts import (
    EMPTY_SET,
    LISTS,
    MAX_ELEMENTS,
    MAX_PARTS,
    ROWS,
    Differences,
    Part,
    canonical,
    negated,
    unit_and_value,
    without_name,
)
from verifiers.math.patterns.wording import value_text
from verifiers.math.tree import Node, TooComplex
from verifiers.math.values import NoValue


def differences_of(reference: Node, answer: Node, ordered: bool, values: Known) -> Differences | None:
    """How the answer differs from the reference; None if it does not.

    Raises:
        NoValue, TooComplex: it cannot be decided.
    """
    if reference == answer:
        return None
    if "text" in (reference.kind, answer.kind):
        raise NoValue("words have no value")
    if sets := as_reals(reference, answer, values):
        return of_reals(*sets, values)
    if reference.kind in LISTS or answer.kind in LISTS:
        return _of_elements(_elements(reference, answer), _elements(answer, reference), ordered, values)
    if EMPTY_SET in (reference, answer):
        return _of_elements(_elements(reference, answer), _elements(answer, reference), False, values)
    if reference.kind in ROWS or answer.kind in ROWS:
        return _of_rows(reference, answer, values)
    return None if values.same(answer, reference) else Differences((Part(answer, reference),))


def _elements(node: Node, opposite: Node) -> tuple[Node, ...]:
    """The elements of a list; if the other side is a list, any other node is its own only element."""
    if node == EMPTY_SET:
        return ()
    if node.kind in LISTS:
        if len(node.args) > MAX_ELEMENTS:
            raise TooComplex("too many elements for a diagnosis")
        return node.args
    if node.kind in ROWS and not any(item.kind == node.kind for item in opposite.args):
        raise NoValue("a tuple or an interval beside a list of answers")
    return (node,)


def is_same_element(reference: Node, answer: Node, values: Known) -> bool:
    """Whether two elements are the same.

    Raises:
        NoValue, TooComplex: it cannot be decided.
    """
    lhs, rhs = without_name(canonical(reference), canonical(answer))
    if lhs == rhs:
        return True
    if lhs.kind in (*ROWS, *LISTS) or rhs.kind in (*ROWS, *LISTS):
        return (lhs.kind, lhs.leaf) == (rhs.kind, rhs.leaf) and _in_order(lhs.args, rhs.args, values)
    (unit, lhs), (other_unit, rhs) = unit_and_value(lhs), unit_and_value(rhs)
    return (unit is None or other_unit is None or unit == other_unit) and values.same(rhs, lhs)


def _in_order(lhs: Sequence[Node], rhs: Sequence[Node], values: Known) -> bool:
    if len(lhs) != len(rhs):
        return False
    return all(is_same_element(g, p, values) for g, p in zip(lhs, rhs, strict=True))


def _unmatched(lhs: Sequence[Node], rhs: Sequence[Node], values: Known) -> tuple[list[Node], list[Node]]:
    """The elements that are on one side only; a repeated element counts as often as it is repeated more."""
    missing, extra = [], list(rhs)
    for element in lhs:
        position = next((at for at, node in enumerate(extra) if is_same_element(element, node, values)), None)
        if position is None:
            missing.append(element)
        else:
            del extra[position]
    return missing, extra


def _of_elements(lhs: Sequence[Node], rhs: Sequence[Node], ordered: bool, values: Known) -> Differences | None:
    missing, extra = _unmatched(lhs, rhs, values)
    if not missing and not extra:
        return Differences(patterns=[_OTHER_ORDER]) if ordered and not _in_order(lhs, rhs, values) else None
    differing = _paired(missing, extra, values) if len(missing) == len(extra) else []
    if missing and extra and len(missing) == len(lhs):
        return Differences(differing)
    return Differences(differing, [value_text(node) for node in missing], [value_text(node) for node in extra])


_OTHER_ORDER = Pattern(Code.ORDER, "the same elements in another order")


def _paired(missing: Sequence[Node], extra: Sequence[Node], known_values: Known) -> list[Part]:
    """Pair missing elements with wrong ones if the pairing is clear: one of each, or all of them opposites."""
    if len(missing) == 1:
        reference, answer = without_name(missing[0], extra[0])
        return [Part(answer, reference, "one element")]
    bare = [without_name(node, values.ZERO)[0] for node in missing]
    unmatched, _ = _unmatched([negated(node) for node in bare], extra, known_values)
    return [] if unmatched else [Part(negated(node), node, "each element") for node in bare[:1]]


def _of_rows(reference: Node, answer: Node, values: Known) -> Differences | None:
    lhs, rhs = reference.args, answer.args
    if (reference.kind, reference.leaf) != (answer.kind, answer.leaf):
        raise NoValue("two different structures")
    if len(lhs) > MAX_ELEMENTS or len(rhs) > MAX_ELEMENTS:
        raise TooComplex("too many elements for a diagnosis")
    if len(lhs) != len(rhs):
        return _of_elements(lhs, rhs, False, values)
    differing = [
        Part(*without_name(g, p)[::-1], f"element {row_number}")
        for row_number, (g, p) in enumerate(zip(lhs, rhs, strict=True), 1)
        if not is_same_element(g, p, values)
    ]
    if len(differing) > 1 and not any(_unmatched(lhs, rhs, values)):
        return Differences(patterns=[_OTHER_ORDER])
    return Differences(differing[:MAX_PARTS]) if differing else None
