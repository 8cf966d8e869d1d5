r"""What a `Node` is worth: exactly as a fraction, or numerically with as many digits as telling two values apart takes.

*Exact.* Integers, decimals and fractions under arithmetic stay fractions up to `MAX_EXACT_BITS`.

*Numeric.* A first pass at low precision finds the largest |log2| of any intermediate value, M bits. The second works
with 128 + 4M bits, so that a sum of terms can cancel and still show whether anything is left: two values are the same
when they agree to half of those bits, or when what is left is smaller than anything the expressions hold.
No fixed number of decimals decides, so 2^-70 is not 2^-69, and \sqrt{10^{40}+1} is not 10^{20}.

*With variables.* Both sides are evaluated at the same points, both signs and several magnitudes, drawn from a hash of
the two expressions. One point where they differ proves them different; agreement everywhere is equality up to chance.
Points where the reference has no real value are outside its domain and say nothing.

Every operation looks at the size of its operands first and raises `TooComplex` rather than build a huge number.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.math.limits import MAX_EXACT_BITS, MAX_VALUE_BITS
from verifiers.math.tree import Node, TooComplex, show

Number = Any
"""mpmath's real or complex number; it has no types."""

_FIRST_BITS = 64
_SPARE_BITS = 128
_MAX_FACTORIAL = 20_000
_RELATIONS = frozenset(["=", "!=", "<", "<=", ">", ">=", "in", "approx", "cong", "chain"])


class NoValue(Exception):
    """This stands for no number: a set, a word, a division by zero, a sum only computer algebra can do."""


# --- exact values


@lru_cache(maxsize=4096)
def exact(node: Node) -> Fraction | None:
    """The value of rational arithmetic; None for anything else.

    Raises:
        TooComplex: the value would have more than `MAX_EXACT_BITS` bits.
        NoValue: division by zero.
    """
    if node.kind == "num":
        return node.leaf if isinstance(node.leaf, Fraction) else None
    if node.kind == "based":
        return exact(node.args[0])
    operation = _EXACT.get(node.kind)
    if operation is None:
        return None
    values = []
    for arg in node.args:
        value = exact(arg)
        if value is None:
            return None
        values.append(value)
    result = operation(values)
    if result is not None and _bits(result) > MAX_EXACT_BITS:
        raise TooComplex("the value is too large")
    return result


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


def _product(values: list[Fraction]) -> Fraction:
    result = Fraction(1)
    for value in values:
        if _bits(result) + _bits(value) > MAX_EXACT_BITS:
            raise TooComplex("the product is too large")
        result *= value
    return result


def _quotient(values: list[Fraction]) -> Fraction:
    if values[1] == 0:
        raise NoValue("division by zero")
    return values[0] / values[1]


def _power(values: list[Fraction]) -> Fraction | None:
    base, exponent = values
    if exponent.denominator != 1:
        return _root([base**exponent.numerator, Fraction(exponent.denominator)]) if _small(base, exponent) else None
    if base == 0 and exponent < 0:
        raise NoValue("division by zero")
    if base in (0, 1, -1):
        return Fraction(1) if exponent % 2 == 0 and (base or exponent == 0) else base
    if abs(exponent.numerator) * max(base.numerator.bit_length(), base.denominator.bit_length()) > MAX_EXACT_BITS:
        raise TooComplex("the power is too large")
    return base**exponent.numerator


def _small(base: Fraction, exponent: Fraction) -> bool:
    return base > 0 and abs(exponent.numerator) * _bits(base) <= MAX_EXACT_BITS


def _root(values: list[Fraction]) -> Fraction | None:
    """The root, when it is rational; of a negative number only with an odd degree."""
    base, degree = values
    if degree.denominator != 1 or not 1 <= degree <= 1000:
        return None
    n = degree.numerator
    if base < 0:
        root = _root([-base, degree]) if n % 2 else None
        return None if root is None else -root
    top, bottom = _integer_root(base.numerator, n), _integer_root(base.denominator, n)
    return None if top is None or bottom is None else Fraction(top, bottom)


def _integer_root(value: int, n: int) -> int | None:
    with mp.workprec(value.bit_length() + 32):
        guess = int(mpmath.nint(mpmath.root(value, n))) if value else 0
    return guess if guess**n == value else None


def _factorial(values: list[Fraction]) -> Fraction | None:
    value = values[0]
    if value.denominator != 1 or value < 0:
        return None
    if value > 8_000:
        raise TooComplex("the factorial is too large")
    return Fraction(mpmath.libmp.ifac(value.numerator))


