r"""The elements of a list, an `or` or a set in braces, and how they are matched with those of another one.

Elements with *different names* (`x = 1, y = 2`), or that count different things (`8 boys, 5 girls`), belong to their
names: among themselves they match by name, in any order; against bare values the order tells which is which, and a set
has none. One name for all of them (`x = 1, x = 2`), or one unknown that is numbered (`x_1 = 1, x_2 = 2`), names
solutions, which have no order.

`or` and `and` mean the same between values ("the roots are 1 and 2") and between values of one name; between statements
they differ.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mpmath import mp  # type: ignore[import-untyped] # it ships no types

from verifiers.math import values
from verifiers.math.relations import is_name, label
from verifiers.math.tree import Node, TooComplex, show
from verifiers.math.values import NoValue

LISTS = ("list", "or", "brace")
_STATEMENTS = ("!=", "<", "<=", ">", ">=", "in", "cong", "chain", "=", "approx", "list", "or", "where", "text", "prose")
_UNKNOWNS = frozenset(("x", "y", "z", "t", "r", "w", "m", "\\lambda", "\\theta", "\\alpha"))
_TRUTHS = frozenset(("true", "false", "yes", "no"))
_KEY_BITS = 64

Equal = Callable[[Node, Node], bool]


@dataclass(frozen=True, slots=True)
class Members:
    """The elements of a list, each with the name it has."""

    kind: str
    """list, or, or brace; empty for a single answer."""
    items: tuple[Node, ...]
    names: tuple[str, ...]
    """One name per item, "" if it has none; a bare value after a named one has the same name."""
    said: str
    """The word between the elements: and, or; empty for commas."""

    @property
    def are_distinct(self) -> bool:
        """Whether each element belongs to its own name."""
        return all(self.names) and len(set(self.names)) > 1 and not _is_numbered_unknown(self.names)

    @property
    def are_solutions(self) -> bool:
        """Whether all elements have one name, or one numbered name."""
        return all(self.names) and (len(set(self.names)) == 1 or _is_numbered_unknown(self.names))

    @property
    def are_truths(self) -> bool:
        return bool(self.items) and all(item.kind == "text" and item.leaf in _TRUTHS for item in self.items)

    @property
    def are_statements(self) -> bool:
        """Whether `and` between the elements means something else than `or`."""
        return self.are_distinct or (not self.are_solutions and any(_is_statement(item) for item in self.items))


def members(node: Node) -> Members:
    """The elements of a list; any other node is a list of one."""
    if node.kind not in LISTS:
        return Members("", (node,), (_name(node),), "")
    items = node.args
    names: list[str] = []
    for item in items:
        found = _name(item)
        is_bare = not found and names and not _is_statement(item) and item.kind != "quantity"
        names.append(names[-1] if is_bare else found)
    if len({item.leaf for item in items if item.kind == "quantity"}) < 2:
        names = ["" if item.kind == "quantity" else name for item, name in zip(items, names, strict=True)]
    said = "or" if node.kind == "or" else str(node.leaf or "")
    found_members = Members(node.kind, items, tuple(names), said)
    if not said and node.kind == "list" and (found_members.are_distinct or _have_own_variables(items)):
        return Members(node.kind, items, tuple(names), "and")
    return found_members


def _name(item: Node) -> str:
    if item.kind == "quantity":
        return f"unit {item.leaf}"
    found = label(item)
    return "" if found is None else show(found)


def _is_numbered_unknown(names: Sequence[str]) -> bool:
    parts = [name.partition("_") for name in names]
    return len({letter for letter, _, _ in parts}) == 1 and all(
        letter in _UNKNOWNS and number.isdigit() for letter, _, number in parts
    )


def _is_statement(item: Node) -> bool:
    if item.kind == "sym":
        return len(str(item.leaf).lstrip("\\")) > 0 and item.leaf not in ("ldots", "emptyset")
    return item.kind in _STATEMENTS or (item.kind == "apply" and item.leaf in ("neg", "lnot"))


def _have_own_variables(items: Sequence[Node]) -> bool:
    """Whether each of the conditions is about a variable of its own: x > 0, y > 0."""
    names = [values.names(item) for item in items]
    together = frozenset[str]().union(*names)
    return all(item.kind in _STATEMENTS[:8] and found != together for item, found in zip(items, names, strict=True))


def values_of(held: Members) -> tuple[Node, ...]:
    """The elements, without a name that all of them share."""
    return tuple(
        item.args[1] if item.kind == "=" and is_name(item.args[0], item.args[1]) else item for item in held.items
    )


def as_coordinates(held: Members) -> tuple[Node, ...] | None:
    """The elements as those of a tuple, single letters in alphabetical order; None if they are alternatives."""
    if held.kind != "list" or (len(set(held.names)) == 1 and held.names[0]):
        return None
    if held.are_distinct and all(len(name) == 1 for name in held.names) and len(set(held.names)) == len(held.names):
        return tuple(item for _, item in sorted(zip(held.names, held.items, strict=True), key=lambda pair: pair[0]))
    return held.items


# --- matching


def without_repetitions(items: Sequence[Node], equal: Equal) -> tuple[Node, ...]:
    kept: list[tuple[complex | None, Node]] = []
    for item in items:
        key = _key(item)
        if not any(item == other or (_is_close(key, its) and equal(other, item)) for its, other in kept):
            kept.append((key, item))
    return tuple(item for _, item in kept)


def match_in_any_order(left: Sequence[Node], right: Sequence[Node], equal: Equal) -> bool:
    """Whether the elements of two lists are equal one to one; those of nearly the same value are tried first."""
    if len(left) != len(right):
        return False
    rest = [(_key(item), item) for item in right]
    for one in left:
        key = _key(one)
        rest.sort(key=lambda pair: (one != pair[1], _distance(key, pair[0])))
        place = next((index for index, (_, two) in enumerate(rest) if equal(one, two)), None)
        if place is None:
            return False
        del rest[place]
    return True


def _is_close(one: complex | None, two: complex | None) -> bool:
    return one is not None and two is not None and _distance(one, two) <= 1e-9 * max(1.0, _distance(one, 0j))


def _distance(one: complex | None, two: complex | None) -> float:
    if one is None or two is None:
        return float("inf")
    gap = one - two
    return math.hypot(gap.real, gap.imag)  # infinite where `abs` of a complex number raises


def _key(item: Node) -> complex | None:
    """A rough value at one point; elements with other values are unlikely partners."""
    while item.kind in ("=", "quantity", "approx"):
        item = item.args[-1] if item.kind != "quantity" else item.args[0]
    if item.kind in ("paren", "bracket"):
        keys = [_key(arg) for arg in item.args]
        found = [key for key in keys if key is not None]
        return sum(key / (1 + index) for index, key in enumerate(found)) if len(found) == len(keys) else None
    try:
        if (exact := values.exact(item)) is not None:
            return complex(float(exact))
        with mp.workprec(_KEY_BITS):
            return complex(values.at(item, {name: _point(name) for name in values.names(item)}))
    except (NoValue, TooComplex, OverflowError):
        return None


def _point(name: str) -> Fraction:
    return Fraction(hashlib.sha256(name.encode()).digest()[0] + 129, 256)
