"""The state of work under way: batches, their jobs, and the flights they wait for.

A job is one request's batch; a flight is one verdict under way, with everybody who waits for it; a chunk is flights that
are asked together.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sandbox import spans
from service.composition import Composition, Part
from service.judging import Judge, Prepared
from service.stored import Stored
from service.wire import CacheMode, Result, ScoreItem, Summary
from verifiers.base import Item, Verdict


@dataclass(frozen=True, slots=True)
class Batch:
    """What a door hands in: the decoded request, and when its caller stops waiting."""

    items: Sequence[ScoreItem]
    references: Mapping[str, msgspec.Raw]
    cache: CacheMode
    explain: bool
    deadline: float
    """On the event loop's clock, seconds."""


class Job:
    """The state of one batch: what has been answered, and what is still waited for."""

    def __init__(self, batch: Batch, now: float, on_result: Callable[[int, Result], None] | None) -> None:
        self.batch = batch
        self.results: list[Result | None] = [None] * len(batch.items)
        self.flights: list[Flight] = []
        self.pending = len(batch.items)
        self.started = now
        self.cached_by_layer = {"memory": 0, "redis": 0}
        self.shared = 0
        self.begun: list[Part] = []
        """Checks whose gates have opened, to be set on their way."""
        self.done = asyncio.Event()
        self.span = spans.current()
        """Of the request that the batch came with."""
        self._on_result = on_result
        self._now = now
        self._elapsed_ms = 0.0
        if not self.pending:
            self.done.set()

    def answer(
        self, place: int | Part, judge: Judge | None, verdict: Verdict | Stored, *, cached: bool, now: float
    ) -> None:
        """Give an item, or one check of an item, its verdict; a second answer is passed over."""
        if isinstance(place, int):
            self._give(place, judge, verdict, verdict.score, cached=cached, now=now)
            return
        composition = place.item
        if self.results[composition.index] is not None:
            return
        self.begun += composition.take(place.position, verdict, cached=cached)
        outcome = composition.outcome
        if outcome is not None:
            self._give(
                composition.index,
                outcome.judge,
                outcome.verdict,
                outcome.reward,
                cached=outcome.cached,
                now=now,
                composition=composition,
            )

    def _give(
        self,
        index: int,
        judge: Judge | None,
        verdict: Verdict | Stored,
        reward: float | None,
        *,
        cached: bool,
        now: float,
        composition: Composition | None = None,
    ) -> None:
        if self.results[index] is not None:
            return
        if now != self._now:
            self._now = now
            self._elapsed_ms = round((now - self.started) * 1000, 3)
        item_id = self.batch.items[index].id
        verifier = judge.entry.verifier if judge is not None else None
        self.results[index] = result = Result(
            index if item_id is None else item_id,
            "ok" if verdict.score is not None else verdict.status.value,
            verdict.score,
            reward,
            verdict.reason,
            verifier.name if verifier else None,
            verifier.version if verifier else None,
            verdict.extracted,
            verdict.detail,
            cached,
            self._elapsed_ms,
        )
        if composition is not None:
            result.recipe = composition.composed.plan.recipe.name
            if self.batch.items[index].verifier is None:
                result.checks = composition.told()
        if self._on_result is not None:
            self._on_result(index, result)
        self.pending -= 1
        if not self.pending:
            self.done.set()

    def summary(self, outcomes: Mapping[tuple[str, str, str], int], now: float) -> Summary:
        """Of a finished job; `outcomes` counts its results by verifier, status and reason."""
        statuses = {"ok": 0, "invalid": 0, "failed": 0}
        for (_, status, _), count in outcomes.items():
            statuses[status] += count
        return Summary(
            items=len(self.results),
            **statuses,
            cached=sum(result is not None and result.cached for result in self.results),
            deduplicated=self.shared,
            elapsed_ms=round((now - self.started) * 1000, 3),
        )


class Flight:
    """One verdict under way, and everybody who waits for it."""

    __slots__ = ("chunk", "done", "prepared", "taken", "waiting")

    def __init__(self, prepared: Prepared, job: Job, place: int | Part) -> None:
        self.prepared = prepared
        self.waiting: list[tuple[Job, int | Part]] = [(job, place)]
        self.taken = False
        """Its turn has come; it may stand in the queues of several requests, but is judged once."""
        self.chunk: Chunk | None = None
        self.done = False

    @property
    def refreshes(self) -> bool:
        """Somebody who waits for it wants it judged, whatever is remembered."""
        return any(job.batch.cache == "refresh" for job, _ in self.waiting)

    def item(self) -> Item[Any]:
        """What is asked of the verifier, with the time at which the last of them will have gone."""
        if not self.waiting:
            return self.prepared.item()
        # Those who came later share what the first one asked for.
        deadline = max(job.batch.deadline for job, _ in self.waiting)
        return self.prepared.item(deadline, self.waiting[0][0].batch.cache)


@dataclass(eq=False, slots=True)
class Chunk:
    """Flights that are asked together."""

    flights: Sequence[Flight]
    wanted: int
    """Flights somebody still waits for; at 0 the work is stopped."""
    task: asyncio.Task[None] | None = None
    begun: bool = False
    """A task cancelled before its first step never runs, not even its `finally`, and would keep its place for ever."""
    late: bool = False
    span: spans.Span | None = None
    """While it is being judged, if that is traced."""

    def requests(self) -> Iterator[spans.Span | None]:
        """Those that wait for it."""
        return (job.span for flight in self.flights for job, _ in flight.waiting)

    def want_less(self) -> None:
        """One flight fewer is waited for; the last one stops the work."""
        self.wanted -= 1
        if not self.wanted and self.begun and self.task is not None:
            self.task.cancel()
