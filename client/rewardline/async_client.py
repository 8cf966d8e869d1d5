"""The client: cuts a call into requests, sends a few at a time, tries again what may be tried again, restores the order.

    items ► entries (encoded once) ► chunks ► attempt ► results
                                        ▲        │ not delivered, or `failed`: only these again, after a pause
                                        └────────┘ until the deadline or the budget ends; then they are `failed`

Sessions and channels are bound to the event loop on which they were made, so there is one set of them per loop.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
import urllib.parse
import uuid
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

from rewardline.batching import (
    EncodeItem,
    Encoder,
    EncodeReference,
    Entry,
    Item,
    Request,
    Transport,
    Unsendable,
    chunks,
    encode_item_as_json,
    encode_reference_as_json,
    json_bytes,
)
from rewardline.config import Config, ConfiguredClient, check_deadline
from rewardline.errors import RequestError, TooLarge, Unavailable, UnexpectedAnswer
from rewardline.gathering import Gatherer, RequestOptions
from rewardline.http_transport import HttpTransport
from rewardline.interactions import INTERACTIONS, Turn, parse_turn
from rewardline.results import Result, Status, parse_result, unjudged
from rewardline.retry import Backoff, Deadline

T = TypeVar("T")
Emit = Callable[[Entry, Result], None]
Indexed = tuple[int, Result]

_CACHE_MODES = ("use", "refresh", "off")
_CLOSE_TIMEOUT_S = 5.0
_MARGIN_S, _MARGIN_SHARE = 1.0, 0.1
"""The server's deadline ends this much (the smaller) before the caller's, so that its answer still arrives."""
_LEAST_S = 0.001
_ABANDONED: list[Any] = []
"""What a forked child inherited: kept, since collecting it would close what its parent uses."""


class AsyncClient(ConfiguredClient):
    """Scores items by a Rewardline server, from any event loop.

    A call answers every item: what cannot be judged within the deadline and the retries is a result with status
    `failed` and no score. Exceptions are left for what no retry can mend (`RequestError`, `UnexpectedAnswer`).
    """

    def _setup(self, config: Config) -> None:
        super()._setup(config)
        self._wire = _wire_of(config)
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        """Guards `_loops`: one client may be used from the loops of several threads."""
        self._loops: dict[asyncio.AbstractEventLoop, _LoopState] = {}

    async def score(
        self,
        items: Sequence[Item],
        *,
        deadline_s: float | None = None,
        cache: str = "use",
        explain: bool = False,
        references: Mapping[str, Any] | None = None,
    ) -> list[Result]:
        """Score a batch of any size; `results[i]` belongs to `items[i]`.

        Args:
            items: what to judge; see the server's `/docs` for the fields.
            deadline_s: bounds the whole call, retries included.
            cache: "use", "refresh" (judge anew and store) or "off".
            explain: ask for the why, in `detail`.
            references: shared references, which items name by `reference_id`; each travels once per request.

        Raises:
            RequestError: the server refused; `errors` says which item and field.
            UnexpectedAnswer: this is not a Rewardline server.
            ValueError, TypeError: an item is not JSON; NaN is not.
        """
        options = self._options(deadline_s, cache, explain)
        results: list[Result | None] = [None] * len(items)
        batches = self._batches(items, options, references, shared=Deadline(options.deadline_s), stream=False)
        async for batch in batches:
            for index, result in batch:
                results[index] = result
        answered = [result for result in results if result is not None]
        assert len(answered) == len(items), "an item has no result"
        return answered

    async def score_one(
        self, item: Item, *, deadline_s: float | None = None, cache: str = "use", explain: bool = False
    ) -> Result:
        """Score one item. Calls made within `gather_ms` of each other, with the same options, travel as one request.

        Raises as `score`; another caller's bad item is never yours.
        """
        options = self._options(deadline_s, cache, explain)
        state = await self._here()
        try:
            entry = self._encoder(None).entry(0, item)
        except Unsendable as error:
            return unjudged(Status.INVALID, "invalid_text", str(error), "0", item)
        return await state.gatherer.score(entry, options)

    async def stream(
        self,
        items: Iterable[Item],
        *,
        deadline_s: float | None = None,
        cache: str = "use",
        explain: bool = False,
        references: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Indexed, None]:
        """Yield `(index, result)` as results come, in any order.

        `items` may be endless: it is read only as far as there is room on the way, and never held as a whole. The
        deadline counts for each item from when it was read.
        """
        options = self._options(deadline_s, cache, explain)
        batches = self._batches(items, options, references, shared=None, stream=True)
        try:
            async for batch in batches:
                for pair in batch:
                    yield pair
        finally:
            await batches.aclose()

    async def verifiers(self) -> list[dict[str, Any]]:
        """What the server can judge by: name, version, parameter schema, examples.

        Raises:
            Unavailable: no answer within `timeout_s` and the retries.
        """
        return await self._persist(lambda transport, timeout_s: transport.verifiers(timeout_s), self._config.timeout_s)

    async def open_interaction(self, fields: Mapping[str, Any], *, deadline_s: float | None = None) -> str:
        """Open an interaction of several turns, and return its id.

        Args:
            fields: what an item has, less its response, and how the turns are to go (`max_turns`, `feedback`, ...). With
                an `instance_id` of one's own, opening it again is safe; one is made where there is none.
            deadline_s: bounds the call, retries included.

        Raises:
            InvalidRequest: nothing could be judged by these fields; `errors` says why.
            Conflict: there is one of this id, opened with other fields.
            Unavailable: no answer in time.
        """
        named = dict(fields)
        named.setdefault("instance_id", uuid.uuid4().hex)
        view = await self.call("POST", INTERACTIONS, named, deadline_s=deadline_s)
        return str(view["id"])

    async def take_turn(
        self,
        instance_id: str,
        messages: Sequence[Mapping[str, Any]],
        turn_index: int,
        *,
        deadline_s: float | None = None,
    ) -> Turn:
        """Have the last assistant message judged as the turn of this number, the first being 1.

        Sending a turn again is answered as it was, and counts once.

        Raises:
            NotFound: there is no such interaction, or no longer.
            Conflict: another turn is next, or this one was taken with other messages.
            InvalidRequest: this cannot be judged until it is mended.
            Unavailable: it could not be judged in time; nothing of it was kept.
        """
        body = {"messages": list(messages), "turn_index": turn_index}
        return parse_turn(await self.call("POST", f"{_path(instance_id)}/turns", body, deadline_s=deadline_s))

    async def show_interaction(self, instance_id: str, *, deadline_s: float | None = None) -> dict[str, Any]:
        """What became of it so far. Raises as `take_turn`."""
        return await self.call("GET", _path(instance_id), deadline_s=deadline_s)

    async def end_interaction(self, instance_id: str, *, deadline_s: float | None = None) -> dict[str, Any]:
        """Have all but its outcome forgotten, and return that; may be done again. Raises as `take_turn`."""
        return await self.call("DELETE", _path(instance_id), deadline_s=deadline_s)

    async def call(
        self, method: str, path: str, body: Any = None, *, deadline_s: float | None = None
    ) -> dict[str, Any]:
        """Any other route of the server that may be asked again: the object it answers. HTTP only.

        Raises:
            RequestError: the server refused; which one says why.
            Unavailable: no answer in time.
        """
        deadline_s = self._options(deadline_s, "use", False).deadline_s
        encoded = None if body is None else json_bytes(body)
        answer = await self._persist(lambda transport, _: transport.call(method, path, encoded), deadline_s)
        if not isinstance(answer, dict):
            raise UnexpectedAnswer(f"expected an object, found {type(answer).__name__}")
        return answer

    async def _persist(self, attempt: Callable[[Transport, float], Coroutine[Any, Any, T]], deadline_s: float) -> T:
        """Try until the deadline or the retries end."""
        state = await self._here()
        deadline = Deadline(deadline_s)
        backoff, faults = Backoff(), 0
        cause: Unavailable | None = None
        while True:
            remaining_s = deadline.remaining_s()
            try:
                return await _bounded(attempt(state.transport, remaining_s), remaining_s)
            except Unavailable as error:
                fault, cause = _recalling(cause, error)
            faults += not _is_asked_to_wait(fault)
            pause_s = backoff.next_s(fault.retry_after_s)
            if faults > self._config.max_retries or pause_s >= deadline.remaining_s():
                raise fault
            await asyncio.sleep(pause_s)

    async def close(self) -> None:
        """Close the connections of every event loop that can still be reached. May be called twice."""
        self._closed = True
        if self._pid != os.getpid():
            self._abandon()
        with self._lock:
            states, self._loops = self._loops, {}
        here = asyncio.get_running_loop()
        for loop, state in states.items():
            if loop is here:
                await state.close()
            elif loop.is_running():
                elsewhere = asyncio.run_coroutine_threadsafe(state.close(), loop)
                with suppress(asyncio.TimeoutError, asyncio.CancelledError):
                    await asyncio.wait_for(asyncio.wrap_future(elsewhere), _CLOSE_TIMEOUT_S)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _options(self, deadline_s: float | None, cache: str, explain: bool) -> RequestOptions:
        if cache not in _CACHE_MODES:
            raise ValueError(f"cache is one of {_CACHE_MODES}, not {cache!r}")
        deadline_s = self._config.timeout_s if deadline_s is None else deadline_s
        check_deadline(deadline_s)
        return RequestOptions(float(deadline_s), cache, bool(explain))

    def _encoder(self, references: Mapping[str, Any] | None) -> Encoder:
        return Encoder(self._wire.encode_item, self._wire.encode_reference, references)

    async def _here(self) -> _LoopState:
        """The connections of the running loop; made at its first call."""
        if self._closed:
            raise RuntimeError("the client is closed")
        if self._pid != os.getpid():
            self._abandon()
        loop = asyncio.get_running_loop()
        with self._lock:
            for known in [known for known in self._loops if known.is_closed()]:
                del self._loops[known]
            state = self._loops.get(loop)
            if state is not None:
                return state
            state = self._loops[loop] = _LoopState(self, self._wire.open())
        await state.start()
        return state

    def _abandon(self) -> None:
        """In a forked child: the parent's sockets and its selector are shared, so they are not even closed here."""
        _ABANDONED.append(self._loops)
        self._reset()

    async def _batches(
        self,
        items: Iterable[Item],
        options: RequestOptions,
        references: Mapping[str, Any] | None,
        *,
        shared: Deadline | None,
        stream: bool,
    ) -> AsyncGenerator[list[Indexed], None]:
        """Results as they come. At most `max_in_flight` chunks are read ahead of what was taken."""
        state = await self._here()
        ready: deque[Indexed] = deque()
        wake = asyncio.Event()
        running: set[asyncio.Task[None]] = set()

        def emit(entry: Entry, result: Result) -> None:
            ready.append((entry.index, result))
            wake.set()

        source = chunks(
            _entries(items, self._encoder(references), ready),
            self._config.batch_items,
            self._config.batch_bytes,
        )
        exhausted = False
        try:
            while True:
                while not exhausted and len(running) < self._config.max_in_flight and not ready:
                    chunk = next(source, None)
                    if chunk is None:
                        exhausted = True
                        break
                    deadline = shared or Deadline(options.deadline_s)
                    task = asyncio.create_task(self._judge(state, chunk, options, deadline, emit, stream))
                    task.add_done_callback(lambda _: wake.set())
                    running.add(task)
                    await asyncio.sleep(0)  # encoding the next chunk does not hold up sending this one
                if ready:
                    yield [ready.popleft() for _ in range(len(ready))]
                    continue
                if not running:
                    return
                await wake.wait()
                wake.clear()
                for task in [task for task in running if task.done()]:
                    running.discard(task)
                    task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _judge(
        self,
        state: _LoopState,
        entries: list[Entry],
        options: RequestOptions,
        deadline: Deadline,
        emit: Emit,
        stream: bool,
    ) -> None:
        """Emit one result for each entry. Raises what no retry can mend."""
        backoff, faults, resends = Backoff(), 0, 0
        unsettled = dict(enumerate(entries))
        failed: dict[int, Result] = {}
        cause: Unavailable | None = None
        while True:
            fault: Unavailable | None = None
            keys = list(unsettled)

            def take(position: int, result: Result, keys: list[int] = keys) -> None:
                if result.status is Status.FAILED:
                    failed[keys[position]] = result
                else:
                    emit(unsettled.pop(keys[position]), result)

            pending = [unsettled[key] for key in keys]
            try:
                await _bounded(self._attempt(state, pending, options, deadline, stream, take), deadline.remaining_s())
            except TooLarge:
                if len(pending) == 1:
                    raise
                half = (len(pending) + 1) // 2
                await self._judge(state, pending[:half], options, deadline, emit, stream)
                await self._judge(state, pending[half:], options, deadline, emit, stream)
                return
            except Unavailable as error:
                fault, cause = _recalling(cause, error)
            if not unsettled:
                return
            if fault is None:
                resends += 1
            elif not _is_asked_to_wait(fault):
                faults += 1
            pause_s = backoff.next_s(fault.retry_after_s if fault else None)
            spent = faults > self._config.max_retries or resends > self._config.max_resends
            if spent or pause_s >= deadline.remaining_s():
                break
            await asyncio.sleep(pause_s)
        for key, entry in unsettled.items():
            emit(entry, failed.get(key) or _undelivered(fault, entry))

    async def _attempt(
        self,
        state: _LoopState,
        entries: list[Entry],
        options: RequestOptions,
        deadline: Deadline,
        stream: bool,
        take: Callable[[int, Result], None],
    ) -> None:
        """One request, once there is room for it."""

        def deliver(position: int, raw: Any) -> None:
            entry = entries[position]
            take(position, parse_result(raw, entry.default_id, entry.item))

        async with state.slots:
            remaining_s = max(deadline.remaining_s(), _LEAST_S)
            request = Request(
                entries,
                deadline_s=remaining_s - min(_MARGIN_S, _MARGIN_SHARE * remaining_s),
                timeout_s=remaining_s,
                cache=options.cache,
                explain=options.explain,
                stream=stream,
            )
            try:
                await state.transport.score(request, deliver)
            except RequestError as error:
                error.renumber([entry.index for entry in entries])
                raise


