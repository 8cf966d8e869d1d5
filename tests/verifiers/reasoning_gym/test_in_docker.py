"""The scorers in a real box: every task that is allowed, an answer that tries to be run, and one that exhausts its box."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
import pytest_asyncio

from sandbox.boxes.docker import DockerBackend
from sandbox.boxes.pool.pooled import PooledSandbox
from sandbox.workers import Workers
from tests.verifiers.reasoning_gym.rows import ROWS, row_of
from verifiers.base import Item, Resources, Status, Verdict
from verifiers.reasoning_gym import ReasoningGymParams, create

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.boxes]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def boxes(docker_address: str) -> AsyncIterator[PooledSandbox]:
    boxes = PooledSandbox(DockerBackend(address=docker_address), slots=1)
    await boxes.start()
    yield boxes
    await boxes.stop()


async def judge(boxes: PooledSandbox, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> Sequence[Verdict]:
    verifier = create(Resources(Workers(1), boxes))
    return await verifier.score(
        [Item(response, ReasoningGymParams(reference=dict(entry))) for response, entry in asked]
    )


async def test_a_solution_scores_one_and_another_tasks_does_not(boxes: PooledSandbox) -> None:
    right = await judge(boxes, [(f"<answer>{row.solution}</answer>", row.entry) for row in ROWS])
    assert [(row.task, verdict) for row, verdict in zip(ROWS, right, strict=True) if verdict.score != 1.0] == []
    wrong = await judge(boxes, [("<answer>no such thing</answer>", row.entry) for row in ROWS])
    assert [(row.task, verdict) for row, verdict in zip(ROWS, wrong, strict=True) if verdict.score != 0.0] == []


async def test_an_answer_is_not_run(boxes: PooledSandbox) -> None:
    payload = "__import__('os').kill(__import__('os').getpid(), 9)"
    verdicts = await judge(boxes, [(f"<answer>{payload}</answer>", row.entry) for row in ROWS])
    assert {(verdict.status, verdict.score) for verdict in verdicts} == {(Status.OK, 0.0)}


async def test_one_that_exhausts_the_box_is_wrong_and_harms_no_other(boxes: PooledSandbox) -> None:
    row = row_of("rush_hour")
    bomb, fine = await judge(boxes, [("A+" + "9" * 18, row.entry), (row.solution, row.entry)])
    assert (bomb.status, bomb.score, bomb.reason) == (Status.OK, 0.0, "scorer_time_limit")
    assert (fine.status, fine.score, fine.reason) == (Status.OK, 1.0, "correct")
