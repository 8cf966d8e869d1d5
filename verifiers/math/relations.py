r"""Interprets relations: the value that a name gets, a rounding, and whether two equations have the same solutions.

*Assignments.* `x = 5`, `f'(x) = 2x`, `\sum_k k = 55` give a value to the name on the left; x^2 + y^2 = 25 gives the
value 25 to no name. In a chain, all sides after the name are the same value; a formula with further letters in it (`S =
ab = 6`) is the step before numbers are put in.

*Rounding.* `40/3 \approx 13.33` gives a value and its rounding. The decimal counts to the last digit that is written.

*Equations.* Multiplied by a constant, or solved for one name: F(x, y) = 0 is y = h(x) when F(x, h(x)) = 0 everywhere
and F has no other zero, because it is linear in y and its coefficient does not vanish where F does.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite

from verifiers.math import values
from verifiers.math.reals import PAIRS
from verifiers.math.rounding import places
from verifiers.math.tree import Node, TooComplex, replace_names, with_parts
from verifiers.math.values import NoValue

_LETTERS = frozenset(["e", "i"])
"""Constants whose letters are names of other things, too."""
_NEGATIONS = ("neg", "lnot")
_OF_ANGLES = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))
_OF_NAMES = frozenset(("gcd", "lcm", "Re", "Im"))
_DEVIATION = Node("sym", leaf="\\sigma")
_OPERATORS = (Node("sym", leaf="\\nabla"), Node("sym", leaf="\\Delta"))
_LENGTHS = frozenset(("vec", "overrightarrow", "bar", "times"))
_LOGARITHMS = frozenset(("pH", "pOH", "pK", "pK_a", "pK_b", "pK_w"))
"""Names of chemistry, which are read as products."""
_COMPOSED = (*PAIRS, "list", "or", "brace", "union", "cap", "setminus", "matrix", "cases", "text")


# --- names


def is_name(node: Node, value: Node | None = None) -> bool:
    r"""Whether the left side of `=` is a name: x, f(x), |AB|, (a, b), dy/dx, \sin A, pH, a sum, a determinant, f(x) - g(x)."""
    return _names_one(node, value) or _combines_values(node, value)


def _names_one(node: Node, value: Node | None) -> bool:
    if node.kind in ("sym", "text", "big", "matrixv"):
        return True
    if node.kind == "const":
        return node.leaf in _LETTERS and value is not None  # "e = 1/2" tells an eccentricity, "i = 3" a current
    if node.kind == "apply":
        return node.leaf not in _NEGATIONS
    if node.kind in ("union", "cap", "setminus"):
        return all(is_name(arg) for arg in node.args)
    if node.kind in ("paren", "list", "ratio"):
        return all(is_name(arg) for arg in node.args)
    if node.kind == "fn":
        is_of_names = node.leaf in _OF_NAMES and all(arg.kind == "sym" for arg in node.args)
        return is_of_names or (node.leaf in _OF_ANGLES and _is_capital_or_greek(node.args[0]))
    if node.kind == "^":
        base = node.args[0].args[0] if node.args[0].kind == "abs" else node.args[0]
        is_square = _is_segment(base) or base == _DEVIATION
        return is_square or (_is_capital_or_greek(base) and value is not None and value.kind == "matrix")
    if node.kind == "bracket":  # the area of a triangle
        return len(node.args) == 1 and _is_segment(node.args[0])
    if node.kind == "deg":  # a standard potential
        return _is_capital_or_greek(node.args[0])
    if node.kind == "abs":
        operand = node.args[0]
        return (
            (operand.kind == "apply" and operand.leaf in _LENGTHS)
            or operand.kind in ("union", "cap", "setminus")
            or _is_complex(operand)
            or (operand.kind == "+" and all(map(_is_vector, operand.args)))
            or _is_capital_or_greek(operand)
            or (operand.kind == "sym" and len(str(operand.leaf)) > 1 and not _is_indexed(operand))
        )
    if node.kind == "*":
        first = node.args[0]
        is_operator = _is_derivative(first) or first in _OPERATORS or _measures_arc(node)
        is_composed = first.kind == "apply" and first.leaf == "circ" and len(node.args) == 2
        is_logarithm = "".join(str(arg.leaf) for arg in node.args) in _LOGARITHMS
        return (
            is_operator or is_composed or is_logarithm or all(_is_vector(arg) or _is_segment(arg) for arg in node.args)
        )
    if node.kind in ("+", "/") and all(_is_segment(arg) for arg in node.args):
        return True
    return _is_derivative(node)


def _combines_values(node: Node, value: Node | None) -> bool:
    r"""Whether a node combines values of functions, `f(x) - g(x)`, and the other side has none: no functional equation."""
    if node.kind not in _COMBINED or node.kind == "neg" or (value is not None and _is_partly_unknown(value)):
        return False
    called = node.args[:-1] if node.kind == "*" and node.args[-1].kind in ("sym", "num") else ()
    if called:  # (f + g)(x), which is read as a product
        names = frozenset[str]().union(*(values.names(arg) for arg in called))
        return (
            all(_combines(arg, _is_function) for arg in called) and len(names) > 1 and not _is_function(node.args[-1])
        )
    return _combines(node, _is_value_of_function)


def _combines(node: Node, is_part: Callable[[Node], bool]) -> bool:
    return is_part(node) or (node.kind in _COMBINED and all(_combines(arg, is_part) for arg in node.args))


_COMBINED = ("+", "neg", "*", "/")
_FUNCTIONS = frozenset("fgh")


def _is_function(node: Node) -> bool:
    return node.kind == "sym" and node.leaf in _FUNCTIONS


def _is_value_of_function(node: Node) -> bool:
    return node.kind == "apply" and str(node.leaf).isalpha() and len(str(node.leaf)) == 1


def _is_segment(node: Node) -> bool:
    """Whether a node names a length by its ends: the AB and BC of `AB/BC = 2`."""
    name = str(node.leaf) if node.kind == "sym" else ""
    return len(name) > 1 and name.isalpha() and name.isupper()


def _is_indexed(node: Node) -> bool:
    return str(node.leaf)[1:2] == "_"


def _is_capital_or_greek(node: Node) -> bool:
    name = str(node.leaf).partition("_")[0] if node.kind == "sym" else ""
    return (len(name) == 1 and name.isupper()) or name.startswith("\\")


def _measures_arc(node: Node) -> bool:
    return node.args[0] == Node("sym", leaf="m") and node.args[1].kind == "apply" and node.args[1].leaf == "widehat"


def _is_complex(node: Node) -> bool:
    """Whether a node has a name of complex numbers, so that its bars are a modulus that is asked for."""
    return node.kind == "sym" and str(node.leaf).partition("_")[0] in ("z", "w")


def _is_vector(node: Node) -> bool:
    return node.kind == "apply" and node.leaf in ("vec", "overrightarrow")


def _is_derivative(node: Node) -> bool:
    """Whether a node is dy/dx, d²y/dx², d/dx, or the same with ∂."""
    return node.kind == "/" and all(_is_differential(arg) for arg in node.args)


def _is_differential(node: Node) -> bool:
    first = node.args[0] if node.kind == "*" else node
    first = first.args[0] if first.kind == "^" else first
    name = str(first.leaf) if first.kind == "sym" else ""
    return name.startswith("\\partial") or name == "d" or (len(name) == 2 and name[0] == "d")


def label(relation: Node) -> Node | None:
    """The side of a relation that gets a value; None if the left side is not a name."""
    if relation.kind not in ("=", "approx", "chain") or not is_name(relation.args[0], relation.args[-1]):
        return None
    return relation.args[0] if relation.args[0] != Node("sym", leaf="") else None


def same_label(first: Node, second: Node) -> bool:
    """Whether two left sides name the same: alike, a function and its value (P, P(t)), or y and f(x)."""
    if first == second or renamed_arguments(first, second):
        return True
    for name, call in ((first, second), (second, first)):
        if name.kind == "sym" and call.kind == "apply" and all(arg.kind == "sym" for arg in call.args):
            if name.leaf == call.leaf or (name.leaf == "y" and call.leaf == "f" and len(call.args) == 1):
                return True
            if len(call.args) == 1 and name.leaf == f"{call.leaf}_{call.args[0].leaf}":
                return True
    return _differentiated(first) is not None and _differentiated(first) == _differentiated(second)


def _differentiated(node: Node) -> tuple[str, int] | None:
    r"""The name that is differentiated, and how often: dy/dx, d²y/dx², y' and y'', \dot y and \ddot y."""
    if node.kind == "apply" and node.leaf in _DOTS and node.args[0].kind == "sym":
        return str(node.args[0].leaf), _DOTS[str(node.leaf)]
    if node.kind == "apply" and str(node.leaf).strip("'") == "" and node.leaf and node.args[0].kind == "sym":
        return str(node.args[0].leaf), len(str(node.leaf))
    if not _is_derivative(node):
        return None
    top = node.args[0]
    name = str(top.leaf) if top.kind == "sym" else ""
    if len(name) == 2 and name[0] == "d":
        return name[1], 1
    if top.kind == "*" and len(top.args) == 2 and top.args[0].kind == "^" and top.args[1].kind == "sym":
        order = values.exact(top.args[0].args[1])
        return None if order is None or order.denominator != 1 else (str(top.args[1].leaf), order.numerator)
    return None