class _LoopState:
    """What one event loop owns: connections, the slots for requests in flight, and the gathering of single calls."""

    def __init__(self, client: AsyncClient, transport: Transport) -> None:
        config = client._config
        self.transport = transport
        self.slots = asyncio.Semaphore(config.max_in_flight)

        async def judge(entries: list[Entry], options: RequestOptions, deadline: Deadline, emit: Emit) -> None:
            await client._judge(self, entries, options, deadline, emit, stream=False)

        self.gatherer = Gatherer(judge, config.gather_ms / 1000.0, config.gather_items, config.batch_bytes)
        self._life = self._live()

    async def start(self) -> None:
        await self._life.__anext__()

    async def close(self) -> None:
        await self._release()
        await self._life.aclose()

    async def _live(self) -> AsyncGenerator[None, None]:
        """Ends with its loop: `asyncio.run` closes open generators before the loop, and so our connections too."""
        try:
            yield
        finally:
            await self._release()

    async def _release(self) -> None:
        await self.gatherer.close()
        await self.transport.close()


@dataclass(frozen=True)
class _Wire:
    """How items are encoded for a transport, and how one is opened on the running loop."""

    open: Callable[[], Transport]
    encode_item: EncodeItem
    encode_reference: EncodeReference


def _wire_of(config: Config) -> _Wire:
    scheme, _, address = config.url.partition("://")
    if scheme in ("http", "https"):
        return _Wire(
            functools.partial(
                HttpTransport, config.url, config.api_key, config.max_in_flight, config.compress, config.tls
            ),
            encode_item_as_json,
            encode_reference_as_json,
        )
    from rewardline import grpc_transport  # noqa: PLC0415 - an extra, which most users do not install

    return _Wire(
        functools.partial(
            grpc_transport.GrpcTransport, address, config.api_key, config.tls if scheme == "grpcs" else None
        ),
        grpc_transport.encode_item,
        grpc_transport.encode_reference,
    )


