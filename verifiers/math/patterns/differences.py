"""Finds where two answers differ: the values without units and names, element by element."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from verifiers.math import units, values
from verifiers.math.canonical import canonical
from verifiers.math.members import LISTS
from verifiers.math.patterns.codes import Code, Pattern
from verifiers.math.patterns.known import Known
from verifiers.math.reals import FLIPPED, PAIRS
from verifiers.math.rounding import places
from verifiers.math.shapes import labelled_point
from verifiers.math.tree import Node, TooComplex, number, show
from verifiers.math.values import NoValue

_ROWS = (*PAIRS, "matrix", "matrixv", "matrixB", "matrixV", "ratio")
"""Kinds of nodes whose elements have fixed places."""
_EMPTY_SET = Node("sym", leaf="emptyset")
_MAX_ELEMENTS = 24
"""Longer lists get no diagnosis."""
_MAX_PARTS = 8
"""At most this many differing parts are checked."""


@dataclass(frozen=True, slots=True)
class Part:
    """Two values that stand in the same place and differ."""

    answer: Node
    reference: Node
    place: str = ""
    """The place of the part; empty if it is the whole answer."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences between two answers, without their units."""

    parts: Sequence[Part] = ()
    missing: Sequence[Node] = ()
    extra: Sequence[Node] = ()
    patterns: Sequence[Pattern] = ()
    """Patterns of the whole answer rather than of a part."""


_OTHER_ORDER = Differences(patterns=[Pattern(Code.ORDER, "the same elements in another order")])
_OTHER_END = Differences(
    patterns=[Pattern(Code.INTERVAL_END, "the same endpoints, but open where they should be closed or the reverse")]
)
_TURNED = Differences(patterns=[Pattern(Code.DIRECTION, "from the same endpoint to the other side")])


def bare(reference: Node, answer: Node) -> tuple[Node, Node]:
    """Both without conditions, labels of points, and the name that they give a value to; of equations, the sides that differ."""
    lhs, rhs = (_without_label(node) for node in (reference, answer))
    if lhs.kind == rhs.kind == "=":
        same = [index for index in (0, 1) if lhs.args[index] == rhs.args[index]]
        return (lhs.args[1 - same[0]], rhs.args[1 - same[0]]) if same else (lhs, rhs)
    if lhs.kind == "=" and lhs.args[0].kind in ("sym", "apply"):
        return lhs.args[1], rhs
    return (lhs, rhs.args[1]) if rhs.kind == "=" and rhs.args[0].kind in ("sym", "apply") else (lhs, rhs)


def _without_label(node: Node) -> Node:
    node = canonical(node.args[0] if node.kind == "where" else node)
    point = labelled_point(node)
    return node if point is None else point[1]


def unit_and_value(node: Node) -> tuple[str | None, Node]:
    """A quantity's unit, and its value."""
    if node.kind != "quantity":
        return None, node
    return units.key(str(node.leaf)) or str(node.leaf), node.args[0]


def between(reference: Node, answer: Node, ordered: bool, known: Known) -> Differences | None:
    """How the answer differs from the reference; None if it does not.

    Raises:
        NoValue, TooComplex: it cannot be decided.
    """
    if reference == answer:
        return None
    if "text" in (reference.kind, answer.kind):
        raise NoValue("words have no value")
    if {reference.kind, answer.kind} <= FLIPPED.keys():
        return _of_inequalities(reference, answer, known)
    if reference.kind in LISTS or answer.kind in LISTS or _EMPTY_SET in (reference, answer):
        return _of_elements(_elements(reference, answer), _elements(answer, reference), ordered, known)
    if reference.kind in (*_ROWS, "union") or answer.kind in (*_ROWS, "union"):
        return _of_rows(reference, answer, known)
    return None if known.same(answer, reference) else Differences((Part(answer, reference),))


def _of_inequalities(reference: Node, answer: Node, known: Known) -> Differences | None:
    parts = [
        Part(p, g, "an end of an interval")
        for g, p in zip(reference.args, answer.args, strict=True)
        if not is_same_element(g, p, known)
    ]
    if parts or reference.kind == answer.kind:
        return Differences(parts) if parts else None
    return _OTHER_END if reference.kind[0] == answer.kind[0] else _TURNED


def _elements(node: Node, opposite: Node) -> tuple[Node, ...]:
    """The elements of a list; if the other side is a list, any other node is its own only element."""
    if node == _EMPTY_SET:
        return ()
    if node.kind in LISTS:
        return node.args
    if node.kind in _ROWS and not any(item.kind == node.kind for item in opposite.args):
        raise NoValue("a tuple or an interval beside a list of answers")
    return (node,)


