"""Measures what work costs: the CPU time of a text against that of a shorter one, so that no machine is too slow.

Only the working thread is measured. Meanwhile the garbage of other tests is not collected, and what they left is looked at
once, not at each measurement.
"""

import gc
import signal
from collections.abc import Callable
from time import thread_time
from types import FrameType

_FACTOR = 4
_MAX_GROWTH = 9.0
"""The most growth that is allowed. Linear work grows by 4, quadratic work by 16."""
_UNNOTICED_S = 0.004
_TRIES = 4
_ENDLESS_S = 120.0
"""CPU seconds. They are thousands of times what is allowed, and little beside a real fault, which takes hours or
years."""


class Endless(Exception):
    """The work would not have ended for a long time."""


def stays_in_proportion(function: Callable[[str], object], unit: str, chars: int) -> bool:
    """Whether a text of this many characters takes about four times as long as a quarter of it."""
    short, long = (unit * (count // len(unit)) for count in (chars // _FACTOR, chars))
    function(short)
    return any(
        _cpu_s(lambda: function(long)) <= _MAX_GROWTH * max(_cpu_s(lambda: function(short)), _UNNOTICED_S)
        for _ in range(_TRIES)
    )


def ends(function: Callable[[], object]) -> None:
    """Call a function that takes a moment if it is right, and hours if it is wrong, such as a pattern that backtracks.

    Call it in the main thread: `re` looks for that thread's signals while it matches.

    Raises:
        Endless
    """

    def give_up(number: int, frame: FrameType | None) -> None:
        raise Endless

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, _ENDLESS_S)
    try:
        function()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _cpu_s(function: Callable[[], object]) -> float:
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        started = thread_time()
        function()
        return thread_time() - started
    finally:
        gc.enable()
