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
        item_name = _name(item)
        is_bare = not item_name and names and not _is_statement(item) and item.kind != "quantity"
        names.append(names[-1] if is_bare else item_name)
    if len({item.leaf for item in items if item.kind == "quantity"}) < 2:
        names = ["" if item.kind == "quantity" else name for item, name in zip(items, names, strict=True)]
    conjunction = "or" if node.kind == "or" else str(node.leaf or "")
    found_members = Members(node.kind, items, tuple(names), conjunction)
    if not conjunction and node.kind == "list" and (found_members.are_distinct or _have_own_variables(items)):
        return Members(node.kind, items, tuple(names), "and")
    return found_members


def _name(item: Node) -> str:
    if item.kind == "quantity":
        return f"unit {item.leaf}"
    item_label = label(item)
    return "" if item_label is None else show(item_label)


def _is_numbered_unknown(names: Sequence[str]) -> bool:
    name_parts = [name.partition("_") for name in names]
    return len({letter for letter, _, _ in name_parts}) == 1 and all(
        letter in _UNKNOWNS and number.isdigit() for letter, _, number in name_parts
    )


def _is_statement(item: Node) -> bool:
    if item.kind == "sym":
        return len(str(item.leaf).lstrip("\\")) > 0 and item.leaf not in ("ldots", "emptyset")
    return item.kind in _STATEMENTS or (item.kind == "apply" and item.leaf in ("neg", "lnot"))


def _have_own_variables(items: Sequence[Node]) -> bool:
    """Whether each of the conditions is about a variable of its own: x > 0, y > 0."""
    names = [values.names(item) for item in items]
    together = frozenset[str]().union(*names)
    return all(
        item.kind in _STATEMENTS[:8] and own_name != together for item, own_name in zip(items, names, strict=True)
    )


def values_of(items: Members) -> tuple[Node, ...]:
    """The elements, without a name that all of them share."""
    return tuple(
        item.args[1] if item.kind == "=" and is_name(item.args[0], item.args[1]) else item for item in items.items
    )


def as_coordinates(items: Members) -> tuple[Node, ...] | None:
    """The elements as those of a tuple, single letters in alphabetical order; None if they are alternatives."""
    if items.kind != "list" or (len(set(items.names)) == 1 and items.names[0]):
        return None
    if items.are_distinct and all(len(name) == 1 for name in items.names) and len(set(items.names)) == len(items.names):
        return tuple(item for _, item in sorted(zip(items.names, items.items, strict=True), key=lambda pair: pair[0]))
    return items.items


# --- matching


def without_repetitions(items: Sequence[Node], equal: Equal) -> tuple[Node, ...]:
    pairs: list[tuple[complex | None, Node]] = []
    for item in items:
        key = _key(item)
        if not any(item == node or (_is_close(key, k) and equal(node, item)) for k, node in pairs):
            pairs.append((key, item))
    return tuple(item for _, item in pairs)


def match_in_any_order(items: Sequence[Node], partners: Sequence[Node], equal: Equal) -> bool:
    """Whether the elements of two lists are equal one to one; those of nearly the same value are tried first."""
    if len(items) != len(partners):
        return False
    unmatched = [(_key(partner_item), partner_item) for partner_item in partners]
    for item in items:
        key = _key(item)
        unmatched.sort(key=lambda pair: (item != pair[1], _distance(key, pair[0])))
        position = next((index for index, (_, partner) in enumerate(unmatched) if equal(item, partner)), None)
        if position is None:
            return False
        del unmatched[position]
    return True


def _is_close(a: complex | None, b: complex | None) -> bool:
    return a is not None and b is not None and _distance(a, b) <= 1e-9 * max(1.0, _distance(a, 0j))


def _distance(first: complex | None, second: complex | None) -> float:
    if first is None or second is None:
        return float("inf")
    gap = first - second
    return math.hypot(gap.real, gap.imag)  # infinite where `abs` of a complex number raises


def _key(item: Node) -> complex | None:
    """A rough value at one point; elements with other values are unlikely partners."""
    while item.kind in ("=", "quantity", "approx"):
        item = item.args[-1] if item.kind != "quantity" else item.args[0]
    if item.kind in ("paren", "bracket"):
        keys = [_key(arg) for arg in item.args]
        ranks = [key for key in keys if key is not None]
        return sum(key / (1 + index) for index, key in enumerate(ranks)) if len(ranks) == len(keys) else None
    try:
        if (exact := values.exact(item)) is not None:
            return complex(float(exact))
        with mp.workprec(_KEY_BITS):
            return complex(values.at(item, {name: _point(name) for name in values.names(item)}))
    except (NoValue, TooComplex, OverflowError):
        return None


def _point(name: str) -> Fraction:
    return Fraction(hashlib.sha256(name.encode()).digest()[0] + 129, 256)