def _binomial(values: list[Fraction]) -> Fraction | None:
    n, k = values
    if n.denominator != 1 or k.denominator != 1 or n < 0:
        return None
    if k < 0 or k > n:
        return Fraction(0)
    if n > 20_000:
        raise TooComplex("the binomial is too large")
    result = 1
    for step in range(min(k.numerator, n.numerator - k.numerator)):
        result = result * (n.numerator - step) // (step + 1)
    return Fraction(result)


def _remainder(values: list[Fraction]) -> Fraction | None:
    return values[0] % values[1] if values[1] != 0 else None


_EXACT: Mapping[str, Callable[[list[Fraction]], Fraction | None]] = {
    "+": lambda values: sum(values, Fraction(0)),
    "*": _product,
    "/": _quotient,
    "neg": lambda values: -values[0],
    "bracket": lambda values: values[0] if len(values) == 1 else None,
    "^": _power,
    "!": _factorial,
    "root": _root,
    "%": lambda values: values[0] / 100,
    "mod": _remainder,
    "abs": lambda values: abs(values[0]),
    "floor": lambda values: Fraction(values[0].__floor__()),
    "ceil": lambda values: Fraction(values[0].__ceil__()),
    "binom": _binomial,
}


# --- numeric values


class Evaluation:
    """Evaluates nodes at one precision and one point; remembers the largest magnitude it met."""

    def __init__(self, point: Mapping[str, Fraction], log_base: int | None) -> None:
        self._point = point
        self._log_base = log_base
        self.magnitude = 1
        """Largest |log2| of any value so far, in bits."""

    def value(self, node: Node) -> Number:
        """The value at the current working precision.

        Raises:
            NoValue: there is none.
            TooComplex: it, or something inside it, is beyond `MAX_VALUE_BITS`.
        """
        if node.kind == "num" or node.kind == "based":
            fraction = exact(node)
            return self._seen(_float(fraction if fraction is not None else Fraction(0)))
        if node.kind == "const":
            return self._constant(str(node.leaf))
        if node.kind == "sym":
            if not node.leaf or str(node.leaf) in ("emptyset", "ldots"):
                raise NoValue(f"{node.leaf} is no number")
            return self._seen(_float(self._point[str(node.leaf)]))
        if node.kind == "apply":
            return self._unknown(node)
        if node.kind == "fn":
            return self._seen(self._function(str(node.leaf), [self.value(_radians(arg)) for arg in node.args]))
        operation = _NUMERIC.get(node.kind)
        if operation is None:
            raise NoValue(f"{node.kind} has no value")
        if node.kind == "log" and node.args[0] == _BARE_LOG:
            base: Number = mpmath.mpf(10) if self._log_base is None else +mp.e
            return self._seen(_logarithm(base, self.value(node.args[1])))
        return self._seen(operation(*(self.value(arg) for arg in node.args)))

    def _constant(self, name: str) -> Number:
        if name == "pi":
            return self._seen(+mp.pi)
        if name == "e":
            return self._seen(+mp.e)
        if name == "i":
            return mpmath.mpc(0, 1)
        raise NoValue(f"{name} is no number")

    def _unknown(self, node: Node) -> Number:
        """Something known by name only: a number that depends on the name and on the values of its arguments."""
        written = [str(node.leaf)]
        for arg in node.args:
            try:
                written.append(mpmath.nstr(self.value(arg), 30))
            except NoValue:
                written.append(show(arg))
        digest = hashlib.sha256("\0".join(written).encode()).digest()
        return self._seen(mpmath.mpf(1) / 2 + mpmath.mpf(int.from_bytes(digest[:8])) / 2**64)

    def _function(self, name: str, values: list[Number]) -> Number:
        function = _FUNCTIONS.get(name)
        if function is None:
            raise NoValue(f"{name} is not known")
        try:
            return function(*values)
        except (ValueError, ZeroDivisionError, TypeError) as error:
            raise NoValue(f"{name}: {error}") from error

    def _seen(self, value: Number) -> Number:
        if not mpmath.isfinite(value):
            raise NoValue("not finite")
        if value != 0:
            size = abs(int(mpmath.mag(value)))
            if size > MAX_VALUE_BITS:
                raise TooComplex("a value is too large or too small")
            self.magnitude = max(self.magnitude, size)
        return value


_BARE_LOG = Node("const", leaf="log")


def _float(value: Fraction) -> Number:
    return mpmath.mpf(value.numerator) / value.denominator


