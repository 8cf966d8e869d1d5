"""The client for code without an event loop: an `AsyncClient` on a thread of its own.

Any number of threads may share one `Client`; their `score_one` calls share requests. A forked child starts a thread of
its own. A pickled copy opens its own connections.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
import selectors
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from rewardline.async_client import _INHERITED, AsyncClient, Indexed
from rewardline.batching import Item
from rewardline.config import Config, ConfiguredClient

if TYPE_CHECKING:  # Python 3.9 has neither; annotations are not run
    from typing import Concatenate, ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")

_STOP_TIMEOUT_S = 5.0


def _blocking(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Client, P], T]:
    """The method of `AsyncClient` as one of `Client`: same arguments, same result, same errors."""

    @functools.wraps(method)
    def blocking(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(method, *args, **kwargs)

    blocking.__qualname__ = f"Client.{method.__name__}"
    blocking.__module__ = __name__
    return blocking


class Client(ConfiguredClient):
    """Scores items by a Rewardline server. Every method blocks and does what the method of `AsyncClient` does."""

    def _setup(self, config: Config) -> None:
        super()._setup(config)
        self._client = AsyncClient.__new__(AsyncClient)
        self._client._setup(config)
        self._closed = False
        self._pid = os.getpid()
        self._lock = threading.Lock()
        """Guards `_runner`: threads may make the first call at once."""
        self._runner: _Runner | None = None

    score = _blocking(AsyncClient.score)
    score_one = _blocking(AsyncClient.score_one)
    score_groups = _blocking(AsyncClient.score_groups)
    evolve_rubrics = _blocking(AsyncClient.evolve_rubrics)
    verifiers = _blocking(AsyncClient.verifiers)
    usage = _blocking(AsyncClient.usage)
    alarms = _blocking(AsyncClient.alarms)
    open_interaction = _blocking(AsyncClient.open_interaction)
    take_turn = _blocking(AsyncClient.take_turn)
    show_interaction = _blocking(AsyncClient.show_interaction)
    end_interaction = _blocking(AsyncClient.end_interaction)

    def stream(
        self,
        items: Iterable[Item],
        *,
        deadline_s: float | None = None,
        cache: str = "use",
        explain: bool = False,
        references: Mapping[str, Any] | None = None,
        run_id: str | None = None,
    ) -> Iterator[Indexed]:
        """Yield `(index, result)` as results come, in any order. See `AsyncClient.stream`.

        The client's thread reads `items`.
        """
        options = self._client._options(deadline_s, cache, explain, run_id)
        batches = self._client._batches(items, options, references, shared=None, stream=True)
        try:
            # Whole batches change threads, not single results: each change takes longer than many results.
            while batch := self._running().wait(_next_batch(batches)):
                yield from batch
        finally:
            with suppress(RuntimeError):  # the client was closed meanwhile, and its batches with it
                self._running().wait(_aclose(batches))

    def close(self) -> None:
        """Stop the thread and close the connections. May be called twice. Calls in flight raise a RuntimeError."""
        self._closed = True
        if self._pid != os.getpid():
            return
        with self._lock:
            runner, self._runner = self._runner, None
        if runner is not None:
            runner.stop()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(
        self, function: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call a coroutine function with this client's `AsyncClient` on its thread, and wait for the result."""
        runner = self._running()  # in a forked child, this makes another `AsyncClient`
        return runner.wait(function(self._client, *args, **kwargs))

    def _running(self) -> _Runner:
        if self._pid != os.getpid():
            self._begin_in_child()
        with self._lock:
            if self._closed:
                raise RuntimeError("the client is closed")
            if self._runner is None:
                self._runner = _Runner(self._client)
                weakref.finalize(self, self._runner.stop)  # also runs at exit
            return self._runner

    def _begin_in_child(self) -> None:
        """Start anew in a forked child: the parent's thread does not exist here, and its sockets must stay open."""
        was_closed = self._closed
        _INHERITED.append((self._client, self._runner))
        self._setup(self._config)
        self._closed = was_closed


class _Runner:
    """An event loop on a daemon thread."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._pid = os.getpid()
        self._stopped = False
        self._lock = threading.Lock()
        """Guards `_stopped`: work is submitted before the loop stops, or not at all."""
        self._loop = _new_loop(self._pid)
        self._thread = threading.Thread(target=_serve, args=(self._loop,), name="rewardline-client", daemon=True)
        self._thread.start()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the work on the loop's thread, and wait for what it returns or raises."""
        future = self._submit(work)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise RuntimeError("the client was closed during the call") from None
        except BaseException:
            future.cancel()  # Ctrl-C in the waiting thread also stops the work
            raise

    def _submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        with self._lock:
            if not self._stopped:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise RuntimeError("the client is closed")

    def stop(self) -> None:
        """Close the connections and end the thread. Does nothing in a forked child, or when called again."""
        if self._pid != os.getpid():
            return
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            closing = asyncio.run_coroutine_threadsafe(self._client.close(), self._loop)
        if threading.current_thread() is self._thread:  # the garbage collector may run on the client's own thread
            self._loop.stop()
            return
        with suppress(concurrent.futures.TimeoutError, concurrent.futures.CancelledError):
            closing.result(_STOP_TIMEOUT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_TIMEOUT_S)


def _new_loop(pid: int) -> asyncio.AbstractEventLoop:
    """An event loop that a forked child may inherit and collect without effect on its parent."""
    # A child shares the epoll instance of its parent and would unregister its sockets. poll has no such state.
    selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.DefaultSelector)
    loop = asyncio.SelectorEventLoop(selector())

    def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if os.getpid() == pid:
            loop.default_exception_handler(context)

    loop.set_exception_handler(report)
    return loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        # The work that was submitted last becomes a task now, and is cancelled with the others.
        loop.run_until_complete(asyncio.sleep(0))
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def _next_batch(batches: AsyncGenerator[list[Indexed], None]) -> list[Indexed]:
    """The next results; an empty list at the end."""
    async for batch in batches:
        return batch
    return []


async def _aclose(batches: AsyncGenerator[list[Indexed], None]) -> None:
    await batches.aclose()
