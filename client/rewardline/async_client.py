"""The client. It cuts a call into requests, sends a few at a time, retries, and restores the order.

    items ► entries (encoded once) ► chunks ► attempt ► results
                                        ▲        │ not delivered, or `failed`: the client sends these again after a pause,
                                        └────────┘ until the deadline or the retries end; then they are `failed`

A session or channel belongs to the event loop that made it. So the client has one set of them for each loop.
"""

from __future__ import annotations

import asyncio
import functools
import math
import os
import threading
import urllib.parse
import uuid
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
    run_header,
)
from rewardline.config import Config, ConfiguredClient, check_deadline, check_run_id
from rewardline.errors import RequestError, RewardlineError, TooLarge, Unavailable, UnexpectedAnswer
from rewardline.gathering import Gatherer, RequestOptions
from rewardline.groups import GROUPS, RUBRICS, chunked
from rewardline.interactions import INTERACTIONS, Turn, parse_turn
from rewardline.outage import Outage
from rewardline.redaction import Secrets, shown_url
from rewardline.results import DECIDED, NO_RETRY_MENDS, Result, Status, parse_result, unjudged
from rewardline.retry import Backoff, Deadline

T = TypeVar("T")
ClientT = TypeVar("ClientT", bound="AsyncClient")
Emit = Callable[[Entry, Result], None]
Indexed = tuple[int, Result]

_CACHE_MODES = ("use", "refresh", "off")
_CLOSE_TIMEOUT_S = 5.0
_BUDGET_EXHAUSTED = "budget_exhausted"
_ANSWER_MARGIN_S, _ANSWER_MARGIN_SHARE = 1.0, 0.1
"""The server's deadline ends earlier than the caller's by the smaller of these two, so that its answer still arrives."""
_MIN_TIMEOUT_S = 0.001
_INHERITED: list[Any] = []
"""Objects that a forked child inherited. They are kept: collecting them would close connections of the parent."""


