"""The state of one batch: the answers so far, and the verdicts for which it waits."""

import asyncio
from collections.abc import Callable, Mapping

from fairness import TENANT
from service.cache.cached_verdict import CachedVerdict
from service.recipes.book import Book
from service.scoring.composition import Composition, Part
from service.scoring.pending_verdict import Layer, PendingVerdict, Place
from service.scoring.pinned import Pinned
from service.scoring.preparation import SharedReferences
from service.scoring.prepared_item import ConfiguredVerifier
from service.tenant import RUN
from service.wire import BatchRequest, Result, Summary
from tracing import spans
from verifiers.base import Verdict

_DEADLINE = Verdict.failed("deadline", "not judged before the request's deadline")


class BatchState:
    """A batch that is answered item by item, until `done` is set.

    `on_result(index, result)` gets each result. `on_gates(batch)` is called when checks can begin because the checks
    before them have been judged.
    """

    def __init__(
        self,
        request: BatchRequest,
        now: float,
        on_gates: "Callable[[BatchState], None]",
        book: Book,
        on_result: Callable[[int, Result], None] | None = None,
    ) -> None:
        self.request = request
        self.book = book
        self.references = SharedReferences(request.references)
        self.tenant = TENANT.get()
        self.run = RUN.get()
        self.deadline = request.deadline
        self.cache = request.cache
        self.results: list[Result | None] = [None] * len(request.items)
        self.cached_by_layer: dict[str, int] = {"memory": 0, "redis": 0}
        self.shared = 0
        self.wants_receipts = False
        self.pin: Pinned | None = None
        """The versions that the batch is pinned to."""
        self.pinned: list[int] = []
        """Items that the release of the pin judges."""
        self.serving: asyncio.Task[None] | None = None
        """Asks that release."""
        self.ready_parts: list[Part] = []
        """Checks with open gates that have not begun yet."""
        self.unread: dict[Place, Verdict] = {}
        """The verdicts on responses that their verifiers cannot read, where these judge an empty one."""
        self.done = asyncio.Event()
        self.span = spans.current()
        """The span of the request that the batch came with."""
        self._verdicts: list[PendingVerdict] = []
        self._left = len(request.items)
        self._started = now
        self._on_gates = on_gates
        self._on_result = on_result
        self._now = now
        self._elapsed_ms = 0.0
        if not self._left:
            self.done.set()

    def wait_for(self, verdict: PendingVerdict, *, is_shared: bool) -> None:
        """Remember a verdict that the batch waits for."""
        self._verdicts.append(verdict)
        self.shared += is_shared

    def answer(
        self,
        slot: Place,
        configured: ConfiguredVerifier | None,
        verdict: Verdict | CachedVerdict,
        *,
        now: float,
        cached_in: Layer | None = None,
    ) -> None:
        """Give a verdict to an item, or to one check of an item. A second answer is ignored."""
        if verdict.score is not None and slot in self.unread:
            verdict = self.unread[slot]
        cached = cached_in is not None
        if cached_in is not None:
            self.cached_by_layer[cached_in] += 1
        if isinstance(slot, int):
            self._give(slot, configured, verdict, verdict.score, cached, now)
            return
        composition = slot.item
        if self.results[composition.index] is not None:
            return
        self.ready_parts += composition.take(slot.position, verdict, cached=cached)
        outcome = composition.outcome
        if outcome is not None:
            self._give(
                composition.index, outcome.configured, outcome.verdict, outcome.reward, outcome.cached, now, composition
            )

    def resume(self) -> None:
        """Begin the checks with open gates."""
        if self.ready_parts:
            self._on_gates(self)

    def refuse(self, verdict: Verdict) -> None:
        """Give every item this verdict, before any has begun."""
        for index in range(len(self.results)):
            self.answer(index, None, verdict, now=self._started)

    def expire(self, now: float) -> None:
        """Answer every item that has no verdict yet with `failed`, because the deadline is over."""
        for verdict in self._verdicts:
            verdict.answer_only(self, _DEADLINE, now=now)
        for index, result in enumerate(self.results):
            if result is None:
                self.answer(index, None, _DEADLINE, now=now)
        self.ready_parts.clear()

    def withdraw(self) -> None:
        """Stop waiting. Work that only this batch was waiting for is stopped."""
        if self.serving is not None:
            self.serving.cancel()
        for verdict in self._verdicts:
            verdict.leave(self)
        self._verdicts.clear()

    def _give(
        self,
        index: int,
        configured: ConfiguredVerifier | None,
        verdict: Verdict | CachedVerdict,
        reward: float | None,
        cached: bool,
        now: float,
        composition: Composition | None = None,
    ) -> None:
        if self.results[index] is not None:
            return
        if now != self._now:
            self._now = now
            self._elapsed_ms = round((now - self._started) * 1000, 3)
        item_id = self.request.items[index].id
        self.results[index] = result = Result(
            index if item_id is None else item_id,
            "ok" if verdict.score is not None else verdict.status.value,
            verdict.score,
            reward,
            verdict.reason,
            None if configured is None else configured.name,
            None if configured is None else configured.version,
            verdict.extracted,
            verdict.detail,
            cached,
            self._elapsed_ms,
        )
        if composition is not None:
            result.recipe = composition.composed.plan.recipe.name
            if self.request.items[index].verifier is None:
                result.checks = composition.checks_as_json()
        self._note(index, result)

    def place(self, index: int, result: Result) -> None:
        """Give an item a result that another release made, under its own id. A second answer is ignored."""
        if self.results[index] is None:
            item_id = self.request.items[index].id
            result.id = index if item_id is None else item_id
            self.results[index] = result
            self._note(index, result)

    def _note(self, index: int, result: Result) -> None:
        if self._on_result is not None:
            self._on_result(index, result)
        self._left -= 1
        if not self._left:
            self.done.set()

    def summary(self, outcomes: Mapping[tuple[str, str, str], int], now: float) -> Summary:
        """The summary of a finished batch. `outcomes` counts its results by verifier, status and reason."""
        statuses = {"ok": 0, "invalid": 0, "failed": 0}
        for (_, status, _), count in outcomes.items():
            statuses[status] += count
        return Summary(
            items=len(self.results),
            **statuses,
            cached=sum(result is not None and result.cached for result in self.results),
            deduplicated=self.shared,
            elapsed_ms=round((now - self._started) * 1000, 3),
        )