def is_same_element(reference: Node, answer: Node, known: Known) -> bool:
    """Whether two elements are the same.

    Raises:
        NoValue, TooComplex: it cannot be decided.
    """
    lhs, rhs = bare(reference, answer)
    if lhs == rhs:
        return True
    if lhs.kind in (*_ROWS, *LISTS) or rhs.kind in (*_ROWS, *LISTS):
        return (lhs.kind, lhs.leaf) == (rhs.kind, rhs.leaf) and _in_order(lhs.args, rhs.args, known)
    (unit, lhs), (other_unit, rhs) = unit_and_value(lhs), unit_and_value(rhs)
    return (unit is None or other_unit is None or unit == other_unit) and known.same(rhs, lhs)


def _in_order(lhs: Sequence[Node], rhs: Sequence[Node], known: Known) -> bool:
    return len(lhs) == len(rhs) and all(is_same_element(g, p, known) for g, p in zip(lhs, rhs, strict=True))


def _unmatched(lhs: Sequence[Node], rhs: Sequence[Node], known: Known) -> tuple[list[Node], list[Node]]:
    """The elements that are on one side only; a repeated element counts as often as it is repeated more."""
    if max(len(lhs), len(rhs)) > _MAX_ELEMENTS:
        raise TooComplex("too many elements for a diagnosis")
    missing, extra = [], list(rhs)
    for element in lhs:
        position = next((at for at, node in enumerate(extra) if is_same_element(element, node, known)), None)
        if position is None:
            missing.append(element)
        else:
            del extra[position]
    return missing, extra


def _of_elements(lhs: Sequence[Node], rhs: Sequence[Node], ordered: bool, known: Known) -> Differences | None:
    missing, extra = _unmatched(lhs, rhs, known)
    if not missing and not extra:
        return _OTHER_ORDER if ordered and not _in_order(lhs, rhs, known) else None
    differing = _paired(missing, extra, known) if len(missing) == len(extra) else []
    return Differences(differing) if extra and len(missing) == len(lhs) else Differences(differing, missing, extra)


def _paired(missing: Sequence[Node], extra: Sequence[Node], known: Known) -> list[Part]:
    """Pair missing elements with wrong ones if the pairing is clear: one of each, or all of them opposites."""
    if len(missing) == 1:
        reference, answer = bare(missing[0], extra[0])
        return [Part(answer, reference, "one element")]
    values_missing = [bare(node, values.ZERO)[0] for node in missing]
    unmatched, _ = _unmatched([Node("neg", (node,)) for node in values_missing], extra, known)
    return [] if unmatched else [Part(Node("neg", (node,)), node, "each element") for node in values_missing[:1]]


def _of_rows(reference: Node, answer: Node, known: Known) -> Differences | None:
    lhs, rhs = reference.args, answer.args
    if {reference.kind, answer.kind} <= {*PAIRS} and reference.kind != answer.kind and _in_order(lhs, rhs, known):
        return _OTHER_END
    if "union" in (reference.kind, answer.kind):
        expected, offered = (node.args if node.kind == "union" else (node,) for node in (reference, answer))
        return _of_elements(expected, offered, False, known)
    if (reference.kind, reference.leaf) != (answer.kind, answer.leaf):
        raise NoValue("two different structures")
    if len(lhs) != len(rhs):
        return _of_elements(lhs, rhs, False, known)
    differing = [
        Part(*bare(g, p)[::-1], f"element {row_number}")
        for row_number, (g, p) in enumerate(zip(lhs, rhs, strict=True), 1)
        if not is_same_element(g, p, known)
    ]
    if len(differing) > 1 and not any(_unmatched(lhs, rhs, known)):
        return _OTHER_ORDER
    return Differences(differing[:_MAX_PARTS]) if differing else None


# --- values for people

_MAX_SHOWN_CHARS = 40


def value_text(node: Node) -> str:
    """A value as a text for people."""
    try:
        value = values.exact(node)
        decimals = places(value) if value is not None and is_decimal(node) else None
        if value is None or value.denominator.bit_length() > 64:
            return tree_text(node)
        if not decimals:
            return clipped(str(value))
        digits = str(abs(value) * 10**decimals).rjust(decimals + 1, "0")
        return clipped(f"{'-' * (value < 0)}{digits[:-decimals]}.{digits[-decimals:]}")
    except (NoValue, TooComplex, ValueError):  # ValueError: an integer of more digits than Python writes out
        return tree_text(node)


def tree_text(node: Node) -> str:
    """A tree in prefix form, for people."""
    try:
        return clipped(show(node))
    except ValueError:  # as above
        return "…"


def clipped(text: str) -> str:
    """The beginning of a long text; a short text unchanged."""
    return text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 1] + "…"


def is_decimal(node: Node) -> bool:
    """Whether a value is written as one number."""
    return (node.args[0] if node.kind in ("neg", "%") else node).kind == "num"


def converted(value: Node, unit: str | None, target: str | None, known: Known) -> Node | None:
    """A value in another unit; None if it cannot be converted."""
    if unit is None or target is None or unit == target:
        return value
    amount = known.exact(value)
    result: Fraction | None = None if amount is None else units.convert(amount, unit, target)
    return None if result is None else number(result)
