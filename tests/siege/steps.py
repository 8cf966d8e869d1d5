"""Counts what each step of the event loop costs in CPU time: a busy machine makes no step longer.

A step is what runs between two looks of the loop at its other work: a turn of a task, a callback, what came from a socket.
"""

import asyncio
from asyncio.events import Handle
from collections.abc import Coroutine, Generator
from time import thread_time
from typing import Any


class Steps:
    """The longest step of each name, in CPU seconds. The name of a task's step is that of its coroutine."""

    def __init__(self) -> None:
        self.longest_s: dict[str, float] = {}
        self._task = ""

    def begin(self) -> None:
        """Forget all steps so far."""
        self.longest_s.clear()

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Count all steps from now on. The loop is asyncio's own: those of other libraries run their steps in C."""
        run = Handle._run

        def counted(handle: Handle) -> None:
            self._task = ""
            callback, started = handle._callback, thread_time()  # type: ignore[attr-defined]  # it is gone when it was cancelled
            try:
                run(handle)
            finally:
                self.add(self._task or _name(callback), thread_time() - started)

        def make(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
            return asyncio.Task(_Named(coroutine, self), loop=loop, **options)

        setattr(Handle, "_run", counted)  # noqa: B010 - the types do not know the method
        loop.set_task_factory(make)

    def name(self, coroutine: Any) -> None:
        """Tell whose step this is."""
        self._task = _name(coroutine)

    def add(self, name: str, seconds: float) -> None:
        if seconds > self.longest_s.get(name, 0.0):
            self.longest_s[name] = seconds


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
