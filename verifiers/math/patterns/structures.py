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


def differences_of(reference: Node, answer: Node, ordered: bool, known: Known) -> Differences | None:
    """How the answer differs from the reference; None if it does not.

    Raises:
        NoValue, TooComplex: it cannot be decided.
    """
    if reference == answer:
        return None
    if "text" in (reference.kind, answer.kind):
        raise NoValue("words have no value")
    if sets := as_reals(reference, answer, known):
        return of_reals(*sets, known)
    if reference.kind in LISTS or answer.kind in LISTS:
        return _of_elements(_elements(reference, answer), _elements(answer, reference), ordered, known)
    if EMPTY_SET in (reference, answer):
        return _of_elements(_elements(reference, answer), _elements(answer, reference), False, known)
    if reference.kind in ROWS or answer.kind in ROWS:
        return _of_rows(reference, answer, known)
    return None if known.same(answer, reference) else Differences((Part(answer, reference),))


def _elements(node: Node, other: Node) -> tuple[Node, ...]:
    """The elements of a list; if the other side is a list, any other node is its own only element."""
    if node == EMPTY_SET:
        return ()
    if node.kind in LISTS:
        if len(node.args) > MAX_ELEMENTS:
            raise TooComplex("too many elements for a diagnosis")
        return node.args
    if node.kind in ROWS and not any(item.kind == node.kind for item in other.args):
        raise NoValue("a tuple or an interval beside a list of answers")
    return (node,)


def is_same_element(reference: Node, answer: Node, known: Known) -> bool:
    """Whether two elements are the same.

    Raises:
        NoValue, TooComplex: it cannot be decided.
    """
    left, right = without_name(canonical(reference), canonical(answer))
    if left == right:
        return True
    if left.kind in (*ROWS, *LISTS) or right.kind in (*ROWS, *LISTS):
        return (left.kind, left.leaf) == (right.kind, right.leaf) and _in_order(left.args, right.args, known)
    (unit, left), (other_unit, right) = unit_and_value(left), unit_and_value(right)
    return (unit is None or other_unit is None or unit == other_unit) and known.same(right, left)


def _in_order(left: Sequence[Node], right: Sequence[Node], known: Known) -> bool:
    if len(left) != len(right):
        return False
    return all(is_same_element(g, p, known) for g, p in zip(left, right, strict=True))


def _unmatched(left: Sequence[Node], right: Sequence[Node], known: Known) -> tuple[list[Node], list[Node]]:
    """The elements that are on one side only; a repeated element counts as often as it is repeated more."""
    missing, rest = [], list(right)
    for one in left:
        found = next((at for at, two in enumerate(rest) if is_same_element(one, two, known)), None)
        if found is None:
            missing.append(one)
        else:
            del rest[found]
    return missing, rest


def _of_elements(left: Sequence[Node], right: Sequence[Node], ordered: bool, known: Known) -> Differences | None:
    missing, extra = _unmatched(left, right, known)
    if not missing and not extra:
        return Differences(patterns=[_OTHER_ORDER]) if ordered and not _in_order(left, right, known) else None
    parts = _paired(missing, extra, known) if len(missing) == len(extra) else []
    if missing and extra and len(missing) == len(left):
        return Differences(parts)
    return Differences(parts, [value_text(node) for node in missing], [value_text(node) for node in extra])


_OTHER_ORDER = Pattern(Code.ORDER, "the same elements in another order")


def _paired(missing: Sequence[Node], extra: Sequence[Node], known: Known) -> list[Part]:
    """Pair missing elements with wrong ones if the pairing is clear: one of each, or all of them opposites."""
    if len(missing) == 1:
        reference, answer = without_name(missing[0], extra[0])
        return [Part(answer, reference, "one element")]
    bare = [without_name(node, values.ZERO)[0] for node in missing]
    unmatched, _ = _unmatched([negated(node) for node in bare], extra, known)
    return [] if unmatched else [Part(negated(node), node, "each element") for node in bare[:1]]


def _of_rows(reference: Node, answer: Node, known: Known) -> Differences | None:
    left, right = reference.args, answer.args
    if (reference.kind, reference.leaf) != (answer.kind, answer.leaf):
        raise NoValue("two different structures")
    if len(left) > MAX_ELEMENTS or len(right) > MAX_ELEMENTS:
        raise TooComplex("too many elements for a diagnosis")
    if len(left) != len(right):
        return _of_elements(left, right, False, known)
    parts = [
        Part(*without_name(g, p)[::-1], f"element {place}")
        for place, (g, p) in enumerate(zip(left, right, strict=True), 1)
        if not is_same_element(g, p, known)
    ]
    if len(parts) > 1 and not any(_unmatched(left, right, known)):
        return Differences(patterns=[_OTHER_ORDER])
    return Differences(parts[:MAX_PARTS]) if parts else None
