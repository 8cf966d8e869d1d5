r"""Whose fault it is that a comparison came to no end: the one rule for all who compare mathematics.

    the reference alone breaks a limit, or cannot be compared with itself          invalid  `reference_too_complex`
    the answer is larger than its reference can justify                            0        `too_complex`
    anything else: a sum that nobody can evaluate, an equality neither proved
    nor refuted, a worker's time or memory                                         failed   `too_complex`

A limit of ours is no wrong answer; an answer made to exhaust us is no way round a 0. Larger than justified is an answer that

* is longer, nested deeper, or made of more parts than is read, or asks for a value, a sum or a product beyond what is
  computed, where all of that could be done for the reference (`TooComplex`);
* takes a sum, an integral or a limit that comes to no end (`Undecided`, a broken limit of a worker) where the reference is a
  number written out, so that nothing was left to do; or is several times as long as its reference.
"""

from collections.abc import Sequence

from verifiers.math.exact import is_number
from verifiers.math.solutions import final_answer

_TIMES_AS_LONG = 4
_FREE_CHARS = 200
"""So many more are in proportion to the shortest reference: closed forms are short, what they come from is not."""


def is_ours(references: Sequence[str], answer: str, free_chars: int = _FREE_CHARS) -> bool:
    """Whether a comparison that came to no end is no verdict on the answer: one of its references justifies its size."""
    return any(
        not is_number(final := final_answer(reference)) and len(answer) <= _TIMES_AS_LONG * len(final) + free_chars
        for reference in references
    )
