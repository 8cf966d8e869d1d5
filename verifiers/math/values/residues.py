r"""Proves two expressions the same by computing both in a finite field, where nothing is rounded and nothing is large.

A letter becomes a number drawn from 10^22 modulo a prime p. Two rational functions that agree there are the same up to
chance. Everything else obeys only its laws, so what agrees follows from these laws, whatever the values are:

    e^u, a^u, sin u     powers of one element of the prime order q, with u computed modulo q: e^{u+v} is e^u e^v
    \sqrt u             one of the two roots; both are tried, for each radicand (Gonnet: Determining equivalence of
    |u|, max, min, sgn  expressions in random polynomial time, 1984), and |u| is \sqrt{u^2}
    \sqrt 2, \sqrt[3]u  the root that is a product of roots of primes; the only one
    ln u                a number drawn for u; logarithms of primes add up
    other functions     a number drawn for the name and its arguments
    n! and sums to n    computed, for the natural numbers of the usual points

What is not proved is not known to be different: \cos\frac{\pi}{5} and \sqrt{1-x^2}\sqrt{1+x^2} obey more laws.
"""

import math
import random
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import reduce
from itertools import count

from verifiers.math.points import letters, names, points
from verifiers.math.tree import Node, TooComplex, show
from verifiers.math.values.rational import exact_or_none
from verifiers.math.values.traits import BARE_LOG, is_complex

_MAX_STEPS = 12_000
"""Nodes computed for one proof."""
_MAX_BRANCHES = 64
"""Choices of roots that are tried at one point."""
_MAX_TRIES = 200
"""Points that are tried until all radicands have roots."""
_MIN_POINTS = 3
"""Natural numbers have to agree at this many points."""
_LONGEST_SUM = 300
_MAX_WHOLE_BITS = 4_096


class _Unproved(Exception):
    """Something obeys no law that is known here, or the limits are reached."""


class _OutsideDomain(Exception):
    """There is no value at this point."""


class _NoRoot(Exception):
    """A radicand has no root in the field."""


