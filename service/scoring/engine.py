"""Judges batches: prepare, share, look up, judge, store, and put every verdict in its place.

    items ──prepare──► key ──► memory cache? ──► already under way? ──► Redis? ──► fair queue ──► verifier call
                 │                 │                    │                 │                           │
              invalid            answer            wait for it         answer                answer, store if ok

A batch that ends early (deadline, or the caller is gone) only stops waiting. If no batch waits for a verdict any more,
the verdict is dropped from its queue, or stopped if it has begun.
"""

import asyncio
import contextlib
import contextvars
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import perf_counter
from types import TracebackType
from typing import Final, Self

import msgspec

from fairness import FairLock
from service.asked import PIN, RECEIPTS
from service.cache.cached_verdict import decode_verdict
from service.cache.verdict_cache import VerdictCache
from service.limits.budgets import Measure
from service.observe.metrics import Metrics
from service.recipes.book import Book
from service.scoring.batch_state import BatchState
from service.scoring.composition import Composed, Composition
from service.scoring.fair_queue import FairQueue
from service.scoring.lru import Memories
from service.scoring.pending_verdict import PendingVerdict, PendingVerdicts, Place
from service.scoring.pinned import Pinned, receipt_bytes
from service.scoring.preparation import LARGE_BYTES, Preparation, SharedReferences, is_large
from service.scoring.prepared_item import PreparedItem
from service.scoring.verifier_call import VerifierCalls
from service.usage.ledger import REASON, Ledger
from service.wire import BatchRequest, Result, ScoreItem, Summary
from tracing import spans
from verifiers.base import InvalidItem, Verdict
from verifiers.pace import Pace
from verifiers.registry import Registry

log = logging.getLogger("rewardline.engine")

_SLICE_ITEMS = 64
"""Items that are prepared before other tasks may run: about half a millisecond."""
_SLICE_CHARS = 400_000
_HASHED_BYTES = 32_000
"""JSON that is hashed for a receipt on the event loop: about a millisecond."""
_SLICE_RESULTS = 512
"""Results that are counted before other tasks may run: about a millisecond."""
_CHUNKS_PER_WORKER = 2
"""So that a worker has the next chunk at hand when it ends one."""


Stamp = Callable[[ScoreItem, Mapping[str, msgspec.Raw], Result, Book, Pinned | None], None]


def _never() -> bool:
    return False


def _difference(pin: Pinned, prepared: PreparedItem | Composed | Verdict) -> Verdict | None:
    """The verdict of an item whose pin has other versions than are here."""
    if isinstance(prepared, Verdict):
        return None
    if isinstance(prepared, PreparedItem):
        return pin.difference((prepared.configured,), None)
    return pin.difference(prepared.plan.verifiers, prepared.plan.recipe)


async def _serve_pinned(batch: BatchState, pin: Pinned) -> None:
    """Have items judged by the release that they are pinned to."""
    items = [batch.request.items[index] for index in batch.pinned]
    try:
        results = await pin.judge(replace(batch.request, items=items))
    except Exception:
        log.exception("another release raised on %d items", len(items))
        trouble = Verdict.failed("pin_unserved", "the pinned release was not asked; the server's log has the traceback")
        for index in batch.pinned:
            batch.answer(index, None, trouble, now=perf_counter())
        return
    for index, result in zip(batch.pinned, results, strict=True):
        batch.place(index, result)


PASSING: Final = frozenset(
    {
        *("sandbox_unavailable", "sandbox_busy", "box_died", "workers_unavailable"),
        *("judge_connect", "judge_timeout", "judge_upstream_5xx", "judge_bad_upstream_body", "judge_rate_limited"),
        *("judge_no_healthy_endpoint", "judge_overloaded"),
    }
)
"""Temporary reasons of `failed`. An item that kills workers is not given to more of them."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A finished batch; `results[i]` belongs to `items[i]`."""

    results: list[Result]
    summary: Summary


