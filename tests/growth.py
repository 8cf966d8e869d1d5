"""What work costs: the CPU time of a text against that of a shorter one, so that no machine is too slow.

Only the thread that works is measured, and no collection of what other tests have left is made meanwhile.
"""

import gc
import signal
from collections.abc import Callable
from time import thread_time
from types import FrameType

_FACTOR = 4
_MAX_GROWTH = 9.0
"""Between 4, for what is linear, and 16, for what is quadratic."""
_UNNOTICED_S = 0.004
_TRIES = 4
_ENDLESS_S = 120.0
"""CPU seconds: thousands of times what is allowed, and nothing beside what goes wrong, which takes hours or years."""


class Endless(Exception):
    """It would not have ended for a long time."""


def stays_in_proportion(function: Callable[[str], object], unit: str, chars: int) -> bool:
    """Whether a text of so many characters takes about four times as long as a quarter of it."""
    short, long = (unit * (count // len(unit)) for count in (chars // _FACTOR, chars))
    function(short)
    return any(
        _cpu_s(lambda: function(long)) <= _MAX_GROWTH * max(_cpu_s(lambda: function(short)), _UNNOTICED_S)
        for _ in range(_TRIES)
    )


def ends(function: Callable[[], object]) -> None:
    """Call what takes a moment where it is right, and hours where it is not, such as a pattern that tracks back.

    In the main thread, whose signals `re` looks for while it matches.

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
    gc.disable()
    try:
        started = thread_time()
        function()
        return thread_time() - started
    finally:
        gc.enable()
