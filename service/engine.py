"""How a batch is judged: prepare, share, look up, judge, store, and give every verdict back in its place.

    items ──prepare──► key ──► memory cache? ──► already under way? ──► Redis? ──► lane ──► verifier
                 │                 │                    │                 │                     │
              invalid            answer            wait for it         answer          answer, store if ok

A *job* is one request's batch; a *flight* is one verdict under way, with everybody who waits for it, in this request or
in another. A request that ends early (deadline, caller gone) only stops waiting; a flight nobody waits for is dropped
from its queue, and stopped if it has begun.

Here alone does trouble become a verdict (`Engine._ask`), and here alone are verdicts stored: only `ok` ones.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import Self

import msgspec

from sandbox import spans
from service.batches import Batch, Chunk, Flight, Job
from service.cache import VerdictCache
from service.composition import Composed, Composition, Part
from service.judging import Prepared
from service.lanes import Lane
from service.metrics import Metrics
from service.preparation import Preparation
from service.recipes.book import Book
from service.stored import Stored, decode_stored, encode_stored
from service.wire import Result, ScoreItem, Summary
from verifiers.base import InvalidItem, Status, Unavailable, Verdict
from verifiers.registry import Entry, Registry

log = logging.getLogger("rewardline.engine")

_SLICE_ITEMS = 64
"""Items prepared before others may run: about half a millisecond."""
_SLICE_CHARS = 400_000


@dataclass(frozen=True, slots=True)
class Scored:
    """A finished batch; `results[i]` belongs to `items[i]`."""

    results: list[Result]
    summary: Summary


class Engine:
    """The one place both doors lead to. Use as an async context manager: leaving it ends what is under way."""

    def __init__(
        self,
        registry: Registry,
        cache: VerdictCache,
        metrics: Metrics,
        *,
        workers: int,
        item_deadline_s: float,
        max_response_bytes: int,
        book: Book,
        on_scored: Callable[[Batch, Sequence[Result]], None] | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """
        Args:
            registry: The verifiers.
            cache: Where verdicts are looked up and stored.
            metrics: Told of every batch.
            workers: Processes for CPU-bound work; decides how many calls of a verifier are under way.
            item_deadline_s: Longest time from an item's dispatch to its verdict.
            max_response_bytes: Of a response or prompt, counted in characters.
            book: Recipes and routes; `use` replaces them.
            on_scored: Told of each finished batch and its results; must return at once.
            clock: Seconds; how long items take by it is told to the metrics, and decides how many are judged in one go.
        """
        self.registry = registry
        self._cache = cache
        self._clock = clock
        self._metrics = metrics
        self._on_scored = on_scored
        self.book = book
        self._preparation = Preparation(registry, book, max_response_bytes)
        self._item_deadline_s = item_deadline_s
        self._worker_slots = 2 * workers
        self._flights: dict[bytes, Flight] = {}
        self._lanes: dict[str, Lane] = {}
        self._preparing = asyncio.Lock()
        """Guards nothing but the others' patience: who has more than a slice to prepare, waits for the turn."""
        self._tasks = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        for name, entry in self.registry.items():
            verifier = entry.verifier
            slots = self._worker_slots if verifier.concurrency is None else verifier.concurrency
            self._lanes[name] = Lane(
                self._ask,
                self._tasks,
                slots=slots,
                chunk_items=verifier.chunk_items,
                gives_up_places=not verifier.bounds_itself,
                clock=self._clock,
            )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for lane in self._lanes.values():
            lane.stop()
        # Told of no error: it would wrap it in a group, though none of its tasks raised it.
        await self._tasks.__aexit__(None, None, None)

    def use(self, book: Book) -> None:
        """Let other recipes and routes be in force; items that are under way keep those they began with."""
        self.book = book
        self._preparation.use(book)

    def refusal(self, item: ScoreItem) -> Verdict | None:
        """Why no response could be judged as this item has it; None when one can be, as far as is known before."""
        prepared = self._prepare(item, Batch([item], {}, "use", False, 0.0))
        return prepared if isinstance(prepared, Verdict) else None

    def queued(self) -> Mapping[str, float]:
        """Items waiting, by verifier."""
        return {name: lane.queued for name, lane in self._lanes.items()}

    def queued_s(self) -> Mapping[str, float]:
        """Seconds of work waiting, by verifier."""
        return {name: lane.queued_s for name, lane in self._lanes.items()}

    def under_way(self) -> int:
        return len(self._flights)

    async def score(self, batch: Batch) -> Scored:
        """Judge a batch. Cancelling the call stops the work nobody else waits for."""
        job = self._job(batch, None)
        with self._closing(job):
            await self._submit(job)
            await job.done.wait()
        return self._scored(job)

    async def stream(self, batch: Batch) -> AsyncGenerator[list[tuple[int, Result]] | Summary]:
        """Results with their indexes as soon as they exist, those that are ready together at once; then the summary."""
        ready: list[tuple[int, Result]] = []
        some = asyncio.Event()

        def take(index: int, result: Result) -> None:
            ready.append((index, result))
            some.set()

        job = self._job(batch, take)
        with self._closing(job):
            submitting = self._tasks.create_task(self._submit(job))
            try:
                sent = 0
                while sent < len(batch.items):
                    await some.wait()
                    some.clear()
                    results, ready[:] = ready[:], []
                    sent += len(results)
                    yield results
            finally:
                submitting.cancel()
        yield self._scored(job).summary

    def _job(self, batch: Batch, on_result: Callable[[int, Result], None] | None) -> Job:
        return Job(batch, perf_counter(), on_result)

    @contextlib.contextmanager
    def _closing(self, job: Job) -> Iterator[None]:
        """Bound the job by its deadline, and stop in the end what only it was waiting for."""
        expiry = asyncio.get_running_loop().call_at(job.batch.deadline, self._expire, job)
        try:
            yield
        finally:
            expiry.cancel()
            self._withdraw(job)

    @spans.traced("prepare")
    async def _submit(self, job: Job) -> None:
        """Answer what can be answered at once, and set the rest on its way, letting others run between slices."""
        missed: list[Flight] = []
        try:
            chars = 0
            for index, item in enumerate(job.batch.items):
                if job.results[index] is None:
                    missed += self._begin(job, index, item)
                chars += len(item.response) if isinstance(item.response, str) else 1000
                if index % _SLICE_ITEMS == _SLICE_ITEMS - 1 or chars > _SLICE_CHARS:
                    chars = 0
                    if not self._asks_redis(job):
                        self._dispatch(job, missed)
                        missed = []
                    # In turns: one slice per turn of the loop, however many large batches there are.
                    async with self._preparing:
                        await asyncio.sleep(0)
        finally:
            # Also when this request is cancelled here: others may already wait for these flights.
            self._send_off(job, missed)

    def _send_off(self, job: Job, missed: list[Flight]) -> None:
        if missed and self._asks_redis(job):
            self._tasks.create_task(self._look_up(job, missed))
        else:
            self._dispatch(job, missed)

    def _asks_redis(self, job: Job) -> bool:
        return job.batch.cache == "use" and self._cache.redis_state in ("closed", "half_open")

    def _begin(self, job: Job, index: int, item: ScoreItem) -> Sequence[Flight]:
        """Answer the item, or have it wait for flights; returns those that have not begun."""
        prepared = self._prepare(item, job.batch)
        if isinstance(prepared, Verdict):
            job.answer(index, None, prepared, cached=False, now=perf_counter())
            return ()
        if isinstance(prepared, Composed):
            job.begun += Composition(index, prepared).first()
            return self._begin_checks(job)
        flight = self._board(job, index, prepared)
        return () if flight is None else (flight,)

    def _begin_checks(self, job: Job) -> list[Flight]:
        """The same for checks whose turn has come; the verdict of one, if it is at hand, may be the turn of others."""
        missed = []
        while job.begun:
            part = job.begun.pop()
            if part.item.outcome is None:
                flight = self._board(job, part, part.prepared)
                if flight is not None:
                    missed.append(flight)
        return missed

    def _board(self, job: Job, place: int | Part, prepared: Prepared) -> Flight | None:
        """Answer at once from what is at hand, or wait for a flight; returns the flight if it has not begun."""
        if prepared.known is not None:
            job.answer(place, prepared.judge, prepared.known, cached=False, now=perf_counter())
            return None
        batch = job.batch
        key = prepared.key
        if key is not None and batch.cache == "use":
            held = self._cache.peek(key)
            if held is not None and (stored := decode_stored(held)):
                job.cached_by_layer["memory"] += 1
                now = perf_counter()
                job.answer(place, prepared.judge, stored, cached=True, now=now)
                return None
            under_way = self._flights.get(key)
            if under_way is not None:
                job.shared += 1
                own = bool(under_way.waiting) and under_way.waiting[-1][0] is job
                under_way.waiting.append((job, place))
                job.flights.append(under_way)
                if under_way.chunk is not None and not own:
                    spans.join(under_way.chunk.span, job.span)
                # Also queued on this request's account, so that it need not wait for another's long queue.
                return None if own or under_way.taken else under_way
        flight = Flight(prepared, job, place)
        job.flights.append(flight)
        if key is not None:
            self._flights[key] = flight
        return flight

    def _prepare(self, item: ScoreItem, batch: Batch) -> Prepared | Composed | Verdict:
        try:
            return self._preparation.prepare(item, batch.references, explain=batch.explain, share=batch.cache != "off")
        except InvalidItem as error:
            return Verdict.invalid(error.reason, str(error))
        except Exception:  # a plugin's own validators run here
            log.exception("preparing an item for verifier %s raised", item.verifier)
            return Verdict.failed("verifier_bug", "the verifier's parameters could not be built; see the server's log")

    async def _look_up(self, job: Job, missed: list[Flight]) -> None:
        keys = [flight.prepared.key for flight in missed]
        with spans.span("look up in caches", parent=job.span, keys=len(keys)):
            values = await self._cache.lookup([key for key in keys if key is not None])
        found = dict(zip((key for key in keys if key is not None), values, strict=True))
        now, left = perf_counter(), []
        for flight in missed:
            if flight.done:
                continue
            key = flight.prepared.key
            held = found.get(key) if key is not None and not flight.refreshes else None
            stored = decode_stored(held) if held is not None else None
            if stored is None:
                left.append(flight)
                continue
            for waiting, _ in flight.waiting:
                waiting.cached_by_layer["redis"] += 1
            self._land(flight, stored, cached=True, now=now)
        self._dispatch(job, left)

    def _dispatch(self, job: Job, flights: Iterable[Flight]) -> None:
        by_lane: dict[str, list[Flight]] = {}
        for flight in flights:
            if flight.waiting and not flight.taken:
                by_lane.setdefault(flight.prepared.judge.entry.verifier.name, []).append(flight)
        for name, group in by_lane.items():
            self._lanes[name].put(job, group)

    async def _ask(self, chunk: Chunk) -> None:
        """Have the verifier judge a chunk; whatever goes wrong becomes a verdict here, and nowhere else."""
        entry = chunk.flights[0].prepared.judge.entry
        fresh: dict[bytes, bytes] = {}
        started = self._clock()

        def deliver(position: int, verdict: Verdict) -> None:
            flight = chunk.flights[position]
            if flight.done:
                return
            if verdict.status is Status.OK and flight.prepared.key is not None:
                fields = (verdict.score, verdict.reason, verdict.extracted, verdict.detail)
                fresh[flight.prepared.key] = encode_stored(fields)
            self._land(flight, verdict, cached=False, now=perf_counter())

        try:
            with spans.shared(
                "judge", chunk.requests(), verifier=entry.verifier.name, items=len(chunk.flights)
            ) as chunk.span:
                await self._judge(entry, chunk, range(len(chunk.flights)), deliver)
        finally:
            self._cache.store(fresh)
            self._metrics.observe_chunk(entry.verifier.name, self._clock() - started)

    async def _judge(
        self, entry: Entry, chunk: Chunk, positions: Sequence[int], deliver: Callable[[int, Verdict], None]
    ) -> None:
        items = [chunk.flights[position].item() for position in positions]
        try:
            async with asyncio.timeout(None if entry.verifier.bounds_itself else self._item_deadline_s):
                await entry.verifier.score_each(items, lambda at, verdict: deliver(positions[at], verdict))
            trouble = Verdict.failed("verifier_bug", "the verifier gave no verdict for this item")
        except TimeoutError:
            trouble = Verdict.failed("item_deadline", f"not judged within {self._item_deadline_s:g} s")
        except InvalidItem as error:
            trouble = Verdict.invalid(error.reason, str(error))
        except Unavailable as error:
            trouble = Verdict.failed(error.reason, str(error))
        except Exception:
            log.exception("verifier %s raised on %d items", entry.verifier.name, len(items))
            trouble = Verdict.failed("verifier_bug", "the verifier raised; the server's log has the traceback")
        left = [position for position in positions if not chunk.flights[position].done]
        if not left:
            return
        if len(positions) > 1 and trouble.reason != "item_deadline":
            # One bad item must not cost the others: each is asked alone, and keeps its own trouble.
            for position in left:
                await self._judge(entry, chunk, [position], deliver)
            return
        for position in left:
            deliver(position, trouble)

    def _land(self, flight: Flight, verdict: Verdict | Stored, *, cached: bool, now: float) -> None:
        """Everybody who waits for this flight gets its verdict."""
        flight.done = True
        if flight.chunk is not None:
            flight.chunk.wanted -= 1
        self._forget(flight)
        for job, place in flight.waiting:
            job.answer(place, flight.prepared.judge, verdict, cached=cached, now=now)
        waiting, flight.waiting = flight.waiting, []
        for job, _ in waiting:
            if job.begun:
                self._send_off(job, self._begin_checks(job))

    def _forget(self, flight: Flight) -> None:
        key = flight.prepared.key
        if key is not None and self._flights.get(key) is flight:
            del self._flights[key]

    def _expire(self, job: Job) -> None:
        """What has no verdict by the deadline is `failed`."""
        now = perf_counter()
        for flight in job.flights:
            for waiting, place in flight.waiting:
                if waiting is job:
                    job.answer(place, flight.prepared.judge, _DEADLINE, cached=False, now=now)
        for index, result in enumerate(job.results):
            if result is None:
                job.answer(index, None, _DEADLINE, cached=False, now=now)
        job.begun.clear()

    def _withdraw(self, job: Job) -> None:
        """The request waits no longer: stop what only it was waiting for."""
        for flight in job.flights:
            if flight.done:
                continue
            flight.waiting = [pair for pair in flight.waiting if pair[0] is not job]
            if not flight.waiting:
                flight.done = True
                self._forget(flight)
                if flight.chunk is not None:
                    flight.chunk.want_less()
        job.flights.clear()

    def _scored(self, job: Job) -> Scored:
        now = perf_counter()
        results = [result for result in job.results if result is not None]
        assert len(results) == len(job.results)
        outcomes: dict[tuple[str, str, str], int] = {}
        for result in results:
            labels = (result.verifier or "", result.status, result.reason)
            outcomes[labels] = outcomes.get(labels, 0) + 1
        self._metrics.observe(outcomes, job.cached_by_layer, job.shared)
        self._metrics.rewards.observe(job.batch.items, results, self.book.labels)
        if self._on_scored is not None:
            self._on_scored(job.batch, results)
        summary = job.summary(outcomes, now)
        if job.span is not None:
            counts = msgspec.structs.asdict(summary).items()
            job.span.set({f"rewardline.{name}": count for name, count in counts if name != "elapsed_ms"})
        return Scored(results, summary)


_DEADLINE = Verdict.failed("deadline", "not judged before the request's deadline")