def _entries(items: Iterable[Item], encoder: Encoder, ready: deque[Indexed]) -> Iterator[Entry]:
    for index, item in enumerate(items):
        try:
            yield encoder.entry(index, item)
        except Unsendable as error:
            ready.append((index, unjudged(Status.INVALID, "invalid_text", str(error), str(index), item)))


async def _bounded(work: Coroutine[Any, Any, T], timeout_s: float) -> T:
    """The one place where a caller's deadline stops work.

    Raises:
        Unavailable: the time is over.
    """
    try:
        return await asyncio.wait_for(work, max(timeout_s, 0.0))
    except asyncio.TimeoutError as error:
        raise Unavailable("deadline", "no answer within the deadline") from error


def _is_asked_to_wait(fault: Unavailable) -> bool:
    """Being told to wait is not an error of the server: such tries are bounded by the deadline alone."""
    return fault.retry_after_s is not None or fault.reason == "overloaded"


def _recalling(cause: Unavailable | None, fault: Unavailable) -> tuple[Unavailable, Unavailable]:
    """The fault of a try, and the last cause known: one that the deadline cut short tells none, but an earlier one may."""
    if fault.reason != "deadline" or cause is None:
        return fault, fault
    return Unavailable(fault.reason, f"{fault.message}; an earlier try: {cause}"), cause


def _undelivered(fault: Unavailable | None, entry: Entry) -> Result:
    reason, message = (fault.reason, fault.message) if fault else ("unanswered", "")
    return unjudged(Status.FAILED, reason, message, entry.default_id, entry.item)


def _path(instance_id: str) -> str:
    return f"{INTERACTIONS}/{urllib.parse.quote(instance_id, safe='')}"
