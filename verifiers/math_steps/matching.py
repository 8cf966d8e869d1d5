"""Decides whether two statements are the same, and whether one contradicts the other.

Sides are compared one by one: `3x = 9` is not `x = 3`, although both have the same solutions, because otherwise one
line would match every step of a derivation. A bare value equals a relation with that value as its right side. A decimal
equals the value that it rounds. Statements that are not mathematics are the same when their words are.

A false equation between numbers counts as no statement, whatever its right side is.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from propcache.api import cached_property

from memory import remember
from verifiers.math import limits, values
from verifiers.math.binders import is_big
from verifiers.math.comparison import Comparison
from verifiers.math.options import DEFAULT
from verifiers.math.reader import read
from verifiers.math.rounding import is_rounded
from verifiers.math.tree import Node, TooComplex, Unreadable
from verifiers.math.values import NoValue
from verifiers.math_steps.statements import Statement

_MAX_WEIGHT = 300
_WEIGHTS = {"!": 100, "binom": 100, "^": 3, "root": 3, "log": 6, "fn": 6, "apply": 6}
_MAX_BITS = 4_096
_NUMBERS = frozenset(["num", "neg", "%"])


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a statement, read once."""

    text: str

    @cached_property
    def node(self) -> Node | None:
        """The tree of the side; None if it is not mathematics, or too large to be compared here."""
        if limits.refusal(self.text) is not None:
            return None
        try:
            node = read(self.text)
        except (Unreadable, TooComplex, RecursionError):
            return None
        return node if _weight(node) <= _MAX_WEIGHT else None

    @cached_property
    def value(self) -> Fraction | None:
        """The rational value of the side, without its unit; None if there is none."""
        node = self.node
        if node is None:
            return None
        if node.kind == "quantity":
            node = node.args[0]
        try:
            value = values.exact(node)
        except (NoValue, TooComplex):
            return None
        return value if value is not None and value.numerator.bit_length() <= _MAX_BITS else None

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset() if self.node is None else frozenset(values.names(self.node))

    @cached_property
    def is_number(self) -> bool:
        """Whether the side is written as one number, with nothing to compute."""
        node = self.node
        return node is not None and (node.args[0] if node.kind == "quantity" else node).kind in _NUMBERS

    @cached_property
    def form(self) -> Mapping[tuple[str, object], int]:
        """The parts that the side is written with, in any order."""
        return Counter() if self.node is None else Counter((part.kind, part.leaf) for part in self.node.walk())


def _weight(node: Node) -> int:
    """The estimated work for a node; above the limit for words and for text that only computer algebra reads."""
    total = 0
    for part in node.walk():
        total += _WEIGHTS.get(part.kind, 1)
        if total > _MAX_WEIGHT or part.kind in ("text", "prose") or is_big(part):
            return _MAX_WEIGHT + 1
    return total


@remember(4096)
def side(text: str) -> Side:
    return Side(text)


