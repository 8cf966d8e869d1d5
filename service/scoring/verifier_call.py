"""Calls verifiers. This is the only place that turns trouble into verdicts. Only `ok` verdicts are stored."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from time import perf_counter

from fairness import TENANT
from service.cache.cached_verdict import encode_verdict
from service.cache.verdict_cache import VerdictCache
from service.observe.metrics import Metrics
from service.scoring.lru import Memories
from service.scoring.pending_verdict import Chunk
from tracing import spans
from verifiers.base import InvalidItem, Status, Unavailable, Verdict
from verifiers.registry import Entry

log = logging.getLogger("rewardline.engine")


class VerifierCalls:
    """Asks verifiers to judge chunks, each item within `item_deadline_s`."""

    def __init__(
        self,
        cache: VerdictCache,
        metrics: Metrics,
        *,
        item_deadline_s: float,
        clock: Callable[[], float],
        memories: Memories,
        is_starting: Callable[[], bool],
    ) -> None:
        self._is_starting = is_starting
        self._memories = memories
        self._clock = clock
        self._cache = cache
        self._metrics = metrics
        self._item_deadline_s = item_deadline_s

    async def judge(self, chunk: Chunk) -> None:
        """Ask the verifier to judge a chunk. Every item that a batch waits for gets a verdict."""
        entry = chunk.verdicts[0].prepared.configured.entry
        fresh: dict[bytes, bytes] = {}
        started = self._clock()

        def deliver(position: int, verdict: Verdict) -> None:
            pending = chunk.verdicts[position]
            if not pending.is_open:
                return
            if verdict.status is Status.OK and verdict.is_lasting and pending.prepared.key is not None:
                fields = (verdict.score, verdict.reason, verdict.extracted, verdict.detail)
                fresh[pending.prepared.key] = encode_verdict(fields)
            pending.finish(verdict, now=perf_counter())

        try:
            with (
                self._memories.of(TENANT.get()),
                spans.shared(
                    "judge", chunk.spans(), verifier=entry.verifier.name, items=len(chunk.verdicts)
                ) as chunk.span,
            ):
                await self._call(entry, chunk, range(len(chunk.verdicts)), deliver)
        finally:
            self._cache.store(fresh)
            self._metrics.observe_chunk(entry.verifier.name, self._clock() - started)

    async def _call(
        self, entry: Entry, chunk: Chunk, positions: Sequence[int], deliver: Callable[[int, Verdict], None]
    ) -> None:
        items = [chunk.verdicts[position].item() for position in positions]
        was_starting = self._is_starting()
        try:
            async with asyncio.timeout(None if entry.verifier.bounds_itself else self._item_deadline_s):
                is_whole = len(items) == len(chunk.verdicts)
                await entry.verifier.score_each(
                    items, deliver if is_whole else lambda at, verdict: deliver(positions[at], verdict)
                )
            trouble = Verdict.failed("verifier_bug", "the verifier gave no verdict for this item")
        except TimeoutError:
            trouble = Verdict.failed("item_deadline", f"not judged within {self._item_deadline_s:g} s")
        except InvalidItem as error:
            trouble = Verdict.invalid(error.reason, str(error))
        except Unavailable as error:
            trouble = Verdict.failed(error.reason, str(error), **error.detail)
        except Exception:
            log.exception("verifier %s raised on %d items", entry.verifier.name, len(items))
            trouble = Verdict.failed("verifier_bug", "the verifier raised; the server's log has the traceback")
        unanswered = [position for position in positions if chunk.verdicts[position].is_open]
        if not unanswered:
            return
        if was_starting and trouble.reason == "item_deadline":
            # The items waited for workers that were starting. They have a batch's own deadline to wait for.
            await self._call(entry, chunk, unanswered, deliver)
            return
        if len(positions) > 1 and trouble.reason != "item_deadline":
            # One bad item must not spoil the others: each is judged alone, and only the bad one is `failed`.
            for position in unanswered:
                await self._call(entry, chunk, [position], deliver)
            return
        for position in unanswered:
            deliver(position, trouble)