_DOTS = {"dot": 1, "ddot": 2}


def renamed_arguments(reference: Node, answer: Node) -> dict[str, Node]:
    """The names in f(x) for the variables of f(t); empty if the two are no such pair."""
    if reference.kind != "apply" or answer.kind != "apply" or reference.leaf != answer.leaf:
        return {}
    pairs = list(zip(_arguments(reference), _arguments(answer), strict=False))
    names = [str(arg.leaf) for pair in pairs for arg in pair if arg.kind == "sym"]
    if len(names) != 2 * len(pairs) or len(_arguments(reference)) != len(_arguments(answer)):
        return {}
    if len({first for first, _ in pairs}) != len(pairs) or len({second for _, second in pairs}) != len(pairs):
        return {}
    return {str(second.leaf): first for first, second in pairs}


def _arguments(call: Node) -> tuple[Node, ...]:
    return tuple(part for arg in call.args for part in (arg.args if arg.kind == "list" else (arg,)))


# --- values


def assigned(relation: Node) -> Node | None:
    """The value that a relation gives to a name; None if it is not an assignment, or its sides contradict each other."""
    operators = str(relation.leaf).split() if relation.kind == "chain" else [relation.kind]
    sides = list(turned(relation).args)
    if operators == ["in"]:
        return sides[1] if is_name(sides[0]) else None
    if set(operators) != {"="}:
        return None
    if is_name(sides[0], sides[-1]):
        return _in_order_of_names(sides[0], sides[-1]) if _steps_agree(sides[1:]) else None
    return sides[-1] if _all_same(sides) or (len(sides) > 2 and _all_same(sides[1:])) else None


