r"""Decides which side is at fault if a comparison cannot be finished, for all verifiers that compare mathematics.

    the reference alone breaks a limit, or cannot be compared with itself          invalid  `reference_too_complex`
    the answer is larger than its reference can justify                            0        `too_complex`
    anything else: a sum that cannot be evaluated, an equality neither proved
    nor refuted, a worker's time or memory                                         failed   `too_complex`

A limit of this service must not make an answer wrong, and an answer must not avoid a 0 by exhausting the service. An
answer is larger than its reference can justify if it

* is longer, nested deeper, or has more parts than the reader allows, or needs a value, a sum or a product beyond the
  limits, although the reference itself can be read and computed (`TooComplex`);
* holds a sum, an integral or a limit that cannot be evaluated (`Undecided`, a broken limit of a worker), although the
  reference is a plain number, which leaves nothing to compute; or is several times as long as its reference;
* holds an integral, a limit or something infinite, where no reference does: whoever is asked for one of these is asked
  for its value, and one that has none would otherwise keep any reference from being judged.
"""

import re
from collections.abc import Sequence

from verifiers.math.exact import is_number
from verifiers.math.solutions import final_answer

_INFINITE = re.compile(r"\\(?:i{1,4}nt|oint|lim|infty|inf)(?![a-z])|[∫∮∞]|\b(?:lim|infinity)\b")
_TIMES_AS_LONG = 4
_FREE_CHARS = 200
"""An answer may have this many more characters than the shortest reference: a closed form is often shorter than the
expression that it comes from."""


def is_ours(references: Sequence[str], answer: str, free_chars: int = _FREE_CHARS) -> bool:
    """Whether a broken limit is not a verdict on the answer, because one of its references justifies its size."""
    needs_limit = _INFINITE.search(answer) is not None
    return any(
        (not needs_limit or _INFINITE.search(reference) is not None)
        and not is_number(final := final_answer(reference))
        and len(answer) <= _TIMES_AS_LONG * len(final) + free_chars
        for reference in references
    )
