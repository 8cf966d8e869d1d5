"""That a worker is killed at once when its item has used up its time, whichever way the kernel has for that."""

import asyncio
import sys
from pathlib import Path

import pytest

from sandbox.workers import Exit, Task, Workers

HERE = str(Path(__file__).parent)
BURN = Task("worker_tasks", "burn", 0.2)
LOOK = Task("worker_tasks", "look", 5.0)


@pytest.fixture(autouse=True)
def _tasks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [HERE, *sys.path])


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_a_worker_over_its_limit_is_ended_and_its_zygote_is_not() -> None:
    workers = Workers(1, memory_mb=256)
    for task in (BURN, LOOK):
        workers.register(task)
    await workers.start()
    try:
        worker, zygote = (await workers.map(LOOK, ["pids"]))[0].value
        assert [outcome.exit for outcome in await workers.map(BURN, [60.0])] == [Exit.TIME_LIMIT]
        # For want of a report after ten seconds the zygote would be killed, and its workers with it.
        async with asyncio.timeout(8):
            while is_there(worker):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.02)
        another, same = (await workers.map(LOOK, ["pids"]))[0].value
        assert (another != worker, same) == (True, zygote)
    finally:
        await workers.stop()
