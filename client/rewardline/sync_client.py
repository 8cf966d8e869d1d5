"""The client for code without an event loop: an `AsyncClient` on a thread of its own.

Any number of threads may share one `Client`, and their `score_one` calls travel together. A forked child gets a thread
of its own; a pickled copy opens its own connections.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import selectors
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from types import TracebackType
from typing import Any, TypeVar

from rewardline.async_client import _ABANDONED, AsyncClient, Config, Indexed
from rewardline.batching import Item
from rewardline.interactions import Turn
from rewardline.results import Result

T = TypeVar("T")

_STOP_TIMEOUT_S = 5.0


class Client:
    """Scores items by a Rewardline server; every method blocks. See `AsyncClient` for what the arguments mean."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        max_in_flight: int = 8,
        batch_items: int = 512,
        batch_bytes: int = 4 * 1024 * 1024,
        max_retries: int = 6,
        max_resends: int = 3,
        gather_ms: float = 2.0,
        gather_items: int = 256,
        compress: str | None = None,
        tls_ca: str | None = None,
        tls_cert: str | None = None,
        tls_key: str | None = None,
    ) -> None:
        self._setup(
            AsyncClient(
                url,
                api_key=api_key,
                timeout_s=timeout_s,
                max_in_flight=max_in_flight,
                batch_items=batch_items,
                batch_bytes=batch_bytes,
                max_retries=max_retries,
                max_resends=max_resends,
                gather_ms=gather_ms,
                gather_items=gather_items,
                compress=compress,
                tls_ca=tls_ca,
                tls_cert=tls_cert,
                tls_key=tls_key,
            )
        )

    def _setup(self, client: AsyncClient) -> None:
        self._client = client
        self._closed = False
        self._pid = os.getpid()
        self._lock = threading.Lock()
        """Guards `_runner`: threads may make the first call at once."""
        self._runner: _Runner | None = None

    def score(
        self,
        items: Sequence[Item],
        *,
        deadline_s: float | None = None,
        cache: str = "use",
        explain: bool = False,
        references: Mapping[str, Any] | None = None,
    ) -> list[Result]:
        """Score a batch of any size; `results[i]` belongs to `items[i]`. See `AsyncClient.score`."""
        return self._run(
            self._client.score, items, deadline_s=deadline_s, cache=cache, explain=explain, references=references
        )

    def score_one(
        self, item: Item, *, deadline_s: float | None = None, cache: str = "use", explain: bool = False
    ) -> Result:
        """Score one item; concurrent calls travel together. See `AsyncClient.score_one`."""
        return self._run(self._client.score_one, item, deadline_s=deadline_s, cache=cache, explain=explain)

    def stream(
        self,
        items: Iterable[Item],
        *,
        deadline_s: float | None = None,
        cache: str = "use",
        explain: bool = False,
        references: Mapping[str, Any] | None = None,
    ) -> Iterator[Indexed]:
        """Yield `(index, result)` as results come, in any order. See `AsyncClient.stream`.

        `items` is iterated on the client's thread.
        """
        options = self._client._options(deadline_s, cache, explain)
        batches = self._client._batches(items, options, references, shared=None, stream=True)
        try:
            while batch := self._run(_next_batch, batches):
                yield from batch
        finally:
            with suppress(RuntimeError):  # closed meanwhile, and the batches with it
                self._run(_aclose, batches)

    def verifiers(self) -> list[dict[str, Any]]:
        """What the server can judge by. See `AsyncClient.verifiers`."""
        return self._run(self._client.verifiers)

    def open_interaction(self, fields: Mapping[str, Any], *, deadline_s: float | None = None) -> str:
        """Open an interaction of several turns, and return its id. See `AsyncClient.open_interaction`."""
        return self._run(self._client.open_interaction, fields, deadline_s=deadline_s)

    def take_turn(
        self,
        instance_id: str,
        messages: Sequence[Mapping[str, Any]],
        turn_index: int,
        *,
        deadline_s: float | None = None,
    ) -> Turn:
        """Have a turn judged. See `AsyncClient.take_turn`."""
        return self._run(self._client.take_turn, instance_id, messages, turn_index, deadline_s=deadline_s)

    def show_interaction(self, instance_id: str, *, deadline_s: float | None = None) -> dict[str, Any]:
        """What became of it so far. See `AsyncClient.show_interaction`."""
        return self._run(self._client.show_interaction, instance_id, deadline_s=deadline_s)

    def end_interaction(self, instance_id: str, *, deadline_s: float | None = None) -> dict[str, Any]:
        """Have all but its outcome forgotten. See `AsyncClient.end_interaction`."""
        return self._run(self._client.end_interaction, instance_id, deadline_s=deadline_s)

    def close(self) -> None:
        """Stop the thread and close the connections; calls in flight end with a RuntimeError. May be called twice."""
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

    def __getstate__(self) -> dict[str, Any]:
        return asdict(self._client._config)

    def __setstate__(self, state: dict[str, Any]) -> None:
        client = AsyncClient.__new__(AsyncClient)
        client._setup(Config(**state))
        self._setup(client)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._client._config.url!r})"

    def _run(self, function: Callable[..., Coroutine[Any, Any, T]], *args: Any, **kwargs: Any) -> T:
        future = self._running().submit(function(*args, **kwargs))
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise RuntimeError("the client was closed during the call") from None
        except BaseException:
            future.cancel()  # Ctrl-C in the waiting thread also stops the work
            raise

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
        """The parent's thread does not exist here, and its sockets are not ours to close."""
        closed, config = self._closed, self._client._config
        _ABANDONED.append((self._client, self._runner))
        client = AsyncClient.__new__(AsyncClient)
        client._setup(config)
        self._setup(client)
        self._closed = closed


class _Runner:
    """An event loop on a daemon thread."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._pid = os.getpid()
        self._stopped = False
        self._lock = threading.Lock()
        """Guards `_stopped`: what is submitted is submitted before the loop stops, or not at all."""
        self._loop = _new_loop(self._pid)
        self._thread = threading.Thread(target=_serve, args=(self._loop,), name="rewardline-client", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        with self._lock:
            if not self._stopped:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise RuntimeError("the client is closed")

    def stop(self) -> None:
        """Close what the client has open and end the thread. Does nothing in a forked child, or twice."""
        if self._pid != os.getpid():
            return
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            closing = asyncio.run_coroutine_threadsafe(self._client.close(), self._loop)
        if threading.current_thread() is self._thread:  # a collected client may end on its own thread
            self._loop.stop()
            return
        with suppress(concurrent.futures.TimeoutError, concurrent.futures.CancelledError):
            closing.result(_STOP_TIMEOUT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_TIMEOUT_S)


def _new_loop(pid: int) -> asyncio.AbstractEventLoop:
    """A loop that a forked child may inherit, collect and forget without its parent noticing."""
    # An epoll instance is shared with the child, which would unregister the parent's sockets; poll has no such state.
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
        loop.run_until_complete(
            asyncio.sleep(0)
        )  # what was submitted last becomes a task, to be cancelled with the rest
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def _next_batch(batches: AsyncGenerator[list[Indexed], None]) -> list[Indexed]:
    """The next results; none at the end."""
    async for batch in batches:
        return batch
    return []


async def _aclose(batches: AsyncGenerator[list[Indexed], None]) -> None:
    await batches.aclose()
