r"""Decides whether two expressions are the same by the rules of arithmetic alone, however large their values are.

    1 + 2^{100000}  and  2^{100000} + 1        (x+1)^{100000}  and  (1+x)^{100000}        2 \cdot 2^{99}  and  2^{100}

An expression is a sum of terms: a coefficient, and factors with their exponents, in any order. A factor is a prime, a
name, or a part that these rules do not look into (a function, a factorial, the power of a sum), which is identified by
the forms of its own parts. Small powers and products of sums are expanded. Two forms whose difference is a number other
than 0 are different; about any other two different forms nothing is known.
"""

from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction
from itertools import product

from verifiers.math.tree import Node, TooComplex
from verifiers.math.values import NoValue

Factor = Hashable
"""An integer that was a base, or the form of anything else."""
Term = frozenset[tuple[Factor, Fraction]]
"""Factors with their exponents."""
Form = dict[Term, Fraction]
"""Coefficients by their terms; no coefficient is zero."""
_NOTHING: Term = frozenset()
_MAX_TERMS = 256
_MAX_WRITTEN_OUT = 6
"""The largest exponent of a sum that is written out."""
_MAX_COEFFICIENT_BITS = 4_096
_MAX_FACTORED = 10**6
_MAX_STEPS = 20_000


def same(first: Node, second: Node) -> bool | None:
    """Whether two expressions are the same; None if their forms do not show it.

    Raises:
        TooComplex: an expression has more parts than are looked at.
        NoValue: something is divided by zero.
    """
    if first == second:
        return True
    forms = _Forms()
    gap = _summed([forms.of(first), forms.of(Node("neg", (second,)))])
    if not gap:
        return True
    term = next(iter(gap))
    is_number = len(gap) == 1 and all(isinstance(factor, int) for factor, _ in term)
    return False if is_number else None


def meaning(node: Node) -> Hashable:
    """What two expressions have in common if they are the same by the rules of arithmetic; a number if they are one.

    Raises:
        TooComplex: the expression has more parts than are looked at.
        NoValue: something is divided by zero.
    """
    form = _Forms().of(node)
    value = _number(form)
    return frozenset(form.items()) if value is None else value


class _Forms:
    """Brings expressions into their form, within a number of steps."""

    def __init__(self) -> None:
        self._steps = 0

    def of(self, node: Node) -> Form:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise TooComplex("too many parts")
        match node.kind:
            case "num" if isinstance(node.leaf, Fraction):
                return _constant(node.leaf)
            case "paren" | "bracket" if len(node.args) == 1:
                return self.of(node.args[0])
            case "+":
                return _summed(form for arg in node.args for form in [self.of(arg)])
            case "neg":
                return {term: -coefficient for term, coefficient in self.of(node.args[0]).items()}
            case "*":
                product_form = _constant(Fraction(1))
                for arg in node.args:
                    product_form = self._times(product_form, self.of(arg))
                return product_form
            case "/":
                return self._times(self.of(node.args[0]), self._power(self.of(node.args[1]), Fraction(-1)))
            case "%":
                return self._times(self.of(node.args[0]), _constant(Fraction(1, 100)))
            case "root":
                degree = _number(self.of(node.args[1]))
                if degree:
                    return self._power(self.of(node.args[0]), 1 / degree)
            case "^":
                exponent = self.of(node.args[1])
                if (height := _number(exponent)) is not None:
                    return self._power(self.of(node.args[0]), height)
        return _single((node.kind, node.leaf, *(_key(self.of(arg)) for arg in node.args)))

    def _times(self, lhs: Form, rhs: Form) -> Form:
        if len(lhs) > 1 and len(rhs) > 1 and len(lhs) * len(rhs) > _MAX_TERMS:
            return _product([(_whole(lhs), Fraction(1)), (_whole(rhs), Fraction(1))])
        self._steps += len(lhs) * len(rhs)
        return _summed(_product([*f, *g], a * b) for (f, a), (g, b) in product(lhs.items(), rhs.items()))

    def _power(self, base: Form, exponent: Fraction) -> Form:
        if not base:
            if exponent <= 0:
                raise NoValue("division by zero")
            return {}
        if len(base) == 1:
            ((term, coefficient),) = base.items()
            return self._power_of_term(term, coefficient, exponent)
        if exponent.denominator == 1 and 0 <= exponent <= _MAX_WRITTEN_OUT:
            power = _constant(Fraction(1))
            for _ in range(exponent.numerator):
                power = self._times(power, base)
            return power
        return _product([(_whole(base), exponent)])

    def _power_of_term(self, term: Term, coefficient: Fraction, exponent: Fraction) -> Form:
        """The form of a power of a product; roots of a factor that may be negative stay as they are."""
        is_whole = exponent.denominator == 1
        if not is_whole and (coefficient < 0 or any(not isinstance(factor, int) for factor, _ in term)):
            return _product([(_whole({term: coefficient}), exponent)])
        sign = Fraction(-1 if coefficient < 0 and exponent.numerator % 2 else 1)
        factors = [(factor, power * exponent) for factor, power in term]
        factors += [(base, power * exponent) for base, power in _bases(abs(coefficient))]
        return _product(factors, sign)


