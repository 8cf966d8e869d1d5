r"""Compares answers that stand for many values at once.

*Parameters.* `x = 2k\pi, k \in \mathbb{Z}` is a set; the letter k can be chosen freely. A declared letter (`in`, "for
every integer k") is a parameter, and may have another name in the answer; a letter that gets a value (x) may not. A
declaration on one side only is ignored, as long as the letters still agree or the undeclared one is a customary name
for an integer. Two declarations must name the same domain.

*Conditions.* `y = kx where k = 2` is y = 2x; conditions that are the same on both sides are compared as they are. A
restriction (x > 0) of the reference may be left out, and says where the two are compared: |x| is x there. One that only
the answer says must not take values from the reference (`restrictions`). Any other condition on one side only counts.

*Progressions.* Over the integers, a + bk for each of several a is one set of numbers however it is divided:
{π/4 + kπ/2} is {π/4 + kπ} ∪ {3π/4 + kπ}. They are compared as residues modulo a common multiple of the steps.

*Constants of integration.* F(x) + C is the family of all antiderivatives: C may have any of its customary names, and F
may differ by a constant. An answer without its constant is one member, not the family. C e^{2x} may be K e^{2x}. The
rest of the expression has to look like a function of a variable: small or Greek letters, one of them a customary
variable. C + I, with two quantities of equal rank, is not a family.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.math import values
from verifiers.math.reals import Reals, reals
from verifiers.math.restrictions import VARIABLES, inside_of, takes_values
from verifiers.math.tree import Node, TooComplex, replace_names
from verifiers.math.values import NoValue

Equal = Callable[[Node, Node], bool]

_DOMAINS = {
    "mathbb Z": "integer", "Z": "integer", "mathbf Z": "integer", "mathbb N": "natural", "N": "natural",
    "mathbb R": "real", "R": "real", "mathbb Q": "rational", "mathbb C": "complex",
    "mathbb Z_+": "natural", "mathbb Z^+": "natural", "mathbb N_+": "natural",
}  # fmt: skip
_WORDS = (
    (re.compile(r"(?:positive|natural|non ?negative) (?:integer|number|whole)|自然数|正整数"), "natural"),
    (re.compile(r"integer|整数|whole number"), "integer"),
    (re.compile(r"\breals?\b|实数|constant|arbitrary"), "real"),
)
_LETTER = re.compile(r"(?<![^\W\d_])([a-zA-Z])(?![^\W\d_'])")
_INTEGER_NAMES = frozenset("kmnjlpqrstNKM")
_MAX_PARAMETERS = 3
_MAX_RESIDUES = 240
_BITS = 200


@dataclass(frozen=True, slots=True)
class Family:
    """The values of a family, and its parameters: each with its domain, or None if the domain is not known."""

    main: Node
    parameters: Mapping[str, str | None]
    conditions: tuple[Node, ...] = ()
    """The other conditions that have to hold; conditions in words are left out."""


def family(node: Node) -> Family:
    """The parts of a `where` node; any other node is a family without parameters."""
    if node.kind != "where":
        return Family(node, {})
    parameters: dict[str, str | None] = {}
    conditions: list[Node] = []
    for condition in node.args[1:]:
        declared = _declared(condition)
        parameters |= declared
        conditions += _said(condition, frozenset(declared))
    return Family(node.args[0], parameters, tuple(conditions))


def _said(condition: Node, declared: frozenset[str]) -> Sequence[Node]:
    """The formulas of a condition that do more than declare letters."""
    if condition.kind == "text":
        return ()
    if condition.kind == "prose":
        return [formula for part in condition.args for formula in _said(part, declared)]
    if condition.kind == "list" and condition.leaf == "and":
        return [formula for part in condition.args for formula in _said(part, declared)]
    letters = values.names(condition.args[0]) if condition.kind == "in" else values.names(condition)
    if declared and letters <= declared and condition.kind in ("sym", "list", "in"):
        return ()
    return () if condition.kind == "sym" else (condition,)


def _declared(condition: Node) -> dict[str, str | None]:
    if condition.kind == "in" and condition.args[1].kind == "sym":
        domain = _DOMAINS.get(str(condition.args[1].leaf))
        names = condition.args[0].args if condition.args[0].kind == "list" else condition.args[:1]
        if domain and all(name.kind == "sym" for name in names):
            return {str(name.leaf): domain for name in names}
    if condition.kind == "in" and _is_plus_or_star(condition.args[1]) and condition.args[0].kind == "sym":
        return {str(condition.args[0].leaf): "natural"}
    if condition.kind in ("prose", "text"):
        return _declared_in_words(condition)
    return _declared_by_terms(condition)


def _declared_by_terms(condition: Node) -> dict[str, str | None]:
    """The parameter of n = 0, 1, 2, …; the parameter of k = 0, ±1, … runs in both directions."""
    first = condition.args[0] if condition.kind == "list" else condition
    if first.kind != "=" or first.args[0].kind != "sym" or not any(item.leaf == "ldots" for item in condition.args):
        return {}
    both_ways = any(part.kind in ("pm", "neg") for part in condition.walk())
    return {str(first.args[0].leaf): "integer" if both_ways else "natural"}


def _is_plus_or_star(node: Node) -> bool:
    return node.kind in ("apply", "^") and node.args[0].kind == "sym" and node.args[0].leaf in ("mathbb Z", "mathbb N")


def _declared_in_words(condition: Node) -> dict[str, str | None]:
    """The parameters that words declare: "for any integer k", "where C is a constant"."""
    nodes = condition.args if condition.kind == "prose" else (condition,)
    declared = {name: domain for part in nodes if part.kind != "text" for name, domain in _declared(part).items()}
    words = " ".join(str(part.leaf) for part in nodes if part.kind == "text" and part.leaf)
    domain = next((name for pattern, name in _WORDS if pattern.search(words)), None)
    if domain is None:
        return declared
    symbols = [name for part in nodes for name in (part.args if part.kind == "list" else (part,)) if name.kind == "sym"]
    letters = [str(name.leaf) for name in symbols]
    parameters = letters or [letter for letter in _LETTER.findall(words) if letter not in "aAI"]
    return {**dict.fromkeys(parameters, domain), **declared}


def as_family(node: Node) -> Node:
    """A congruence as the values it gives to a name: x = a + mk with any integer k; any other node is unchanged."""
    if node.kind != "cong" or len(node.args) != 3 or node.args[0].kind != "sym" or not node.args[0].leaf:
        return node
    letter = next(Node("sym", leaf=name) for name in "knjm" if name not in values.names(node))
    value = Node("+", (node.args[1], Node("*", (node.args[2], letter))))
    return Node("where", (Node("=", (node.args[0], value)), Node("in", (letter, Node("sym", leaf="mathbb Z")))))


def is_conditional(node: Node) -> bool:
    """Whether a constant holds only under a condition, so that it is one case of an answer."""
    if node.kind != "where" or _free_names(node.args[0]):
        return False
    words = next((str(part.leaf) for part in node.args[1].walk() if part.kind == "text"), "")
    return words.split(" ")[0] in _ONLY_WHERE


_ONLY_WHERE = frozenset(("if", "unless", "provided", "only"))


def same_family(reference: Family, answer: Family, equal: Equal) -> bool:
    """Whether two families hold the same values; the names of parameters do not count."""
    domains = set(reference.parameters.values()), set(answer.parameters.values())
    if all(domains) and domains[0] != domains[1]:
        return False
    for candidate in _renamed(reference, answer):
        if not _same_conditions(reference, candidate, equal):
            continue
        if equal(reference.main, candidate.main) or _equal_in_domain(reference, candidate, equal):
            return True
    if any(condition.kind == "=" for condition in (*reference.conditions, *answer.conditions)):
        lhs, rhs = _put_in(reference), _put_in(answer)
        return (lhs, rhs) != (reference, answer) and same_family(lhs, rhs, equal)
    if domains[0] | domains[1] != {"integer"} or not _same_conditions(reference, answer, equal):
        return False
    letters = set(reference.parameters) | set(answer.parameters)
    return _same_progressions(reference.main, answer.main, letters)


_RESTRICTIONS = ("<", "<=", ">", ">=", "!=", "in", "chain", "cong", "notin", "divides")


def _same_conditions(reference: Family, answer: Family, equal: Equal) -> bool:
    """Whether conditions agree: both sides have them, or one side has a restriction or a place (5, when x = 2)."""
    lhs, rhs = reference.conditions, answer.conditions
    if lhs and rhs:
        return len(lhs) == len(rhs) and all(any(equal(first, second) for second in rhs) for first in lhs)
    used = values.names(reference.main) | values.names(answer.main)
    return all(
        condition.kind in _RESTRICTIONS or (condition.kind == "=" and not values.names(condition.args[0]) & used)
        for condition in (*lhs, *rhs)
    ) and not any(takes_values(condition, reference.main) for condition in rhs)


def _equal_in_domain(reference: Family, answer: Family, equal: Equal) -> bool:
    """Whether both are equal where the reference says that its letters are: |x| is x for x > 0.

    What only the answer says does not count: x for x > 0 is a case of |x|, and not the same.
    """
    domains: dict[str, Reals] = {}
    for condition in reference.conditions:
        domain = reals(condition)
        if domain is not None and domain.variable:
            domains.setdefault(domain.variable, domain)
    used = values.names(reference.main) | values.names(answer.main)
    names = [name for name in domains if name in used]
    if not names or len(names) > _MAX_PARAMETERS or any(len(domains[name].pieces) > _MAX_PIECES for name in names):
        return False
    return all(
        equal(*(replace_names(side.main, dict(zip(names, inside, strict=True))) for side in (reference, answer)))
        for inside in product(*([inside_of(piece, name) for piece in domains[name].pieces] for name in names))
    )


_MAX_PIECES = 3


def _put_in(family: Family) -> Family:
    """Substitute conditions: `y = kx where k = 2` becomes y = 2x."""
    main, conditions = family.main, []
    for condition in family.conditions:
        name, value = condition.args if condition.kind == "=" else (condition, condition)
        is_value = name.kind == "sym" and str(name.leaf) not in values.names(value)
        if is_value and str(name.leaf) in values.names(main):
            main = replace_names(main, {str(name.leaf): value})
        else:
            conditions.append(condition)
    return Family(main, family.parameters, tuple(conditions))


def _renamed(reference: Family, answer: Family) -> Iterator[Family]:
    """The answer with its parameters renamed to those of the reference, in each possible way."""
    yield answer
    reference_names = [name for name in reference.parameters if name in _free_names(reference.main)]
    answer_names = [name for name in answer.parameters if name in _free_names(answer.main)]
    if not reference_names:
        reference_names = _undeclared(reference.main, answer.main)
    if not answer_names:
        answer_names = _undeclared(answer.main, reference.main)
    if not 1 <= len(answer_names) == len(reference_names) <= _MAX_PARAMETERS:
        return
    if set(reference_names) & (values.names(answer.main) - set(answer_names)):
        return
    for order in permutations(reference_names):
        names = {name: Node("sym", leaf=new) for name, new in zip(answer_names, order, strict=True)}
        conditions = tuple(replace_names(part, names) for part in answer.conditions)
        yield Family(replace_names(answer.main, names), answer.parameters, conditions)


def _free_names(main: Node) -> frozenset[str]:
    """The letters of a family's main part, without the letters that get a value."""
    return values.names(main) - _solved(main)