class Matching:
    """Compares one response with one reference; all comparisons share one budget."""

    def __init__(self, max_comparisons: int) -> None:
        self._left = max_comparisons
        self._comparison = Comparison(DEFAULT)
        self._known: dict[tuple[str, str], bool] = {}

    def same(self, gold: Statement, claim: Statement) -> bool:
        """Whether the response's statement, if it is not false, is the step."""
        if keys(gold) == keys(claim):
            return True
        if gold.relation and claim.relation:
            return gold.relation == claim.relation and self._same_sides(gold, claim)
        if gold.relation or claim.relation:
            return (gold.relation or claim.relation) == "=" and self._equal(gold.right, claim.right)
        return self._equal(gold.right, claim.right)

    def contradicts(self, gold: Statement, claim: Statement) -> bool:
        """Whether the response gives another number for the step's left side."""
        if gold.relation != "=" or claim.relation != "=":
            return False
        right = side(gold.right)
        if right.value is None or right.names:
            return False
        for claim_left, opposite in ((claim.left, claim.right), (claim.right, claim.left)):
            value = side(opposite).value
            if value is not None and self._same_left(gold.left, claim_left) and not _agrees(right, side(opposite)):
                return True
        return False

    def same_left(self, gold: Statement, claim: Statement) -> bool:
        """Whether the response makes a statement about the step's left side."""
        return claim.relation == gold.relation == "=" and self._same_left(gold.left, claim.left)

    def _same_left(self, gold: str, claim: str) -> bool:
        a, b = side(gold), side(claim)
        if a.names or b.names:
            return self._equal(gold, claim)
        return not a.is_number and a.value is not None and a.value == b.value and a.form == b.form

    def _same_sides(self, gold: Statement, claim: Statement) -> bool:
        if self._equal(gold.left, claim.left) and self._equal(gold.right, claim.right):
            return True
        is_symmetric = gold.relation in ("=", "!=")
        return is_symmetric and self._equal(gold.left, claim.right) and self._equal(gold.right, claim.left)

    def _equal(self, gold: str, claim: str) -> bool:
        pair = (gold, claim)
        if pair not in self._known:
            self._known[pair] = self._compare(side(gold), side(claim))
        return self._known[pair]

    def _compare(self, gold: Side, claim: Side) -> bool:
        if key(gold.text) == key(claim.text):
            return True
        if gold.node is None or claim.node is None or gold.names != claim.names:
            return False
        if gold.value is not None and claim.value is not None:
            return _agrees(gold, claim)
        self._left -= 1
        if self._left < 0:
            return False
        try:
            return self._comparison.equal(gold.node, claim.node)
        except (NoValue, Unreadable, TooComplex, RecursionError):
            return False


def _agrees(first: Side, second: Side) -> bool:
    """Whether two rational values are equal, or one is a rounded decimal of the other."""
    p, g = first.value, second.value
    assert p is not None
    assert g is not None
    if p == g:
        return True
    if 1 in (p.denominator, g.denominator) and first.is_number and second.is_number:
        return False
    return any(
        rounded.is_number and "." in rounded.text and is_rounded(near, exact, True)
        for rounded, near, exact in ((first, p, g), (second, g, p))
    )


def is_false(statement: Statement) -> bool:
    """Whether a statement is an equation between numbers that does not hold."""
    if statement.relation != "=":
        return False
    lhs, rhs = side(statement.left), side(statement.right)
    if lhs.value is None or rhs.value is None or lhs.names or rhs.names:
        return False
    return not _agrees(lhs, rhs) and not _are_percents(lhs, rhs)


def _are_percents(first: Side, second: Side) -> bool:
    """Whether the sides are a number and a percentage, as a unit: 50 / 200 = 25%, 20 + 30 = 50%."""
    if ("%" in first.text) == ("%" in second.text):
        return False
    p, g = first.value, second.value
    return p is not None and g is not None and (p == 100 * g or g == 100 * p)


def is_value(statement: Statement) -> bool:
    """Whether a statement gives only a value: by itself, or as `18 = 18`."""
    return not statement.relation or (side(statement.left).is_number and side(statement.right).is_number)


def is_read(statement: Statement) -> bool:
    """Whether a statement is mathematics and more than a single letter or name, which a text only mentions."""
    node = side(statement.right).node
    if statement.relation:
        return node is not None and side(statement.left).node is not None
    return node is not None and node.kind not in ("sym", "const", "option")


def keys(statement: Statement) -> tuple[str, str, str]:
    """The keys of the parts of a statement; statements that are written alike have equal keys."""
    return statement.relation, key(statement.left), key(statement.right)


@remember(4096)
def key(text: str) -> str:
    """A key that ignores spacing, punctuation and case of a text; signs of mathematics count."""
    normal = unicodedata.normalize("NFKC", text.replace("\\left", "").replace("\\right", "")).casefold()
    return "".join(char for char in normal if not char.isspace() and char not in _POINTS)


_POINTS = frozenset("\"'“”‘’`$,;:!?。，、；：！？")
