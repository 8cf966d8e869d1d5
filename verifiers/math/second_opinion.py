"""What Math-Verify says where our reader is at a loss, or says no. Runs in worker processes only.

It is asked about the answer that the response commits to, never about the response, so that no earlier number, no box in
thinking and no choice left open can be what it accepts. Its acceptance counts where no veto holds (`vetoes`) and the
values are the same to many digits: it takes differences for nothing that are small beside 1. Its rejection counts for
nothing, as does all that it raises.
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
"""As LaTeX alone, since its reader of plain arithmetic evaluates what it reads; and that it cannot read both sides either,
and finds them written alike, is no opinion."""
_DIGITS = 120
_NEAR = sympy.Float(10, _DIGITS) ** -100


@worker_function
def second(payload: Sequence[Any]) -> bool:
    """Whether an acceptance stands: `(references, answer)`."""
    references, answer = payload
    given = unwrap(answer)
    if limits.refusal(given) is not None:
        return False
    return any(_accepts(unwrap(final_answer(str(reference))), given) for reference in references)


def _accepts(reference: str, answer: str) -> bool:
    if vetoes.first(reference, answer) is not None:
        return False
    gold, read = grading.read(f"${reference}$", _PARSING), grading.read(f"${answer}$", _PARSING)
    if isinstance(gold, grading.Fault) or isinstance(read, grading.Fault):
        return False
    return grading.compare(gold, read, Terms()) is True and _are_near(gold, read)


def _are_near(gold: Sequence[Any], read: Sequence[Any]) -> bool:
    """Whether each number on one side is the same on the other, in order of size; without numbers there is no doubt."""
    return all(_same(_numbers(one), _numbers(other)) for one, other in product(gold, read))


def _numbers(part: Any) -> list[Any]:
    """The value, or those of the elements, in order of size; none of what has no value."""
    is_container = isinstance(part, sympy.Set | sympy.Tuple | sympy.MatrixBase)
    parts = list(part if isinstance(part, sympy.MatrixBase) else part.args) if is_container else [part]
    values = [_exact(each).evalf(_DIGITS) for each in parts if each.is_number]
    return sorted(values, key=lambda value: tuple(map(float, value.as_real_imag())))


def _exact(part: Any) -> Any:
    """With decimals as the numbers that they are written as."""
    return part.xreplace({decimal: sympy.Rational(str(decimal)) for decimal in part.atoms(sympy.Float)})


def _same(ones: Sequence[Any], others: Sequence[Any]) -> bool:
    if len(ones) != len(others):
        return False
    return all(one == other or abs(one - other) < abs(one) * _NEAR for one, other in zip(ones, others, strict=True))