def _radians(node: Node) -> Node:
    """Degrees, where they are the argument of a function, are an angle."""
    if node.kind == "deg":
        return Node("/", (Node("*", (node.args[0], Node("const", leaf="pi"))), Node("num", leaf=Fraction(180))))
    if node.kind in ("+", "neg", "*", "/"):
        return Node(node.kind, tuple(_radians(arg) for arg in node.args))
    return node


def _safe_power(base: Number, exponent: Number) -> Number:
    if base == 0:
        if mpmath.im(exponent) == 0 and exponent > 0:
            return mpmath.mpf(0)
        if exponent == 0:
            return mpmath.mpf(1)
        raise NoValue("division by zero")
    if abs(exponent) * (abs(mpmath.mag(base)) + 1) > 4 * MAX_VALUE_BITS:
        raise TooComplex("a power is too large")
    return mpmath.power(base, exponent)


def _safe_root(base: Number, degree: Number) -> Number:
    if degree == 0:
        raise NoValue("a root of degree 0")
    if mpmath.im(base) == 0 and base < 0 and mpmath.isint(degree) and int(degree) % 2:
        return -_safe_power(-base, 1 / degree)
    return mpmath.sqrt(base) if degree == 2 else _safe_power(base, 1 / degree)


def _safe_quotient(top: Number, bottom: Number) -> Number:
    if bottom == 0:
        raise NoValue("division by zero")
    return top / bottom


def _safe_factorial(value: Number) -> Number:
    if abs(value) > _MAX_FACTORIAL:
        raise TooComplex("a factorial is too large")
    try:
        return mpmath.factorial(value)
    except ValueError as error:
        raise NoValue(str(error)) from error


def _safe_binomial(n: Number, k: Number) -> Number:
    if abs(n) > _MAX_FACTORIAL or abs(k) > _MAX_FACTORIAL:
        raise TooComplex("a binomial is too large")
    return mpmath.binomial(n, k)


def _logarithm(base: Number, value: Number) -> Number:
    if base in (0, 1) or value == 0:
        raise NoValue("no logarithm")
    return mpmath.log(value) if base == mp.e else mpmath.log(value) / mpmath.log(base)


def _whole(value: Number, up: bool) -> Number:
    """Floor or ceiling; none where rounding, not the value, would decide."""
    if mpmath.im(value) != 0:
        raise NoValue("floor of a complex number")
    nearest = mpmath.nint(value)
    if value == nearest:
        return nearest
    if abs(value - nearest) < mpmath.ldexp(1, -mp.prec // 2):
        return nearest
    return mpmath.ceil(value) if up else mpmath.floor(value)


def _modulo(value: Number, modulus: Number) -> Number:
    if modulus == 0 or mpmath.im(value) != 0 or mpmath.im(modulus) != 0:
        raise NoValue("no remainder")
    return value - modulus * _whole(value / modulus, up=False)


def _sum_of(*values: Number) -> Number:
    return mpmath.fsum(values)


def _product_of(*values: Number) -> Number:
    result = values[0]
    for value in values[1:]:
        result = result * value
        if result != 0 and abs(mpmath.mag(result)) > MAX_VALUE_BITS:
            raise TooComplex("a product is too large")
    return result


def _only(*values: Number) -> Number:
    if len(values) != 1:
        raise NoValue("brackets around more than one value")
    return values[0]


_NUMERIC: Mapping[str, Callable[..., Number]] = {
    "+": _sum_of,
    "*": _product_of,
    "/": _safe_quotient,
    "neg": lambda value: -value,
    "bracket": _only,
    "^": _safe_power,
    "!": _safe_factorial,
    "root": _safe_root,
    "%": lambda value: value / 100,
    "deg": lambda value: value,
    "mod": _modulo,
    "abs": abs,
    "floor": lambda value: _whole(value, up=False),
    "ceil": lambda value: _whole(value, up=True),
    "binom": _safe_binomial,
    "log": _logarithm,
}


def _exp(value: Number) -> Number:
    if abs(value) > MAX_VALUE_BITS:
        raise TooComplex("an exponential is too large")
    return mpmath.exp(value)


def _gcd(*values: Number) -> Number:
    if not all(mpmath.isint(value) for value in values):
        raise NoValue("gcd of what is no integer")
    result = 0
    for value in values:
        result = mpmath.libmp.gcd(result, abs(int(value)))
    return mpmath.mpf(result)


def _lcm(*values: Number) -> Number:
    result = mpmath.mpf(1)
    for value in values:
        divisor = _gcd(result, value)
        if divisor == 0:
            return mpmath.mpf(0)
        result = _product_of(result, abs(value) / divisor)
    return result


def _guarded(function: Callable[[Number], Number]) -> Callable[[Number], Number]:
    """For sinh and its like, which grow as exp does."""

    def call(value: Number) -> Number:
        if abs(value) > MAX_VALUE_BITS:
            raise TooComplex("a hyperbolic function is too large")
        return function(value)

    return call


def _real_only(function: Callable[..., Number]) -> Callable[..., Number]:
    def call(*values: Number) -> Number:
        if any(mpmath.im(value) != 0 for value in values):
            raise NoValue("no order among complex numbers")
        return function(*values)

    return call


_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "cot": mpmath.cot,
    "sec": mpmath.sec,
    "csc": mpmath.csc,
    "sinh": _guarded(mpmath.sinh),
    "cosh": _guarded(mpmath.cosh),
    "tanh": _guarded(mpmath.tanh),
    "coth": _guarded(mpmath.coth),
    "arcsin": mpmath.asin,
    "arccos": mpmath.acos,
    "arctan": mpmath.atan,
    "arccot": mpmath.acot,
    "arcsec": mpmath.asec,
    "arccsc": mpmath.acsc,
    "arsinh": mpmath.asinh,
    "arcosh": mpmath.acosh,
    "artanh": mpmath.atanh,
    "exp": _exp,
    "ln": lambda value: _logarithm(+mp.e, value),
    "lg": lambda value: _logarithm(mpmath.mpf(10), value),
    "sgn": mpmath.sign,
    "Re": mpmath.re,
    "Im": mpmath.im,
    "arg": mpmath.arg,
    "gcd": _gcd,
    "lcm": _lcm,
    "max": _real_only(max),
    "min": _real_only(min),
}