class _Field:
    """The numbers modulo p, with elements of order q, roots of unity, and roots of small primes."""

    def __init__(self, p: int, q: int) -> None:
        self.p, self.q = p, q
        generator = next(x for x in count(2) if all(pow(x, (p - 1) // d, p) != 1 for d in (2, 3)))
        self.degree = 24 if p % 3 == 1 else 8
        """The roots of unity that are there."""
        self.unity = [pow(generator, (p - 1) // self.degree * turn, p) for turn in range(self.degree)]
        self.base = pow(generator, (p - 1) // q, p)
        eighth = self.degree // 8
        self._fixes = {self.unity[eighth * 2 * turn]: self.unity[-eighth * turn % self.degree] for turn in range(4)}
        self._of_primes: dict[int, int] = {2: self.unity[eighth] + self.unity[-eighth]}
        if self.degree == 24:
            self._of_primes[3] = self.unity[2] + self.unity[-2]

    def root(self, value: int) -> int:
        """A square root: the smaller one."""
        fix = self._fixes.get(pow(value, (self.p - 1) // 8, self.p))
        if fix is None:
            raise _NoRoot
        root = pow(value, (self.p + 7) // 16, self.p) * fix % self.p
        return min(root, self.p - root)

    def root_of_whole(self, number: int) -> int:
        """The square root of a positive integer: the product of the roots of its primes."""
        return reduce(lambda root, prime: root * self._root_of_prime(prime) % self.p, _primes(number), 1)

    def _root_of_prime(self, prime: int) -> int:
        if prime not in self._of_primes:
            try:
                return self.root(prime % self.p)
            except _NoRoot:
                raise _Unproved from None
        return self._of_primes[prime]


_WITH_ROOT_OF_3 = _Field(108162393881946258958009, 4371257431375131707)
_WITH_CUBE_ROOTS = _Field(33112199468621285534729, 4126644998581914947)
"""No field has both a root of 3 and exactly one cube root of each number."""


def _primes(number: int) -> list[int]:
    primes, divisor = [], 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            primes.append(divisor)
            number //= divisor
        divisor += 1
        if divisor > 1_000:
            raise _Unproved
    return [*primes, number] if number > 1 else primes


def proved(reference: Node, answer: Node) -> bool:
    """Whether the laws prove two expressions of real letters to have the same value wherever both have one."""
    of = letters(reference, answer)
    if of.complex or not (of.real or of.natural) or is_complex(reference) or is_complex(answer):
        return False
    source = random.Random(f"{show(reference)} = {show(answer)}")  # noqa: S311 - not a secret
    budget = _Budget()
    agreed = 0
    try:
        field = _WITH_CUBE_ROOTS if _has_odd_roots(reference) or _has_odd_roots(answer) else _WITH_ROOT_OF_3
        for naturals in dict.fromkeys(tuple(int(point.values[name]) for name in of.natural) for point in points(of)):  # type: ignore[arg-type] # no natural is complex
            try:
                whole = dict(zip(of.natural, naturals, strict=True))
                if not _agree(reference, answer, _Drawing(field, source, whole, budget)):
                    return False
                agreed += 1
            except _OutsideDomain:
                continue
    except (_Unproved, TooComplex, RecursionError):
        return False
    return agreed >= (_MIN_POINTS if of.natural else 1)


def _has_odd_roots(node: Node) -> bool:
    for part in node.walk():
        if part.kind in ("root", "^"):
            exponent = exact_or_none(part.args[1])
            if exponent is not None and (exponent.numerator if part.kind == "root" else exponent.denominator) % 3 == 0:
                return True
    return False


class _Budget:
    def __init__(self) -> None:
        self._steps_left = _MAX_STEPS

    def spend(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise _Unproved


class _Drawing:
    """What is drawn for one point: the real letters, pi, and the values of functions that are known by name only."""

    def __init__(self, field: _Field, source: random.Random, naturals: Mapping[str, int], budget: _Budget) -> None:
        self.field, self.whole, self.budget = field, naturals, budget
        self._source = source
        self._drawn: dict[object, tuple[int, int]] = {}

    def of(self, key: object) -> tuple[int, int]:
        """The two numbers for a key, modulo p and q."""
        if key not in self._drawn:
            self._drawn[key] = self._source.randrange(2, self.field.p), self._source.randrange(2, self.field.q)
        return self._drawn[key]


def _agree(reference: Node, answer: Node, drawing: _Drawing) -> bool:
    """Whether both are the same for each choice of roots, at the first point where all radicands have roots."""
    for _ in range(_MAX_TRIES):
        try:
            return all(values.value(reference) == values.value(answer) for values in _choices(drawing))
        except _NoRoot:
            drawing = _Drawing(drawing.field, drawing._source, drawing.whole, drawing.budget)
    raise _Unproved


def _choices(drawing: _Drawing) -> Iterator["_Values"]:
    """The values for each choice of roots; the radicands are known only once they were computed."""
    signs: list[bool] = []
    for _ in range(_MAX_BRANCHES):
        values = _Values(drawing, signs)
        yield values
        while signs and signs[-1]:
            signs.pop()
        if not signs:
            return
        signs[-1] = True
    raise _Unproved


class _Values:
    """The values of expressions at one point, for one choice of roots.

    `signs` tells for each radicand, in the order in which they occur, whether the other root is taken.
    """

    def __init__(self, drawing: _Drawing, signs: list[bool]) -> None:
        self._drawing, self._signs = drawing, signs
        self._field = drawing.field
        self._p, self._q = drawing.field.p, drawing.field.q
        self._whole: dict[str, int] = dict(drawing.whole)
        self._roots: dict[int, int] = {}
        self._factors = {2}
        """Integers that were taken out of radicands: a root of twice a radicand is not a root of its own."""
        self._known: dict[Node, int] = {}
        self._heights: dict[Node, int] = {}

    def value(self, node: Node) -> int:
        """The value modulo p."""
        leaf = node.leaf
        if node.kind == "num" and isinstance(leaf, Fraction) and leaf.denominator == 1:
            return leaf.numerator % self._p
        residue = self._known.get(node)
        if residue is None:
            self._drawing.budget.spend()
            residue = self._known[node] = self._computed(node) % self._p
        return residue

    def _height(self, node: Node) -> int:
        """The value modulo q, as an exponent."""
        residue = self._heights.get(node)
        if residue is None:
            self._drawing.budget.spend()
            residue = self._heights[node] = self._computed_height(node) % self._q
        return residue

    def _computed(self, node: Node) -> int:
        match node.kind:
            case "num" | "based":
                return self._fraction(exact_or_none(node), self._p)
            case "const" if node.leaf in ("pi", "e"):
                return self._field.base if node.leaf == "e" else self._drawing.of("pi")[0]
            case "sym" if node.leaf and node.leaf not in ("emptyset", "ldots"):
                natural = self._whole.get(str(node.leaf))
                return self._drawing.of(str(node.leaf))[0] if natural is None else natural
            case "+":
                return sum(map(self.value, node.args))
            case "*":
                return self._product(map(self.value, node.args), self._p)
            case "/":
                return self.value(node.args[0]) * self._inverse(self.value(node.args[1]), self._p)
            case "neg":
                return -self.value(node.args[0])
            case "bracket" if len(node.args) == 1:
                return self.value(node.args[0])
            case "%":
                return self.value(node.args[0]) * self._inverse(100, self._p)
            case "abs" if (exact := exact_or_none(node)) is not None:
                return self._fraction(exact, self._p)
            case "abs":
                return self._absolute(self.value(node.args[0]))
            case "^" | "root":
                return self._power(node)
        return self._called(node)

    def _called(self, node: Node) -> int:
        """The value of functions: by name, of whole numbers, sums, and those that are not known."""
        match node.kind:
            case "log":
                base = self._drawing.of("log") if node.args[0] == BARE_LOG else self._logarithm(node.args[0])
                return self._logarithm(node.args[1])[0] * self._inverse(base[0], self._p)
            case "fn":
                return self._function(str(node.leaf), node.args)
            case "!" | "binom":
                return self._combinations(node)
            case "floor" | "ceil" | "mod":
                return self._stepped(node)
            case "sum" | "prod":
                return self._terms(node)
            case "apply" if node.leaf == "!!" and (number := self._exactly(node.args[0])) is not None:
                return self._double_factorial(number)
            case "apply":
                return self._drawing.of((node.leaf, *map(self.value, node.args)))[0]
        raise _Unproved

    def _computed_height(self, node: Node) -> int:
        match node.kind:
            case "num" | "based":
                return self._fraction(exact_or_none(node), self._q)
            case "const" if node.leaf == "pi":
                return self._drawing.of("pi")[1]
            case "sym":
                natural = self._whole.get(str(node.leaf))
                return self._drawing.of(str(node.leaf))[1] if natural is None else natural
            case "+":
                return sum(map(self._height, node.args))
            case "*":
                return self._product(map(self._height, node.args), self._q)
            case "/":
                return self._height(node.args[0]) * self._inverse(self._height(node.args[1]), self._q)
            case "neg":
                return -self._height(node.args[0])
            case "bracket" if len(node.args) == 1:
                return self._height(node.args[0])
            case "abs":
                operand_value = self.value(node.args[0])
                height = self._height(node.args[0])
                return height if self._absolute(operand_value) == operand_value else -height
            case "^" if (exponent := exact_or_none(node.args[1])) is not None and exponent.denominator == 1:
                return self._whole_power(self._height(node.args[0]), int(exponent), self._q)
            case "fn" if node.leaf in ("max", "min"):
                return self._extreme(node.leaf == "max", node.args)[1]
            case "fn" if node.leaf == "ln":
                return self._logarithm(node.args[0])[1]
        return self._drawing.of(("height", self.value(node)))[1]

    # arithmetic

    def _fraction(self, value: Fraction | None, modulus: int) -> int:
        if value is None:
            raise _Unproved
        return value.numerator * self._inverse(value.denominator, modulus)

    def _inverse(self, value: int, modulus: int) -> int:
        if value == 1:
            return 1
        if value % modulus == 0:
            raise _OutsideDomain
        return pow(value, -1, modulus)

    def _product(self, factors: Iterator[int], modulus: int) -> int:
        result = 1
        for factor in factors:
            result = result * factor % modulus
        return result

    def _whole_power(self, base: int, exponent: int, modulus: int) -> int:
        if base == 0 and exponent <= 0:
            if exponent == 0:
                return 1
            raise _OutsideDomain
        return pow(base, exponent, modulus)

    # roots

    def _absolute(self, value: int) -> int:
        return self._root(value * value % self._p, min(value, self._p - value))

    def _root(self, radicand: int, root: int | None = None) -> int:
        """The chosen root of a radicand, of which one root may be known: the smaller one."""
        if radicand == 0:
            return 0
        if radicand not in self._roots and not self._is_multiple(radicand):
            root = self._field.root(radicand) if root is None else root
            index = len(self._roots)
            if index == len(self._signs):
                self._signs.append(False)
            self._roots[radicand] = self._p - root if self._signs[index] else root
        return self._roots[radicand]

    def _is_multiple(self, radicand: int) -> bool:
        """Whether a radicand is a known one times or by an integer whose root is known; then its root is, too."""
        for factor in self._factors:
            for related in (radicand * factor % self._p, radicand * self._inverse(factor, self._p) % self._p):
                if related in self._roots:
                    share = self._field.root_of_whole(factor)
                    share = share if related * factor % self._p == radicand else self._inverse(share, self._p)
                    self._roots[radicand] = self._roots[related] * share % self._p
                    return True
        return False

    def _extreme(self, is_max: bool, args: tuple[Node, ...]) -> tuple[int, int]:
        """The maximum or minimum, modulo p and q: half of the sum and of the distance."""
        value, height = self.value(args[0]), self._height(args[0])
        for arg in args[1:]:
            arg_value, its_height = self.value(arg), self._height(arg)
            gap = (arg_value - value) % self._p
            if (self._absolute(gap) == gap) == is_max:
                value, height = arg_value, its_height
        return value, height

    def _power(self, node: Node) -> int:
        base, exponent = node.args
        height = self._exactly(exponent)
        if height is not None and node.kind == "root":
            if height == 0:
                raise _OutsideDomain
            height = 1 / height
        if height is None:
            return self._exponential(base, exponent)
        if height.denominator == 1:
            if max(height.numerator.bit_length(), 0) > _MAX_WHOLE_BITS:
                raise _Unproved
            return self._whole_power(self.value(base), height.numerator, self._p)
        return self._fractional(base, height)

    def _fractional(self, base: Node, exponent: Fraction) -> int:
        """A power with a fraction as exponent; that of a product is a product if at most one factor may be negative."""
        while base.kind == "bracket" and len(base.args) == 1:
            (base,) = base.args
        is_even = exponent.denominator % 2 == 0
        if is_even and base.kind in ("*", "/") and sum(not _is_positive(arg) for arg in base.args) <= 1:
            powers = [self._fractional(arg, exponent) for arg in base.args]
            if base.kind == "/":
                powers[1] = self._inverse(powers[1], self._p)
            return self._product(iter(powers), self._p)
        if is_even and (even := _even_power(base)) is not None:
            operand, power = even
            return self._power_of(self._absolute(self.value(operand)), exponent * power)
        fraction = exact_or_none(base)
        if fraction is not None and fraction > 0 and exponent.denominator % 4 == 2:
            bottom = self._inverse(fraction.denominator, self._p)
            radicand = fraction.numerator * fraction.denominator
            self._factors.add(radicand)
            root = self._field.root_of_whole(radicand) * bottom % self._p
            return self._power_of(root, exponent * 2)
        return self._power_of(self.value(base), exponent)

    def _power_of(self, value: int, exponent: Fraction) -> int:
        odd = exponent.denominator
        while odd % 2 == 0:
            odd //= 2
            value = self._root(value)
        if math.gcd(odd, self._p - 1) != 1:
            raise _Unproved
        if odd > 1:
            value = pow(value, pow(odd, -1, self._p - 1), self._p)
        return self._whole_power(value, exponent.numerator, self._p)

    # powers, logarithms and functions

    def _exponential(self, base: Node, exponent: Node) -> int:
        """A power whose exponent varies: its whole part is taken out, so that a^{u+1} is a·a^u."""
        integer, height = self._apart(exponent)
        front = self._whole_power(self.value(base), integer, self._p) if integer else 1
        if base.kind == "const" and base.leaf == "e":
            return front * pow(self._field.base, height, self._p)
        return front * pow(self._field.base, height * self._logarithm(base)[1] % self._q, self._p)

    def _apart(self, exponent: Node) -> tuple[int, int]:
        """The whole number in a sum, and the rest modulo q."""
        integer, height = 0, 0
        for term in exponent.args if exponent.kind == "+" else (exponent,):
            value = self._exactly(term)
            if value is not None and value.denominator == 1 and abs(value) < 10**6:
                integer += int(value)
            else:
                height += self._height(term)
        return integer, height % self._q

    def _exponential_function(self, node: Node) -> int:
        return self._exponential(_E, node)

    def _logarithm(self, node: Node) -> tuple[int, int]:
        """The natural logarithm, modulo p and q."""
        value = exact_or_none(node)
        if value is not None:
            if value <= 0:
                raise _OutsideDomain
            up = [self._drawing.of(("ln", prime)) for prime in _primes(value.numerator)]
            down = [self._drawing.of(("ln", prime)) for prime in _primes(value.denominator)]
            return (
                (sum(p for p, _ in up) - sum(p for p, _ in down)) % self._p,
                (sum(two for _, two in up) - sum(two for _, two in down)) % self._q,
            )
        match node.kind:
            case "const" if node.leaf == "e":
                return 1, 1
            case "bracket" if len(node.args) == 1:
                return self._logarithm(node.args[0])
            case "*" | "/" if sum(not _is_positive(arg) for arg in node.args) <= 1:
                return self._logarithm_of_product(node)
            case "^" | "root" if (height := self._exactly(node.args[1])) is not None and height != 0:
                height = 1 / height if node.kind == "root" else height
                is_even = height.numerator % 2 == 0
                if _is_positive(node.args[0]) or height.denominator % 2 == 0:
                    return self._scaled(self._logarithm(node.args[0]), height)
                if is_even:
                    return self._scaled(self._logarithm(Node("abs", (node.args[0],))), height)
            case "^" if node.args[0].kind == "const" and node.args[0].leaf == "e":
                return self.value(node.args[1]), self._height(node.args[1])
        return self._drawing.of(("ln", self.value(node)))

    def _logarithm_of_product(self, node: Node) -> tuple[int, int]:
        logarithms = [self._logarithm(arg) for arg in node.args]
        if node.kind == "/":
            logarithms[1] = -logarithms[1][0], -logarithms[1][1]
        return sum(p for p, _ in logarithms) % self._p, sum(q for _, q in logarithms) % self._q

    def _scaled(self, logarithm: tuple[int, int], factor: Fraction) -> tuple[int, int]:
        p, q = logarithm
        return p * self._fraction(factor, self._p) % self._p, q * self._fraction(factor, self._q) % self._q

    def _function(self, name: str, args: tuple[Node, ...]) -> int:
        if name in ("max", "min"):
            return self._extreme(name == "max", args)[0]
        if name in ("gcd", "lcm"):
            wholes = [self._integer(arg) for arg in args]
            return math.gcd(*wholes) if name == "gcd" else math.lcm(*wholes)
        if len(args) != 1 or name in ("Re", "Im", "arg"):
            raise _Unproved
        (arg,) = args
        match name:
            case "sin" | "cos" | "tan" | "cot" | "sec" | "csc":
                return self._trigonometric(name, arg)
            case "exp":
                return self._exponential_function(arg)
            case "sinh" | "cosh" | "tanh" | "coth":
                return self._ratio(name, self._exponential_function(arg), 2)
            case "ln":
                return self._logarithm(arg)[0]
            case "lg":
                ten = self._drawing.of(("ln", 2))[0] + self._drawing.of(("ln", 5))[0]
                return self._logarithm(arg)[0] * self._inverse(ten, self._p)
            case "sgn":
                value = self.value(arg)
                return self._absolute(value) * self._inverse(value, self._p) if value else 0
            case "arsinh" | "arcosh":
                value = self.value(arg)
                root = self._root((value * value + (1 if name == "arsinh" else -1)) % self._p)
                return self._drawing.of(("ln", (value + root) % self._p))[0]
            case "artanh":
                value = self.value(arg)
                quotient = (1 + value) * self._inverse(1 - value, self._p) % self._p
                return self._drawing.of(("ln", quotient))[0] * self._inverse(2, self._p)
        return self._drawing.of((name, self.value(arg)))[0]

    def _trigonometric(self, name: str, angle: Node) -> int:
        turn, height = 0, 0
        for term in angle.args if angle.kind == "+" else (angle,):
            share = self._share_of_pi(term)
            eighths = None if share is None else share * self._field.degree / 2
            if eighths is not None and eighths.denominator == 1:
                turn += int(eighths)
            else:
                height += self._height(term)
        imaginary = self._drawing.of("i")[1]
        power = pow(self._field.base, height * imaginary % self._q, self._p)
        return self._ratio(name, power * self._field.unity[turn % self._field.degree] % self._p, 2)

    def _ratio(self, name: str, power: int, two: int) -> int:
        """A trigonometric or hyperbolic function, by its formula in e^{iu} or e^u."""
        inverse = self._inverse(power, self._p)
        i = 1 if name.endswith("h") else self._field.unity[self._field.degree // 4]
        top, bottom = {
            "sin": (power - inverse, two * i), "cos": (power + inverse, two), "tan": (power - inverse, i * (power + inverse)),
            "cot": (i * (power + inverse), power - inverse), "sec": (two, power + inverse), "csc": (two * i, power - inverse),
            "sinh": (power - inverse, two), "cosh": (power + inverse, two), "tanh": (power - inverse, power + inverse),
            "coth": (power + inverse, power - inverse),
        }[name]  # fmt: skip
        return top % self._p * self._inverse(bottom % self._p, self._p)

    def _share_of_pi(self, node: Node) -> Fraction | None:
        r"""The number r if a node is r\pi."""
        match node.kind:
            case "const" if node.leaf == "pi":
                return Fraction(1)
            case "neg" | "bracket" if len(node.args) == 1:
                share = self._share_of_pi(node.args[0])
                return share if share is None or node.kind == "bracket" else -share
            case "*":
                shares = [share for arg in node.args if (share := self._share_of_pi(arg)) is not None]
                terms = [self._exactly(arg) for arg in node.args if self._share_of_pi(arg) is None]
                if len(shares) != 1 or None in terms:
                    return None
                return reduce(lambda a, b: a * b, [term for term in terms if term is not None], shares[0])
            case "/":
                share, bottom = self._share_of_pi(node.args[0]), self._exactly(node.args[1])
                return share / bottom if share is not None and bottom else None
        return None

    # whole numbers

    def _exactly(self, node: Node) -> Fraction | None:
        """The value of arithmetic with numbers and natural letters; None of anything else."""
        if isinstance(node.leaf, Fraction) and node.kind == "num":
            return node.leaf
        if not names(node):
            return exact_or_none(node)
        match node.kind:
            case "sym":
                natural = self._whole.get(str(node.leaf))
                return None if natural is None else Fraction(natural)
            case "neg" | "bracket" | "+" | "*" | "/" | "^" | "!" | "binom":
                values = [value for arg in node.args if (value := self._exactly(arg)) is not None]
                if len(values) == len(node.args):
                    return exact_or_none(Node(node.kind, tuple(Node("num", leaf=value) for value in values)))
        return None

    def _small(self, node: Node) -> int | None:
        """A small whole number, as sums are full of, without fractions; None of anything else."""
        value: int | None = None
        match node.kind:
            case "sym":
                value = self._whole.get(str(node.leaf))
            case "num" if isinstance(node.leaf, Fraction) and node.leaf.denominator == 1:
                value = node.leaf.numerator
            case "+":
                terms = [term for arg in node.args if (term := self._small(arg)) is not None]
                value = sum(terms) if len(terms) == len(node.args) else None
        return value if value is not None and 0 <= value < _SMALL else None

    def _integer(self, node: Node) -> int:
        value = self._exactly(node)
        if value is None or value.denominator != 1:
            raise _Unproved
        return int(value)

    def _combinations(self, node: Node) -> int:
        """A factorial or a binomial coefficient."""
        wholes = [whole for arg in node.args if (whole := self._small(arg)) is not None]
        if node.kind == "binom" and len(wholes) == 2:
            return math.comb(*wholes)
        value = self._exactly(node)
        if value is not None:
            return self._fraction(value, self._p)
        if node.kind == "binom" and (lower := self._exactly(node.args[1])) is not None and 0 <= lower < 50:
            return self._falling(self.value(node.args[0]), lower)
        return self._drawing.of((node.kind, *map(self.value, node.args)))[0]

    def _stepped(self, node: Node) -> int:
        """Floor and what is made of it: a number drawn for the argument, as nobody knows where the next step is."""
        exact = exact_or_none(node)
        if exact is not None:
            return self._fraction(exact, self._p)
        value = self.value(node.args[0])
        if node.kind == "ceil":
            return -self._drawing.of(("floor", -value % self._p))[0]
        if node.kind == "floor":
            return self._drawing.of(("floor", value))[0]
        modulus = self.value(node.args[1])
        return value - modulus * self._drawing.of(("floor", value * self._inverse(modulus, self._p) % self._p))[0]

    def _double_factorial(self, value: Fraction) -> int:
        if value.denominator != 1 or value < -1:
            raise _OutsideDomain
        if value > _LONGEST_SUM * 20:
            raise _Unproved
        return self._product(iter(range(int(value), 1, -2)), self._p)

    def _falling(self, value: int, lower: Fraction) -> int:
        if lower.denominator != 1:
            raise _Unproved
        top = self._product((value - step for step in range(int(lower))), self._p)
        return top * self._inverse(math.factorial(int(lower)), self._p)

    def _terms(self, node: Node) -> int:
        index, low, high, term = node.args
        first, last = self._integer(low), self._integer(high)
        if last < first - 1:
            raise _OutsideDomain
        if last - first > _LONGEST_SUM:
            raise _OutsideDomain  # as at points that are left out because of many terms
        name = str(index.leaf)
        outer, values, heights = self._whole, self._known, self._heights
        terms = []
        for number in range(first, last + 1):
            self._whole, self._known, self._heights = {**outer, name: number}, {}, {}
            terms.append(self.value(term))
        self._whole, self._known, self._heights = outer, values, heights
        return sum(terms) if node.kind == "sum" else self._product(iter(terms), self._p)


_SMALL = 256
_E = Node("const", leaf="e")


def _even_power(base: Node) -> tuple[Node, int] | None:
    """The base and the exponent of an even power."""
    if base.kind == "^" and (exponent := exact_or_none(base.args[1])) is not None and exponent.denominator == 1:
        return (base.args[0], int(exponent)) if exponent > 0 and exponent % 2 == 0 else None
    return None


def _is_positive(node: Node) -> bool:
    """Whether an expression is never negative, as it is written."""
    value = exact_or_none(node)
    if value is not None:
        return value > 0
    match node.kind:
        case "const":
            return node.leaf in ("pi", "e")
        case "abs":
            return True
        case "^":
            exponent = exact_or_none(node.args[1])
            return _is_positive(node.args[0]) or (exponent is not None and exponent.numerator % 2 == 0)
        case "root":
            degree = exact_or_none(node.args[1])
            return (degree is not None and degree.numerator % 2 == 0) or _is_positive(node.args[0])
        case "fn":
            return node.leaf in ("exp", "cosh")
        case "+" | "*" | "/" | "bracket":
            return all(map(_is_positive, node.args))
    return False
