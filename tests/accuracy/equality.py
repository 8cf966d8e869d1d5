r"""Draws pairs of expressions that are equal on a part of the line only, and pairs that are equal by an identity.

A pair that is *partly equal* is a function f with both signs and what a fold, a jump or a branch makes of it: f and |f|,
f and \max(f, 0), f and \sqrt{f^2}, f and \arcsin(\sin f). Where f changes its sign is drawn from all magnitudes. A
pair that is *equal* has an identity between its sides: trigonometric, of logarithms, nested radicals, half angles,
factorials and binomials, sums in closed form. A pair that is a *near miss* has an identity with a slip in it: a sign, an
index, sine for cosine, floor for ceiling, 10^{-9}. Both sides are then put into the same larger expression, which differs
for different values. A shape is one choice of function, fold, identity or slip, and larger expression; its numbers are
drawn anew.

Equal means: the same value wherever both sides have one, for real letters, on more than single points.
"""

import multiprocessing
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from multiprocessing.connection import Connection
from time import perf_counter, process_time
from typing import Any

import sympy
from math_verify import parse

from tests.accuracy.real_data import Outcome, Rows


@dataclass(frozen=True, slots=True)
class Pair:
    """Two expressions, whether they are equal, and the shape that they were made from."""

    reference: str
    answer: str
    is_equal: bool
    shape: str


class Numbers:
    """Draws numbers as they are written."""

    def __init__(self, source: random.Random) -> None:
        self._source = source

    def small(self) -> int:
        return self._source.randint(2, 9)

    def place(self) -> str:
        """A positive number of any magnitude: where a function changes its sign."""
        source = self._source
        match source.randrange(5):
            case 0:
                return str(source.randint(1, 12))
            case 1:
                return str(source.randint(13, 2_000))
            case 2:
                return str(source.randint(1, 9) * 10 ** source.randint(3, 7))
            case 3:
                return rf"\frac{{{source.randint(1, 40)}}}{{{source.randint(2, 30)}}}"
            case _:
                return f"{source.randint(0, 99)}.{source.randint(1, 9)}"

    def different(self) -> tuple[int, int]:
        one, two = self._source.sample(range(2, 40), 2)
        return one, two


# --- partly equal

_Made = Callable[[Numbers], str]
_SIGNED: Mapping[str, _Made] = {
    "x-c": lambda draw: f"x-{draw.place()}",
    "x+c": lambda draw: f"x+{draw.place()}",
    "c-ax": lambda draw: f"{draw.place()}-{draw.small()}x",
    "x^2-c": lambda draw: f"x^2-{draw.place()}",
    "x^3-cx": lambda draw: f"x^3-{draw.place()}x",
    "x^2+2cx": lambda draw: f"x^2+{2 * draw.small()}x",
    "e^x-c": lambda draw: f"e^x-{draw.small()}",
    "ln x-c": lambda draw: rf"\ln x-{draw.small()}",
    "sqrt x-c": lambda draw: rf"\sqrt{{x}}-{draw.place()}",
    "x+y-c": lambda draw: f"x+y-{draw.place()}",
    "x-ay": lambda draw: f"x-{draw.small()}y",
    "xy-c": lambda draw: f"xy-{draw.place()}",
    "n-c, natural": lambda draw: f"n-{draw.small() * 7}",
    "x-c/x": lambda draw: rf"x-\frac{{{draw.place()}}}{{x}}",
}
"""Functions that have both signs, and all values beyond some, where they have any."""
_FOLDS: Mapping[str, tuple[str, str]] = {
    "|f|": ("F", "|F|"),
    "-|f|": ("F", "-|F|"),
    "|-f|": ("-(F)", r"\left|-(F)\right|"),
    "max(f, 0)": ("F", r"\max(F,0)"),
    "min(f, 0)": ("F", r"\min(F,0)"),
    "max(0, f) and 0": ("0", r"\max(0,F)"),
    "max(f, -f)": ("F", r"\max(F,-(F))"),
    "sqrt(f^2)": ("F", r"\sqrt{(F)^2}"),
    "-sqrt(f^2)": ("F", r"-\sqrt{(F)^2}"),
    "(f^4)^(1/4)": ("F", r"((F)^4)^{1/4}"),
    "(f^6)^(1/2)": ("(F)^3", r"\sqrt{(F)^6}"),
    "f|f|": ("(F)^2", "(F)|F|"),
    "|f|/f": ("1", r"\frac{|F|}{F}"),
    "sgn f": ("1", r"\operatorname{sgn}(F)"),
    "-sgn f": ("-1", r"\operatorname{sgn}(F)"),
    "|f|-f": ("0", "|F|-(F)"),
    "(f+|f|)/2": ("F", r"\frac{F+|F|}{2}"),
    "arcsin sin": ("F", r"\arcsin(\sin(F))"),
    "arccos cos": ("F", r"\arccos(\cos(F))"),
    "arctan tan": ("F", r"\arctan(\tan(F))"),
    "arctan f + arctan 1/f": (r"\frac{\pi}{2}", r"\arctan(F)+\arctan\frac{1}{F}"),
    "sqrt(1-cos^2)": (r"\sin(F)", r"\sqrt{1-\cos^2(F)}"),
    "cosh": (r"e^{F}", r"e^{|F|}"),
    "floor": ("0", r"\left\lfloor\frac{F}{10^9+(F)^2}\right\rfloor"),
}
"""What is f, -f or a constant where f has one sign, and something else where it has the other."""
_AROUND: Mapping[str, str] = {
    "alone": "E",
    "ae+b": "A(E)+B",
    "e+x^2": "(E)+x^2",
    "e^3": "(E)^3",
    "quotient": r"\frac{E}{x^2+A}",
    "arctan": r"\arctan(E)",
    "sum of both": r"B-\frac{E}{A}+\sin x",
}
"""Larger expressions that differ if what is put into them differs."""
PARTLY = tuple(product(_SIGNED, _FOLDS, _AROUND))


