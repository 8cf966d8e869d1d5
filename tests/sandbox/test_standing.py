"""Runs that stand ready, over boxes that fail as they are told and over real ones."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from sandbox.base import Execute, Exit, Limits, Program, RunResult, SandboxUnavailable
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from tests.sandbox.scripted_boxes import ResultCollector, ScriptedBackend
from tests.sandbox.test_pool import pool_of
from tests.virtual_time import in_virtual_time
from tests.waiting import turns, until


@pytest.fixture
def backend() -> ScriptedBackend:
    backend = ScriptedBackend()
    backend.programs = ["bash"]
    return backend


async def say(pool: PooledSandbox, word: str, ahead: str = "\n", owner: str = "", **options: Any) -> RunResult:
    collector = ResultCollector()
    run = Execute(word.encode(), ahead=ahead.encode(), **options)
    await pool.run(Program("", "bash", owner=owner), [run], collector)
    (result,) = collector.results
    return result


def waited(backend: ScriptedBackend) -> Sequence[str]:
    """The names of the boxes that were given the rest of an input."""
    return [box.name for box in backend.made if "input" in box.asked]


@in_virtual_time
async def test_the_second_run_with_the_same_beginning_makes_one_for_the_third(backend: ScriptedBackend) -> None:
    async with pool_of(backend, standing=2) as pool:
        assert (await say(pool, "ok a")).stdout == b"a"
        await turns()
        assert pool.standing == 0
        assert (await say(pool, "ok b")).stdout == b"b"
        await until(lambda: pool.standing == 1)
        assert waited(backend) == []
        assert (await say(pool, "ok c")).stdout == b"c"
        assert len(waited(backend)) == 1
        await until(lambda: pool.standing == 1 and pool.busy == 0)
    assert pool.standing == 0


@in_virtual_time
async def test_none_stands_ready_unless_the_pool_is_to_have_some(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        for _ in range(4):
            assert (await say(pool, "ok a")).stdout == b"a"
            await turns()
        assert pool.standing == 0
    assert len(backend.made) == 1


@in_virtual_time
async def test_runs_that_differ_in_more_than_their_rest_share_none(backend: ScriptedBackend) -> None:
    async with pool_of(backend, standing=2) as pool:
        await say(pool, "ok a")
        await say(pool, "ok b", "other\n")
        await say(pool, "ok c", limits=Limits(cpu_s=1.0))
        await say(pool, "ok d", arguments=["x"])
        await say(pool, "ok e", fetch=["x"])
        await say(pool, "ok f", files={"x": b""})
        await say(pool, "ok g", files={"x": b""})
        await say(pool, "ok h", "")
        await say(pool, "ok i", "")
        await say(pool, "ok j", owner="another")
        await turns()
        assert pool.standing == 0


@in_virtual_time
async def test_a_beginning_that_is_not_asked_for_lately_makes_room(backend: ScriptedBackend) -> None:
    async with pool_of(backend, standing=1) as pool:
        for _ in range(2):
            await say(pool, "ok a", "old\n")
        await until(lambda: pool.standing == 1)
        for number in range(40):
            assert (await say(pool, f"ok {number}", "new\n")).stdout == str(number).encode()
            await until(lambda: pool.standing == 1)
        assert waited(backend)
        assert (await say(pool, "ok z", "old\n")).stdout == b"z"


@in_virtual_time
async def test_one_that_ends_before_its_input_comes_is_no_result(backend: ScriptedBackend) -> None:
    async with pool_of(backend, standing=1) as pool:
        for ahead in ("ends\n", "dies\n"):
            for word in "abcd":
                assert (await say(pool, f"ok {word}", ahead)).stdout == word.encode()
                await turns()
        await until(lambda: pool.standing == 0)
    assert waited(backend) == []


@in_virtual_time
@pytest.mark.parametrize("word", ["once:die", "once:garbage", "once:killed", "once:silent"])
async def test_one_that_is_lost_is_done_again(backend: ScriptedBackend, word: str) -> None:
    async with pool_of(backend, standing=1) as pool:
        for _ in range(2):
            await say(pool, "ok a")
        await until(lambda: pool.standing == 1)
        result = await say(pool, word)
        assert (result.exit, pool.counters.jobs_again) == (Exit.EXITED, 1)
        assert len(waited(backend)) == 1


@in_virtual_time
async def test_one_that_is_lost_twice_is_not_judged(backend: ScriptedBackend) -> None:
    async with pool_of(backend, standing=1) as pool:
        for _ in range(2):
            await say(pool, "ok a")
        await until(lambda: pool.standing == 1)
        with pytest.raises(SandboxUnavailable):
            await say(pool, "die")
        await say(pool, "ok a")


@in_virtual_time
async def test_it_waits_for_a_slot_like_any_other_and_may_end_meanwhile(backend: ScriptedBackend) -> None:
    async with pool_of(backend, standing=1) as pool, asyncio.TaskGroup() as group:
        for _ in range(2):
            await say(pool, "ok a")
        await until(lambda: pool.standing == 1)
        long = group.create_task(say(pool, "slow 5", "other\n"))
        await until(lambda: pool.busy == 1)
        cancelled = asyncio.create_task(say(pool, "ok b"))
        await until(lambda: pool.waiting == 1)
        cancelled.cancel()
        await until(lambda: pool.waiting == 0 and pool.standing == 1)  # another in place of the one it had
        short = group.create_task(say(pool, "ok c"))
        await until(lambda: pool.waiting == 1)
        next(box for box in backend.living if box.waits).kill()
        assert not long.done()
        assert (await short).stdout == b"c"
    assert waited(backend) == []


# ---- real boxes


@pytest_asyncio.fixture
async def real() -> AsyncIterator[PooledSandbox]:
    pool = PooledSandbox(LocalBackend(), slots=1, standing=1)
    await pool.start()
    yield pool
    await pool.stop()


LOOP = "while :; do :; done"


@pytest.mark.boxes(beyond=1)
@pytest.mark.parametrize(
    ("source", "run", "exits", "stdout"),
    [
        (
            "read a; read b; cat > kept; echo $a $b",
            Execute(b"two\nrest", ahead=b"one\n", fetch=["kept"]),
            Exit.EXITED,
            b"one two\n",
        ),
        ("read a; read b; echo $a$b; exit 3", Execute(b"", ahead=b"one\n"), Exit.EXITED, b"one\n"),
        ("wc -c", Execute(b"x" * 300_000, ahead=b"y" * 100_000), Exit.EXITED, b"400000\n"),
        ("read a; read b; exec <&-; echo $a", Execute(b"x\n" * 300_000, ahead=b"one\n"), Exit.EXITED, b"one\n"),
        (
            f"read a; read b; echo $b; {LOOP}",
            Execute(b"two", ahead=b"one\n", limits=Limits(cpu_s=0.2)),
            Exit.TIME_LIMIT,
            b"two\n",
        ),
        (
            "read a; read b; echo $b; exec sleep 1000",
            Execute(b"two", ahead=b"one\n", limits=Limits(wall_s=0.2)),
            Exit.TIME_LIMIT,
            b"two\n",
        ),
        (
            "read a; read b; while :; do echo $b; done",
            Execute(b"two", ahead=b"one\n", limits=Limits(output_bytes=5)),
            Exit.OUTPUT_LIMIT,
            b"two\nt",
        ),
    ],
)
async def test_a_run_that_stood_ready_ends_like_any_other(
    real: PooledSandbox, source: str, run: Execute, exits: Exit, stdout: bytes
) -> None:
    """The third run is the one that stood ready."""
    results: list[RunResult] = []

    def take(_: int, result: RunResult) -> bool:
        results.append(result)
        return True

    for place in range(3):
        started = real.counters.boxes_started
        await real.run(Program(source, "bash"), [run], take)
        if place > 0:
            await until(lambda: real.standing == 1)
    assert [(result.exit, result.stdout) for result in results] == [(exits, stdout)] * 3
    assert [result.code for result in results] == [results[0].code] * 3
    assert [dict(result.files) for result in results] == [{"kept": b"rest"} if run.fetch else {}] * 3
    assert real.counters.boxes_started == started + 1  # in place of the box that was taken
