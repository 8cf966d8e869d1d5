"""How long it takes to compile a caller's regular expression with RE2: the event loop compiles only small ones."""

import math
import re
from typing import Final

_REPETITION: Final = re.compile(r"(?:\{|,)\s?(\d{1,4})(?=\s?[,}])")
_MAX_CHARS: Final = 500
_MAX_REPETITIONS: Final = 500
_MAX_CLASSES: Final = 4
"""Classes of Unicode have hundreds of ranges."""


def is_small(pattern: str) -> bool:
    """Whether a pattern compiles in about a millisecond: it is short, and repeats nothing many times."""
    if len(pattern) > _MAX_CHARS:
        return False
    repetitions = math.prod(max(1, int(number)) for number in _REPETITION.findall(pattern))
    classes = pattern.count("\\p") + pattern.count("\\P")
    return repetitions <= (_MAX_CLASSES // classes if classes else _MAX_REPETITIONS)