class AsyncClient(ConfiguredClient):
    """Scores items by a Rewardline server, from any event loop.

    A call returns a result for every item. An item that the server could not judge within the deadline and the retries
    has the status `failed` and no score. A call raises only what no retry can mend: `RequestError`, `UnexpectedAnswer`.
    """

    def _setup(self, config: Config) -> None:
        super()._setup(config)
        self._wire = _wire_of(config)
        self._secrets = Secrets(config.url, config.api_key)
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        """Guards `_loops`: several threads may use one client, each from its own loop."""
        self._outage = Outage(shown_url(self._config.url))
        self._loops: dict[asyncio.AbstractEventLoop, _LoopState] = {}

    async def score(
        self,
        items: Sequence[Item],
        *,
        deadline_s: float | None = None,
        cache: str = "use",
        explain: bool = False,
        references: Mapping[str, Any] | None = None,
        run_id: str | None = None,
    ) -> list[Result]:
        """Score a batch of any size; `results[i]` belongs to `items[i]`.

        Args:
            items: What to judge. The server's `/docs` describes the fields.
            deadline_s: The call ends by then, retries included.
            cache: "use", "refresh" (judge anew and store) or "off".
            explain: The server explains each verdict in `detail`.
            references: Shared references. An item names one by `reference_id`; each travels once per request.
            run_id: The run that the call belongs to; default: that of the client.

        Raises:
            RequestError: The server refused the request; `errors` names the item and the field.
            UnexpectedAnswer: The address is not that of a Rewardline server.
            ValueError, TypeError: An item is not JSON. NaN is not JSON.
        """
        options = self._options(deadline_s, cache, explain, run_id)
        results: list[Result | None] = [None] * len(items)
        batches = self._batches(items, options, references, shared=Deadline(options.deadline_s), stream=False)
        async for batch in batches:
            for index, result in batch:
                results[index] = result
        answered = [result for result in results if result is not None]
        assert len(answered) == len(items), "an item has no result"
        return answered

    async def score_one(
        self,
        item: Item,
        *,
        deadline_s: float | None = None,
        cache: str = "use",
        explain: bool = False,
        run_id: str | None = None,
    ) -> Result:
        """Score one item. Calls with the same options, made within `gather_ms` of each other, share one request.

        Raises as `score`. Another caller's bad item never raises here.
        """
        options = self._options(deadline_s, cache, explain, run_id)
        state = await self._loop_state()
        try:
            entry = self._encoder(None).entry(0, item)
        except Unsendable as error:
            return unjudged(Status.INVALID, "invalid_text", str(error), "0", item)
        return await state.gatherer.score(entry, options)

    async def score_groups(
        self,
        groups: Sequence[Mapping[str, Any]],
        *,
        method: str = "score",
        majority: Mapping[str, Any] | None = None,
        tournament: Mapping[str, Any] | None = None,
        terms: Mapping[str, Any] | None = None,
        k: int | None = None,
        advantages: Mapping[str, Any] | None = None,
        seed: int | None = 0,
        explain: bool = False,
        cache: str = "use",
        deadline_s: float | None = None,
        run_id: str | None = None,
    ) -> list[dict[str, Any]]:
        """Reward groups of responses, each compared with the others of its group; `answers[i]` belongs to `groups[i]`.

        Args:
            groups: Each with `responses`, and how they are judged: `verifier`, `params`, `reference`, `prompt`; or with
                `rewards`, for the method "rewards".
            method: "score", "majority", "tournament", "listwise", or "rewards" for groups that have theirs already.
            majority: For that method: `min_share`, `on_tie`.
            tournament: For that method: `pairs`, `rating`, `orders` and more.
            terms: What length, style and diversity add to rewards.
            k: Also say the mean of the maximum of k rewards.
            advantages: `preset`, `method`, `filters` and more, to get advantages, too.
            seed: Draws who meets whom; None: the order of the responses says it.
            explain: Also say how the responses were judged.
            cache: "use", "refresh" (judge anew and store) or "off".
            deadline_s: The call ends by then, retries included.
            run_id: The run that the call belongs to; default: that of the client.

        Raises:
            RequestError: The server refused the request; `errors` names the group and the field.
            Unavailable: No answer came in time.
            ValueError: Advantages over the whole batch need one request, and the groups do not fit into one.
        """
        batches = chunked(groups)
        if len(batches) > 1 and advantages and advantages.get("scale") == "batch":
            raise ValueError("advantages over the batch need one request; send fewer groups at once")
        optional = {"majority": majority, "tournament": tournament, "terms": terms, "k": k, "advantages": advantages}
        options: dict[str, Any] = {name: value for name, value in optional.items() if value is not None}
        options.update(method=method, seed=seed, explain=explain, cache=cache)
        deadline = Deadline(self._options(deadline_s, cache).deadline_s)
        return await self._in_parts(GROUPS, batches, options, deadline, run_id)

    async def evolve_rubrics(
        self,
        groups: Sequence[Mapping[str, Any]],
        *,
        judge: str | None = None,
        proposer: str | None = None,
        propose: int = 5,
        max_active: int = 5,
        min_spread: float = 0.0,
        measure: bool = True,
        buffer: str | None = None,
        cache: str = "use",
        deadline_s: float | None = None,
        run_id: str | None = None,
    ) -> list[dict[str, Any]]:
        """The rubrics of the next step, by the responses to each prompt; `answers[i]` belongs to `groups[i]`.

        Args:
            groups: Each with `prompt`, `responses` and `rubrics`, and perhaps `rubrics_types`, `inactive_rubrics` and
                `verdicts`.
            judge: The profile that judges responses by the criteria; None: that of mode criteria.
            proposer: The profile whose models propose criteria; None: the one that judges.
            propose: The most new criteria; 0: none.
            max_active: The most evolving criteria that are kept.
            min_spread: A criterion whose scores have no larger standard deviation, from 0 to 0.5, is dropped.
            measure: Whether responses are judged by criteria without verdicts; False: these are kept untried.
            buffer: The name of the place where the service keeps the evolving criteria of each prompt.
            cache: "use", "refresh" (ask anew and store) or "off".
            deadline_s: The call ends by then, retries included.
            run_id: The run that the call belongs to; default: that of the client.

        Raises:
            RequestError: The server refused the request; `errors` names the group and the field.
            Unavailable: No answer came in time.
        """
        options = {
            "judge": judge,
            "proposer": proposer,
            "propose": propose,
            "max_active": max_active,
            "min_spread": min_spread,
            "measure": measure,
            "buffer": buffer,
            "cache": cache,
        }
        deadline = Deadline(self._options(deadline_s, cache).deadline_s)
        return await self._in_parts(RUBRICS, chunked(groups), options, deadline, run_id)

    async def _in_parts(
        self,
        path: str,
        batches: Sequence[Sequence[Mapping[str, Any]]],
        options: Mapping[str, Any],
        deadline: Deadline,
        run_id: str | None,
    ) -> list[dict[str, Any]]:
        """The answers for groups that travel in several requests."""
        answers: list[dict[str, Any]] = []
        for batch in batches:
            left_s = max(_MIN_TIMEOUT_S, deadline.remaining_s())
            body = {**options, "deadline_s": _server_deadline(left_s), "groups": list(batch)}
            answer = await self.call("POST", path, body, deadline_s=left_s, run_id=run_id)
            results = answer.get("groups")
            if not isinstance(results, list) or len(results) != len(batch):
                raise UnexpectedAnswer(f"expected {len(batch)} groups")
            answers += results
        return answers

    async def stream(
        self,
        items: Iterable[Item],
        *,
        deadline_s: float | None = None,
        cache: str = "use",
        explain: bool = False,
        references: Mapping[str, Any] | None = None,
        run_id: str | None = None,
    ) -> AsyncGenerator[Indexed, None]:
        """Yield `(index, result)` as results come, in any order.

        `items` may be endless: the client reads on only while there is room for another request, and never holds all
        of it. The deadline of an item starts when the client reads it.
        """
        options = self._options(deadline_s, cache, explain, run_id)
        batches = self._batches(items, options, references, shared=None, stream=True)
        try:
            async for batch in batches:
                for pair in batch:
                    yield pair
        finally:
            await batches.aclose()

    async def verifiers(self) -> list[dict[str, Any]]:
        """List the server's verifiers: name, version, parameter schema, examples.

        Raises:
            Unavailable: No answer came within `timeout_s` and the retries.
        """
        return await self._with_retries(
            lambda transport, timeout_s: transport.verifiers(timeout_s), self._config.timeout_s
        )

    async def usage(self, *, tenant: str | None = None) -> dict[str, Any]:
        """What this key's tenant and its runs have used, and what they may use. HTTP and Ray only.

        Args:
            tenant: Another tenant. The key needs the scope `admin`.

        Raises:
            RequestError: The server refused the request; the subclass says why.
            Unavailable: No answer came in time.
        """
        return await self.call("GET", "/v1/usage", headers={} if tenant is None else {"x-tenant": tenant})

    async def alarms(
        self, *, run: str | None = None, after: str | None = None, tenant: str | None = None
    ) -> list[dict[str, Any]]:
        """Where a policy seems to game its reward, the oldest alarm first. HTTP and Ray only.

        Args:
            run: Of this run alone.
            after: The id of an alarm: those that came after it.
            tenant: Another tenant. The key needs the scope `admin`.

        Raises:
            RequestError: The server refused the request; the subclass says why.
            Unavailable: No answer came in time.
        """
        options = {name: value for name, value in (("run", run), ("after", after)) if value is not None}
        path = "/v1/watch/alarms" + (f"?{urllib.parse.urlencode(options)}" if options else "")
        report = await self.call("GET", path, headers={} if tenant is None else {"x-tenant": tenant})
        return list(report["alarms"])

    async def open_interaction(
        self, fields: Mapping[str, Any], *, deadline_s: float | None = None, run_id: str | None = None
    ) -> str:
        """Open an interaction of several turns, and return its id.

        Args:
            fields: The fields of an item without its response, and the rules of the turns (`max_turns`, `feedback`, ...).
                A caller that sets `instance_id` may open it again safely; without one, the client makes one.
            deadline_s: The call ends by then, retries included.
            run_id: The run that the call belongs to; default: that of the client.

        Raises:
            InvalidRequest: The server cannot judge by these fields; `errors` says why.
            Conflict: An interaction with this id was opened with other fields.
            Unavailable: No answer came in time.
        """
        interaction = dict(fields)
        interaction.setdefault("instance_id", uuid.uuid4().hex)
        view = await self.call("POST", INTERACTIONS, interaction, deadline_s=deadline_s, run_id=run_id)
        if "id" not in view:
            raise UnexpectedAnswer("expected an interaction with its id")
        return str(view["id"])

    async def take_turn(
        self,
        instance_id: str,
        messages: Sequence[Mapping[str, Any]],
        turn_index: int,
        *,
        deadline_s: float | None = None,
        run_id: str | None = None,
    ) -> Turn:
        """Judge the last assistant message as turn `turn_index`, which starts at 1.

        A turn that is sent again gets the same answer and counts once.

        Raises:
            NotFound: The server has no interaction with this id, or forgot it.
            Conflict: Another turn is next, or this turn came before with other messages.
            InvalidRequest: The server cannot judge this turn until its author mends it.
            Unavailable: The server could not judge the turn in time, and kept nothing of it.
        """
        body = {"messages": list(messages), "turn_index": turn_index}
        path = f"{_interaction_path(instance_id)}/turns"
        return parse_turn(await self.call("POST", path, body, deadline_s=deadline_s, run_id=run_id))

    async def show_interaction(self, instance_id: str, *, deadline_s: float | None = None) -> dict[str, Any]:
        """Return the state of an interaction. Raises as `take_turn`."""
        return await self.call("GET", _interaction_path(instance_id), deadline_s=deadline_s)

    async def end_interaction(self, instance_id: str, *, deadline_s: float | None = None) -> dict[str, Any]:
        """End an interaction and return its outcome, which is all that the server keeps. May be called twice. Raises as `take_turn`."""
        return await self.call("DELETE", _interaction_path(instance_id), deadline_s=deadline_s)

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        deadline_s: float | None = None,
        run_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Call any other route that is safe to call twice, and return the object it answers. HTTP and Ray only.

        `headers` are sent beside those of the client.

        Raises:
            RequestError: The server refused the request; the subclass says why.
            Unavailable: No answer came in time.
        """
        options = self._options(deadline_s, run_id=run_id)
        encoded = None if body is None else json_bytes(body)
        all_headers = {**run_header(options.run_id), **(headers or {})}
        answer = await self._with_retries(
            lambda transport, _: transport.call(method, path, encoded, all_headers), options.deadline_s
        )
        if not isinstance(answer, dict):
            raise UnexpectedAnswer(f"expected an object, found {type(answer).__name__}")
        return answer

    async def _with_retries(
        self, attempt: Callable[[Transport, float], Coroutine[Any, Any, T]], deadline_s: float
    ) -> T:
        """Attempt a call until it succeeds, or until the deadline or the retries end."""
        state = await self._loop_state()
        deadline = Deadline(deadline_s)
        backoff, faults = Backoff(), 0
        cause: Unavailable | None = None
        while True:
            remaining_s = deadline.remaining_s()
            began_at = self._outage.now()
            try:
                with _redacted(self._secrets):
                    answer = await _within(attempt(state.transport, remaining_s), remaining_s)
                self._outage.attempt_succeeded()
                return answer
            except Unavailable as error:
                fault, cause = _with_cause(cause, error)
            faults += not _asks_to_wait(fault)
            pause_s = backoff.next_s(fault.retry_after_s)
            self._outage.attempt_failed(fault, began_at, pause_s)
            if faults > self._config.max_retries or pause_s >= deadline.remaining_s():
                raise fault
            await asyncio.sleep(pause_s)

    async def close(self) -> None:
        """Close the connections of every event loop that still runs. May be called twice."""
        self._closed = True
        if self._pid != os.getpid():
            self._abandon()
        with self._lock:
            states, self._loops = self._loops, {}
        running_loop = asyncio.get_running_loop()
        for loop, state in states.items():
            if loop is running_loop:
                await state.close()
            elif loop.is_running():
                elsewhere = asyncio.run_coroutine_threadsafe(state.close(), loop)
                with suppress(asyncio.TimeoutError, asyncio.CancelledError):
                    await asyncio.wait_for(asyncio.wrap_future(elsewhere), _CLOSE_TIMEOUT_S)

    async def __aenter__(self: ClientT) -> ClientT:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _options(
        self, deadline_s: float | None, cache: str = "use", explain: bool = False, run_id: str | None = None
    ) -> RequestOptions:
        if cache not in _CACHE_MODES:
            raise ValueError(f"cache must be one of {_CACHE_MODES}, found {cache!r}")
        deadline_s = self._config.timeout_s if deadline_s is None else deadline_s
        check_deadline(deadline_s)
        check_run_id(run_id)
        return RequestOptions(float(deadline_s), cache, bool(explain), run_id or self._config.run_id)

    def _encoder(self, references: Mapping[str, Any] | None) -> Encoder:
        return Encoder(self._wire.encode_item, self._wire.encode_reference, references)

    async def _loop_state(self) -> _LoopState:
        """The connections of the running loop. The first call opens them."""
        if self._closed:
            raise RuntimeError("the client is closed")
        if self._pid != os.getpid():
            self._abandon()
        loop = asyncio.get_running_loop()
        with self._lock:
            for known_loop in [known_loop for known_loop in self._loops if known_loop.is_closed()]:
                del self._loops[known_loop]
            state = self._loops.get(loop)
            if state is not None:
                return state
            state = self._loops[loop] = _LoopState(self, self._wire.open())
        await state.start()
        return state

    def _abandon(self) -> None:
        """Start anew in a forked child. It shares the parent's sockets and selector, so it must not even close them."""
        _INHERITED.append(self._loops)
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
        """Yield results as they come. Reads at most `max_in_flight` requests ahead of the caller."""
        state = await self._loop_state()
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
        self._outage.call_began()
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
                    await asyncio.sleep(0)  # this chunk is sent before the next one is encoded
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
            self._outage.call_ended()

    async def _judge(
        self,
        state: _LoopState,
        entries: list[Entry],
        options: RequestOptions,
        deadline: Deadline,
        emit: Emit,
        stream: bool,
    ) -> None:
        """Emit one result for each entry, after as many requests as that takes. Raises what no retry can mend."""
        backoff, faults, resends = Backoff(), 0, 0
        unsettled = dict(enumerate(entries))
        failed: dict[int, Result] = {}
        cause: Unavailable | None = None
        while True:
            fault: Unavailable | None = None
            keys = list(unsettled)

            def take(position: int, result: Result, keys: list[int] = keys) -> None:
                if result.status is Status.FAILED and not _is_final(result, deadline.remaining_s()):
                    failed[keys[position]] = result
                else:
                    emit(unsettled.pop(keys[position]), result)

            pending = [unsettled[key] for key in keys]
            began_at = self._outage.now()
            try:
                await _within(self._attempt(state, pending, options, deadline, stream, take), deadline.remaining_s())
                self._outage.attempt_succeeded()
            except TooLarge:
                if len(pending) == 1:
                    raise
                half = (len(pending) + 1) // 2
                await self._judge(state, pending[:half], options, deadline, emit, stream)
                await self._judge(state, pending[half:], options, deadline, emit, stream)
                return
            except Unavailable as error:
                fault, cause = _with_cause(cause, error)
            if not unsettled:
                return
            if fault is None:
                resends += 1
            elif not _asks_to_wait(fault):
                faults += 1
            unjudged_yet = (failed[key] for key in unsettled if key in failed)
            pause_s = backoff.next_s(fault.retry_after_s if fault else _asked_pause_s(unjudged_yet))
            if fault is not None:
                self._outage.attempt_failed(fault, began_at, pause_s)
            spent = faults > self._config.max_retries or resends > self._config.max_resends
            if spent or pause_s >= deadline.remaining_s():
                break
            await asyncio.sleep(pause_s)
        self._outage.gave_up(len(unsettled.keys() - failed.keys()))
        for key, entry in unsettled.items():
            emit(entry, failed.get(key) or _unanswered(fault, entry))

    async def _attempt(
        self,
        state: _LoopState,
        entries: list[Entry],
        options: RequestOptions,
        deadline: Deadline,
        stream: bool,
        take: Callable[[int, Result], None],
    ) -> None:
        """Send one request, once fewer than `max_in_flight` are on their way."""

        def deliver(position: int, raw: Any) -> None:
            entry = entries[position]
            take(position, parse_result(raw, entry.default_id, entry.item))

        async with state.slots:
            remaining_s = max(deadline.remaining_s(), _MIN_TIMEOUT_S)
            request = Request(
                entries,
                deadline_s=remaining_s - min(_ANSWER_MARGIN_S, _ANSWER_MARGIN_SHARE * remaining_s),
                timeout_s=remaining_s,
                cache=options.cache,
                explain=options.explain,
                stream=stream,
                run_id=options.run_id,
            )
            try:
                with _redacted(self._secrets):
                    await state.transport.score(request, deliver)
            except RequestError as error:
                error.renumber([entry.index for entry in entries])
                raise


