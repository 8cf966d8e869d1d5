r"""Compares constants that are too large or too small to be written out, by sign and logarithm.

7^{7^7} has 700,000 digits, 2014!^{-2014} has as many behind the point. Their logarithms are ordinary numbers, and
products, quotients, powers, roots and factorials of such constants are sums and products of logarithms (Stirling's
series for ln Γ; mpmath). Two logarithms that differ in their first bits belong to different numbers. Otherwise both are
computed again with three times the bits of the largest number that is written or met on the way; if that would take
more than `_MAX_BITS`, only constants that are written alike are the same. The logarithm of an ordinary value is not
precise enough, so at least one side has to be larger than such values, unless both are products.

A sum counts as its largest term, until the exact pass includes the smaller ones.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.math import values
from verifiers.math.tree import Node, TooComplex, replace_names
from verifiers.math.values import BARE_LOG, NoValue, Number

_FIRST_BITS = 320
_SPARE_BITS = 600
_MAX_BITS = 8_000
_MAX_GAMMA_BITS = 1_500
"""Stirling's series with more bits takes longer than one answer is allowed to take."""
_MAX_EXPONENT_BITS = 40
"""An exponent may be up to 2 to the power of 2^40: this is how many bits its logarithm has before the point."""


@dataclass(frozen=True, slots=True)
class Logarithm:
    """A constant as sign · e^log, and the bits that tell its logarithm from that of the next number."""

    sign: int
    log: Number
    bits: int


