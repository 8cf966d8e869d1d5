"""Reads the audit stream: finished batches come in on the event loop, and a thread of its own reads a sample of them.

The event loop chooses items and hands over references, in about a microsecond per item. What does not fit is dropped and
counted: a sample of a sample is a sample.
"""

import math
import random
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Final

import msgspec

from fairness import TENANT
from memory.registry import add_store
from service.observe.audit_log.records import Finished, Rules, prompt_of, record_of, text_of, timestamp
from service.recipes.model import WatchSpec
from service.tenant import RUN
from service.watch.alarms import Alarms, WatchedRun
from service.watch.budget import Budget, Clock
from service.watch.evidence import Moment
from service.watch.pass_rates import PassRates
from service.watch.probes import TOLD_EVERY_S, Planted, Planter, Prober, Shadowed, reference_text
from service.watch.samples import Sample, Shown, key_of, sample_of, step_of
from service.watch.texts import cut
from service.watch.window import NBYTES, Whose, Window
from service.wire import BatchRequest, Result, ScoreItem
from tracing.lines import Log

log = Log("rewardline.watch")

_QUEUED_BATCHES: Final = 64
_PLANTERS: Final = 64
_QUEUED_BYTES: Final = 32_000_000
_SLICE: Final = 16
"""Samples that the thread reads before it gives away Python's lock: about 2 ms."""
_PAUSE_S: Final = 0.0005
_RULES: Final = Rules(keep_unjudged=False, max_text_chars=20_000)