def partly_equal(source: random.Random) -> Pair:
    """A pair that is equal on a part of the line only."""
    function, fold, around = shape = source.choice(PARTLY)
    draw = Numbers(source)
    inner = _SIGNED[function](draw)
    sides = [side.replace("F", inner) for side in _FOLDS[fold]]
    one, two = _put_in(around, sides, draw)
    if "natural" in function:
        one, two = f"{one}+0\\cdot n!", f"{two}+0\\cdot n!"
    return Pair(one, two, False, " / ".join(shape))


def _put_in(around: str, sides: list[str], draw: Numbers) -> list[str]:
    frame = _AROUND[around].replace("A", str(draw.small())).replace("B", str(draw.small()))
    return [frame.replace("E", side) for side in sides]


# --- equal

_IDENTITIES: Mapping[str, tuple[str, str]] = {
    "Pythagoras": (r"\sin^2(F)", r"1-\cos^2(F)"),
    "double sine": (r"\sin(2(F))", r"2\sin(F)\cos(F)"),
    "double cosine": (r"\cos(2(F))", r"1-2\sin^2(F)"),
    "double tangent": (r"\tan(2(F))", r"\frac{2\tan(F)}{1-\tan^2(F)}"),
    "triple sine": (r"\sin(3(F))", r"3\sin(F)-4\sin^3(F)"),
    "triple cosine": (r"\cos(3(F))", r"4\cos^3(F)-3\cos(F)"),
    "secant": (r"\sec^2(F)", r"1+\tan^2(F)"),
    "half angle": (r"\tan\left(\frac{F}{2}\right)", r"\frac{1-\cos(F)}{\sin(F)}"),
    "half angle, other": (r"\tan\left(\frac{F}{2}\right)", r"\frac{\sin(F)}{1+\cos(F)}"),
    "half angle, absolute": (r"\left|\sin\left(\frac{F}{2}\right)\right|", r"\sqrt{\frac{1-\cos(F)}{2}}"),
    "cosine by half angle": (r"\cos(F)", r"\frac{1-\tan^2\frac{F}{2}}{1+\tan^2\frac{F}{2}}"),
    "product to sum": (r"\sin(F)\cos(Ax)", r"\frac{\sin(F+Ax)+\sin(F-Ax)}{2}"),
    "sum to product": (r"\cos(F)+\cos(Ax)", r"2\cos\frac{F+Ax}{2}\cos\frac{F-Ax}{2}"),
    "shift": (r"\sin(F)+\cos(F)", r"\sqrt{2}\sin\left(F+\frac{\pi}{4}\right)"),
    "hyperbolic": (r"\cosh^2(Ax)", r"1+\sinh^2(Ax)"),
    "hyperbolic sine": (r"\sinh(Ax)", r"\frac{e^{Ax}-e^{-Ax}}{2}"),
    "logarithm of a power": (r"\ln((F)^2)", r"2\ln|F|"),
    "logarithm of a product": (r"\ln(A(x^2+1))", r"\ln A+\ln(x^2+1)"),
    "logarithm of a quotient": (r"\ln\frac{x^2+A}{x^2+1}", r"\ln(x^2+A)-\ln(x^2+1)"),
    "change of base": (r"\log_{A}(x^2+B)", r"\frac{\ln(x^2+B)}{\ln A}"),
    "power of a logarithm": (r"A^{\ln(x^2+1)}", r"(x^2+1)^{\ln A}"),
    "arsinh": (r"\operatorname{arsinh}(F)", r"\ln\left(F+\sqrt{(F)^2+1}\right)"),
    "exponential": (r"e^{F}e^{Ax}", r"e^{F+Ax}"),
    "root of a square": (r"\sqrt{(F)^2}", r"|F|"),
    "square written out": (r"|x+A|", r"\sqrt{x^2+2\cdot A x+A^2}"),
    "maximum": (r"\max(F,Ax)", r"\frac{F+Ax+|F-Ax|}{2}"),
    "minimum": (r"\min(F,0)", r"\frac{F-|F|}{2}"),
    "sign": (r"|F|", r"(F)\operatorname{sgn}(F)"),
    "square of an absolute value": (r"|F|^2", r"(F)^2"),
    "cube root": (r"\sqrt[3]{(F)^3}", r"F"),
    "rationalised": (r"\frac{1}{\sqrt{x^2+A}-x}", r"\frac{\sqrt{x^2+A}+x}{A}"),
    "conjugate": (r"\frac{x}{\sqrt{x+A}-\sqrt{A}}", r"\sqrt{x+A}+\sqrt{A}"),
    "nested radical": (r"\sqrt{P+Q+2\sqrt{P\cdot Q}}", r"\sqrt{P}+\sqrt{Q}"),
    "nested radical with x": (r"\sqrt{x+2\sqrt{x-1}}", r"|1+\sqrt{x-1}|"),
    "nested radical, difference": (r"\sqrt{x+A-2\sqrt{Ax}}", r"|\sqrt{x}-\sqrt{A}|"),
    "partial fractions": (r"\frac{1}{(x+P)(x+Q)}", r"\frac{\frac{1}{x+P}-\frac{1}{x+Q}}{Q-P}"),
    "difference of squares": (r"(F)^2-A^2", r"(F-A)(F+A)"),
    "sum of cubes": (r"(F)^3+A^3", r"(F+A)((F)^2-A(F)+A^2)"),
    "binomial formula": (r"(x+A)^4", r"x^4+4\cdot A x^3+6\cdot A^2x^2+4\cdot A^3x+A^4"),
    "Sophie Germain": (r"x^4+4\cdot A^4", r"(x^2+2\cdot A x+2\cdot A^2)(x^2-2\cdot A x+2\cdot A^2)"),
    "factorial": (r"(n+1)!", r"(n+1)n!"),
    "quotient of factorials": (r"\frac{(n+2)!}{n!}", r"n^2+3n+2"),
    "Pascal": (r"\binom{n+1}{k+1}", r"\binom{n}{k}+\binom{n}{k+1}"),
    "symmetry": (r"\binom{n}{k}", r"\binom{n}{n-k}"),
    "absorption": (r"k\binom{n}{k}", r"n\binom{n-1}{k-1}"),
    "binomial by factorials": (r"\binom{2n}{n}", r"\frac{(2n)!}{(n!)^2}"),
    "double factorial": (r"\frac{(2n)!}{2^n n!}", r"(2n-1)!!"),
    "sum of integers": (r"\sum_{k=1}^{n} (Ak+B)", r"\frac{A n(n+1)}{2}+B n"),
    "sum of squares": (r"\sum_{k=1}^{n} k^2", r"\frac{n(n+1)(2n+1)}{6}"),
    "sum of cubes of integers": (r"\sum_{k=1}^{n} k^3", r"\left(\frac{n(n+1)}{2}\right)^2"),
    "geometric sum": (r"\sum_{k=0}^{n} A^k", r"\frac{A^{n+1}-1}{A-1}"),
    "telescoping sum": (r"\sum_{k=1}^{n} \frac{1}{k(k+1)}", r"\frac{n}{n+1}"),
    "sum of binomials": (r"\sum_{k=0}^{n} \binom{n}{k}", r"2^n"),
    "alternating signs": (r"(-1)^{n+1}", r"-\cos(n\pi)+0\cdot n!"),
}  # fmt: skip
_SMOOTH: Mapping[str, _Made] = {
    **{name: _SIGNED[name] for name in ("x-c", "x+c", "x^2-c", "c-ax", "x+y-c", "x-ay")},
    "ax": lambda draw: f"{draw.small()}x",
}
EQUAL = tuple(product(_SMOOTH, _IDENTITIES, _AROUND))


