"""What the watch has judged beside the items of callers: the same items by a shadow, and impostors by the same recipe.

It waits in a queue that drops what does not fit. One item at a time is judged, in nobody's name, so that no caller waits
longer or pays for it. What cannot be judged says nothing.
"""

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from fairness import TENANT
from service.recipes.model import CheckSpec
from service.scoring.engine import Engine
from service.tenant import RUN
from service.usage.ledger import NOBODY
from service.watch.impostor_texts import IMPOSTORS, Impostor, Material
from service.watch.window import Whose
from service.wire import ABSENT, BatchRequest, Result, ScoreItem
from tracing.lines import Log

log = Log("rewardline.watch")

_QUEUED: Final = 256
_DEADLINE_S: Final = 60.0
TOLD_EVERY_S: Final = 60.0
_REFERENCES: Final = 32
_REFERENCE_CHARS: Final = 200
"""A longer reference is not a short answer, of which impostors are made."""
_EVERY_ITEMS: Final = 500
"""One impostor is planted among so many items, at most."""
_EVERY_S: Final = 5.0
"""And one in this time, at most, once each kind has had its turn."""


@dataclass(frozen=True, slots=True)
class Probe:
    """An item to judge."""

    whose: Whose
    item: ScoreItem
    references: Mapping[str, msgspec.Raw]


@dataclass(frozen=True, slots=True)
class Shadowed(Probe):
    """An item as the caller sent it, with its result; `check` judges it a second time."""

    result: Result
    at: int
    """How many items of the run were judged before it."""
    check: CheckSpec


@dataclass(frozen=True, slots=True)
class Planted(Probe):
    """An item whose responses are impostors."""

    impostor: Impostor
    texts: Sequence[str]


class Prober:
    """Judges probes, and tells `outcomes`. Call `put` in the event loop, and run `run` in it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: asyncio.Queue[Shadowed | Planted] = asyncio.Queue(_QUEUED)
        self.counts: Counter[str] = Counter(shadow=0, impostor=0, shadow_dropped=0, impostor_dropped=0, not_judged=0)
        self._told_s = -math.inf

    def put(self, probe: Shadowed | Planted) -> None:
        try:
            self._queue.put_nowait(probe)
        except asyncio.QueueFull:
            self.counts["shadow_dropped" if isinstance(probe, Shadowed) else "impostor_dropped"] += 1
            self._tell_dropped(probe.whose)

    def _tell_dropped(self, whose: Whose) -> None:
        """Say in the log, once in a while, that more comes than is judged."""
        now_s = time.monotonic()
        if now_s - self._told_s >= TOLD_EVERY_S:
            self._told_s = now_s
            log.warning(
                "watch_probes_dropped",
                tenant=whose.tenant,
                run=whose.run,
                judge=whose.judge,
                detail="shadows and impostors are judged one at a time: lower `share` in the `watch` of the recipe",
                **dict[str, Any](self.counts),
            )

    async def next(self) -> tuple[Shadowed | Planted, list[float]]:
        """The next probe that could be judged, with the scores of its responses."""
        while True:
            probe = await self._queue.get()
            items = _shadow_items(probe) if isinstance(probe, Shadowed) else _planted_items(probe)
            scores = [result.score for result in await self._judged(probe, items)]
            numbers = [score for score in scores if score is not None]
            if len(numbers) == len(items):
                self.counts["shadow" if isinstance(probe, Shadowed) else "impostor"] += len(items)
                return probe, numbers
            self.counts["not_judged"] += len(items)

    async def _judged(self, probe: Probe, items: list[ScoreItem]) -> Sequence[Result]:
        caller, run = TENANT.set(NOBODY), RUN.set("")
        try:
            deadline = asyncio.get_running_loop().time() + _DEADLINE_S
            request = BatchRequest(items, probe.references, "use", explain=False, deadline=deadline, is_recorded=False)
            return (await self._engine.score(request)).results
        finally:
            RUN.reset(run)
            TENANT.reset(caller)


def _shadow_items(probe: Shadowed) -> list[ScoreItem]:
    check = probe.check.model_dump(mode="json", exclude_unset=True)
    raw = msgspec.Raw(msgspec.json.encode([check]))
    nulls = dict.fromkeys(("verifier", "recipe", "domain", "data_source", "tag", "reward_weights"))
    return [msgspec.structs.replace(probe.item, **nulls, checks=raw, params=ABSENT, reward_clip=ABSENT, group=ABSENT)]


def _planted_items(probe: Planted) -> list[ScoreItem]:
    return [msgspec.structs.replace(probe.item, response=text, group=ABSENT, explain=False) for text in probe.texts]


class Planter:
    """Chooses impostors for the items of one run and judge: each kind in turn."""

    def __init__(self) -> None:
        self._since = self._turn = 0
        self._planted_s = 0.0
        self._references: deque[str] = deque(maxlen=_REFERENCES)

    def learn(self, reference: str) -> None:
        """Remember a reference, as an answer that is wrong for other prompts."""
        if 0 < len(reference) <= _REFERENCE_CHARS and reference not in self._references:
            self._references.append(reference)

    def is_time(self, items: int) -> bool:
        """Whether another impostor is due. `items` were judged since the last call."""
        self._since += items
        now_s = time.monotonic()
        if self._since < _EVERY_ITEMS or (self._turn > len(IMPOSTORS) and now_s - self._planted_s < _EVERY_S):
            return False
        self._since, self._planted_s = 0, now_s
        return True

    def plant(
        self, owner: Whose, verifier: str, item: ScoreItem, references: Mapping[str, msgspec.Raw]
    ) -> Planted | None:
        """The next impostor, for this item. None: the item, or what is known of others, has not what it takes."""
        kinds = [impostor for impostor in IMPOSTORS if verifier in impostor.judges]
        if not kinds:
            return None
        self._turn += 1
        impostor, reference = kinds[self._turn % len(kinds)], reference_text(item, references)
        pool = [r for r in self._references if r != reference]
        prompt = item.prompt if isinstance(item.prompt, str) else ""
        texts: list[str] = []
        for at in range(impostor.count):
            text = impostor.write(Material(prompt, reference, pool[at:] + pool[:at], self._turn + at))
            if text is not None and text not in texts:
                texts.append(text)
        return Planted(owner, item, references, impostor, texts) if len(texts) == impostor.count else None


def reference_text(item: ScoreItem, references: Mapping[str, msgspec.Raw]) -> str:
    """The reference of an item: a text as it is, any other value as JSON."""
    shared = references.get(item.reference_id, ABSENT) if item.reference_id is not None else ABSENT
    for raw in map(bytes, (item.reference, shared, item.ground_truth, item.test_cases)):
        if raw:
            try:
                value = msgspec.json.decode(raw, type=str) if raw.startswith(b'"') else raw.decode()
            except (msgspec.MsgspecError, UnicodeDecodeError):
                return ""
            return str(value)
    return ""