def _number(form: Form) -> Fraction | None:
    """The number that a form stands for; None if it is not a number."""
    if not form:
        return Fraction(0)
    return form.get(_NOTHING) if len(form) == 1 else None


def _constant(value: Fraction) -> Form:
    return {_NOTHING: value} if value else {}


def _single(factor: Factor) -> Form:
    return {frozenset([(factor, Fraction(1))]): Fraction(1)}


def _key(form: Form) -> Factor:
    return frozenset(form.items())


def _whole(form: Form) -> Factor:
    """The form of a sum as one factor."""
    return ("sum", _key(form))


def _summed(forms: Iterable[Form]) -> Form:
    sums: Form = {}
    for form in forms:
        for term, coefficient in form.items():
            total = sums.get(term, Fraction(0)) + coefficient
            if total:
                sums[term] = total
            else:
                sums.pop(term, None)
        if len(sums) > _MAX_STEPS:
            raise TooComplex("too many terms")
    return sums


def _product(factors: Iterable[tuple[Factor, Fraction]], coefficient: Fraction = Fraction(1)) -> Form:
    """Multiply powers: powers of the same factor become one, and small powers of integers go into the coefficient."""
    powers: dict[Factor, Fraction] = {}
    for factor, power in factors:
        powers[factor] = powers.get(factor, Fraction(0)) + power
    for base in [factor for factor in powers if isinstance(factor, int)]:
        coefficient, inside = _taken_out(coefficient, base)
        power = powers.pop(base) + inside
        exponent = power.numerator // power.denominator
        if abs(exponent) * base.bit_length() <= _MAX_COEFFICIENT_BITS:
            coefficient, power = coefficient * Fraction(base) ** exponent, power - exponent
        if power:
            powers[base] = power
    return {frozenset((factor, power) for factor, power in powers.items() if power): coefficient}


def _taken_out(value: Fraction, base: int) -> tuple[Fraction, int]:
    """Divide a number by every power of an integer that it contains; the rest, and the exponent that was taken out."""
    numerator, up = _without(value.numerator, base)
    denominator, down = _without(value.denominator, base)
    return Fraction(numerator, denominator), up - down


def _without(number: int, base: int) -> tuple[int, int]:
    exponent = 0
    while number % base == 0:
        number, exponent = number // base, exponent + 1
    return number, exponent


def _bases(value: Fraction) -> Iterator[tuple[int, Fraction]]:
    """The primes of a positive number with their exponents; a large factor is not factorised."""
    for integer, sign in ((value.numerator, 1), (value.denominator, -1)):
        cofactor, divisor = integer, 2
        while cofactor <= _MAX_FACTORED and divisor * divisor <= cofactor:
            power = 0
            while cofactor % divisor == 0:
                cofactor, power = cofactor // divisor, power + 1
            if power:
                yield divisor, Fraction(sign * power)
            divisor += 1
        if cofactor > 1:
            yield cofactor, Fraction(sign)