def equal(source: random.Random) -> Pair:
    """A pair that is equal by an identity, in either order."""
    function, identity, around = shape = source.choice(EQUAL)
    draw = Numbers(source)
    sides = _written_out(function, _IDENTITIES[identity], draw, source)
    one_side, other = _put_in(around, list(sides), draw)
    return Pair(one_side, other, True, " / ".join(shape))


# --- near misses

_SLIPS: Mapping[str, str] = {
    "off by 1e-9": r"E+10^{-9}",
    "off by a billionth": r"(E)(1+10^{-9})",
    "off by a term": r"E+\frac{x}{10^9}",
    "opposite": "-(E)",
    "off by one": "E-1",
    "twice": "2(E)",
}
"""What makes any side another one; none of the sides is 0."""
_WRONG: Mapping[str, tuple[str, str]] = {
    "sine and cosine": (r"\sin^2(F)", r"1-\sin^2(F)"),
    "double sine": (r"\sin(2(F))", r"2\cos(F)\cos(F)"),
    "double cosine": (r"\cos(2(F))", r"1+2\sin^2(F)"),
    "double tangent": (r"\tan(2(F))", r"\frac{2\tan(F)}{1+\tan^2(F)}"),
    "triple sine": (r"\sin(3(F))", r"4\sin^3(F)-3\sin(F)"),
    "triple cosine": (r"\cos(3(F))", r"4\cos^3(F)-3\sin(F)"),
    "secant": (r"\sec^2(F)", r"1-\tan^2(F)"),
    "half angle": (r"\tan\left(\frac{F}{2}\right)", r"\frac{1+\cos(F)}{\sin(F)}"),
    "half angle, without bars": (r"\sin\left(\frac{F}{2}\right)", r"\sqrt{\frac{1-\cos(F)}{2}}"),
    "shift": (r"\sin(F)+\cos(F)", r"\sqrt{2}\sin\left(F-\frac{\pi}{4}\right)"),
    "phase": (r"\cos(F)", r"\sin\left(F-\frac{\pi}{2}\right)"),
    "hyperbolic": (r"\cosh^2(Ax)", r"\sinh^2(Ax)-1"),
    "logarithm of a quotient": (r"\ln\frac{x^2+A}{x^2+1}", r"\ln(x^2+A)+\ln(x^2+1)"),
    "logarithm of a sum": (r"\ln(x^2+A)", r"\ln(x^2)+\ln A"),
    "change of base": (r"\log_{A}(x^2+B)", r"\frac{\ln A}{\ln(x^2+B)}"),
    "exponential": (r"e^{F}e^{Ax}", r"e^{F}+e^{Ax}"),
    "power of a power": (r"(x^2+1)^{A}", r"(x^2+1)^{A+1}"),
    "missing bars": (r"\sqrt{(F)^2}", r"F"),
    "maximum": (r"\max(F,Ax+B)", r"\frac{F+Ax+B-|F-Ax-B|}{2}"),
    "cube root": (r"\sqrt[3]{(F)^3}", r"|F|"),
    "root of a sum": (r"\sqrt{x^2+A^2}", r"|x|+A"),
    "rationalised": (r"\frac{1}{\sqrt{x^2+A}-x}", r"\frac{\sqrt{x^2+A}-x}{A}"),
    "partial fractions": (r"\frac{1}{(x+P)(x+Q)}", r"\frac{\frac{1}{x+P}-\frac{1}{x+Q}}{P-Q}"),
    "difference of squares": (r"(F)^2-A^2", r"(F-A)^2"),
    "binomial formula": (r"(x+A)^4", r"x^4+4\cdot A x^3+6\cdot A^2x^2+4\cdot A^2x+A^4"),
    "factorial": (r"(n+1)!", r"n\cdot n!"),
    "Pascal": (r"\binom{n+1}{k+1}", r"\binom{n}{k}+\binom{n}{k-1}"),
    "binomial": (r"\binom{2n}{n}", r"\frac{(2n)!}{n!}"),
    "sum of integers": (r"\sum_{k=1}^{n} (Ak+B)", r"\frac{A n(n-1)}{2}+B n"),
    "first index": (r"\sum_{k=0}^{n} A^k", r"\sum_{k=1}^{n} A^k"),
    "last index": (r"\sum_{k=1}^{n} k^2", r"\sum_{k=1}^{n-1} k^2"),
    "geometric sum": (r"\sum_{k=0}^{n} A^k", r"\frac{A^n-1}{A-1}"),
    "telescoping sum": (r"\sum_{k=1}^{n} \frac{1}{k(k+1)}", r"\frac{n+1}{n+2}"),
    "sum of binomials": (r"\sum_{k=0}^{n} \binom{n}{k}", r"2^{n-1}"),
    "alternating signs": (r"(-1)^{n+1}+0\cdot n!", r"(-1)^n+0\cdot n!"),
    "floor and ceiling": (r"\left\lceil\frac{n}{A}\right\rceil", r"\left\lfloor\frac{n}{A}\right\rfloor+1"),
    "floor at integers": (r"\lfloor Ax\rfloor", r"\lceil Ax\rceil-1"),
    "floor of a sum": (r"\lfloor Ax\rfloor", r"A\lfloor x\rfloor"),
    "remainder": (r"n \bmod A", r"n-A\left\lceil\frac{n}{A}\right\rceil"),
}  # fmt: skip
NEAR = tuple(product(_SMOOTH, [*_WRONG, *product(_IDENTITIES, _SLIPS)], _AROUND))