# --- comparing


def names(node: Node) -> frozenset[str]:
    """The variables of an expression."""
    return frozenset(str(part.leaf) for part in node.walk() if part.kind == "sym" and part.leaf)


def same(reference: Node, answer: Node) -> bool:
    """Whether two expressions have the same value wherever the reference has one.

    Raises:
        NoValue: the reference has none that we can compute.
        TooComplex: a value beyond the limits.
    """
    left, right = exact(reference), _exact_or_none(answer)
    if left is not None and right is not None:
        return left == right
    if _has_bare_log(reference) != _has_bare_log(answer):
        return any(_agree(reference, answer, log_base) for log_base in (None, 1))
    return _agree(reference, answer, None)


def close(reference: Node, answer: Node, absolute: float, relative: float) -> bool:
    """Whether two constants differ by no more than one of the two bounds.

    Raises:
        NoValue, TooComplex: as `same`.
    """
    with mp.workprec(256):
        left, right = (Evaluation({}, None).value(node) for node in (reference, answer))
        gap = abs(left - right)
        return bool(gap <= absolute or gap <= relative * abs(left))


def approximate(node: Node) -> float:
    """A constant as a float, for ordering; infinity included.

    Raises:
        NoValue, TooComplex: it has no real value.
    """
    sign, inner = (-1, node.args[0]) if node.kind == "neg" else (1, node)
    if inner.kind == "const" and inner.leaf == "infty":
        return sign * float("inf")
    if names(node):
        raise NoValue("it depends on a variable")
    with mp.workprec(_FIRST_BITS):
        value = Evaluation({}, None).value(node)
        if mpmath.im(value) != 0:
            raise NoValue("not real")
        return float(value)


