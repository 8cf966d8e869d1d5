"""Watches the event loop: which steps on it take long, and what ran in them.

Nothing else happens while a step runs, so a step of a second is a second in which nobody is answered. A thread looks
at the loop's thread every ten milliseconds:

idle        the loop waits; there is no step
same step   since the last look the loop took no turn, and the same callback runs: its CPU time so far is noted
new step    a step that was noted has ended, and is counted if it took `LONG_S` or more

A call of C code that keeps the interpreter to itself keeps this thread from looking, too. It looks as soon as the call
is over, while its caller still runs; how long it had to wait says how long the call took at least. It also waits while C
code gives the interpreter up often, and others take it sooner: so the loop notes its turns while nobody looks.

So what is counted is less than what a step took, by twenty milliseconds at most. CPU time is counted, because on a shared
machine time also passes while other processes run.
"""

import asyncio
import contextlib
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final

from tracing.lines import Log

log = Log("rewardline.loop")

LONG_S: Final = 0.005
"""The CPU time that a step may take."""
_LOOK_EVERY_S: Final = 0.01
_LOUD_S: Final = 0.1
"""A step that takes longer has a line in the log."""
_LINE_EVERY_S: Final = 10.0
_STACK_LINES: Final = 12
_OURS: Final = ("service", "verifiers", "sandbox", "fairness", "tracing")
_IDLE_S: Final = 0.0005
"""CPU between two looks below which a loop that is in no step is left asleep."""
_MAX_NAMES: Final = 60
"""Each has a dozen samples, which a scrape collects in one step."""
_OTHER: Final = "other"


class LoopWatch:
    """The watch of one loop. `watching` runs it."""

    def __init__(self, observe: Callable[[str, float], None], *, look_every_s: float = _LOOK_EVERY_S) -> None:
        """`observe` gets the name of each long step, and its seconds of CPU. A thread calls it."""
        self._observe = observe
        self._look_every_s = look_every_s
        self._names: set[str] = set()
        self._turn = 0
        self._turn_s = 0.0
        """The CPU clock of the loop's thread in its last turn that was noted."""
        self._is_marked = False
        self._looks = 0
        self._ending = threading.Event()
        self._step: tuple[int, int] | None = None
        """The step at the last look: the turn of the loop, and the frame at the bottom of the callback."""
        self._begun_s = self._seen_s = 0.0
        """The CPU clock of the loop's thread when the step was first and last seen."""
        self._most_s = 0.0
        self._stack: list[str] = []
        """What ran between the two looks at this step between which it took most, innermost first."""
        self._quiet_until_s = 0.0
        self._left_out = 0

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the running loop while the block lasts."""
        loop = asyncio.get_running_loop()
        loop.call_soon(self._begin, loop)
        try:
            yield
        finally:
            self._ending.set()

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """A callback of the loop. So the frame below this one is that of the loop."""
        frame = sys._getframe().f_back
        self._turn_s = time.thread_time()
        loop.call_later(LONG_S, self._take_turn, loop, self._looks)
        work = (loop, threading.get_ident(), id(frame))
        threading.Thread(target=self._run, args=work, name="rewardline-loop-watch", daemon=True).start()

    def _run(self, loop: asyncio.AbstractEventLoop, thread: int, bottom: int) -> None:
        clock = time.pthread_getcpuclockid(thread)
        cpu_s, waits = time.clock_gettime(clock), _waits()
        while not self._ending.is_set():
            time.sleep(self._look_every_s)
            self._looks += 1
            before_s, cpu_s = cpu_s, time.clock_gettime(clock)
            waits_before, waits = waits, _waits()
            kept_s = self._kept_s(cpu_s - before_s, waits - waits_before)
            self._look(thread, bottom, cpu_s, max(0.0, min(kept_s, cpu_s - self._turn_s)))
            is_active = self._step is not None or cpu_s - before_s > _IDLE_S
            if is_active and not self._is_marked:
                self._is_marked = True
                try:
                    loop.call_soon_threadsafe(self._take_turn, loop, self._looks)
                except RuntimeError:  # the loop is closed
                    return

    def _kept_s(self, cpu_s: float, waits: int) -> float:
        """How long one call of C code kept the interpreter before this look, at least.

        A thread waits for the interpreter in intervals. After the first one Python code gives it up, so all intervals
        but two belong to one call: the first, and one that is not over. One wait more is the sleep.
        """
        interval_s = sys.getswitchinterval()
        return max(0.0, min((waits - 3) * interval_s, cpu_s - self._look_every_s - interval_s))

    def _take_turn(self, loop: asyncio.AbstractEventLoop, looks: int) -> None:
        """Note a turn, and others every 5 ms until the next look."""
        self._turn += 1
        self._turn_s = time.thread_time()
        self._is_marked = False
        if self._looks == looks and not self._ending.is_set():
            loop.call_later(LONG_S, self._take_turn, loop, looks)

    def _look(self, thread: int, bottom: int, cpu_s: float, kept_s: float) -> None:
        frames = _frames(sys._current_frames().get(thread), bottom)
        step = (self._turn, id(frames[-1])) if frames else None
        if step is None or step != self._step:
            self._count()
            self._step, self._begun_s, self._most_s, self._stack = step, cpu_s - kept_s, 0.0, []
            gained_s = kept_s
        else:
            gained_s = cpu_s - self._seen_s
        self._seen_s = cpu_s
        if gained_s > self._most_s:
            self._most_s, self._stack = gained_s, [_name(frame) for frame in frames]

    def _count(self) -> None:
        taken_s, stack = self._seen_s - self._begun_s, self._stack
        if self._step is None or taken_s < LONG_S:
            return
        self._observe(self._label(stack), taken_s)
        if taken_s < _LOUD_S:
            return
        now_s = time.monotonic()
        if now_s < self._quiet_until_s:
            self._left_out += 1
            return
        log.warning(
            "a step held the event loop",
            step=_culprit(stack),
            cpu_s=round(taken_s, 3),
            ran=stack[:_STACK_LINES],
            left_out=self._left_out,
        )
        self._quiet_until_s, self._left_out = now_s + _LINE_EVERY_S, 0

    def _label(self, stack: list[str]) -> str:
        name = _culprit(stack)
        if name not in self._names and len(self._names) >= _MAX_NAMES:
            return _OTHER
        self._names.add(name)
        return name


def _waits() -> int:
    """How often this thread has waited. Its waits are counted, and not their time, because a busy machine lets it wait,
    too.
    """
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


def _frames(frame: FrameType | None, bottom: int) -> list[FrameType]:
    """This frame and those below it, without those of the loop itself. Nothing if they ended meanwhile.

    On a busy machine the loop's thread can go on while they are walked. CPython 3.11 then gives objects that are not frames.
    """
    frames: list[FrameType] = []
    while frame is not None and id(frame) != bottom:
        if type(frame) is not FrameType:
            return []
        frames.append(frame)
        frame = frame.f_back
    return frames


def _name(frame: FrameType) -> str:
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"


def _culprit(stack: list[str]) -> str:
    """The innermost function of ours, or else the callback."""
    return next((name for name in stack if name.partition(".")[0] in _OURS), stack[-1])