def near_miss(source: random.Random) -> Pair:
    """A pair that is not equal because of a slip in an identity: one that is often made, or a small one anywhere."""
    function, around = source.choice([*_SMOOTH]), source.choice([*_AROUND])
    if source.random() < 0.5:
        name = source.choice([*_WRONG])
        sides, slip = _WRONG[name], "E"
    else:
        identity, slipped = source.choice([*_IDENTITIES]), source.choice([*_SLIPS])
        name, sides, slip = f"{identity}, {slipped}", _IDENTITIES[identity], _SLIPS[slipped]
    one_side, other = _written_out(function, sides, Numbers(source), source)
    one_side, other = _put_in(around, [one_side, slip.replace("E", f"({other})")], Numbers(source))
    return Pair(one_side, other, False, f"{function} / {name} / {around}")


def _written_out(function: str, sides: tuple[str, str], draw: Numbers, source: random.Random) -> tuple[str, str]:
    """Both sides of an identity with numbers in it, in either order."""
    inner, (one, two), few, some = _SMOOTH[function](draw), draw.different(), draw.small(), draw.small()
    written = {"F": inner, "A": str(few), "B": str(some), "P": str(one), "Q": str(two)}
    left, right = ("".join(written.get(sign, sign) for sign in side) for side in sides)
    return (left, right) if source.random() < 0.5 else (right, left)


