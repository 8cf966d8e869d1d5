"""Counts what each step of the event loop costs in CPU time, and what a fixed piece of work costs beside it.

A step is what runs between two looks of the loop at its other work: a turn of a task, a callback, what came from a socket.

Other processes take no CPU time of a step, but share caches and cores with it, so that the same step costs up to twice as
much. So does the fixed work: how often a step holds it is a property of the service.

A collection of garbage reads objects that are in no cache then, and may take eight times as long. Which step it interrupts is
chance. So one among what is new counts as what it must take: a price for each reference that it follows.
"""

import asyncio
import gc
import re
import threading
from asyncio.events import Handle
from collections import deque
from collections.abc import Coroutine, Generator
from statistics import median
from time import thread_time
from typing import Any, Final

WORK_S: Final = 0.0005
"""The CPU time of the fixed work on the machine for which times are meant, when nothing runs beside it."""
TURNS_OF_A_PROBE: Final = 4
"""A turn runs all steps that are due between two looks at the sockets. A probe is accepted, read, answered and written."""
REFERENCE_S: Final = 20e-9
"""The CPU time of a collection for each reference that it follows, on the same machine."""
_OLDEST: Final = 2
_WORK_EVERY_S: Final = 0.02
_NUMBERS: Final = 775


class Steps:
    """The longest step of each name, in CPU seconds. The name of a task's step is that of its coroutine."""

    def __init__(self) -> None:
        self.longest_s: dict[str, float] = {}
        self.work_s: list[float] = []
        """What the fixed work has taken since the beginning."""
        self.longest_wait_s = 0.0
        """The most that all steps took in as many turns as a probe needs."""
        self._turns_s: deque[float] = deque(maxlen=TURNS_OF_A_PROBE)
        self._task = ""
        self._thread = threading.get_ident()
        self._collecting_from_s = self._price_s = self._excess_s = 0.0

    def begin(self) -> None:
        """Forget all steps so far."""
        self.longest_s.clear()
        self.longest_wait_s = 0.0
        self._turns_s.clear()
        self.work_s.clear()

    @property
    def slowness(self) -> float:
        """How many times as long as it should the fixed work has taken since the beginning."""
        return max(1.0, median(self.work_s) / WORK_S) if self.work_s else 1.0

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Count all steps from now on. The loop is asyncio's own: those of other libraries run their steps in C."""
        run = Handle._run
        run_once = getattr(loop, "_run_once")  # noqa: B009 - the types do not know the method

        def turn() -> None:
            started = self._now_s()
            run_once()
            self._turns_s.append(self._now_s() - started)
            self.longest_wait_s = max(self.longest_wait_s, sum(self._turns_s))

        def counted(handle: Handle) -> None:
            self._task = ""
            callback, started = handle._callback, self._now_s()  # type: ignore[attr-defined]  # it is gone when it was cancelled
            try:
                run(handle)
            finally:
                self.add(self._task or _name(callback), self._now_s() - started)

        def make(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
            return asyncio.Task(_Named(coroutine, self), loop=loop, **options)

        setattr(Handle, "_run", counted)  # noqa: B010 - the types do not know the method
        setattr(loop, "_run_once", turn)  # noqa: B010
        loop.set_task_factory(make)
        gc.callbacks.append(self._count_collection)
        self._work(loop)

    def _now_s(self) -> float:
        """The CPU time of the loop's thread, with the price of collections instead of what they took."""
        return thread_time() - self._excess_s

    def _count_collection(self, phase: str, info: dict[str, int]) -> None:
        """One that looks at all objects is no chance: what it takes is its step's."""
        if info["generation"] == _OLDEST or threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._collecting_from_s = thread_time()
            young = [member for generation in range(info["generation"] + 1) for member in gc.get_objects(generation)]
            self._price_s = len(gc.get_referents(*young)) * REFERENCE_S * self.slowness
        else:
            self._excess_s += thread_time() - self._collecting_from_s - self._price_s

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        started = thread_time()
        _fixed_work()
        self.work_s.append(thread_time() - started)
        loop.call_later(_WORK_EVERY_S, self._work, loop)

    def name(self, coroutine: Any) -> None:
        """Tell whose step this is."""
        self._task = _name(coroutine)

    def add(self, name: str, seconds: float) -> None:
        if seconds > self.longest_s.get(name, 0.0):
            self.longest_s[name] = seconds


def _fixed_work() -> None:
    """Texts, patterns, tables and sorting, as in the reading of responses."""
    text = " ".join([str(number * 7919) for number in range(_NUMBERS)])
    counts: dict[str, int] = {}
    for number in re.findall(r"\d+", text):
        counts[number[:3]] = counts.get(number[:3], 0) + len(number)
    sorted(counts.items(), key=lambda count: (count[1], count[0]))


class _Named(Coroutine[Any, Any, Any]):
    def __init__(self, inner: Coroutine[Any, Any, Any], steps: Steps) -> None:
        self._inner = inner
        self._steps = steps

    def send(self, value: Any) -> Any:
        self._steps.name(self._inner)
        return self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        self._steps.name(self._inner)
        return self._inner.throw(*error)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()


def _name(step: Any) -> str:
    return str(getattr(step, "__qualname__", type(step).__name__))