def _solved(main: Node) -> frozenset[str]:
    items = main.args if main.kind in ("list", "or", "brace", "union") else (main,)
    return frozenset(str(item.args[0].leaf) for item in items if item.kind == "=" and item.args[0].kind == "sym")


def _undeclared(main: Node, opposite: Node) -> list[str]:
    return sorted(name for name in values.names(main) - values.names(opposite) if name in _INTEGER_NAMES)


# --- arithmetic progressions


def _same_progressions(reference: Node, answer: Node, letters: set[str]) -> bool:
    names = _solved(reference), _solved(answer)
    if (all(names) and names[0] != names[1]) or (names[0] | names[1]) & letters:
        return False
    try:
        lhs, rhs = (_progressions(_without_name(node), letters) for node in (reference, answer))
        if not lhs or not rhs:
            return False
        with mp.workprec(_BITS):
            return _residues_agree(lhs, rhs)
    except (NoValue, TooComplex):
        return False


def _without_name(node: Node) -> Sequence[Node]:
    """The elements of a node without the `x =` before them."""
    items = node.args if node.kind in ("list", "or", "brace", "union") else (node,)
    items = tuple(part for item in items for part in (item.args if item.kind in ("list", "or", "brace") else (item,)))
    return [item.args[1] if item.kind == "=" and item.args[0].kind == "sym" else item for item in items]