def same(reference: Node, answer: Node) -> bool:
    """Whether two constants are equal, however large.

    Raises:
        NoValue: the reference is not a real constant of this kind.
        TooComplex: that cannot be decided with the precision allowed.
    """
    with mp.workprec(_FIRST_BITS):
        if _is_beyond(reference):
            _of_answer(answer)  # has a logarithm, or is as large
            return False
        left, right = _logarithm(reference), _of_answer(answer)
        if right is None or left.sign != right.sign:
            return False
        gap, size = abs(left.log - right.log), max(abs(left.log), abs(right.log), 1)
        if gap > mpmath.ldexp(size, -_FIRST_BITS // 2):
            return False
    if reference == answer:
        return True
    if not (_is_large(reference) or _is_large(answer) or (_is_product(reference) and _is_product(answer))):
        raise TooComplex("ordinary values by way of large ones")
    needed = max(left.bits, right.bits)
    bits = 3 * needed + _SPARE_BITS
    if bits > _MAX_BITS:
        raise TooComplex("two values too large to tell apart")
    with mp.workprec(bits):
        again, right = _logarithm(reference), _logarithm(answer)
        if abs(again.log - left.log) > mpmath.ldexp(size, -_FIRST_BITS // 2):
            raise NoValue("more digits change it, as those of a quotient by what should be 0")
        return bool(abs(again.log - right.log) <= mpmath.ldexp(1, needed + 64 - bits))


def has_logarithm(node: Node) -> bool:
    """Whether a constant can be told from others by its logarithm."""
    with mp.workprec(_FIRST_BITS):
        try:
            return bool(_logarithm(node))
        except (NoValue, TooComplex):
            return False


def close(reference: Node, answer: Node, absolute: float, relative: float) -> bool:
    """Whether two constants that are not equal, of which one is too large or too small, differ by no more than one of the bounds.

    Raises:
        NoValue, TooComplex: as `same`.
    """
    with mp.workprec(_FIRST_BITS):
        if _is_beyond(reference):
            return False
        left = _logarithm(reference)
        right = None if answer == _ZERO else _logarithm(answer)
        near_zero = mpmath.log(absolute / 2) if absolute else -mpmath.inf
        if left.log <= near_zero and (right is None or right.log <= near_zero):
            return True
        if right is None or left.sign != right.sign or not relative:
            return False
        return bool(abs(right.log - left.log) <= mpmath.log1p(relative))


_ZERO = Node("num", leaf=Fraction(0))


def _is_beyond(node: Node) -> bool:
    """Whether a constant has no logarithm here because its exponent, or the argument of its factorial, is huge."""
    if node.kind == "!":
        return _is_vast(node.args[0])
    if node.kind != "^" or not _is_vast(node.args[1]):
        return False
    foot = _logarithm(node.args[0])
    return foot.sign > 0 and bool(foot.log > _LEAST_LOG)


def _is_vast(node: Node) -> bool:
    """Whether the logarithm of a number is itself as large as an exponent may be."""
    if node.kind not in ("!", "^"):
        return False
    if _is_beyond(node):
        return True
    found = _logarithm(node)
    return found.sign > 0 and bool(found.log > 0) and _bits(found.log) > _MAX_EXPONENT_BITS


_LEAST_LOG = 0.1


def differ_somewhere(reference: Node, answer: Node) -> bool:
    """Whether two expressions with letters differ at one value of each letter; False if that shows no difference."""
    letters = sorted(values.names(reference) | values.names(answer))
    point = {letter: Node("num", leaf=Fraction(2 * place + 3, 2)) for place, letter in enumerate(letters)}
    try:
        return bool(letters) and not same(replace_names(reference, point), replace_names(answer, point))
    except (NoValue, TooComplex):
        return False


def _is_product(node: Node) -> bool:
    """Whether a node has no sums and no functions, so that it cannot come near a number without equalling it."""
    return all(part.kind in _PRODUCTS for part in node.walk())


_PRODUCTS = frozenset(["num", "const", "*", "/", "neg", "^", "root", "!", "binom"])


def _of_answer(node: Node) -> Logarithm | None:
    try:
        return _logarithm(node)
    except NoValue:
        return None


def _logarithm(node: Node) -> Logarithm:
    rule = _RULES.get(node.kind)
    if rule is not None and _is_large(node):
        return rule(*node.args)
    if node.kind == "fn" and node.leaf == "exp":
        return _power(_E, node.args[0])
    if node.kind == "fn" and node.leaf == "ln" and _is_large(node):
        return _log(_E, node.args[0])
    return _small(node)


_E = Node("const", leaf="e")


def _is_large(node: Node) -> bool:
    try:
        _small(node)
    except TooComplex:
        return True
    return False


def _small(node: Node) -> Logarithm:
    """The logarithm of a node with an ordinary value.

    The logarithm of a product is as exact as any number; the logarithm of a sum has to show its last bit.
    """
    value, magnitude = values.measured(node)
    if mpmath.im(value) != 0 or value == 0:
        raise NoValue("not a real number other than 0")
    value = mpmath.re(value)
    log = mpmath.log(abs(value))
    needed = _bits(log) if _is_product(node) else 4 * magnitude + 64
    return Logarithm(1 if value > 0 else -1, log, max(_bits(log), needed))


def _bits(log: Number) -> int:
    """The bits of a logarithm before the point."""
    if not mpmath.isfinite(log):
        raise NoValue("not a finite number")
    return max(int(mpmath.mag(log)), 1) if log != 0 else 1


def _product(*factors: Node) -> Logarithm:
    parts = [_logarithm(factor) for factor in factors]
    log = mpmath.fsum(part.log for part in parts)
    sign = -1 if sum(part.sign < 0 for part in parts) % 2 else 1
    return Logarithm(sign, log, max(_bits(log), *(part.bits for part in parts)))


def _quotient(top: Node, bottom: Node) -> Logarithm:
    one, two = _logarithm(top), _logarithm(bottom)
    log = one.log - two.log
    return Logarithm(one.sign * two.sign, log, max(_bits(log), one.bits, two.bits))


def _negative(inner: Node) -> Logarithm:
    found = _logarithm(inner)
    return Logarithm(-found.sign, found.log, found.bits)


def _power(base: Node, exponent: Node) -> Logarithm:
    foot, height = _logarithm(base), _value(exponent)
    if foot.sign < 0:
        raise NoValue("a large power of a negative number")
    log = foot.log * height
    return Logarithm(1, log, max(_bits(log), foot.bits))


def _value(node: Node) -> Number:
    """The value of an exponent: an ordinary number, or one whose logarithm is an ordinary number."""
    found = _logarithm(node)
    if _bits(found.log) > _MAX_EXPONENT_BITS:
        raise TooComplex("an exponent is too large")
    return found.sign * mpmath.exp(found.log) if _is_large(node) else values.at(node, {})


def _log(base: Node, inner: Node) -> Logarithm:
    """The logarithm of a large number, which is an ordinary number."""
    foot = mpmath.log(10) if base == BARE_LOG else mpmath.log(values.at(base, {}))
    found = _logarithm(inner)
    if found.sign < 0 or mpmath.im(foot) != 0 or foot == 0 or found.log == 0:
        raise NoValue("no real logarithm other than 0")
    value = found.log / foot
    log = mpmath.log(abs(value))
    return Logarithm(1 if value > 0 else -1, log, max(_bits(log), found.bits))


def _root(base: Node, degree: Node) -> Logarithm:
    inner = _logarithm(base)
    order = values.at(degree, {})
    if inner.sign < 0 or order == 0:
        raise NoValue("a root of a negative number, or of degree 0")
    return Logarithm(1, inner.log / order, inner.bits)


def _factorial(node: Node) -> Logarithm:
    value = _value(node)
    if value < 0 or (not _is_large(node) and not mpmath.isint(value)):
        raise NoValue("a factorial of what is not a natural number")
    log = _log_factorial(value)
    return Logarithm(1, log, _bits(log))


def _binomial(above: Node, below: Node) -> Logarithm:
    n, k = (values.at(node, {}) for node in (above, below))
    if not (mpmath.isint(n) and mpmath.isint(k) and 0 <= k <= n):
        raise NoValue("no binomial coefficient of natural numbers")
    above_log = _log_factorial(n)
    return Logarithm(1, above_log - _log_factorial(k) - _log_factorial(n - k), _bits(above_log))


def _log_factorial(value: Number) -> Number:
    if mp.prec > _MAX_GAMMA_BITS:
        raise TooComplex("a factorial is too large")
    return mpmath.loggamma(value + 1)


def _sum(*terms: Node) -> Logarithm:
    """The logarithm of a sum: its largest term, and the others as far as the working precision shows them."""
    parts = sorted((_logarithm(term) for term in terms if not _is_zero(term)), key=lambda part: part.log)
    largest = parts[-1]
    visible = [part for part in parts[:-1] if largest.log - part.log < 2 * mp.prec]
    rest = mpmath.fsum(part.sign * largest.sign * mpmath.exp(part.log - largest.log) for part in visible)
    if 1 + rest < mpmath.ldexp(1, -_FIRST_BITS // 4):
        raise TooComplex("large terms that cancel")
    log = largest.log + mpmath.log1p(rest)
    gap = (largest.log - parts[0].log) / mp.ln2
    gap_bits = int(gap) + 1 if gap < _MAX_BITS else _MAX_BITS
    return Logarithm(largest.sign, log, max(_bits(log), gap_bits, *(part.bits for part in parts)))


def _is_zero(node: Node) -> bool:
    return node == values.ZERO


_RULES: Mapping[str, Callable[..., Logarithm]] = {
    "*": _product, "/": _quotient, "neg": _negative, "^": _power, "root": _root, "!": _factorial, "binom": _binomial,
    "log": _log, "+": _sum,
}  # fmt: skip
