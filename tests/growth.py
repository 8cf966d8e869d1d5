"""What work costs: compared in CPU time with itself, or with a plain loop timed beside it, so that no machine is too slow.

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
_LOOPS = 500_000
_LOOPS_S = 0.006
"""What so many turns of a plain loop take on an ordinary machine of 2026."""


def stays_in_proportion(function: Callable[[str], object], unit: str, chars: int) -> bool:
    """Whether a text of so many characters takes about four times as long as a quarter of it."""
    short, long = (unit * (count // len(unit)) for count in (chars // _FACTOR, chars))
    function(short)
    return any(
        _cpu_s(lambda: function(long)) <= _MAX_GROWTH * max(_cpu_s(lambda: function(short)), _UNNOTICED_S)
        for _ in range(_TRIES)
    )


def costs_at_most(seconds: float, function: Callable[[], object]) -> bool:
    """Whether a call takes so many CPU seconds of an ordinary machine: for what would take hours if it went wrong."""
    for _ in range(_TRIES):
        before_s, used_s, after_s = _cpu_s(_loop), _cpu_s(function), _cpu_s(_loop)
        if used_s <= seconds * max(1.0, before_s / _LOOPS_S, after_s / _LOOPS_S):
            return True
    return False


def _loop() -> None:
    for _ in range(_LOOPS):
        pass


def _cpu_s(function: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    try:
        started = thread_time()
        function()
        return thread_time() - started
    finally:
        gc.enable()