class Engine:
    """Judges the batches of both doors. Use it as an async context manager; leaving it ends the work under way."""

    def __init__(
        self,
        registry: Registry,
        cache: VerdictCache,
        metrics: Metrics,
        *,
        workers: int,
        is_backed_up: Callable[[], bool] = _never,
        is_starting: Callable[[], bool] = _never,
        item_deadline_s: float,
        max_response_bytes: int,
        book: Book,
        cache_by_tenant: bool = False,
        usage: Ledger | None = None,
        on_scored: Callable[[BatchRequest, Sequence[Result]], None] | None = None,
        pins: Callable[[str], Pinned | Verdict] | None = None,
        stamp: Stamp | None = None,
        stamps_all: bool = False,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """
        Args:
            registry: The verifiers.
            cache: Where verdicts are looked up and stored.
            metrics: Counts every batch.
            workers: Processes for CPU-bound work; decides how many calls of a verifier are under way.
            is_backed_up: Whether work waits for these processes.
            is_starting: Whether these processes are not there yet. What items wait for them is not their own time.
            item_deadline_s: Longest time from an item's dispatch to its verdict.
            max_response_bytes: Of a response or prompt, counted in characters.
            book: Recipes and routes; `use` replaces them.
            cache_by_tenant: Whether verdicts are shared only between items of the same tenant, and these alone are judged
                together.
            usage: Counts the items of tenants and runs, and says when they have none left.
            on_scored: Told of each finished batch and its results; must return at once.
            pins: Finds what a request is pinned to; a verdict says why nothing is found.
            stamp: Puts a receipt into a result. None: there are no receipts.
            stamps_all: Whether each result gets one, and not only those of requests that ask for it.
            clock: Seconds; how long items take by it is told to the metrics, and decides how many are judged in one go.
        """
        self.registry = registry
        self._cache = cache
        self._clock = clock
        self._metrics = metrics
        self._on_scored = on_scored
        self._pins = pins
        self._stamp = stamp
        self._stamps_all = stamps_all
        self._usage = Ledger() if usage is None else usage
        self.book = book
        memories = Memories(by_tenant=cache_by_tenant)
        self._preparation, self._preparation_apart = (
            Preparation(registry, book, max_response_bytes, memories, by_tenant=cache_by_tenant) for _ in range(2)
        )
        self._parts_tenants = cache_by_tenant
        self._calls = VerifierCalls(
            cache,
            metrics,
            item_deadline_s=item_deadline_s,
            clock=clock,
            memories=memories,
            is_starting=is_starting,
        )
        self._worker_slots = _CHUNKS_PER_WORKER * workers
        self._is_backed_up = is_backed_up
        self._pending = PendingVerdicts()
        self._queues: dict[str, FairQueue] = {}
        self._preparing = FairLock()
        """Large batches hold this lock between two of their slices, so that they take turns. It guards no data."""
        self._apart = ThreadPoolExecutor(1, "rewardline-large-items")
        """Makes large items ready, one after the other."""
        self._preparing_apart = FairLock()
        self._tasks = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        for name, entry in self.registry.items():
            verifier = entry.verifier
            slots = self._worker_slots if verifier.concurrency is None else verifier.concurrency
            self._queues[name] = FairQueue(
                self._calls.judge,
                self._tasks,
                slots=slots,
                chunk_items=verifier.chunk_items,
                abreast=_CHUNKS_PER_WORKER if verifier.concurrency is None else 1,
                gives_up_places=not verifier.bounds_itself,
                mixes=not (verifier.bounds_itself or self._parts_tenants),
                is_backed_up=self._is_backed_up if verifier.concurrency is None else _never,
                clock=self._clock,
            )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for queue in self._queues.values():
            queue.stop()
        # The group gets no error: it would wrap the error in an exception group, though none of its tasks raised it.
        await self._tasks.__aexit__(None, None, None)
        self._apart.shutdown(wait=False)

    def use(self, book: Book) -> None:
        """Put other recipes and routes in force. Items under way keep the old ones."""
        self.book = book
        self._preparation.use(book)
        self._apart.submit(self._preparation_apart.use, book)

    def refusal(self, item: ScoreItem) -> Verdict | None:
        """The reason why no response to this item could be judged. None if one can be, as far as is known in
        advance.
        """
        request = BatchRequest([item], {}, "use", False, 0.0)
        prepared = self._prepare(self._preparation, item, request, SharedReferences({}))
        return prepared if isinstance(prepared, Verdict) else None

    def queued(self) -> Mapping[str, float]:
        """Items waiting, by verifier."""
        return {name: queue.queued for name, queue in self._queues.items()}

    def queued_s(self) -> Mapping[str, float]:
        """Seconds of work waiting, by verifier."""
        return {name: queue.queued_s for name, queue in self._queues.items()}

    def under_way(self) -> int:
        return len(self._pending)

    async def score(self, request: BatchRequest) -> Scored:
        """Judge a batch. Cancelling the call stops the work that no other batch waits for."""
        batch = self._opened(BatchState(request, perf_counter(), self._open_gates, self.book))
        with self._closing(batch):
            await self._submit(batch)
            await batch.done.wait()
        if batch.wants_receipts:
            await self._stamped(batch, [*enumerate(result for result in batch.results if result is not None)])
        return await self._scored(batch)

    async def stream(self, request: BatchRequest) -> AsyncGenerator[list[tuple[int, Result]] | Summary]:
        """Yield results with their indexes as soon as they exist, then the summary. Results that are ready together
        come together.
        """
        ready: list[tuple[int, Result]] = []
        news = asyncio.Event()

        def take(index: int, result: Result) -> None:
            ready.append((index, result))
            news.set()

        batch = self._opened(BatchState(request, perf_counter(), self._open_gates, self.book, take))
        with self._closing(batch):
            submitting = self._tasks.create_task(self._submit(batch))
            try:
                sent_count = 0
                while sent_count < len(request.items):
                    await news.wait()
                    news.clear()
                    results, ready[:] = ready[:], []
                    sent_count += len(results)
                    if batch.wants_receipts:
                        await self._stamped(batch, results)
                    yield results
            finally:
                submitting.cancel()
        yield (await self._scored(batch)).summary

    def _opened(self, batch: BatchState) -> BatchState:
        """The batch, with its items charged to its tenant and run; refused if they have no budget left."""
        refusal = self._usage.begin(len(batch.request.items))
        if refusal is not None:
            batch.refuse(Verdict.failed(REASON, refusal.message, **refusal.detail))
        batch.wants_receipts = self._stamp is not None and (self._stamps_all or RECEIPTS.get())
        if self._pins is not None and (pin_name := PIN.get()):
            pin = self._pins(pin_name)
            if isinstance(pin, Verdict):
                batch.refuse(pin)
            else:
                batch.pin = pin
        return batch

    async def _stamped(self, batch: BatchState, results: Sequence[tuple[int, Result]]) -> None:
        """Put their receipts into results. What holds much JSON is hashed in a thread."""
        pace, served = Pace(self._clock), frozenset(batch.pinned)
        for index, result in results:
            assert self._stamp is not None
            item = batch.request.items[index]
            pin = batch.pin if index in served else None
            receipt_args = (item, batch.request.references, result, batch.book, pin)
            if receipt_bytes(item, batch.request.references) > _HASHED_BYTES:
                await asyncio.to_thread(self._stamp, *receipt_args)
            else:
                self._stamp(*receipt_args)
            if pace.is_over():
                await pace.rest()

    @contextlib.contextmanager
    def _closing(self, batch: BatchState) -> Iterator[None]:
        """Hold the batch to its deadline. At the end, stop the work that only this batch was waiting for."""
        expiry = asyncio.get_running_loop().call_at(batch.deadline, lambda: batch.expire(perf_counter()))
        try:
            yield
        finally:
            expiry.cancel()
            batch.withdraw()

    @spans.traced("prepare")
    async def _submit(self, batch: BatchState) -> None:
        """Answer the items that can be answered at once, and send off the rest. Other tasks run between slices."""
        missed: list[PendingVerdict] = []
        try:
            count, chars, now, last = 0, 0, perf_counter(), len(batch.request.items) - 1
            pace = Pace(self._clock)
            nbytes = batch.request.nbytes
            may_be_large = nbytes is None or nbytes > LARGE_BYTES
            for index, item in enumerate(batch.request.items):
                if batch.results[index] is None:
                    if may_be_large and is_large(item, batch.references):
                        missed += await self._begin_apart(batch, index, item)
                    else:
                        prepared = self._prepare(self._preparation, item, batch.request, batch.references)
                        self._begin(batch, index, prepared, missed, now)
                count += 1
                chars += len(item.response) if isinstance(item.response, str) else 1000
                ends_slice = count == _SLICE_ITEMS or chars > _SLICE_CHARS or pace.is_over()
                if ends_slice and index < last:
                    count = chars = 0
                    if not self._asks_redis(batch):
                        self._queue(batch, missed)
                        missed = []
                    # Large batches take turns: the loop prepares one slice per turn, however many batches there are.
                    async with self._preparing:
                        await pace.rest()
                    now = perf_counter()
        finally:
            # This also runs if the request is cancelled here: other batches may already wait for these verdicts.
            self._send_off(batch, missed)
        if batch.pin is not None and batch.pinned:
            batch.serving = self._tasks.create_task(_serve_pinned(batch, batch.pin))

    def _send_off(self, batch: BatchState, missed: list[PendingVerdict]) -> None:
        if missed and self._asks_redis(batch):
            self._tasks.create_task(self._look_up(batch, missed))
        else:
            self._queue(batch, missed)

    def _asks_redis(self, batch: BatchState) -> bool:
        return batch.cache == "use" and self._cache.redis_state in ("closed", "half_open")

    async def _begin_apart(self, batch: BatchState, index: int, item: ScoreItem) -> list[PendingVerdict]:
        """Begin a large item, which is made ready in a thread. Tenants take turns."""
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        missed: list[PendingVerdict] = []
        async with self._preparing_apart:
            work = (self._prepare, self._preparation_apart, item, batch.request, batch.references)
            prepared = await loop.run_in_executor(self._apart, context.run, *work)
        if batch.results[index] is None:
            self._begin(batch, index, prepared, missed, perf_counter())
        return missed

    def _begin(
        self,
        batch: BatchState,
        index: int,
        prepared: PreparedItem | Composed | Verdict,
        missed: list[PendingVerdict],
        now: float,
    ) -> None:
        """Answer the item, or make it wait for verdicts. Verdicts that must be queued are added to `missed`. `now` is
        that of the slice.
        """
        if batch.pin is not None and (verdict := _difference(batch.pin, prepared)) is not None:
            if batch.pin.serves:
                batch.pinned.append(index)
            else:
                batch.answer(index, None, verdict, now=now)
        elif isinstance(prepared, PreparedItem):
            pending = self._find(batch, index, prepared, now)
            if pending is not None:
                missed.append(pending)
        elif isinstance(prepared, Verdict):
            batch.answer(index, None, prepared, now=now)
        else:
            batch.ready_parts += Composition(index, prepared).first()
            missed += self._begin_checks(batch)

    def _begin_checks(self, batch: BatchState) -> list[PendingVerdict]:
        """Begin the checks with open gates. If the verdict of a check is at hand, it may open further gates."""
        missed, now = [], perf_counter()
        while batch.ready_parts:
            part = batch.ready_parts.pop()
            if part.item.outcome is None:
                pending = self._find(batch, part, part.prepared, now)
                if pending is not None:
                    missed.append(pending)
        return missed

    def _open_gates(self, batch: BatchState) -> None:
        self._send_off(batch, self._begin_checks(batch))

    def _find(self, batch: BatchState, slot: Place, prepared: PreparedItem, now: float) -> PendingVerdict | None:
        """Answer from what is at hand, or wait for a verdict. Returns the verdict if it must be queued."""
        if prepared.unread is not None:
            batch.unread[slot] = prepared.unread
        if prepared.key is not None and batch.cache == "use":
            content = self._cache.peek(prepared.key)
            if content is not None and (cached := decode_verdict(content)):
                batch.answer(slot, prepared.configured, cached, now=now, cached_in="memory")
                return None
        return self._pending.wait(batch, slot, prepared)

    def _prepare(
        self, preparation: Preparation, item: ScoreItem, request: BatchRequest, references: SharedReferences
    ) -> PreparedItem | Composed | Verdict:
        try:
            return preparation.prepare(
                item, references, explain=request.explain or item.explain, share=request.cache != "off"
            )
        except InvalidItem as error:
            return Verdict.invalid(error.reason, str(error))
        except Exception:  # a plugin's own validators run here
            log.exception("preparing an item for verifier %s raised", item.verifier)
            return Verdict.failed("verifier_bug", "the verifier's parameters could not be built; see the server's log")

    async def _look_up(self, batch: BatchState, missed: list[PendingVerdict]) -> None:
        keys = [pending.prepared.key for pending in missed]
        with spans.span("look up in caches", parent=batch.span, keys=len(keys)):
            values = await self._cache.lookup([key for key in keys if key is not None])
        by_key = dict(zip((key for key in keys if key is not None), values, strict=True))
        now, unanswered = perf_counter(), []
        for pending in missed:
            if not pending.is_open:
                continue
            key = pending.prepared.key
            content = by_key.get(key) if key is not None and not pending.refreshes else None
            cached = decode_verdict(content) if content is not None else None
            if cached is None:
                unanswered.append(pending)
            else:
                pending.finish(cached, now=now, cached_in="redis")
        self._queue(batch, unanswered)

    def _queue(self, batch: BatchState, verdicts: Iterable[PendingVerdict]) -> None:
        by_verifier: dict[str, list[PendingVerdict]] = {}
        for pending in verdicts:
            if pending.state == "waiting":
                by_verifier.setdefault(pending.prepared.configured.name, []).append(pending)
        for name, group in by_verifier.items():
            self._queues[name].put(batch, group)

    async def _scored(self, batch: BatchState) -> Scored:
        now, pace = perf_counter(), Pace(self._clock)
        results = [result for result in batch.results if result is not None]
        assert len(results) == len(batch.results)
        outcomes: dict[tuple[str, str, str], int] = {}
        for start in range(0, len(results), _SLICE_RESULTS):
            part = results[start : start + _SLICE_RESULTS]
            for result in part:
                labels = (result.verifier or "", result.status, result.reason)
                outcomes[labels] = outcomes.get(labels, 0) + 1
            if batch.request.is_recorded:
                items = batch.request.items[start : start + _SLICE_RESULTS]
                self._metrics.rewards.observe(items, part, self.book.labels)
            if pace.is_over():
                await pace.rest()
        self._metrics.observe(outcomes, batch.cached_by_layer, batch.shared, batch.tenant)
        if batch.request.is_recorded and self._on_scored is not None:
            self._on_scored(batch.request, results)
        summary = batch.summary(outcomes, now)
        judged = len(results) - summary.cached - sum(n for labels, n in outcomes.items() if labels[2] == REASON)
        if judged:
            self._usage.note(batch.tenant, batch.run, {Measure.JUDGED: judged})
        if batch.span is not None:
            counts = msgspec.structs.asdict(summary).items()
            batch.span.set({f"rewardline.{name}": count for name, count in counts if name != "elapsed_ms"})
        return Scored(results, summary)