class _LoopState:
    """The objects of one event loop: connections, slots for requests in flight, and the gatherer of single calls."""

    def __init__(self, client: AsyncClient, transport: Transport) -> None:
        config = client._config
        self.transport = transport
        self.slots = asyncio.Semaphore(config.max_in_flight)

        async def judge(entries: list[Entry], options: RequestOptions, deadline: Deadline, emit: Emit) -> None:
            client._outage.call_began()
            try:
                await client._judge(self, entries, options, deadline, emit, stream=False)
            finally:
                client._outage.call_ended()

        self.gatherer = Gatherer(judge, config.gather_ms / 1000.0, config.gather_items, config.batch_bytes)
        self._guard = self._close_with_loop()

    async def start(self) -> None:
        await self._guard.__anext__()

    async def close(self) -> None:
        await self._release()
        await self._guard.aclose()

    async def _close_with_loop(self) -> AsyncGenerator[None, None]:
        """Close the connections when the loop ends: `asyncio.run` closes open generators before it closes the loop."""
        try:
            yield
        finally:
            await self._release()

    async def _release(self) -> None:
        await self.gatherer.close()
        await self.transport.close()


@dataclass(frozen=True)
class _Wire:
    """How to encode items for a transport, and how to open one on the running loop."""

    open: Callable[[], Transport]
    encode_item: EncodeItem
    encode_reference: EncodeReference