SpecOf = Callable[[Result], WatchSpec | None]
"""Says whether and how the verdict is watched."""
_PROMPT_CHARS: Final = 200
_LEARNED: Final = 4
"""References of a batch of which impostors for others may be made."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """A finished batch, the positions of the sampled items, and how many items each run and judge had judged before."""

    finished: Finished
    sampled: Sequence[int]
    judges: Sequence[str | None]
    """The recipe or verifier of each item; None: it is not watched."""
    nbytes: int


class Windows:
    """The windows of the latest runs. Used by the thread of the watch alone."""

    name = "watch"

    def __init__(self, alarms: Alarms, *, max_bytes: int, redact: bool) -> None:
        self._alarms = alarms
        self._most = max(1, max_bytes // NBYTES)
        self._redact = redact
        self._kept: OrderedDict[Whose, Window] = OrderedDict()
        self._told_s = -math.inf
        self._lock = threading.Lock()
        """Guards `_kept`, which the event loop halves if the process is too large."""
        add_store(self)

    def of(self, owner: Whose) -> Window:
        with self._lock:
            window = self._kept.pop(owner, None) or Window(owner, self._alarms.raise_, redact=self._redact)
            self._kept[owner] = window
            lost = _bound(self._kept, self._most)
        if lost is not None and time.monotonic() - self._told_s >= TOLD_EVERY_S:
            self._told_s = time.monotonic()
            detail = "more runs than `watch_memory_mb` has room for: what is known of this one is forgotten"
            log.warning("watch_run_dropped", tenant=lost.tenant, run=lost.run, judge=lost.judge, detail=detail)
        return window

    def runs(self, tenant: str) -> list[WatchedRun]:
        """The runs of a tenant, the latest first."""
        with self._lock:
            windows = [*self._kept.items()]
        return [
            WatchedRun(owner.run, owner.judge, window.items, window.step, window.ready, {**window.shifts})
            for owner, window in reversed(windows)
            if owner.tenant == tenant
        ]

    @property
    def entries(self) -> int:
        return len(self._kept)

    @property
    def used_bytes(self) -> int:
        return len(self._kept) * NBYTES + self._alarms.used_bytes

    def halve(self) -> None:
        with self._lock:
            for _ in range((len(self._kept) + 1) // 2):
                self._kept.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


class Stream:
    """The observer, its thread, and the probes. Call `start` first and `close` last; run `probe` on the event loop."""

    def __init__(
        self,
        alarms: Alarms,
        prober: Prober,
        spec_of: SpecOf,
        *,
        share: float,
        max_bytes: int,
        rates: PassRates,
        redact: bool = False,
        seed: int | None = None,
    ) -> None:
        self.windows = Windows(alarms, max_bytes=max_bytes, redact=redact)
        self.counts: Counter[str] = Counter(sampled=0, dropped=0, bug=0)
        self._spec_of = spec_of
        self._prober = prober
        self._share = share
        self._redact = redact
        self._rates = rates
        self._random = random.Random(seed)  # noqa: S311  # it chooses samples
        self._planters: OrderedDict[Whose, Planter] = OrderedDict()
        self._queue: SimpleQueue[_Batch | tuple[Shadowed | Planted, list[float]] | None] = SimpleQueue()
        self._budget, self._clock = Budget(), Clock()
        self._queued_bytes = 0
        """Written by the event loop alone."""
        self._done_bytes = 0
        """Written by the thread alone."""
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self, timeout_s: float) -> None:
        """Read what is queued, and end the thread. It blocks."""
        self._queue.put(None)
        self._thread.join(timeout_s)

    def observe(self, batch: BatchRequest, results: Sequence[Result]) -> None:
        """Take a finished batch. Returns at once. Call it in the event loop."""
        judges: list[str | None] = [result.recipe or result.verifier for result in results]
        specs = {name: self._spec_of(result) for name, result in dict(zip(judges, results, strict=True)).items()}
        watched = {name for name, spec in specs.items() if spec is not None}
        if not watched:
            return
        if len(watched) < len(specs) or any(result.score is None for result in results):
            judges = [
                name if result.score is not None and name in watched else None
                for name, result in zip(judges, results, strict=True)
            ]
        self._probe(batch, results, judges, specs)
        nbytes = batch.nbytes or sum(len(item.response) for item in batch.items)
        waiting = self._queued_bytes - self._done_bytes
        if self._queue.qsize() >= _QUEUED_BATCHES or (waiting and waiting + nbytes > _QUEUED_BYTES):
            self.counts["dropped"] += len(results)
            return
        self._queued_bytes += nbytes
        finished = Finished(time.time(), "", batch.items, batch.references, results, nbytes, TENANT.get(), RUN.get())
        self._queue.put(_Batch(finished, self._chosen(judges), judges, nbytes))

    def _chosen(self, judges: Sequence[str | None]) -> list[int]:
        """A share of the items at random, as far as the budget of samples allows."""
        expected = self._share * len(judges)
        wanted = int(expected) + (self._random.random() < expected % 1)
        count = self._budget.take(TENANT.get(), RUN.get(), wanted, self._clock.now_s())
        chosen = sorted(self._random.sample(range(len(judges)), count))
        return [at for at in chosen if judges[at] is not None]

    def _probe(
        self,
        batch: BatchRequest,
        results: Sequence[Result],
        judges: Sequence[str | None],
        specs: Mapping[str | None, WatchSpec | None],
    ) -> None:
        """Send a share of the items to their shadow, and plant impostors."""
        for judge, count in Counter(judges).items():
            spec = specs[judge]
            if judge is None or spec is None:
                continue
            owner = Whose(TENANT.get(), RUN.get(), judge)
            if spec.impostors:
                self._plant(owner, batch, results, judges, count)
            if spec.shadow is not None:
                for at, name in enumerate(judges):
                    if name == judge and self._random.random() < spec.share:
                        probe_args = (owner, batch.items[at], batch.references, results[at], at)
                        self._prober.put(Shadowed(*probe_args, spec.shadow))

    def _plant(
        self, owner: Whose, batch: BatchRequest, results: Sequence[Result], judges: Sequence[str | None], count: int
    ) -> None:
        planter = self._planter(owner)
        for at in self._random.sample(range(len(judges)), min(_LEARNED, len(judges))):
            if judges[at] == owner.judge:
                planter.learn(reference_text(batch.items[at], batch.references))
        if planter.is_time(count):
            at = self._random.choice([at for at, judge in enumerate(judges) if judge == owner.judge])
            planted = planter.plant(owner, results[at].verifier or "", batch.items[at], batch.references)
            if planted is not None:
                self._prober.put(planted)

    def _planter(self, owner: Whose) -> Planter:
        planter = self._planters.pop(owner, None) or Planter()
        self._planters[owner] = planter
        _bound(self._planters, _PLANTERS)
        return planter

    async def probe(self) -> None:
        """Have probes judged, for as long as the service runs."""
        while True:
            self._queue.put(await self._prober.next())

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            try:
                if isinstance(work, _Batch):
                    self._read(work)
                elif isinstance(work[0], Shadowed):
                    self._read_shadow(work[0], work[1][0])
                else:
                    self._read_planted(work[0], work[1])
            except Exception:  # no error of the watch may reach scoring, or end the watch
                self.counts["bug"] += 1
                log.exception("the watch could not read a batch")
            if isinstance(work, _Batch):
                self._done_bytes += work.nbytes

    def _read(self, batch: _Batch) -> None:
        finished, moment = batch.finished, timestamp(batch.finished.time_s)
        counts = Counter(batch.judges)
        windows = {judge: self._window(finished, judge) for judge in counts if judge is not None}
        first = {judge: window.items for judge, window in windows.items()}
        last_items = dict(zip(batch.judges, finished.items, strict=True))
        for judge, window in windows.items():
            step = step_of(last_items[judge].metadata)  # the texts of a batch may all stay unread
            window.step = window.step if step is None else step
        for number, at in enumerate(batch.sampled):
            paid_by = batch.judges[at]
            record = record_of(finished, at, moment, _RULES)
            sample = None if record is None or paid_by is None else sample_of(record, first[paid_by] + at)
            if sample is not None and paid_by is not None:
                windows[paid_by].take(sample)
                self.counts["sampled"] += 1
            if number % _SLICE == _SLICE - 1:
                time.sleep(_PAUSE_S)
        for judge, window in windows.items():
            when = Moment(window.items, window.step, moment)
            for task, (item, scores) in _groups(batch, judge).items():
                window.take_group(scores, when)
                self._rates.add(
                    (finished.tenant, finished.run_id, key_of(task)),
                    scores,
                    window.step or 0,
                    partial(self._shown, item),
                )
            window.items += counts[judge]

    def _shown(self, item: ScoreItem) -> str:
        """The beginning of an item's prompt."""
        return "" if self._redact else text_of(prompt_of(item) or "")[:_PROMPT_CHARS]

    def _window(self, finished: Finished, judge: str) -> Window:
        return self.windows.of(Whose(finished.tenant, finished.run_id, judge))

    def _read_shadow(self, probe: Shadowed, score: float) -> None:
        window = self.windows.of(probe.whose)
        sample = self._sample(probe, window)
        if sample is not None:
            window.take_shadow(sample, score)

    def _sample(self, probe: Shadowed, window: Window) -> Sample | None:
        finished = Finished(time.time(), "", [probe.item], probe.references, [probe.result], 0)
        record = record_of(finished, 0, timestamp(finished.time_s), _RULES)
        return None if record is None else sample_of(record, window.items)

    def _read_planted(self, probe: Planted, scores: Sequence[float]) -> None:
        if min(scores) < probe.impostor.pays:
            return
        window = self.windows.of(probe.whose)
        item = probe.item
        prompt = item.prompt if isinstance(item.prompt, str) else ""
        clipped = ("", "") if self._redact else (cut(prompt, 600), cut(probe.texts[0], 600))
        response = Shown(item.id if item.id is not None else "", window.step, scores[0], *clipped, "")
        window.impostor_paid(f"{probe.impostor.kind}: {probe.impostor.about}", response)


