"""Counts what each step of a task costs on the event loop, in CPU time: a busy machine makes no step longer."""

import asyncio
from collections.abc import Coroutine, Generator
from time import thread_time
from typing import Any


class Steps:
    """The longest step of the tasks of each name, in CPU seconds."""

    def __init__(self) -> None:
        self.longest_s: dict[str, float] = {}

    def begin(self) -> None:
        """Forget all steps so far."""
        self.longest_s.clear()

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Count the steps of all tasks that begin from now on."""

        def make(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
            return asyncio.Task(_Counted(coroutine, self), loop=loop, **options)

        loop.set_task_factory(make)

    def add(self, name: str, seconds: float) -> None:
        if seconds > self.longest_s.get(name, 0.0):
            self.longest_s[name] = seconds


class _Counted(Coroutine[Any, Any, Any]):
    def __init__(self, inner: Coroutine[Any, Any, Any], steps: Steps) -> None:
        self._inner = inner
        self._steps = steps

    def send(self, value: Any) -> Any:
        started = thread_time()
        try:
            return self._inner.send(value)
        finally:
            self._steps.add(_name(self._inner), thread_time() - started)

    def throw(self, *error: Any) -> Any:
        return self._inner.throw(*error)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()


def _name(coroutine: Any) -> str:
    return str(getattr(coroutine, "__qualname__", type(coroutine).__name__))
