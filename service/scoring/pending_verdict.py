"""One verdict under way. Every change of its state happens here.

    waiting ──take──► taken, in a chunk ──finish──► done
       │ │               │
       │ └─finish────────┼──────────────► done       Redis had it, which may also be found when it has been taken
       └───────leave─────┴──────────────► dropped    no batch waits for it any more

Equal items share one verdict, whether they are in one batch or in several. But nobody waits for what another one pays:
verdicts that cost boxes or judges are shared within a run of a tenant, whose budget alone may refuse them. A waiting verdict may stand in the queues of
several batches, and a look-up in Redis may be under way for it. It is taken only once. A chunk runs once it has begun,
and stops when no batch waits for any of its verdicts.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from service.cache.cached_verdict import CachedVerdict
from service.scoring.composition import Part
from service.scoring.prepared_item import ConfiguredVerifier, PreparedItem
from service.wire import CacheMode
from tracing import spans
from verifiers.base import Item, Verdict

Place: TypeAlias = int | Part
"""The place of a verdict in its batch: the index of an item, or one check of an item."""
Layer = Literal["memory", "redis"]
State = Literal["waiting", "taken", "done", "dropped"]


class Waiter(Protocol):
    """A batch that waits for verdicts."""

    @property
    def tenant(self) -> str: ...

    @property
    def run(self) -> str: ...

    @property
    def deadline(self) -> float: ...

    @property
    def cache(self) -> CacheMode: ...

    @property
    def span(self) -> spans.Span | None: ...

    def wait_for(self, verdict: "PendingVerdict", *, is_shared: bool) -> None:
        """Remember that the batch waits for this verdict."""

    def answer(
        self,
        slot: Place,
        configured: ConfiguredVerifier | None,
        verdict: Verdict | CachedVerdict,
        *,
        now: float,
        cached_in: Layer | None = None,
    ) -> None:
        """Take a verdict."""

    def resume(self) -> None:
        """Begin the checks that can begin after the verdicts that were taken."""


class PendingVerdict:
    """A verdict under way, and the batches that wait for it."""

    __slots__ = ("_by_key", "_payer", "_waiting", "chunk", "prepared", "state")

    def __init__(
        self, prepared: PreparedItem, waiter: Waiter, slot: Place, by_key: "dict[bytes, PendingVerdict]"
    ) -> None:
        self.prepared = prepared
        self.state: State = "waiting"
        self.chunk: Chunk | None = None
        """The chunk that judges this verdict now."""
        self._waiting: list[tuple[Waiter, Place]] = [(waiter, slot)]
        self._payer = waiter.tenant, waiter.run
        self._by_key = by_key
        if prepared.key is not None:
            by_key[prepared.key] = self
        waiter.wait_for(self, is_shared=False)

    @property
    def is_open(self) -> bool:
        """Whether a batch still waits for this verdict."""
        return self.state in ("waiting", "taken")

    @property
    def refreshes(self) -> bool:
        """Whether a waiting batch wants a new judgement, whatever the caches hold."""
        return any(waiter.cache == "refresh" for waiter, _ in self._waiting)

    def is_for(self, waiter: Waiter) -> bool:
        """Whether the batch may wait for this verdict, too."""
        is_paid = self.prepared.configured.entry.verifier.bounds_itself
        return not is_paid or (waiter.tenant, waiter.run) == self._payer

    def join(self, waiter: Waiter, slot: Place) -> bool:
        """Add a batch that waits. Returns whether that batch must queue the verdict too, so that it does not wait in
        another batch's long queue.
        """
        is_own = bool(self._waiting) and self._waiting[-1][0] is waiter
        self._waiting.append((waiter, slot))
        waiter.wait_for(self, is_shared=True)
        if is_own:
            return False
        if self.chunk is not None:
            spans.join(self.chunk.span, waiter.span)
        return self.state == "waiting"

    def take(self) -> bool:
        """Take the verdict because its turn has come in one of the queues. False if it was taken, answered or dropped
        before.
        """
        if self.state != "waiting":
            return False
        self.state = "taken"
        return True

    def finish(self, verdict: Verdict | CachedVerdict, *, now: float, cached_in: Layer | None = None) -> None:
        """Give the verdict to all batches that wait for it."""
        self.state = "done"
        if self.chunk is not None:
            self.chunk.wanted -= 1
            self.chunk = None  # else a circle would hold the response until the garbage collector comes
        self._forget()
        waiting, self._waiting = self._waiting, []
        for waiter, slot in waiting:
            waiter.answer(slot, self.prepared.configured, verdict, now=now, cached_in=cached_in)
        for waiter, slot in waiting:
            if not isinstance(slot, int):
                waiter.resume()

    def answer_only(self, waiter: Waiter, verdict: Verdict, *, now: float) -> None:
        """Give one batch another verdict than the one it waits for. The batch must leave later."""
        for waiting, slot in self._waiting:
            if waiting is waiter:
                waiter.answer(slot, self.prepared.configured, verdict, now=now)

    def leave(self, waiter: Waiter) -> None:
        """Remove a batch that waits no longer. If no other batch waits, the verdict is dropped from its queue, or
        stopped.
        """
        if not self.is_open:
            return
        self._waiting = [pair for pair in self._waiting if pair[0] is not waiter]
        if not self._waiting:
            self.state = "dropped"
            self._forget()
            if self.chunk is not None:
                self.chunk.want_less()
                self.chunk = None

    def item(self) -> Item[Any]:
        """The item for the verifier. Its deadline is that of the waiting batch with the latest deadline."""
        if len(self._waiting) == 1:
            waiter = self._waiting[0][0]
            return self.prepared.item(waiter.deadline, waiter.cache)
        if not self._waiting:
            return self.prepared.item()
        # Batches that came later share what the first one asked for.
        return self.prepared.item(max(waiter.deadline for waiter, _ in self._waiting), self._waiting[0][0].cache)

    def spans(self) -> Iterator[spans.Span | None]:
        """The spans of the requests that wait."""
        return (waiter.span for waiter, _ in self._waiting)

    def _forget(self) -> None:
        key = self.prepared.key
        if key is not None and self._by_key.get(key) is self:
            del self._by_key[key]


class PendingVerdicts:
    """All verdicts under way that equal items may share."""

    def __init__(self) -> None:
        self._by_key: dict[bytes, PendingVerdict] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def wait(self, waiter: Waiter, slot: Place, prepared: PreparedItem) -> PendingVerdict | None:
        """Make a batch wait for a verdict. Returns the verdict if the batch must queue it."""
        if prepared.key is not None and waiter.cache == "use":
            pending = self._by_key.get(prepared.key)
            if pending is not None and pending.is_for(waiter):
                return pending if pending.join(waiter, slot) else None
        return PendingVerdict(prepared, waiter, slot, self._by_key)


class Chunk:
    """Verdicts of one verifier that are judged together."""

    __slots__ = ("_begun", "_task", "span", "verdicts", "wanted")

    def __init__(self, verdicts: Sequence[PendingVerdict]) -> None:
        self.verdicts = verdicts
        self.wanted = len(verdicts)
        """How many of the verdicts a batch still waits for."""
        self.span: spans.Span | None = None
        """The span of the judging, if it is traced."""
        self._task: asyncio.Task[None] | None = None
        self._begun = False
        for verdict in verdicts:
            verdict.chunk = self

    def start(self, task: "asyncio.Task[None]") -> None:
        """Set the task that will judge the chunk."""
        self._task = task

    def begin(self) -> bool:
        """Note that the task has begun. Returns whether a batch still waits."""
        self._begun = True
        return self.wanted > 0

    def want_less(self) -> None:
        """Note that one verdict fewer is wanted. When none is wanted any more, the work stops."""
        self.wanted -= 1
        # A task cancelled before its first step never runs, not even its `finally`, and would keep its place for ever.
        if not self.wanted and self._begun:
            self.cancel()

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def spans(self) -> Iterator[spans.Span | None]:
        """The spans of the requests that wait for this chunk."""
        return (span for verdict in self.verdicts for span in verdict.spans())