def pairs(count: int, seed: int, draw: Callable[[random.Random], Pair]) -> Iterator[Pair]:
    """This many pairs; the same for the same seed."""
    source = random.Random(seed)
    return (draw(source) for _ in range(count))


def as_rows(name: str, drawn: Iterable[Pair]) -> Rows:
    """Pairs as items with their labels: the answer in a box."""
    found = list(drawn)
    items = [
        {"verifier": "math", "response": f"The answer is $\\boxed{{{pair.answer}}}$.", "reference": pair.reference}
        for pair in found
    ]
    return Rows(name, items, [pair.is_equal for pair in found])


def judge_with_sympy(rows: Rows, limit_s: float = 2.0) -> Outcome:
    """Judge pairs as scripts around sympy do: both sides read by Math-Verify's reader, and their difference simplified.

    A pair that takes longer than the limit, or that sympy raises an error for, is not judged.
    """
    context = multiprocessing.get_context("fork")
    verdicts: list[dict[str, Any]] = []
    started_s, cpu_s = perf_counter(), 0.0
    for item in rows.items:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_simplify, args=(item["reference"], item["response"], sender), daemon=True)
        process.start()
        sender.close()
        equal, spent_s = receiver.recv() if receiver.poll(limit_s) else (None, limit_s)
        process.kill()
        process.join()
        receiver.close()
        cpu_s += spent_s
        status, reason = ("ok", "compared") if equal is not None else ("failed", "no verdict")
        verdicts.append({"status": status, "reason": reason, "score": None if equal is None else float(equal)})
    return Outcome("sympy", rows, verdicts, perf_counter() - started_s, cpu_s)


def _simplify(reference: str, response: str, sender: Connection) -> None:
    started_s = process_time()
    try:
        left, right = (parse(text, parsing_timeout=None)[0] for text in (f"${reference}$", response))
        equal = bool(sympy.simplify(left - right) == 0)
    except Exception:  # noqa: BLE001 - whatever sympy raises, it has no verdict
        equal = None
    sender.send((equal, process_time() - started_s))
