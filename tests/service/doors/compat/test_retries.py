"""Asking again for callers who wait."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from service.doors.compat.retries import ItemInvalid, RetryingScorer
from service.errors import NotJudged
from service.limits.admission import Admission
from service.scoring.engine import Engine, Scored
from service.wire import BatchRequest, Result, ScoreItem, Summary
from tests.waiting import PATIENCE_S


def result(status: str = "ok", reason: str = "correct", **more: Any) -> Result:
    score = 1.0 if status == "ok" else None
    return Result(0, status, score, score, reason, "math", "1", None, {"message": "why"}, False, 0.1, **more)


class Sometimes:
    """An engine that gives each call what it was told to, and the last for ever."""

    def __init__(self, *answers: Sequence[Result]) -> None:
        self.answers = list(answers)
        self.asked: list[int] = []

    async def score(self, batch: BatchRequest) -> Scored:
        self.asked.append(len(batch.items))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return Scored(list(answer), Summary())


def waiting(engine: Sometimes, admission: Admission | None = None, *, may_have_boxes: bool = True) -> RetryingScorer:
    return RetryingScorer(cast(Engine, engine), admission or Admission(10, 10), lambda _: None, lambda: may_have_boxes)


async def ask(
    engine: Sometimes,
    items: int = 1,
    within_s: float = PATIENCE_S,
    admission: Admission | None = None,
    *,
    may_have_boxes: bool = True,
) -> list[Result]:
    deadline = asyncio.get_running_loop().time() + within_s
    asking = waiting(engine, admission, may_have_boxes=may_have_boxes)
    return await asking.rewards([ScoreItem("r")] * items, deadline=deadline)


BUSY = result("failed", "sandbox_unavailable")


async def test_what_may_pass_is_asked_again_alone() -> None:
    engine = Sometimes([result(), BUSY, BUSY], [BUSY, result()], [result()])
    assert [one.status for one in await ask(engine, 3)] == ["ok"] * 3
    assert engine.asked == [3, 2, 1]


@pytest.mark.parametrize(
    "failed", [BUSY, result("failed", "checks_failed", checks=[{"reason": "sandbox_unavailable"}])]
)
async def test_boxes_that_will_never_be_there_are_not_waited_for(failed: Result) -> None:
    engine = Sometimes([failed])
    with pytest.raises(NotJudged):
        await ask(engine, may_have_boxes=False)
    assert engine.asked == [1]


async def test_what_else_may_pass_is_waited_for_without_boxes() -> None:
    engine = Sometimes([result("failed", "judge_timeout")], [result()])
    await ask(engine, may_have_boxes=False)
    assert engine.asked == [1, 1]


@pytest.mark.parametrize("reason", ["verifier_bug", "worker_killed", "deadline", "judge_no_verdict", "judge_auth"])
async def test_what_will_not_pass_is_told_at_once(reason: str) -> None:
    engine = Sometimes([result("failed", reason)])
    with pytest.raises(NotJudged, match=f"{reason}: why"):
        await ask(engine)
    assert engine.asked == [1]


@pytest.mark.parametrize(("detail", "pause_s"), [({}, 1.0), ({"retry_after_s": 42.5}, 42.5)])
async def test_who_is_refused_for_a_budget_is_told_when_it_begins_anew(detail: dict[str, Any], pause_s: float) -> None:
    refused = result("failed", "budget_exhausted")
    refused.detail = detail
    engine = Sometimes([refused])
    with pytest.raises(NotJudged) as caught:
        await ask(engine)
    assert (engine.asked, caught.value.retry_after_s) == ([1], pause_s)


async def test_a_composition_is_asked_again_for_what_its_checks_lack() -> None:
    lacks = result("failed", "checks_failed", checks=[{"name": "a", "reason": "judge_rate_limited"}])
    engine = Sometimes([lacks], [result()])
    assert (await ask(engine))[0].score == 1.0
    broken = result("failed", "checks_failed", checks=[{"name": "a", "reason": "worker_killed"}])
    with pytest.raises(NotJudged):
        await ask(Sometimes([broken]))


async def test_no_caller_waits_beyond_the_deadline() -> None:
    engine = Sometimes([BUSY])
    with pytest.raises(NotJudged):
        await ask(engine, within_s=0.4)
    assert engine.asked == [1]


async def test_one_invalid_item_is_told_before_others_are_waited_for() -> None:
    engine = Sometimes([BUSY, result("invalid", "bad_reference")])
    with pytest.raises(ItemInvalid, match="item 1: bad_reference: why"):
        await ask(engine, 2)
    assert engine.asked == [2]


async def test_a_service_that_shuts_down_sends_its_callers_away() -> None:
    admission = Admission(10, 10)
    admission.draining = True
    engine = Sometimes([BUSY], [result()])
    with pytest.raises(NotJudged):
        await ask(engine, admission=admission)
