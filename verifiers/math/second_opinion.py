"""Asks Math-Verify about answers that our reader cannot read or rejects. Runs in worker processes only.

Math-Verify is asked about the answer that the response commits to, never about the response, so that it cannot accept
an earlier number, a box in the thinking, or one of several open choices. Its acceptance counts if there is no veto
(`vetoes`) and the values agree to many digits, because Math-Verify ignores differences that are small beside 1. Its
rejections and its errors do not count.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import sympy

from sandbox.workers import worker_function
from verifiers.math import limits, vetoes
from verifiers.math.exact import unwrap
from verifiers.math.solutions import final_answer
from verifiers.math_verify import grading
from verifiers.math_verify.params import LatexTarget, Parsing, Terms

_PARSING = Parsing(targets=(LatexTarget(),), fallback_mode="no_fallback")
"""Only LaTeX is parsed, because its reader of plain arithmetic evaluates the text. If it can read neither side and
only finds them written alike, that is not an opinion."""
_DIGITS = 120
_NEAR = sympy.Float(10, _DIGITS) ** -100


@worker_function
def second(payload: Sequence[Any]) -> bool:
    """Whether Math-Verify accepts the answer and its acceptance counts: `(references, answer)`."""
    references, answer = payload
    answer_text = unwrap(answer)
    if limits.refusal(answer_text) is not None:
        return False
    return any(_accepts(unwrap(final_answer(str(reference))), answer_text) for reference in references)


def _accepts(reference: str, answer: str) -> bool:
    if vetoes.first(reference, answer) is not None:
        return False
    gold, read = grading.read(f"${reference}$", _PARSING), grading.read(f"${answer}$", _PARSING)
    if isinstance(gold, grading.Fault) or isinstance(read, grading.Fault):
        return False
    return grading.compare(gold, read, Terms()) is True and _are_near(gold, read)


def _are_near(gold: Sequence[Any], read: Sequence[Any]) -> bool:
    """Whether the numbers on both sides are the same, in order of size; true if there are no numbers."""
    return all(_same(_numbers(first), _numbers(second)) for first, second in product(gold, read))


def _numbers(part: Any) -> list[Any]:
    """The value, or the values of the elements, in order of size; a part without a value gives none."""
    is_container = isinstance(part, sympy.Set | sympy.Tuple | sympy.MatrixBase)
    elements = list(part if isinstance(part, sympy.MatrixBase) else part.args) if is_container else [part]
    values = [_exact(element).evalf(_DIGITS) for element in elements if element.is_number]
    return sorted(values, key=lambda value: tuple(map(float, value.as_real_imag())))


def _exact(part: Any) -> Any:
    """The same part with decimals as the exact numbers that are written."""
    return part.xreplace({decimal: sympy.Rational(str(decimal)) for decimal in part.atoms(sympy.Float)})


def _same(lhs: Sequence[Any], rhs: Sequence[Any]) -> bool:
    if len(lhs) != len(rhs):
        return False
    return all(a == b or abs(a - b) < abs(a) * _NEAR for a, b in zip(lhs, rhs, strict=True))