def _bound(windows: OrderedDict[Whose, Any], limit: int) -> Whose | None:
    """Drop the oldest of the tenant that has the most of them, if there are too many: no tenant takes the room of others."""
    if len(windows) <= limit:
        return None
    tenants = Counter(owner.tenant for owner in windows)
    largest = max(tenants.values())
    oldest = next(owner for owner in windows if tenants[owner.tenant] == largest)
    del windows[oldest]
    return oldest


def _groups(batch: _Batch, judge: str) -> dict[str, tuple[ScoreItem, list[float]]]:
    """The prompts of the batch: what tells each from others, its first item, the scores of all responses to it."""
    groups: dict[str, tuple[ScoreItem, list[float]]] = {}
    task: str | None = None
    scores: list[float] = []
    for item, result, name in zip(batch.finished.items, batch.finished.results, batch.judges, strict=True):
        if name == judge and result.score is not None:
            prompt = item.prompt
            text = prompt if prompt and type(prompt) is str else _task_of(item)
            if text != task:  # the responses to one prompt mostly come together
                task = text
                _, scores = groups.setdefault(task, (item, []))
            scores.append(result.score)
    return groups


def _task_of(item: ScoreItem) -> str:
    prompt = prompt_of(item)
    if prompt:
        return prompt if isinstance(prompt, str) else msgspec.json.encode(prompt).decode()
    reference = item.reference_id or bytes(item.reference) or bytes(item.ground_truth) or bytes(item.test_cases)
    return reference if isinstance(reference, str) else reference.decode(errors="replace")
