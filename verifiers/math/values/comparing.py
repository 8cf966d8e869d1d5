"""Decides whether two expressions are the same, in order, proportional, or apart by a constant."""

from contextlib import suppress

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.math.matrices import same_product
from verifiers.math.points import names
from verifiers.math.tree import Node, TooComplex, infinite
from verifiers.math.values.numbers import NoValue, Number
from verifiers.math.values.rational import exact, exact_or_none
from verifiers.math.values.residues import proved
from verifiers.math.values.sampling import (
    MIN_POINTS,
    confirmed,
    has_value,
    is_real_within,
    meet,
    near,
    pairs,
    rounding_noise,
    seem_apart,
)
from verifiers.math.values.traits import has_bare_log


def same(reference: Node, answer: Node) -> bool:
    """Whether two expressions have the same value wherever the reference has one.

    Raises:
        NoValue: the reference has no value that can be computed.
        TooComplex: a value beyond the limits.
    """
    lhs, rhs = exact(reference), exact_or_none(answer)
    if lhs is not None and rhs is not None:
        return lhs == rhs
    ordered = same_product(reference, answer)
    if ordered is not None:
        return ordered
    bases = (None, 1) if has_bare_log(reference) != has_bare_log(answer) else (None,)
    is_open = not seem_apart(reference, answer)
    if is_open and proved(reference, answer) and any(meet(reference, answer, log_base) for log_base in bases):
        return True
    return any(_agree(reference, answer, log_base) for log_base in bases)


def surely_same(reference: Node, answer: Node) -> bool:
    """Whether two expressions have the same value, as far as that can be computed."""
    try:
        return same(reference, answer)
    except (NoValue, TooComplex):
        return False


def check(node: Node) -> None:
    """Compute one value of an expression, as a comparison with any answer would.

    Raises:
        NoValue: it has no value that can be computed.
        TooComplex: all values that were tried are beyond the limits.
    """
    if exact(node) is None and same_product(node, node) is None and not has_value(node):
        next(pairs(node, node, None), None)


def check_breaks(node: Node) -> None:
    """Compute an expression wherever it is compared with an equal one, on both sides of each of its breaks.

    Raises:
        TooComplex: a value beside a break is beyond the limits, so that no expression can be shown to be equal.
    """
    with suppress(NoValue):
        for _ in pairs(node, node, None):
            pass


def order(lhs: Node, rhs: Node) -> int:
    """The order of two real constants or infinities: -1, 0 or 1.

    Raises:
        NoValue: one is not a real constant.
        TooComplex: a value beyond the limits.
    """
    if lhs == rhs:
        return 0
    lhs_sign, rhs_sign = infinite(lhs), infinite(rhs)
    if lhs_sign or rhs_sign:
        return (lhs_sign > rhs_sign) - (lhs_sign < rhs_sign)
    first, second = exact(lhs), exact(rhs)
    if first is not None and second is not None:
        return (first > second) - (first < second)
    if names(lhs) or names(rhs):
        raise NoValue("it depends on a variable")
    if same(lhs, rhs):
        return 0
    for left_value, right_value, bits, _ in pairs(lhs, rhs, None):
        if right_value is None or not (is_real_within(left_value, bits) and is_real_within(right_value, bits)):
            raise NoValue("not real")
        return 1 if mpmath.re(left_value) > mpmath.re(right_value) else -1
    raise NoValue("no value")


def constant_difference(reference: Node, answer: Node) -> bool:
    """Whether two expressions in the same variables differ by the same number wherever both have a value."""
    differences: list[Number] = []
    try:
        for lhs, rhs, bits, magnitude in pairs(reference, answer, 1):
            if rhs is None:
                return False
            with mp.workprec(bits):
                differences.append(lhs - rhs)
                if not near(differences[0], differences[-1], bits, magnitude):
                    return False
    except (NoValue, TooComplex):
        return False
    return len(differences) >= MIN_POINTS


def proportional(reference: Node, answer: Node, positive: bool) -> bool:
    """Whether the two are the same up to a constant factor other than zero; `positive`: the factor must be positive.

    Raises:
        NoValue: the reference has no values to compare.
        TooComplex: a value beyond the limits.
    """
    ratio: Number | None = None
    agreed = 0
    for lhs, rhs, bits, magnitude in pairs(reference, answer, None):
        if rhs is None:
            return False
        with mp.workprec(bits):
            noise = rounding_noise(bits, magnitude)
            smaller, larger = sorted((abs(lhs), abs(rhs)))
            if smaller <= noise < mpmath.ldexp(larger, -64):
                return False
            if smaller <= mpmath.ldexp(noise, 64):
                continue
            current = lhs / rhs
            if ratio is not None and abs(current - ratio) > mpmath.ldexp(abs(ratio) * noise / smaller, 4):
                return False
            ratio = current if ratio is None else ratio
            agreed += 1
    if ratio is None or agreed < MIN_POINTS:
        raise NoValue("no points to compare at")
    return not positive or (mpmath.im(ratio) == 0 and ratio > 0)


def _agree(reference: Node, answer: Node, log_base: int | None) -> bool:
    agreed = 0
    for lhs, rhs, bits, magnitude in pairs(reference, answer, log_base):
        if rhs is None or not near(lhs, rhs, bits, magnitude):
            return False
        agreed += 1
    if agreed and not confirmed(reference, answer, log_base):
        return False
    if agreed < (MIN_POINTS if names(reference) | names(answer) else 1):
        raise NoValue("the two have values together at too few points")
    return True