def _wire_of(config: Config) -> _Wire:
    scheme, _, address = config.url.partition("://")
    if scheme in ("http", "https"):
        from rewardline import http_transport  # noqa: PLC0415 - its library takes most of the time of `import rewardline`

        return _Wire(
            functools.partial(
                http_transport.HttpTransport,
                config.url,
                config.api_key,
                config.max_in_flight,
                config.compress,
                config.tls,
                config.asks,
            ),
            encode_item_as_json,
            encode_reference_as_json,
        )
    if scheme == "ray":
        from rewardline import ray_transport  # noqa: PLC0415 - only processes in a Ray cluster have Ray

        return _Wire(
            functools.partial(ray_transport.RayTransport, address, config.api_key, config.asks),
            encode_item_as_json,
            encode_reference_as_json,
        )
    from rewardline import grpc_transport  # noqa: PLC0415 - an extra that most users do not install

    return _Wire(
        functools.partial(
            grpc_transport.GrpcTransport,
            address,
            config.api_key,
            config.tls if scheme == "grpcs" else None,
            config.asks,
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


@contextmanager
def _redacted(secrets: Secrets) -> Iterator[None]:
    try:
        yield
    except RewardlineError as error:
        secrets.error(error)
        raise


async def _within(work: Coroutine[Any, Any, T], timeout_s: float) -> T:
    """Await the work, but not beyond the caller's deadline. No other place enforces it.

    Raises:
        Unavailable: The time is over.
    """
    try:
        return await asyncio.wait_for(work, max(timeout_s, 0.0))
    except asyncio.TimeoutError as error:
        raise Unavailable("deadline", "no answer within the deadline") from error


def _is_final(result: Result, remaining_s: float) -> bool:
    """Whether it helps nobody to send the item of a `failed` result again: the server lacks what it needs, its group is
    decided, or a budget is used up, and not anew in time.
    """
    if result.reason in NO_RETRY_MENDS or result.reason in DECIDED:
        return True
    pause_s = _budget_pause_s(result)
    return pause_s is not None and pause_s >= remaining_s


def _asked_pause_s(failed: Iterable[Result]) -> float | None:
    """The longest pause that budgets ask for."""
    return max((pause for pause in map(_budget_pause_s, failed) if pause is not None), default=None)


def _budget_pause_s(result: Result) -> float | None:
    """How long the budget is used up because of which the item was not judged. None: it has another reason."""
    if result.reason != _BUDGET_EXHAUSTED:
        return None
    pause = result.detail.get("retry_after_s")
    return float(pause) if isinstance(pause, (int, float)) else math.inf


def _asks_to_wait(fault: Unavailable) -> bool:
    """Whether a busy server answered. That is not an error, so only the deadline bounds such attempts, not `max_retries`."""
    return fault.retry_after_s is not None or fault.reason == "overloaded"


def _with_cause(cause: Unavailable | None, fault: Unavailable) -> tuple[Unavailable, Unavailable]:
    """The fault of an attempt, and the last known cause. An attempt that the deadline cut short has none of its own."""
    if fault.reason != "deadline" or cause is None:
        return fault, fault
    return Unavailable(fault.reason, f"{fault.message}; an earlier try: {cause}"), cause


def _unanswered(fault: Unavailable | None, entry: Entry) -> Result:
    reason, message = (fault.reason, fault.message) if fault else ("unanswered", "")
    return unjudged(Status.FAILED, reason, message, entry.default_id, entry.item)


def _server_deadline(left_s: float) -> float:
    """The server's deadline for a call that has so many seconds left."""
    return max(_MIN_TIMEOUT_S, left_s - min(_ANSWER_MARGIN_S, left_s * _ANSWER_MARGIN_SHARE))


def _interaction_path(instance_id: str) -> str:
    return f"{INTERACTIONS}/{urllib.parse.quote(instance_id, safe='')}"