def proportional(reference: Node, answer: Node, positive: bool) -> bool:
    """Whether the two are the same up to a constant factor that is not zero (`positive`: that is positive).

    Raises:
        NoValue: the reference has no values to compare.
        TooComplex: a value beyond the limits.
    """
    ratio: Number | None = None
    agreed = 0
    for left, right, bits, _ in _pairs(reference, answer, None):
        if right is None:
            return False
        with mp.workprec(bits):
            tiny = mpmath.ldexp(1, -bits // 2)
            if abs(left) <= tiny or abs(right) <= tiny:
                if (abs(left) <= tiny) != (abs(right) <= tiny):
                    return False
                continue
            current = left / right
            if ratio is not None and abs(current - ratio) > abs(ratio) * mpmath.ldexp(1, -40):
                return False
            ratio = current if ratio is None else ratio
            agreed += 1
    if ratio is None or agreed < _MIN_POINTS:
        raise NoValue("no points to compare at")
    return not positive or (mpmath.im(ratio) == 0 and ratio > 0)


def _exact_or_none(node: Node) -> Fraction | None:
    try:
        return exact(node)
    except NoValue:
        return None


def _has_bare_log(node: Node) -> bool:
    return any(part == _BARE_LOG for part in node.walk())


_MIN_POINTS = 3


def _agree(reference: Node, answer: Node, log_base: int | None) -> bool:
    variables = names(reference) | names(answer)
    agreed = 0
    for left, right, bits, magnitude in _pairs(reference, answer, log_base):
        if right is None or not _near(left, right, bits, magnitude):
            return False
        agreed += 1
    if agreed < (_MIN_POINTS if variables else 1):
        raise NoValue("the reference has no value at any point")
    return True


def _near(left: Number, right: Number, bits: int, magnitude: int) -> bool:
    with mp.workprec(bits):
        gap = abs(left - right)
        scale = max(abs(left), abs(right))
        return bool(gap <= mpmath.ldexp(scale, -bits // 2) or gap <= mpmath.ldexp(1, -magnitude - 64))


Pair = tuple[Number, Number | None, int, int]
"""Both values at one point, their precision in bits, and the largest magnitude met on the way to them."""


def _pairs(reference: Node, answer: Node, log_base: int | None) -> Iterator[Pair]:
    """Both values wherever the reference has one; the answer's is None where it has none, or is not real.

    Points where a value would be too large are left out, unless nothing else remains.

    Raises:
        NoValue, TooComplex: there is no variable, and the reference has no value, or one is too large.
    """
    passed = False
    points = list(_points(reference, answer))
    cap = _point_bits(reference, answer) if points[0] else MAX_VALUE_BITS
    too_large: TooComplex | None = None
    for point in points:
        try:
            pair = _pair(reference, answer, point, log_base, cap)
        except TooComplex as error:
            too_large = error
            continue
        if pair is not None:
            passed = True
            yield pair
    if too_large is not None and not passed:
        raise too_large


def _point_bits(*nodes: Node) -> int:
    """How large values at sample points may be: the gamma function is slow with many digits."""
    has_gamma = any(part.kind in ("!", "binom") for node in nodes for part in node.walk())
    return 400 if has_gamma else 3_000


def _pair(reference: Node, answer: Node, point: Mapping[str, Fraction], log_base: int | None, cap: int) -> Pair | None:
    """Both values at a point; None outside the reference's domain."""
    try:
        magnitude = _magnitude(reference, point, log_base)
    except NoValue:
        if not point:
            raise
        return None
    try:
        answer_magnitude: int | None = _magnitude(answer, point, log_base)
    except NoValue:
        answer_magnitude = None
    magnitude = max(magnitude, answer_magnitude or 1)
    if magnitude > cap:
        raise TooComplex("a value is too large")
    bits = _SPARE_BITS + 4 * magnitude
    with mp.workprec(bits):
        try:
            left = Evaluation(point, log_base).value(reference)
        except NoValue:
            return None
        if point and not _is_complex(reference) and not _is_real(left, bits):
            return None
        try:
            right = None if answer_magnitude is None else Evaluation(point, log_base).value(answer)
        except NoValue:
            right = None
    return left, right, bits, magnitude


def _magnitude(node: Node, point: Mapping[str, Fraction], log_base: int | None) -> int:
    with mp.workprec(_FIRST_BITS):
        evaluation = Evaluation(point, log_base)
        evaluation.value(node)
        return evaluation.magnitude


def _is_real(value: Number, bits: int) -> bool:
    imaginary = abs(mpmath.im(value))
    return bool(imaginary <= mpmath.ldexp(1, -bits // 2) * max(1, abs(value)))


def _is_complex(node: Node) -> bool:
    return any(part.kind == "const" and part.leaf == "i" for part in node.walk())


_SPREADS = ((0.3, 2.5), (0.3, 2.5), (0.3, 2.5), (2.5, 12.0), (0.01, 0.3), (20.0, 60.0))


def _points(*nodes: Node) -> Iterable[Mapping[str, Fraction]]:
    """Where to compare: real points of several sizes and both signs, and natural numbers."""
    variables = sorted(frozenset[str]().union(*(names(node) for node in nodes)))
    if not variables:
        yield {}
        return
    seed = hashlib.sha256("\0".join(show(node) for node in nodes).encode()).digest()
    source = random.Random(seed)  # noqa: S311 - not a secret
    for low, high in _SPREADS:
        for signs in ((1,), (-1, 1)):
            yield {name: _draw(source, low, high) * source.choice(signs) for name in variables}
    for low, high in _SPREADS[:2]:
        yield {name: -_draw(source, low, high) for name in variables}
    for _ in range(4):
        yield {name: Fraction(source.randint(1, 9)) for name in variables}


def _draw(source: random.Random, low: float, high: float) -> Fraction:
    return Fraction(int(source.uniform(low, high) * 2**24) * 2 + 1, 2**25)