def _progressions(items: Sequence[Node], letters: set[str]) -> list[tuple[values.Number, values.Number]]:
    """The pair (a, b) of each item a + bk.

    Raises:
        NoValue: an item is not of this shape.
    """
    progressions_read = []
    for item in items:
        names = values.names(item)
        if len(names) > 1 or not names <= letters:
            raise NoValue("no progression")
        name = next(iter(names), "")
        with mp.workprec(_BITS):
            first, second, third, far = (values.at(item, {name: Fraction(k)}) for k in (0, 1, 2, 7))
            step = second - first
            if not (_is_zero(third - second - step) and _is_zero(far - first - 7 * step)):
                raise NoValue("not linear")
            progressions_read.append((first, abs(step)))
    return progressions_read


def _residues_agree(
    lhs: Sequence[tuple[values.Number, values.Number]], rhs: Sequence[tuple[values.Number, values.Number]]
) -> bool:
    steps = [step for _, step in (*lhs, *rhs)]
    if any(_is_zero(step) for step in steps):
        return False
    ratios = [_as_fraction(step / steps[0]) for step in steps]
    period = Fraction(1)
    for ratio in ratios:
        period = _common_multiple(period, ratio)
    modulus = steps[0] * values.as_number(period)
    residues, answers = (_residues(progressions, modulus) for progressions in (lhs, rhs))
    return len(residues) == len(answers) and all(
        any(_congruent(first, second, modulus) for second in answers) for first in residues
    )


