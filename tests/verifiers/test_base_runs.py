"""What is remembered of runs without a response, and for how long."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tests.virtual_time import in_virtual_time
from verifiers.base import InvalidItem, Unavailable
from verifiers.base_runs import REFUSED_S, BaseRuns


def making(*outcomes: "str | Exception") -> Callable[[], Coroutine[Any, Any, str]]:
    """Makes runs with these outcomes, one after the other."""
    left = list(outcomes)

    async def make() -> str:
        await asyncio.sleep(1)
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return make


@in_virtual_time
async def test_a_run_is_made_once_for_all_who_ask() -> None:
    runs, make = BaseRuns[str](), making("run", "another")
    assert await asyncio.gather(*(runs.get(b"key", make) for _ in range(3))) == ["run"] * 3
    await asyncio.sleep(10 * REFUSED_S)
    assert await runs.get(b"key", make) == "run"
    assert await runs.get(b"other", make) == "another"


@in_virtual_time
async def test_a_task_that_cannot_be_judged_is_tried_again_later() -> None:
    runs, make = BaseRuns[str](), making(InvalidItem("base_fails", "no mirror"), "run")
    found = await asyncio.gather(*(runs.get(b"key", make) for _ in range(3)), return_exceptions=True)
    assert [(type(error), str(error)) for error in found] == [(InvalidItem, "no mirror")] * 3
    await asyncio.sleep(REFUSED_S - 1)
    with pytest.raises(InvalidItem, match="no mirror") as known:
        await runs.get(b"key", make)
    assert known.value.reason == "base_fails"
    await asyncio.sleep(1)
    assert await runs.get(b"key", make) == "run"


@in_virtual_time
async def test_trouble_is_not_remembered() -> None:
    runs, make = BaseRuns[str](), making(Unavailable("box_died", "gone"), "run")
    with pytest.raises(Unavailable):
        await runs.get(b"key", make)
    assert await runs.get(b"key", make) == "run"