def concluded(relation: Node) -> Node:
    r"""The last of the relations that follow from each other: x = 5 of `2x = 10 \implies x = 5`; any other node as it is."""
    operators = str(relation.leaf).split() if relation.kind == "chain" else []
    steps = [place for place, operator in enumerate(operators) if operator in _STEPS]
    if not steps or any(stop - start < 2 for start, stop in pairwise([-1, *steps, len(operators)])):
        return relation
    kinds, sides = operators[steps[-1] + 1 :], relation.args[steps[-1] + 1 :]
    return Node(kinds[0], sides) if len(kinds) == 1 else Node("chain", sides, " ".join(kinds))


_STEPS = frozenset(["implies", "iff"])


def total(relation: Node) -> Node | None:
    """The value that an equation gives to a sum or product of constants: `m + n = 34`, but not `x + y = 4`, which is a line."""
    if relation.kind != "=" or relation.args[0].kind not in ("+", "*"):
        return None
    terms = relation.args[0].args
    are_constants = all(term.kind == "sym" and term.leaf not in _COORDINATES for term in terms)
    return relation.args[1] if are_constants and len({*terms}) == len(terms) > 1 else None


_COORDINATES = frozenset("xyz")


def turned(relation: Node) -> Node:
    """5 = x as x = 5; any other relation as it is."""
    if relation.kind != "=" or relation.args[1].kind != "sym" or values.names(relation.args[0]):
        return relation
    return Node("=", relation.args[::-1])


def _in_order_of_names(names: Node, value: Node) -> Node:
    """Sort an assignment by its Latin names: (y, x) = (2, 1) becomes (x, y) = (1, 2), but coordinates (r, θ) stay as they are."""
    if names.kind != "paren" or value.kind != "paren" or len(names.args) != len(value.args):
        return value
    if any(str(name.leaf).startswith("\\") for name in names.args):
        return value
    pairs = sorted(zip(names.args, value.args, strict=True), key=lambda pair: str(pair[0].leaf))
    return Node("paren", tuple(item for _, item in pairs))


def _steps_agree(steps: Sequence[Node]) -> bool:
    """Whether each step has the value of the last one; a step with further names may come before it."""
    last = _without_unit(steps[-1])
    for step in map(_without_unit, steps[:-1]):
        if not values.names(step) <= values.names(last) or _is_partly_unknown(step):
            continue
        try:
            if not values.same(step, last):
                return False
        except (NoValue, TooComplex):
            if step.kind in _COMPOSED and step != last and step.kind == last.kind and len(step.args) != len(last.args):
                return False
    return True


