"""That a worker is killed at once when its item has used up its time, whichever way the kernel has for that."""

import sys
from pathlib import Path

import pytest

from sandbox.workers import Exit, Task, Workers, pool
from tests.sandbox.processes import is_there
from tests.waiting import PATIENCE_S, until

HERE = str(Path(__file__).parent)
BURN = Task("worker_tasks", "burn", 0.2)
LOOK = Task("worker_tasks", "look", 5.0)


@pytest.fixture(autouse=True)
def _tasks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [HERE, *sys.path])


async def test_a_worker_over_its_limit_is_ended_and_its_zygote_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """For want of a report the zygote would be killed some time, and its workers with it: not for as long as we wait."""
    monkeypatch.setattr(pool, "ZYGOTE_PATIENCE_S", 2 * PATIENCE_S)
    workers = Workers(1, memory_mb=256)
    for task in (BURN, LOOK):
        workers.register(task)
    await workers.start()
    try:
        worker, zygote = (await workers.map(LOOK, ["pids"]))[0].value
        assert [outcome.exit for outcome in await workers.map(BURN, [60.0])] == [Exit.TIME_LIMIT]
        await until(lambda: not is_there(worker))
        another, same = (await workers.map(LOOK, ["pids"]))[0].value
        assert (another != worker, same) == (True, zygote)
    finally:
        await workers.stop()
