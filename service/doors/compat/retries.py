"""Judges items for a caller that waits. Items that are `failed` for a temporary reason are judged again until the
caller gives up.

Clients of these doors sooner or later treat a refusal as a wrong answer. So the verdict may come as late as they accept
it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from service.errors import NotJudged, Unprocessable
from service.limits.admission import Admission
from service.scoring.engine import PASSING, Engine
from service.system_random import SYSTEM_RANDOM
from service.wire import BatchRequest, CacheMode, Result, ScoreItem

_WITHOUT_BOXES: Final = PASSING - {"sandbox_unavailable"}
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 4.0
_RENDERING_S: Final = 0.25


class ItemInvalid(Unprocessable):
    """The item cannot be judged until its author mends it."""


class RetryingScorer:
    """Asks the engine repeatedly, for callers that wait."""

    def __init__(
        self,
        engine: Engine,
        admission: Admission,
        observe_again: Callable[[int], None],
        may_have_boxes: Callable[[], bool],
    ) -> None:
        """`observe_again(items)` counts retried items. If there will be no boxes, no item waits for one."""
        self._engine = engine
        self._admission = admission
        self._observe_again = observe_again
        self._may_have_boxes = may_have_boxes

    async def results(
        self, items: Sequence[ScoreItem], *, deadline: float, cache: CacheMode = "use", explain: bool = False
    ) -> list[Result]:
        """One result per item, in order, by `deadline` on the loop's clock."""
        batch = BatchRequest(items, {}, cache, explain, deadline - _RENDERING_S)
        results = (await self._engine.score(batch)).results
        pause_s = _FIRST_PAUSE_S
        while remaining := [index for index, result in enumerate(results) if self._may_pass(result)]:
            if not self._goes_on(results, asyncio.get_running_loop().time() + pause_s < batch.deadline):
                break
            await asyncio.sleep(pause_s * SYSTEM_RANDOM.uniform(0.7, 1.0))
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            self._observe_again(len(remaining))
            second = await self._engine.score(replace(batch, items=[items[index] for index in remaining]))
            for index, result in zip(remaining, second.results, strict=True):
                results[index] = result
        return results

    def _goes_on(self, results: Sequence[Result], has_time: bool) -> bool:
        """Whether a retry can help. It cannot if one item is invalid anyway. While this service shuts down, the caller
        should retry elsewhere.
        """
        return has_time and not self._admission.draining and all(result.status != "invalid" for result in results)

    def _may_pass(self, result: Result) -> bool:
        if result.status != "failed":
            return False
        passing = PASSING if self._may_have_boxes() else _WITHOUT_BOXES
        if result.reason == "checks_failed":
            return any(check.get("reason") in passing for check in result.checks or ())
        return result.reason in passing

    async def rewards(
        self, items: Sequence[ScoreItem], *, deadline: float, cache: CacheMode = "use", explain: bool = False
    ) -> list[Result]:
        """The same as `results`, but all of them are `ok`.

        Raises:
            ItemInvalid, NotJudged: a result is not `ok`. The error says which and why.
        """
        results = await self.results(items, deadline=deadline, cache=cache, explain=explain)
        check(results)
        return results


def check(results: Sequence[Result]) -> None:
    """Check that every result has a score.

    Raises:
        ItemInvalid, NotJudged: a result has no score; the invalid ones first, which will never have one.
    """
    for status, kind in (("invalid", ItemInvalid), ("failed", NotJudged)):
        for index, result in enumerate(results):
            if result.status == status:
                where = f"item {index}: " if len(results) > 1 else ""
                raise kind(where + failure_text(result), retry_after_s=_retry_after_s(result))


def _retry_after_s(result: Result) -> float | None:
    """When it is worth trying again: soon, or when a budget that is used up begins anew."""
    if result.status == "invalid":
        return None
    delay_s = result.detail.get("retry_after_s")
    return float(delay_s) if isinstance(delay_s, int | float) else 1.0


def numbers_of(result: Result) -> tuple[float, float]:
    """The reward and the score of a result that has them."""
    assert result.reward is not None
    assert result.score is not None
    return result.reward, result.score


def failure_text(result: Result) -> str:
    """The reason why there is no score, as text for people."""
    message = result.detail.get("message")
    return f"{result.reason}: {message}" if message else result.reason
