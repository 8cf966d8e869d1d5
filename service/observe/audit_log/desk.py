"""Where callers ask for searches of the log: one search at a time for each caller, and few in all.

A search runs in a thread of low priority, beside the service. When it takes too long, or its caller is gone, it is
interrupted.
"""

import asyncio
import contextlib
import fcntl
import importlib
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from weakref import WeakValueDictionary

from fairness import Room
from service.cancellation import cancel
from service.errors import NotInTime, Overloaded, TooLarge

if TYPE_CHECKING:
    from service.observe.audit_log.tables import Tables

T = TypeVar("T")
_AT_ONCE: Final = 2
_MOST_WAITING: Final = 16
_SEARCH_S: Final = 30.0
_EXPORT_S: Final = 1800.0
_PATIENCE_S: Final = 0.05
"""The interval at which a search that is to end is interrupted again: between two statements nothing notices it."""
_NICENESS: Final = 10
_PIPE_BYTES: Final = 1 << 20


class Desk:
    """The searches of one folder, or of some files."""

    def __init__(self, find: Callable[[], Sequence[Path]]) -> None:
        """`find` gives the files. It is called in a thread, for each search anew."""
        self._find = find
        self._threads = ThreadPoolExecutor(_AT_ONCE, "log-search", _be_nice)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._callers: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._waiting = Room(_MOST_WAITING)
        """Searches that wait, by caller."""

    async def ask(self, caller: str, question: Callable[["Tables"], T], choose: Callable[[Path], bool]) -> T:
        """The answer to a question about the chosen files.

        Raises:
            Overloaded: too many searches wait.
            NotInTime
            TooLarge: it needs more memory than it may have.
        """
        async with self._turn(caller):
            return await self._run(question, choose, None, _SEARCH_S)

    async def stream(
        self, caller: str, write: Callable[["Tables", int], None], choose: Callable[[Path], bool]
    ) -> AsyncGenerator[bytes]:
        """The bytes that `write` puts into a descriptor. It raises what `ask` does."""
        async with self._turn(caller):
            source, target = os.pipe()
            with contextlib.suppress(OSError):  # a user may have only so much
                fcntl.fcntl(target, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            reader = asyncio.StreamReader(_PIPE_BYTES)
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb", 0)
            )
            working = asyncio.create_task(self._run(lambda tables: write(tables, target), choose, target, _EXPORT_S))
            try:
                while part := await reader.read(_PIPE_BYTES):
                    yield part
                await working
            finally:
                transport.close()  # the thread cannot write any more
                await cancel(working)

    async def _run(
        self, question: Callable[["Tables"], T], choose: Callable[[Path], bool], output: int | None, limit_s: float
    ) -> T:
        running = _Running()

        def answer() -> T:
            try:
                tables = importlib.import_module("service.observe.audit_log.tables")
                paths = [path for path in self._find() if choose(path)]
                return running.answer(tables.Tables(paths, output), question)
            finally:
                if output is not None:
                    os.close(output)

        future = asyncio.get_running_loop().run_in_executor(self._threads, answer)
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.shield(future)
        except TimeoutError:
            raise NotInTime(f"the search took more than {limit_s:.0f} s; narrow it, for example since=1h") from None
        except MemoryError:
            raise TooLarge("the search found more than fits in its memory; narrow it, for example since=1h") from None
        finally:
            while not future.done():
                running.stop()
                await asyncio.wait([future], timeout=_PATIENCE_S)
            if not future.cancelled():
                future.exception()

    @contextlib.asynccontextmanager
    async def _turn(self, caller: str) -> AsyncIterator[None]:
        if not self._waiting.fits(caller, 1):
            raise Overloaded("too many searches of the log wait already", retry_after_s=1)
        caller_lock = self._callers.setdefault(caller, asyncio.Lock())
        async with contextlib.AsyncExitStack() as turn:
            self._waiting.take(caller, 1)
            try:
                await turn.enter_async_context(caller_lock)
                await turn.enter_async_context(self._turns)
            finally:
                self._waiting.take(caller, -1)
            yield


class _Running:
    """A search in its thread."""

    def __init__(self) -> None:
        self._tables: Tables | None = None
        self._is_stopped = False

    def answer(self, tables: "Tables", question: Callable[["Tables"], T]) -> T:
        self._tables = tables
        if self._is_stopped:
            tables.stop()
        with tables:
            return question(tables)

    def stop(self) -> None:
        self._is_stopped = True
        if self._tables is not None:
            self._tables.stop()


def _be_nice() -> None:
    """Linux has a priority for each thread: scoring comes first."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