def _without_unit(node: Node) -> Node:
    return node.args[0] if node.kind == "quantity" else node


def _is_partly_unknown(node: Node) -> bool:
    return any(part.kind in ("apply", "big") for part in node.walk())


def _all_same(sides: Sequence[Node]) -> bool:
    """Whether a chain such as 2 + 3 = 5, 2 + 3 = 5 cm or x(x + 1) = x² + x is true for all values of its names."""
    if all(side.kind != "quantity" for side in sides[:-1]):
        sides = [*sides[:-1], _without_unit(sides[-1])]
    try:
        return all(values.same(sides[0], side) for side in sides[1:])
    except NoValue:
        return False


# --- rounding


@dataclass(frozen=True, slots=True)
class Rounded:
    """A value, and the decimal that is said to be near it; one of them may be missing."""

    exact: Node | None
    near: Node | None


def rounded(relation: Node) -> Rounded | None:
    r"""Read `x = a \approx b`; None if b is not a rounded, or if the relation means something else."""
    operators = str(relation.leaf).split() if relation.kind == "chain" else [relation.kind]
    sides = list(relation.args)
    if set(operators) - {"=", "approx"} or "approx" not in operators:
        return None
    if is_name(sides[0]) or sides[0] == Node("sym", leaf=""):
        sides, operators = sides[1:], operators[1:]
        if "approx" not in operators:
            return Rounded(None, sides[-1])
    count = operators.index("approx") + 1
    if not _steps_agree(sides[:count]):
        return None
    exact, decimals = sides[count - 1], sides[count:]
    if not all(_rounds_to(exact, decimal) for decimal in decimals):
        return None
    return Rounded(exact, decimals[-1])


_LEAST_DIGITS = 3
"""This many significant digits are enough if a reference gives more of them."""


def is_near(near: Node, value: Node) -> bool:
    """Whether a value agrees with a rounded one: it has the same digits, or rounds to them.

    A decimal with fewer digits must round the other value to at least `_LEAST_DIGITS` digits.
    """
    if near.kind == value.kind == "quantity" and near.leaf != value.leaf:
        return False
    near, value = _without_unit(near), _without_unit(value)
    unit, value_unit = last_place(near), last_place(value)
    if unit is None:
        return False
    if value_unit is None or value_unit < unit:
        return _gap(near, value) <= unit / 2
    if value_unit == unit:
        return _gap(near, value) == 0
    digits = values.exact(value)
    enough = digits is not None and abs(digits) >= value_unit * 10 ** (_LEAST_DIGITS - 1)
    return enough and _gap(near, value) <= value_unit / 2


def _rounds_to(exact: Node, decimal: Node) -> bool:
    """Whether a decimal is off by less than one unit of its last place; any other node by one in a hundred at most."""
    exact, decimal = _without_unit(exact), _without_unit(decimal)
    if values.names(exact) or values.names(decimal) or _is_partly_unknown(exact):
        return True
    unit = last_place(decimal)
    if unit is not None:
        return _gap(exact, decimal) < unit
    try:
        size = abs(values.approximate(exact))
    except (NoValue, TooComplex):
        return True
    return not isfinite(size) or _gap(exact, decimal) <= Fraction(size) / 100


def last_place(node: Node) -> Fraction | None:
    """The value of one unit of the last digit of a decimal; None for any other node."""
    if node.kind == "num" and isinstance(node.leaf, Fraction):
        return _place_of(node.leaf)
    if node.kind in ("neg", "deg"):
        return last_place(node.args[0])
    if node.kind == "%":
        unit = last_place(node.args[0])
        return None if unit is None else unit / 100
    if node.kind == "*" and len(node.args) == 2 and node.args[0].kind == "num" and node.args[1].kind == "^":
        unit, power = last_place(node.args[0]), node.args[1]
        scale = values.exact(power) if power.args[0] == Node("num", leaf=Fraction(10)) else None
        return None if unit is None or scale is None else unit * scale
    return None


def _place_of(value: Fraction) -> Fraction | None:
    if (decimals := places(value)) is None:
        return None
    if decimals:
        return Fraction(1, 10**decimals)
    zeros = len(str(value.numerator)) - len(str(value.numerator).rstrip("0")) if value else 0
    return Fraction(10**zeros)


_FAR = Fraction(10**400)


