"""How the work on a text grows with its length: compared in CPU time with itself, so that no machine is too slow.

Only the thread that works is measured, and no collection of what other tests have left is made meanwhile.
"""

import gc
from collections.abc import Callable
from time import thread_time

_FACTOR = 4
_MAX_GROWTH = 9.0
"""Between 4, for what is linear, and 16, for what is quadratic."""
_UNNOTICED_S = 0.004
_TRIES = 4


def stays_in_proportion(function: Callable[[str], object], unit: str, chars: int) -> bool:
    """Whether a text of so many characters takes about four times as long as a quarter of it."""
    short, long = (unit * (count // len(unit)) for count in (chars // _FACTOR, chars))
    function(short)
    return any(
        _cpu_s(function, long) <= _MAX_GROWTH * max(_cpu_s(function, short), _UNNOTICED_S) for _ in range(_TRIES)
    )


def _cpu_s(function: Callable[[str], object], text: str) -> float:
    gc.collect()
    gc.disable()
    try:
        started = thread_time()
        function(text)
        return thread_time() - started
    finally:
        gc.enable()
