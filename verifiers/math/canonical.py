r"""Brings notations of the same meaning into one form before two answers are compared.

`a \pm b` is the list of both values; `x > 3, x \in \mathbb{Z}` is the set {x in Z | x > 3}, because a membership
restricts the variable of an inequality; `x = 2k\pi, k \in \mathbb{Z}` is a `where`, because k is a parameter; {x | x =
1 or x = 2} is the set that its condition describes; `\mathbb{R} - \{2\}` is a difference of sets; unions, intersections
and differences of finite sets are computed; `1, 2, \ldots, 10` becomes all ten numbers; a progression whose last term
is not a number becomes its first two terms, … and the last term; an angle in degrees is a quantity.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from memory import remember
from verifiers.math import values
from verifiers.math.integers import is_number_set
from verifiers.math.quantities import added
from verifiers.math.reals import FLIPPED, reals
from verifiers.math.tree import Node, TooComplex, number, with_parts
from verifiers.math.values import NoValue
from verifiers.math.vectors import combined, determinant, nested, vector

_MAX_TERMS = 200
"""A progression is written out up to this many terms."""
_CONDITIONS = (*FLIPPED, "!=", "chain", "in")


@remember(1024, recursive=True)
def canonical(node: Node) -> Node:
    """The form in which a node is compared; its parts get their own canonical form when they are compared."""
    node = nested(_with_declarations(_with_restrictions(_evaluated(_difference_of_sets(node)))))
    if node.kind == "list" and (quantity := added(node.args)) is not None:
        return quantity
    if node.kind in ("list", "or", "brace"):
        node = _in_groups(node)
        items = tuple(part for item in node.args for part in alternatives(item))
        return Node(node.kind, _without_ellipsis(items), node.leaf)
    if node.kind == "where":
        return node
    readings = alternatives(node)
    if len(readings) > 1:
        return Node("list", readings)
    if node.kind == "deg":
        return Node("quantity", node.args, "degree")
    return _computed(node)


def _in_groups(node: Node) -> Node:
    """Read `p = 5, q = 2; p = 7, q = 2` as two solutions: the same names occur again in the same order."""
    names = [str(item.args[0].leaf) if item.kind == "=" and item.args[0].kind == "sym" else "" for item in node.args]
    period = names.index(names[0], 1) if names[0] in names[1:] else 0
    if period < 2 or "" in names or len(names) % period or names != names[:period] * (len(names) // period):
        return node
    offsets = range(0, len(names), period)
    groups = tuple(Node("list", node.args[start : start + period]) for start in offsets)
    return Node("list", groups) if node.kind == "list" else Node(node.kind, groups, node.leaf)


def _computed(node: Node) -> Node:
    """Compute vectors and matrices: a linear combination becomes one tuple, a determinant a number."""
    if node.kind == "matrix" and len(node.args) == 1:
        return node.args[0]
    if node.kind == "matrixv":
        return determinant(node) or node
    if node.kind not in ("+", "*", "neg", "/"):
        return node
    if any(name.startswith("vec ") for name in values.names(node)) and (result := vector(node)) is not None:
        return result
    return combined(node) or node


def alternatives(node: Node) -> tuple[Node, ...]:
    """Both values of a node with a ± in it; all its signs change together."""
    if not any(part.kind in ("pm", "mp") for part in node.walk()):
        return (node,)
    return _with_sign(node, True), _with_sign(node, False)


def _with_sign(node: Node, upper: bool) -> Node:
    node = with_parts(node, lambda part: _with_sign(part, upper))
    if node.kind not in ("pm", "mp"):
        return node
    left, right = node.args
    return Node("+", (left, right if upper == (node.kind == "pm") else Node("neg", (right,))))


# --- declarations and restrictions


def _with_restrictions(node: Node) -> Node:
    """Turn conditions into sets: an inequality with a membership of its variable, and a set with a condition."""
    if node.kind == "list" and all(item.kind in _CONDITIONS for item in node.args):
        return _restricted(node.args) or node
    if node.kind != "suchthat":
        return node
    element, condition = node.args
    conditions = condition.args if condition.kind == "list" else (condition,)
    if element.kind == "sym" and len(conditions) > 1 and (restricted := _restricted(conditions)) is not None:
        return restricted
    declared = _with_declarations(condition)
    main = declared.args[0] if declared.kind == "where" else declared
    solved = main.args if main.kind in ("list", "or") else (main,)
    if all(item.kind == "=" and item.args[0] == element for item in solved) and element.kind == "sym":
        return declared
    return node


def _restricted(conditions: Sequence[Node]) -> Node | None:
    """`x > 3, x in Z` in either order as {x in Z | x > 3}; None for anything else."""
    memberships = [item for item in conditions if item.kind == "in" and is_number_set(item.args[1])]
    conditions_left = [item for item in conditions if item not in memberships]
    if len(memberships) != 1 or not conditions_left or memberships[0].args[0].kind != "sym":
        return None
    main = conditions_left[0] if len(conditions_left) == 1 else Node("list", tuple(conditions_left))
    restriction = reals(main)
    if restriction is None or restriction.variable != memberships[0].args[0].leaf:
        return None
    return Node("suchthat", (memberships[0], main))


def _with_declarations(node: Node) -> Node:
    r"""Read `V, k \in Z` and `V (k \in Z)` as a `where` node; a set of such values likewise."""
    if node.kind in ("list", "or"):
        count = next((i for i, item in enumerate(node.args) if _limits(item, node.args[:i])), 0)
        if count and all(_limits(item, node.args[:count]) for item in node.args[count:]):
            main = node.args[0] if count == 1 else Node(node.kind, node.args[:count], node.leaf)
            return Node("where", (main, *node.args[count:]))
        if (start := _terms_of_parameter(node.args)) is not None:
            main = node.args[0] if start == 1 else Node(node.kind, node.args[:start], node.leaf)
            return Node("where", (main, Node("list", node.args[start:])))
    if (pair := _apart(node)) is not None and _declares(pair[1], (pair[0],)):
        return Node("where", pair)
    if node.kind == "suchthat" and _declares(node.args[1], (node.args[0],)) and node.args[0].kind != "sym":
        return Node("where", node.args)
    if node.kind == "brace" and len(node.args) == 1 and node.args[0].kind == "where":
        return node.args[0]
    return node


def _apart(node: Node) -> tuple[Node, Node] | None:
    """Split a formula from the membership in parentheses behind it, which was read as its last factor."""
    if node.kind == "*" and node.args[-1].kind in _CONDITIONS:
        main = node.args[0] if len(node.args) == 2 else Node("*", node.args[:-1])
        return main, node.args[-1]
    if node.kind not in ("+", "=", "chain", "neg") or (last := _apart(node.args[-1])) is None:
        return None
    return Node(node.kind, (*node.args[:-1], last[0]), node.leaf), last[1]


def _terms_of_parameter(items: Sequence[Node]) -> int | None:
    r"""The index of the item at which `k = 0, 1, 2, \ldots` begins, behind an item that depends on k."""
    if items[-1].leaf != "ldots":
        return None
    start = next((index for index, item in enumerate(items) if item.kind == "=" and item.args[0].kind == "sym"), 0)
    used = frozenset[str]().union(*(_free_names(item) for item in items[:start]))
    return start if start and str(items[start].args[0].leaf) in used else None


def _declares(item: Node, earlier: Sequence[Node]) -> bool:
    """Whether an item declares the set of a letter that occurs in the items before it, when those give values."""
    if item.kind in _BOUNDS:
        about = values.names(item)
        return len(about) == 1 and all(node.kind not in _CONDITIONS and about <= _free_names(node) for node in earlier)
    if item.kind != "in" or item.args[1].kind not in ("sym", "apply", "^") or not earlier:
        return False
    declared = values.names(item.args[0])
    used = frozenset[str]().union(*(_free_names(node) for node in earlier))
    return bool(declared) and declared <= used


_BOUNDS = ("!=", "<", "<=", ">", ">=")
"""Relations that restrict a letter: behind an expression with that letter, they say when the expression holds."""


def _limits(item: Node, earlier: Sequence[Node]) -> bool:
    """Whether an item declares a letter of the values before it, or is an interval that it lies in: `0 < x < 1`."""
    if _declares(item, earlier) or item.kind not in ("chain", "in") or (span := reals(item)) is None:
        return _declares(item, earlier)
    return bool(earlier) and all(
        node.kind not in _CONDITIONS and span.variable in _free_names(node) for node in earlier
    )


def _free_names(node: Node) -> frozenset[str]:
    """The letters that the values of a relation depend on; `x = v` gives x itself a value."""
    if node.kind == "=" and node.args[0].kind in ("sym", "apply"):
        return values.names(node.args[1])
    return values.names(node)


# --- finite sets and progressions

_EMPTY = Node("sym", leaf="emptyset")


def _difference_of_sets(node: Node) -> Node:
    r"""Read `\mathbb{R} - \{2\}` as a difference of sets."""
    if node.kind == "+" and len(node.args) == 2 and node.args[1].kind == "neg":
        minuend, subtrahend = node.args[0], node.args[1].args[0]
        if subtrahend.kind == "brace" and (minuend.kind == "brace" or str(minuend.leaf).startswith("mathbb ")):
            return Node("setminus", (minuend, subtrahend))
    return node


def _evaluated(node: Node) -> Node:
    """Compute unions, intersections and differences of finite sets; the result is one finite set."""
    if node.kind not in ("union", "cap", "setminus"):
        return node
    sets_read = [_evaluated(arg) for arg in node.args]
    if not all(part.kind == "brace" or part == _EMPTY for part in sets_read):
        return node
    sets = [part.args for part in sets_read]
    if any(member.leaf == "ldots" for members in sets for member in members):
        return node
    elements = list(sets[0])
    for members in sets[1:]:
        if node.kind == "union":
            elements += [member for member in members if not _holds(elements, member)]
        else:
            elements = [member for member in elements if _holds(members, member) == (node.kind == "cap")]
    return Node("brace", tuple(elements)) if elements else _EMPTY


def _holds(members: Sequence[Node], member: Node) -> bool:
    return any(member == element or values.surely_same(member, element) for element in members)


def _without_ellipsis(items: tuple[Node, ...]) -> tuple[Node, ...]:
    """Write out an arithmetic progression with … in it, or keep its first two terms, … and its last; else the items."""
    positions = [index for index, item in enumerate(items) if item.leaf == "ldots"]
    if len(positions) != 1 or not positions[0]:
        return items
    head, tail = items[: positions[0]], items[positions[0] + 1 :]
    try:
        return _progression(head, tail) or items
    except (NoValue, TooComplex):
        return items


def _progression(head: Sequence[Node], tail: Sequence[Node]) -> tuple[Node, ...] | None:
    first, last = head[0], tail[-1:]
    step = values.ONE if len(head) == 1 else _step(head[0], head[1])
    for terms in (head, tail):
        if not all(values.same(step, _step(*pair)) for pair in pairwise(terms)):
            return None
    low, high, gap = (values.exact(node) for node in (first, last[0] if last else first, step))
    if not last or low is None or high is None or gap is None:
        return (*head[:2], Node("sym", leaf="ldots"), *last) if len(head) > 1 else None
    count = (high - low) / gap if gap else Fraction(0)
    if count.denominator != 1 or not len(head) <= count < _MAX_TERMS:
        return None
    return tuple(number(low + index * gap) for index in range(count.numerator + 1))


def _step(first: Node, second: Node) -> Node:
    return Node("+", (second, Node("neg", (first,))))