def _gap(first: Node, second: Node) -> Fraction:
    """The distance of two constants; very large if one of them is not a constant."""
    try:
        lhs, rhs = values.exact(first), values.exact(second)
        if lhs is not None and rhs is not None:
            return abs(lhs - rhs)
        near, far_value = values.approximate(first), values.approximate(second)
    except (NoValue, TooComplex):
        return _FAR
    return abs(Fraction(near) - Fraction(far_value)) if isfinite(near) and isfinite(far_value) else _FAR


# --- equations


def difference(sides: Sequence[Node]) -> Node:
    return Node("+", (sides[0], Node("neg", (sides[1],))))


def proportional(reference: Sequence[Node], answer: Sequence[Node], positive: bool) -> bool:
    """Whether the sides of two relations differ by the same, up to a factor; not for relations without variables."""
    lhs, rhs = difference(reference), difference(answer)
    if _is_constant(lhs) or _is_constant(rhs):
        lhs, rhs = _with_unknowns((lhs, rhs))
        if not values.names(lhs) or _is_constant(lhs) or _is_constant(rhs):
            return False
    try:
        return values.proportional(lhs, rhs, positive)
    except NoValue:
        return False


def are_about_others(reference: Sequence[Node], answer: Sequence[Node]) -> bool:
    """Whether both relations have variables and share none: then neither is the other one rewritten."""
    lhs, rhs = (values.names(sides[0]) | values.names(sides[1]) for sides in (reference, answer))
    return bool(lhs and rhs) and lhs.isdisjoint(rhs)


def _is_constant(node: Node) -> bool:
    return not values.names(node) or values.constant_difference(node, values.ZERO)


def _with_unknowns(nodes: Sequence[Node]) -> list[Node]:
    """The same nodes with a letter for each part that is known by its name only, such as f(0)."""
    letters: dict[Node, Node] = {}
    return [_with_letters(node, letters) for node in nodes]


def _with_letters(node: Node, letters: dict[Node, Node]) -> Node:
    if node.kind == "apply":
        return letters.setdefault(node, Node("sym", leaf=f"unknown {len(letters)}"))
    return with_parts(node, lambda part: _with_letters(part, letters))


def same_when_solved(reference: Sequence[Node], answer: Sequence[Node]) -> bool:
    """Whether one equation is the other one solved for a name: its solution, and no other, satisfies the other one."""
    return any(
        _is_only_solution(name, value, difference(equation))
        for solved, equation in ((reference, answer), (answer, reference))
        for name, value in _solutions(solved)
    )


def _solutions(sides: Sequence[Node]) -> Iterator[tuple[str, Node]]:
    for name, value in (sides, sides[::-1]):
        if name.kind == "sym" and name.leaf and str(name.leaf) not in values.names(value):
            yield str(name.leaf), value


def _is_only_solution(name: str, value: Node, equation: Node) -> bool:
    """Whether F(name) = 0 exactly for this value: F is a + b·name, and a and b have no common zero."""
    if name not in values.names(equation):
        return False
    try:
        if not values.same(values.ZERO, replace_names(equation, {name: value})):
            return False
        constant, at_one = (replace_names(equation, {name: number}) for number in (values.ZERO, values.ONE))
        slope = difference((at_one, constant))
        if not values.same(equation, Node("+", (constant, Node("*", (Node("sym", leaf=name), slope))))):
            return False
        return _is_constant(slope) or (_is_constant(constant) and not _vanishes(constant)) or _apart(constant, slope)
    except (NoValue, TooComplex):
        return False


_TWO = Node("num", leaf=Fraction(2))


def _vanishes(node: Node) -> bool:
    point = dict.fromkeys(values.names(node), values.ONE)
    return values.same(values.ZERO, replace_names(node, point))


def _apart(constant: Node, slope: Node) -> bool:
    """Whether a slope, linear in its one variable, has its zero at a point where the constant part is not zero."""
    names = values.names(slope)
    if len(names) != 1 or values.names(constant) - names:
        return False
    (name,) = names
    first, second, third = (
        values.exact(replace_names(slope, {name: number})) for number in (values.ZERO, values.ONE, _TWO)
    )
    if first is None or second is None or third is None or second == first or third - second != second - first:
        return False
    zero = Node("num", leaf=first / (first - second))
    linear = Node("+", (Node("num", leaf=first), Node("*", (Node("num", leaf=second - first), Node("sym", leaf=name)))))
    return values.same(slope, linear) and not values.same(values.ZERO, replace_names(constant, {name: zero}))