def _as_fraction(value: values.Number) -> Fraction:
    for denominator in range(1, 61):
        nearest = mpmath.nint(value * denominator)
        if nearest != 0 and _is_zero(value * denominator - nearest):
            return Fraction(int(nearest), denominator)
    raise NoValue("steps without a common multiple")


def _common_multiple(first: Fraction, second: Fraction) -> Fraction:
    quotient = first / second
    return first * quotient.denominator


def _residues(
    progressions: Sequence[tuple[values.Number, values.Number]], modulus: values.Number
) -> list[values.Number]:
    residues: list[values.Number] = []
    for first, step in progressions:
        count = int(mpmath.nint(modulus / step))
        if count + len(residues) > _MAX_RESIDUES:
            raise NoValue("too many residues")
        for index in range(count):
            value = first + index * step
            if not any(_congruent(value, residue, modulus) for residue in residues):
                residues.append(value)
    return residues


def _congruent(first: values.Number, second: values.Number, modulus: values.Number) -> bool:
    quotient = (first - second) / modulus
    return _is_zero(quotient - mpmath.nint(quotient))


def _is_zero(value: values.Number) -> bool:
    return bool(abs(value) < mpmath.ldexp(1, -_BITS // 2))


# --- constants of integration

_CONSTANT = re.compile(r"(?:[CcK]|\\kappa|const)(?:_\{?\w{1,3}\}?)?")
_ODE_CONSTANT = re.compile(r"(?:[CcKkABDE])(?:_\{?\w{1,3}\}?)?")


def same_up_to_constants(reference: Node, answer: Node, is_solution: bool = False) -> bool:
    """Whether both are the same family of functions, whatever the arbitrary constants are called.

    A constant that is not a summand (K e^x) is arbitrary only in the value of a name, as in a solution (`is_solution`).
    """
    constants = _constants(reference, answer)
    letters = values.names(answer) - (values.names(reference) - constants)
    if (
        not constants
        or len(constants) != len(letters)
        or len(constants) > _MAX_PARAMETERS
        or not letters.isdisjoint(VARIABLES)
    ):
        return False
    args = values.names(reference) - constants
    if args != values.names(answer) - letters or not _is_function_of(args):
        return False
    if len(constants) == 1 and _is_added(reference, constants) and _is_added(answer, letters):
        return _differ_by_constant(reference, constants, answer, letters)
    if len(constants) == 1 and not is_solution:
        return False
    for order in permutations(sorted(constants)):
        mapping = {name: Node("sym", leaf=new) for name, new in zip(sorted(letters), order, strict=True)}
        if values.same(reference, replace_names(answer, mapping)):
            return True
    return False


def same_without_constant(reference: Node, answer: Node) -> bool:
    """Whether an answer is the reference without its added arbitrary constant."""
    added = _constants(reference, answer)
    if len(added) != 1 or not _is_added(reference, added) or added & values.names(answer):
        return False
    return _differ_by_constant(reference, added, answer, frozenset())


def is_arbitrary(node: Node) -> bool:
    """Whether this is a letter that customarily stands for an arbitrary constant."""
    return node.kind == "sym" and _CONSTANT.fullmatch(str(node.leaf)) is not None


def level_of(sides: Sequence[Node]) -> Node | None:
    """F(x, y) = C as F(x, y) + C, a family of curves if C is arbitrary; None unless such a letter is one side."""
    level, constant = sides if sides[1].kind == "sym" else sides[::-1]
    return Node("+", (level, constant)) if is_arbitrary(constant) and not is_arbitrary(level) else None


def _is_function_of(names: frozenset[str]) -> bool:
    """Whether an expression in these letters can be a function of one variable; the other letters are constants."""
    return bool(names & VARIABLES) and not any(name[:1].isupper() for name in names)


def _constants(node: Node, opposite: Node) -> frozenset[str]:
    """Names that stand for arbitrary constants: one of C, c, K, or several numbered ones or capitals."""
    names = values.names(node)
    single = frozenset(name for name in names if _CONSTANT.fullmatch(name))
    constants = frozenset(name for name in names if _ODE_CONSTANT.fullmatch(name))
    numbered = any("_" in name or name == "C" for name in constants | values.names(opposite))
    if len(constants) > 1 and numbered:
        return constants
    return single if len(single) == 1 else frozenset()


def _is_added(node: Node, constant: frozenset[str]) -> bool:
    return node.kind == "+" and any(arg.kind == "sym" and arg.leaf in constant for arg in node.args)


def _differ_by_constant(reference: Node, constants: frozenset[str], answer: Node, letters: frozenset[str]) -> bool:
    """Whether F + C and G + K differ by a constant: F - G depends on no letter."""
    zero = dict.fromkeys(constants | letters, values.ZERO)
    lhs, rhs = replace_names(reference, zero), replace_names(answer, zero)
    return values.constant_difference(lhs, rhs)
