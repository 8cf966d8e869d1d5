"""`sandbox.boxes.pool` over boxes that fail as they are told, in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fairness import TENANT
from sandbox.base import (
    Built,
    Call,
    Execute,
    Exit,
    Limits,
    Program,
    Run,
    RunResult,
    SandboxUnavailable,
    Tests,
    TestStyle,
)
from sandbox.boxes.backend import Profile
from sandbox.boxes.pool import PooledSandbox, box_pool, job, pooled_box
from sandbox.boxes.pool.compile_cache import CompileCache
from sandbox.boxes.pool.counters import Reason
from sandbox.boxes.pool.programs import Plan
from tests.sandbox.scripted_boxes import ResultCollector, ScriptedBackend
from tests.virtual_time import in_virtual_time
from tests.waiting import PATIENCE_S, turns, until


@asynccontextmanager
async def pool_of(backend: ScriptedBackend, *, slots: int = 1, **options: Any) -> AsyncIterator[PooledSandbox]:
    """A started pool, which leaves nothing behind."""
    pool = PooledSandbox(backend, slots=slots, **options)
    await pool.start()
    try:
        yield pool
    finally:
        await pool.stop()
        assert not backend.living
        assert backend.closed
        assert pool.busy == pool.waiting == pool.ready == 0


@pytest.fixture
def backend() -> ScriptedBackend:
    return ScriptedBackend()


def deeds(*words: str) -> Sequence[Run]:
    return [Execute(stdin=word.encode()) for word in words]


async def run(pool: PooledSandbox, *words: str, collector: ResultCollector | None = None, source: str = "") -> Built:
    async with asyncio.timeout(PATIENCE_S):  # virtual seconds
        return await pool.run(Program(source), deeds(*words), collector)


# ---- one program


@in_virtual_time
async def test_each_run_has_its_result_in_order(backend: ScriptedBackend) -> None:
    collector = ResultCollector()
    async with pool_of(backend) as pool:
        built = await run(pool, "ok one", "ok two", "ok three", collector=collector)
    assert built == Built(ok=True)
    assert [result.stdout for result in collector.results] == [b"one", b"two", b"three"]
    assert collector.results[0].peak_memory_mb == 2.5
    assert pool.counters.runs[Exit.EXITED] == 3


@in_virtual_time
async def test_a_program_that_cannot_be_loaded_has_no_runs(backend: ScriptedBackend) -> None:
    collector = ResultCollector()
    async with pool_of(backend) as pool:
        built = await run(pool, "ok", source="broken", collector=collector)
        assert not built.ok
        assert built.message == "broken"
        assert not collector.results
        await until(lambda: pool.ready == 1)
    assert backend.made[0].asked == ["load", "unload"]


@in_virtual_time
async def test_nothing_is_run_after_the_caller_says_stop_but_what_may_have_begun(backend: ScriptedBackend) -> None:
    collector = ResultCollector(at_most=3)
    async with pool_of(backend) as pool:
        await run(pool, *["ok"] * 10, collector=collector)
        await until(lambda: pool.ready == 1)
    assert len(collector.results) == 3
    assert backend.made[0].asked == ["load", *["execute"] * 4, "unload"]


@in_virtual_time
async def test_a_first_wrong_result_costs_no_second_run(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        await run(pool, *["ok"] * 10, collector=ResultCollector(at_most=1))
        await until(lambda: pool.ready == 1)
    assert backend.done == {"ok": 1}


@in_virtual_time
async def test_runs_that_take_long_are_begun_one_by_one(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        await run(pool, "slow 0.1", "slow 0.11", "ok", collector=ResultCollector(at_most=2))
        await until(lambda: pool.ready == 1)
    assert "ok" not in backend.done


@in_virtual_time
async def test_a_run_that_nobody_wants_any_more_costs_the_box_not_the_caller(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        await run(pool, "ok", "ok", "silent", collector=ResultCollector(at_most=2))
        assert pool.busy == 1
        await until(lambda: pool.busy == 0 and pool.ready == 1)
        now_s = asyncio.get_running_loop().time()
        assert job.LEFTOVER_PATIENCE_S <= now_s <= job.LEFTOVER_PATIENCE_S + 2 * box_pool.TICK_S
    assert pool.counters.boxes_ended[Reason.SILENT] == 1
    assert backend.made[0].destroyed


@in_virtual_time
async def test_an_error_of_the_callers_own_reaches_it_and_the_box_goes_on(backend: ScriptedBackend) -> None:
    def fail(_position: int, _result: RunResult) -> bool:
        raise ZeroDivisionError

    async with pool_of(backend) as pool:
        with pytest.raises(ZeroDivisionError):
            await pool.run(Program(""), deeds("ok", "ok"), fail)
        await run(pool, "ok")
    assert len(backend.made) == 1


@in_virtual_time
async def test_no_runs_at_all_is_a_question_whether_it_loads(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        assert (await run(pool)).ok
        assert not (await run(pool, source="broken")).ok


@in_virtual_time
async def test_a_run_time_has_its_allowance_and_the_compiler_has_its_own_limits(backend: ScriptedBackend) -> None:
    backend.programs = ["node", "g++"]
    async with pool_of(backend) as pool:
        for language in ("javascript", "cpp"):
            built = await pool.run(Program("compiles", language), [Execute(stdin=b"ok", limits=Limits(cpu_s=1.0))])
            assert built.ok
    of_script, of_compiled = backend.made[0].limits_asked
    assert of_script["cpu_s"] > of_compiled["cpu_s"] == 1.0
    script, compiled = backend.made[0].loaded
    assert script["mode"] == compiled["mode"] == "exec"
    assert compiled["compile"]["limits"]["cpu_s"] == Program("").compile_limits.cpu_s


@in_virtual_time
async def test_a_language_whose_compiler_is_not_in_the_boxes_is_unavailable(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        assert pool.languages == {"python", "cpp"}
        for language, said in (
            ("rust", "'rust' cannot be run here: boxes lack something of rustc"),
            ("cobol", "'cobol'"),
        ):
            with pytest.raises(SandboxUnavailable, match=said) as caught:
                await pool.run(Program("", language), deeds("ok"))
            assert caught.value.reason == "language_unavailable"


@in_virtual_time
async def test_pytest_tests_where_there_is_no_pytest_are_not_judged() -> None:
    async with pool_of(ScriptedBackend(pytest=False)) as pool:
        with pytest.raises(SandboxUnavailable) as caught:
            await pool.run(Program(""), [Tests(TestStyle.PYTEST, files={"test_it.py": ""})])
        assert caught.value.reason == "language_unavailable"
        assert pool.busy == 0


@in_virtual_time
async def test_kinds_of_runs_that_a_language_has_not_are_not_judged(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        for only in (Call("f", b"[[], {}]"), Tests(TestStyle.ASSERTS, cases=["assert f()"])):
            with pytest.raises(SandboxUnavailable) as caught:
                await pool.run(Program("", "cpp"), [only])
            assert caught.value.reason == "language_unavailable"


@in_virtual_time
async def test_calls_of_two_functions_in_another_language_are_the_callers_mistake(backend: ScriptedBackend) -> None:
    backend.programs = ["node"]
    mistakes: Sequence[Sequence[Run]] = [
        [Call("f", b""), Call("g", b"")],
        [Call("f(); g", b"")],
        [Call("f", b""), Execute()],
    ]
    async with pool_of(backend) as pool:
        for runs in mistakes:
            with pytest.raises(ValueError):
                await pool.run(Program("", "javascript"), runs)
        assert pool.counters.jobs == 0


@pytest.mark.parametrize(
    "only",
    [
        Execute(files={"../a": b""}),
        Execute(files={"a": b"", "./a": b""}),
        Execute(fetch=["/etc/passwd"]),
        Execute(arguments=["a" * 2_000_000]),
        Execute(arguments=["\ud800"]),
        Tests(TestStyle.ASSERTS, cases=["'\ud800'"]),
    ],
    ids=["leads out", "twice", "fetches", "long", "no text", "no test"],
)
@in_virtual_time
async def test_what_cannot_be_sent_is_the_callers_mistake_and_costs_no_box(backend: ScriptedBackend, only: Run) -> None:
    async with pool_of(backend) as pool:
        with pytest.raises(ValueError):
            await pool.run(Program(""), [Execute(b"ok"), only])
        with pytest.raises(ValueError):
            await pool.run(Program("", files={"a/../../b": b""}), [])
        await run(pool, "ok")
    assert len(backend.made) == 1


@pytest.mark.parametrize(
    ("source", "profile"),
    [
        ("print(1)", Profile.PLAIN),
        ("x = 'numpy'  # import pandas", Profile.PLAIN),
        ("import numpyish", Profile.PLAIN),
        ("import numpy as np", Profile.SCIENCE),
        ("def f():\n    from sympy.abc import x", Profile.SCIENCE),
        ("import os, pandas", Profile.SCIENCE),
        ("try: import scipy.optimize\nexcept ImportError: pass", Profile.SCIENCE),
    ],
)
@in_virtual_time
async def test_the_box_has_imported_what_the_program_imports(
    backend: ScriptedBackend, source: str, profile: Profile
) -> None:
    async with pool_of(backend) as pool:
        await run(pool, "ok", source=source)
    assert [box.profile for box in backend.made if box.loaded] == [profile]


@pytest.mark.parametrize(
    ("source", "test", "profile", "needs"),
    [
        ("", Tests(TestStyle.ASSERTS, cases=["assert 1"]), Profile.PLAIN, set()),
        ("", Tests(TestStyle.UNITTEST, files={"test_it.py": ""}), Profile.TESTS, set()),
        ("", Tests(TestStyle.PYTEST, files={"test_it.py": ""}), Profile.TESTS, {"pytest"}),
        ("import numpy", Tests(TestStyle.UNITTEST, files={"test_it.py": ""}), Profile.SCIENCE, set()),
        ("", Tests(TestStyle.UNITTEST, files={"test_it.py": "import numpy"}), Profile.SCIENCE, {"numpy"}),
        ("import numpy", Tests(TestStyle.PYTEST, files={"test_it.py": ""}), Profile.TESTS, {"pytest"}),
        ("", Tests(TestStyle.ASSERTS, setup="import sympy", cases=["assert 1"]), Profile.SCIENCE, {"sympy"}),
    ],
)
def test_the_box_has_imported_what_tests_are_written_with(
    source: str, test: Tests, profile: Profile, needs: set[str]
) -> None:
    """Without pytest, tests of unittest are judged all the same."""
    plan = Plan.of(Program(source), [test])
    assert (plan.profile, set(plan.needs)) == (profile, needs)


# ---- boxes that die


@in_virtual_time
async def test_what_had_no_result_when_the_box_died_is_run_again_in_a_fresh_one(backend: ScriptedBackend) -> None:
    collector = ResultCollector()
    async with pool_of(backend) as pool:
        await run(pool, "ok 1", "ok 2", "once:die", "ok 4", collector=collector)
        await until(lambda: all(box.destroyed for box in backend.made if box.loaded))
    assert [result.stdout for result in collector.results] == [b"1", b"2", b"", b"4"]
    assert backend.done["ok 1"] == 1
    assert pool.counters.boxes_ended[Reason.DIED] == 1
    assert pool.counters.jobs_again == 1


@pytest.mark.parametrize("deed", ["die", "garbage"])
@in_virtual_time
async def test_two_deaths_at_the_same_run_are_nobodys_verdict(backend: ScriptedBackend, deed: str) -> None:
    collector = ResultCollector()
    async with pool_of(backend) as pool:
        with pytest.raises(SandboxUnavailable) as caught:
            await run(pool, "ok", deed, "ok", collector=collector)
        assert caught.value.reason == "box_died"
        await run(pool, "ok")
    assert len(collector.results) == 1
    assert backend.done[deed] == 2


@in_virtual_time
async def test_a_box_that_dies_of_memory_again_is_the_runs_memory_limit(backend: ScriptedBackend) -> None:
    collector = ResultCollector()
    async with pool_of(backend) as pool:
        assert (await run(pool, "ok", "oom", "ok", collector=collector)).ok
    assert collector.exits == [Exit.EXITED, Exit.MEMORY_LIMIT, Exit.EXITED]
    assert backend.done["oom"] == 2


@in_virtual_time
async def test_a_later_run_that_dies_of_memory_alone_needs_no_second_box(backend: ScriptedBackend) -> None:
    collector = ResultCollector()
    async with pool_of(backend) as pool:
        await run(pool, "oom", "oom", "ok", collector=collector)
    assert collector.exits == [Exit.MEMORY_LIMIT, Exit.MEMORY_LIMIT, Exit.EXITED]
    assert backend.done["oom"] == 3


@in_virtual_time
async def test_deaths_at_different_runs_are_each_run_again_but_not_without_end(backend: ScriptedBackend) -> None:
    collector = ResultCollector()
    async with pool_of(backend) as pool:
        await run(pool, "once:die", "once:die 2", "ok", collector=collector)
        assert collector.exits == [Exit.EXITED] * 3
        with pytest.raises(SandboxUnavailable):
            await run(pool, *(f"once:die {number}" for number in range(10, 20)))


@in_virtual_time
async def test_a_run_that_came_to_no_end_of_its_own_is_run_again_alone(backend: ScriptedBackend) -> None:
    collector = ResultCollector()
    async with pool_of(backend) as pool:
        await run(pool, "once:killed", "ok", collector=collector)
        assert collector.exits == [Exit.EXITED, Exit.EXITED]
        with pytest.raises(SandboxUnavailable):
            await run(pool, "killed")
        with pytest.raises(SandboxUnavailable):
            await pool.run(Program("loads-killed", "cpp"), deeds("ok"))


@in_virtual_time
async def test_a_box_that_dies_while_loading_twice_is_nobodys_verdict(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        with pytest.raises(SandboxUnavailable) as caught:
            await run(pool, "ok", source="die")
    assert caught.value.reason == "box_died"


@in_virtual_time
async def test_a_runner_that_does_not_answer_is_given_up_twice(backend: ScriptedBackend) -> None:
    limits = Limits(wall_s=0.11)  # so that its patience ends between two ticks
    patience_s = job._HARD_FACTOR * limits.backstop_s + job._HARD_EXTRA_S
    async with pool_of(backend) as pool:
        with pytest.raises(SandboxUnavailable) as caught:
            async with asyncio.timeout(PATIENCE_S):
                await pool.run(Program(""), [Execute(stdin=b"silent", limits=limits)])
    assert caught.value.reason == "box_died"
    assert 2 * patience_s <= asyncio.get_running_loop().time() <= 2 * (patience_s + box_pool.TICK_S)
    assert pool.counters.boxes_ended[Reason.SILENT] == 2


@in_virtual_time
async def test_a_box_that_dies_while_nobody_uses_it_is_replaced(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        backend.made[0].kill()
        await until(lambda: len(backend.made) == 2 and pool.ready == 1)
        await run(pool, "ok")
    assert backend.made[0].destroyed


@in_virtual_time
async def test_a_box_that_dies_as_it_changes_hands_keeps_nobody_waiting(backend: ScriptedBackend) -> None:
    """The next in line has been given the box by then, and has not begun."""
    async with pool_of(backend) as pool:
        first, second = asyncio.create_task(run(pool, "slow 0.05")), asyncio.create_task(run(pool, "ok"))
        await until(lambda: pool.busy == 1 and pool.waiting == 1)
        backend.last_answer = "unloaded"
        assert [await first, await second] == [Built(ok=True)] * 2
    assert backend.made[0].destroyed
    assert pool.counters.jobs_again == 1


@in_virtual_time
async def test_a_box_that_dies_as_it_is_given_back_is_replaced(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        backend.last_answer = "unloaded"
        await run(pool, "ok")
        await until(lambda: len(backend.made) == 2 and pool.ready == 1)
    assert pool.counters.boxes_ended[Reason.DIED] == 1


@in_virtual_time
async def test_a_box_that_dies_as_it_gets_ready_is_replaced(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        backend.last_answer = "hello"
        backend.made[0].kill()
        await until(lambda: len(backend.made) == 3 and pool.ready == 1)
        await run(pool, "ok")
    assert pool.counters.jobs_again == 0


@in_virtual_time
async def test_a_box_for_one_program_that_dies_as_it_gets_ready_keeps_nobody_waiting(backend: ScriptedBackend) -> None:
    collector = ResultCollector()
    async with pool_of(backend) as pool:
        backend.last_answer = "lone hello"
        await run(pool, "once:die", "ok", collector=collector)
    assert collector.exits == [Exit.EXITED] * 2
    assert backend.last_answer == ""
    assert pool.counters.jobs_again == 2


@in_virtual_time
async def test_a_box_that_does_not_answer_a_ping_is_replaced(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        await until(lambda: backend.made[0].asked.count("ping") >= 2)
        assert pool.counters.boxes_ended[Reason.SILENT] == 0
        backend.made[0].deaf = True
        await until(lambda: backend.made[0].destroyed)
        asked_and_waited_s = box_pool.PING_AFTER_S + box_pool.PING_PATIENCE_S
        now_s = asyncio.get_running_loop().time()
        assert (
            2 * box_pool.PING_AFTER_S + asked_and_waited_s
            <= now_s
            <= 2 * box_pool.PING_AFTER_S + asked_and_waited_s + 2
        )
    assert pool.counters.boxes_ended[Reason.SILENT] == 1


# ---- boxes that are worn


@in_virtual_time
async def test_a_box_is_replaced_after_so_many_programs(backend: ScriptedBackend) -> None:
    async with pool_of(backend, jobs_per_box=2) as pool:
        for _ in range(6):
            await run(pool, "ok")
    assert max(box.asked.count("load") for box in backend.made) == 2
    assert pool.counters.boxes_ended[Reason.JOBS] >= 2


@in_virtual_time
async def test_a_box_is_replaced_when_it_is_old(backend: ScriptedBackend) -> None:
    async with pool_of(backend, box_max_age_s=10) as pool:
        await until(lambda: len(backend.made) >= 3)
        await run(pool, "ok")
    assert pool.counters.boxes_ended[Reason.AGE] >= 2


@in_virtual_time
async def test_a_box_that_grew_old_at_work_is_lent_to_nobody_else(backend: ScriptedBackend) -> None:
    async with pool_of(backend, box_max_age_s=10) as pool:
        working = asyncio.create_task(run(pool, "slow 20"))
        await until(lambda: pool.busy == 1)
        await run(pool, "ok")
        assert (await working).ok
    assert [len(box.loaded) for box in backend.made if box.loaded] == [1, 1]
    assert pool.counters.boxes_ended[Reason.AGE] == 1


@in_virtual_time
async def test_a_box_in_which_two_programs_left_processes_is_replaced(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        await run(pool, "left", "left")
        await run(pool, "ok")
        await run(pool, "left")
        await run(pool, "ok")
    assert pool.counters.boxes_ended[Reason.LEFTOVERS] == 1
    assert [box.asked.count("load") for box in backend.made if box.loaded] == [3, 1]


@in_virtual_time
async def test_fresh_boxes_are_made_ahead_and_used_once(backend: ScriptedBackend) -> None:
    async with pool_of(backend, slots=2, fresh=True) as pool:
        async with asyncio.TaskGroup() as group:
            for _ in range(6):
                group.create_task(run(pool, "slow 0.01"))
        await until(lambda: pool.ready == 4)
    assert [box.asked.count("load") for box in backend.made if box.loaded] == [1] * 6
    assert [box.asked.count("unload") for box in backend.made] == [0] * 10, "none is emptied for another program"
    assert all(box.configured["once"] for box in backend.made if box.loaded)


@in_virtual_time
async def test_a_box_is_told_whether_it_is_for_one_program(backend: ScriptedBackend) -> None:
    async with pool_of(backend, slots=1) as pool:
        await run(pool, "ok")
        with pytest.raises(SandboxUnavailable):
            await run(pool, "die")
    assert [box.configured["once"] for box in backend.made if box.loaded] == [False, True]


@in_virtual_time
async def test_a_module_that_tests_import_and_boxes_do_not_have_is_no_fault_of_the_program(
    backend: ScriptedBackend,
) -> None:
    backend.preloaded = ["numpy", "pandas"]
    async with pool_of(backend) as pool:
        await run(pool, "ok", source="from sympy import Symbol")  # which is its own choice
        tests = Tests(TestStyle.ASSERTS, ["import sympy\nassert f(sympy.Symbol('x'))"])
        with pytest.raises(SandboxUnavailable, match="the boxes lack the Python modules sympy"):
            await pool.run(Program("def f(x): return x"), [tests])


@in_virtual_time
async def test_science_boxes_are_made_when_wanted_and_then_kept(backend: ScriptedBackend) -> None:
    async with pool_of(backend, slots=2) as pool:
        for _ in range(3):
            await run(pool, "ok", source="import numpy")
            await until(lambda: pool.busy == 0)
    assert [box.profile for box in backend.made] == [Profile.PLAIN, Profile.PLAIN, Profile.SCIENCE]


# ---- the line


@in_virtual_time
async def test_no_more_programs_than_slots_are_at_work_and_the_first_come_first(backend: ScriptedBackend) -> None:
    most, order = 0, []

    async def one(pool: PooledSandbox, number: int) -> None:
        nonlocal most
        await run(pool, "slow 0.02")
        most = max(most, pool.busy)
        order.append(number)

    async with pool_of(backend, slots=2) as pool, asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(one(pool, number))
            await asyncio.sleep(0.001)
    assert most <= 2
    assert order == list(range(8))


@in_virtual_time
async def test_programs_of_another_profile_do_not_wait_for_its_boxes_to_start(backend: ScriptedBackend) -> None:
    async with pool_of(backend, slots=1) as pool:
        backend.stuck = True
        waiting = asyncio.create_task(run(pool, "ok", source="import numpy"))
        await until(lambda: pool.waiting == 1)
        await run(pool, "ok")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


@in_virtual_time
async def test_a_line_that_is_too_long_refuses_at_once(backend: ScriptedBackend) -> None:
    async with pool_of(backend, queue_limit_s=0.02) as pool:
        tasks = [asyncio.create_task(run(pool, "slow 0.05")) for _ in range(20)]
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait(tasks)
    errors = [task.exception() for task in tasks]
    refused = [error for error in errors if isinstance(error, SandboxUnavailable)]
    assert 0 < len(refused) < 19
    assert {error.reason for error in refused} == {"sandbox_busy"}
    assert pool.counters.refused == len(refused)
    assert errors.count(None) == 20 - len(refused)


@pytest.mark.parametrize(
    ("before", "limit_s", "taken", "refused"),
    [(["ok"] * 100, 1.0, 190, 220), (["slow 10"] * 9, 2.0, 1, 2)],
    ids=["quick", "slow"],
)
@in_virtual_time
async def test_the_line_is_as_long_as_the_runs_in_it_would_take_by_what_runs_took(
    backend: ScriptedBackend, before: Sequence[str], limit_s: float, taken: int, refused: int
) -> None:
    async with pool_of(backend, queue_limit_s=limit_s) as pool:
        await run(pool, *before)
        await until(lambda: pool.busy == 0)
        tasks = []
        for words in (["slow 1"], ["ok"]):
            tasks.append(asyncio.create_task(run(pool, *words)))
            await turns()
        assert (pool.busy, pool.waiting) == (1, 1)
        with pytest.raises(SandboxUnavailable, match="the queue is full"):
            await run(pool, *["ok"] * refused)
        tasks.append(asyncio.create_task(run(pool, *["ok"] * taken)))
        assert all(built.ok for built in await asyncio.gather(*tasks))


@in_virtual_time
async def test_tenants_get_boxes_in_turn_by_the_time_they_use_them(backend: ScriptedBackend) -> None:
    order: list[str] = []

    async def one(pool: PooledSandbox, tenant: str, words: str) -> None:
        TENANT.set(tenant)
        await run(pool, words)
        order.append(tenant)

    async with pool_of(backend) as pool:
        large = [asyncio.create_task(one(pool, "large", "slow 1")) for _ in range(50)]
        await until(lambda: pool.waiting == 49)
        small = [asyncio.create_task(one(pool, "small", "slow 0.1")) for _ in range(20)]
        await asyncio.gather(*large, *small)
    before = order[: max(n for n, tenant in enumerate(order) if tenant == "small")].count("large")
    assert before <= 5  # two seconds of work for each second of the other's


@in_virtual_time
async def test_a_full_line_of_one_tenant_keeps_no_other_out(backend: ScriptedBackend) -> None:
    async def one(pool: PooledSandbox, tenant: str) -> Built:
        TENANT.set(tenant)
        return await run(pool, "slow 0.05")

    async with pool_of(backend, queue_limit_s=1.0) as pool:
        large = [asyncio.create_task(one(pool, "large")) for _ in range(100)]
        await turns()
        with pytest.raises(SandboxUnavailable, match="the queue is full"):
            await one(pool, "large")
        assert (await one(pool, "small")).ok
        for task in large:
            task.cancel()
        await asyncio.wait(large)


@in_virtual_time
async def test_one_program_is_taken_however_large_it_seems(backend: ScriptedBackend) -> None:
    async with pool_of(backend, queue_limit_s=0.0) as pool:
        assert (await run(pool, *["ok"] * 100)).ok


# ---- callers that go away


@in_virtual_time
async def test_a_cancelled_program_is_ended_with_its_box(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        running = asyncio.create_task(run(pool, "silent"))
        await until(lambda: backend.done["silent"] == 1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(lambda: backend.made[0].destroyed)
        await run(pool, "ok")
    assert pool.counters.boxes_ended[Reason.CANCELLED] == 1


@in_virtual_time
async def test_callers_that_go_away_at_any_moment_leave_the_pool_whole(backend: ScriptedBackend) -> None:
    async with pool_of(backend, slots=2) as pool:
        for moment in range(40):
            words = "ok", "ok", f"once:die {moment}", "slow 0.001"
            tasks = [asyncio.create_task(run(pool, *words)) for _ in range(4)]
            await turns(moment)
            for task in tasks[:3]:
                task.cancel()
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.wait(tasks)
            assert not tasks[3].cancelled()
            assert tasks[3].exception() is None
        await until(lambda: pool.busy == 0 and pool.waiting == 0)
        await until(lambda: pool.ready == 2)
        await until(lambda: len(backend.living) == 2)


@in_virtual_time
async def test_stop_ends_programs_under_way_and_those_that_wait(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        tasks = [asyncio.create_task(run(pool, "silent")) for _ in range(3)]
        await until(lambda: pool.waiting == 2)
        await pool.stop()
        for task in tasks:
            with pytest.raises(SandboxUnavailable):
                await task
        with pytest.raises(SandboxUnavailable):
            await run(pool, "ok")


# ---- backends that fail


@in_virtual_time
async def test_a_backend_that_cannot_make_boxes_cannot_be_started(backend: ScriptedBackend) -> None:
    backend.broken = "no daemon"
    pool = PooledSandbox(backend, slots=2)
    with pytest.raises(SandboxUnavailable, match="no daemon"):
        await pool.start()
    assert backend.closed
    await pool.stop()


@in_virtual_time
async def test_a_runner_that_says_no_hello_cannot_be_started(backend: ScriptedBackend) -> None:
    backend.mute = True
    pool = PooledSandbox(backend, slots=2)
    with pytest.raises(SandboxUnavailable, match="did not start"):
        await pool.start()
    assert len(backend.made) == 2
    assert not backend.living


@in_virtual_time
async def test_a_box_that_never_gets_ready_is_a_failure(backend: ScriptedBackend) -> None:
    backend.stuck = True
    pool = PooledSandbox(backend, slots=1)
    with pytest.raises(SandboxUnavailable, match="not ready within"):
        await pool.start()
    assert asyncio.get_running_loop().time() == pooled_box.START_PATIENCE_S


@in_virtual_time
async def test_callers_are_told_soon_when_boxes_cannot_be_made_and_served_when_they_can_again(
    backend: ScriptedBackend,
) -> None:
    async with pool_of(backend, slots=2) as pool:
        backend.broken = "the daemon is gone"
        for box in backend.living:
            box.kill()
        await until(lambda: pool.ready == 0)
        for _ in range(2):
            with pytest.raises(SandboxUnavailable, match="the daemon is gone"):
                await run(pool, "ok")
        attempts = backend.attempts
        for _ in range(100):
            with pytest.raises(SandboxUnavailable):
                await run(pool, "ok")
        assert backend.attempts <= attempts + 2
        await until(lambda: backend.attempts > attempts + 4)
        with pytest.raises(SandboxUnavailable, match="the daemon is gone"):
            await run(pool, "ok")
        assert pool.trouble == "the daemon is gone"
        backend.broken = ""
        await until(lambda: pool.ready == 2)
        await run(pool, "ok")


@in_virtual_time
async def test_a_program_whose_box_died_with_the_backend_is_not_judged(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        running = asyncio.create_task(run(pool, "silent"))
        await until(lambda: backend.done["silent"] == 1)
        backend.broken = "the daemon is gone"
        backend.made[0].kill()
        with pytest.raises(SandboxUnavailable, match="the daemon is gone"):
            await running


# ---- the compile cache


@in_virtual_time
async def test_the_same_source_is_compiled_once(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        first = await pool.run(Program("compiles", "cpp"), deeds("ok"))
        second = await pool.run(Program("compiles", "cpp"), deeds("ok"))
        other = await pool.run(Program("compiles", "cpp", files={"a.h": b""}), deeds("ok"))
    assert [first.cached, second.cached, other.cached] == [False, True, False]
    first_load, second_load, _ = backend.made[0].loaded
    assert first_load["compile"] is not None
    assert second_load["compile"] is None
    assert ["program", 6] in second_load["files"]
    assert pool.counters.compile_cache_hits == 1
    assert pool.counters.compile_cache_misses == 2


@in_virtual_time
async def test_what_one_owner_compiled_is_compiled_again_for_another(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        built = [
            await pool.run(Program("compiles", "cpp", owner=owner), deeds("ok")) for owner in ("red", "blue", "red")
        ]
    assert [each.cached for each in built] == [False, False, True]


@in_virtual_time
async def test_what_a_compiler_makes_may_be_many_megabytes(backend: ScriptedBackend) -> None:
    async with pool_of(backend) as pool:
        built = [await pool.run(Program("compiles 3000000", "cpp"), deeds("ok")) for _ in range(2)]
    assert [each.cached for each in built] == [False, True]


def test_the_cache_forgets_what_was_not_used_for_longest_and_keeps_nothing_too_large() -> None:
    cache = CompileCache(max_bytes=40)
    for key in (b"1", b"2", b"3", b"4"):
        cache.put(key, [("a", bytes(9))])
    assert cache.get(b"1")
    cache.put(b"5", [("a", bytes(9))])
    assert cache.get(b"2") is None
    assert cache.get(b"1")
    cache.put(b"6", [("a", bytes(11))])
    assert cache.get(b"6") is None
    assert cache.size_bytes == 40
