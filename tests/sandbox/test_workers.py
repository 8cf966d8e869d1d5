"""The workers, with real processes: whatever an item does, it costs only itself."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from fairness import TENANT
from sandbox.workers import Exit, Outcome, Task, Workers, WorkersUnavailable, confine, link, pool
from tests.processes import children
from tests.sandbox.processes import is_there
from tests.waiting import PATIENCE_S, until

HERE = str(Path(__file__).parent)

ECHO = Task("worker_tasks", "echo", 1.0)
BEHAVE = Task("worker_tasks", "behave", 1.0)
LOOK = Task("worker_tasks", "look", 1.0)
BURN = Task("worker_tasks", "burn", 20.0)
HOLD = Task("worker_tasks", "hold", 5.0)
REMEMBER = Task("worker_tasks", "remember_text", 5.0)
ALLOCATE = Task("worker_tasks", "allocate", 5.0)
WRITE = Task("worker_tasks", "write_file", 1.0)
READ = Task("worker_tasks", "read_file", 1.0)
RUN = Task("worker_tasks", "run_program", 1.0)
KILL = Task("worker_tasks", "kill", 1.0)
TIMES_READ = Task("worker_tasks", "times_read", 1.0)
ALL = (ECHO, BEHAVE, LOOK, BURN, HOLD, ALLOCATE, WRITE, READ, RUN, KILL)

needs_landlock = pytest.mark.skipif(confine.landlock_version() < 6, reason="this kernel has no Landlock with scopes")


@pytest.fixture(autouse=True)
def _tasks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [HERE, *sys.path])


@asynccontextmanager
async def started(size: int = 2, *tasks: Task, **options: Any) -> AsyncIterator[Workers]:
    workers = Workers(size, **{"memory_mb": 256, **options})
    for task in tasks or ALL:
        workers.register(task)
    await workers.start()
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield workers
    finally:
        await workers.stop()


class Listener:
    """Hears outcomes, and can be referred to weakly."""

    def __call__(self, index: int, outcome: Outcome) -> None:
        assert outcome.exit is Exit.OK


async def one(workers: Workers, task: Task, payload: Any) -> Outcome:
    (outcome,) = await workers.map(task, [payload])
    return outcome


DEEDS = {
    "hang": (Exit.TIME_LIMIT, "used more than 1 s of CPU"),
    "hang in C": (Exit.TIME_LIMIT, "used more than 1 s of CPU"),
    "print for ever": (Exit.TIME_LIMIT, "used more than 1 s of CPU"),
    "segfault": (Exit.CRASHED, "signal 11 (SIGSEGV)"),
    "recurse in C": (Exit.CRASHED, "signal 11 (SIGSEGV)"),
    "leave": (Exit.CRASHED, "exit status 7"),
    "talk nonsense": (Exit.KILLED, "signal 9 (SIGKILL)"),
    "close everything": (Exit.KILLED, "signal 9 (SIGKILL)"),
    "exit politely": (Exit.RAISED, "SystemExit: leaving\n"),
    "eat memory": (Exit.MEMORY_LIMIT, ""),
    "bite memory": (Exit.MEMORY_LIMIT, ""),
    "huge result": (Exit.MEMORY_LIMIT, ""),
    "many results": (Exit.OUTPUT_LIMIT, ""),
    "raise": (Exit.RAISED, "ValueError: a reason !!!!"),
    "raise unprintable": (Exit.RAISED, "Spiteful: (its text cannot be read)\n"),
    "raise surrogate": (Exit.RAISED, "ValueError: ?\n"),
    "recurse": (Exit.RAISED, "RecursionError: maximum recursion depth exceeded"),
    "return object": (Exit.RAISED, "TypeError: "),
    "return surrogate": (Exit.RAISED, "UnicodeEncodeError: "),
}


async def check_deed(deed: str) -> None:
    exit_, message = DEEDS[deed]
    before, after = list(range(20)), list(range(20, 40))
    async with started() as workers:
        outcomes = await workers.map(BEHAVE, [*before, deed, *after])
        assert [(outcome.exit, outcome.value) for outcome in outcomes] == [
            *((Exit.OK, number) for number in before),
            (exit_, None),
            *((Exit.OK, number) for number in after),
        ]
        assert message in outcomes[20].message
        assert len(outcomes[20].message) < 4097
        again = await workers.map(BEHAVE, before)
        assert [outcome.value for outcome in again] == before


@pytest.mark.boxes
@pytest.mark.parametrize("deed", DEEDS)
async def test_a_bad_item_costs_only_itself(deed: str) -> None:
    await check_deed(deed)


@pytest.mark.boxes
@pytest.mark.parametrize("deed", ["hang", "segfault", "eat memory", "raise"])
def test_a_bad_item_costs_only_itself_on_uvloop(deed: str) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(check_deed(deed))


async def check_all_deeds() -> None:
    payloads = [payload for number, deed in enumerate(DEEDS) for payload in (number, deed, number)]
    async with started() as workers:
        outcomes = await workers.map(BEHAVE, payloads)
    for number, (exit_, message) in enumerate(DEEDS.values()):
        before, bad, after = outcomes[3 * number : 3 * number + 3]
        assert [(outcome.exit, outcome.value) for outcome in (before, after)] == [(Exit.OK, number)] * 2
        assert (bad.exit, bad.value) == (exit_, None)
        assert message in bad.message
        assert len(bad.message) < 4097


@pytest.mark.boxes
def test_all_deeds_in_one_batch_cost_only_themselves_on_the_services_event_loop() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(check_all_deeds())


@pytest.mark.bombs
async def test_a_result_of_a_gigabyte_is_refused_and_its_worker_lives_on() -> None:
    patient = Task("worker_tasks", "behave", 30.0)
    async with started(1, LOOK, patient, memory_mb=4096, recycle_rss_mb=8192) as workers:
        outcome = await one(workers, patient, "huge result")
        assert (outcome.exit, outcome.value) == (Exit.OUTPUT_LIMIT, None)
        assert (await one(workers, LOOK, "pids")).exit is Exit.OK
        assert set(workers.restarts) <= {"slow"}


@pytest.mark.chaos
async def test_dozens_of_deaths_in_a_row_are_survived() -> None:
    impatient = Task("worker_tasks", "behave", 0.03)
    payloads = [payload for number in range(24) for payload in (number, "hang", "segfault", number)]
    async with started(2, impatient) as workers:
        outcomes = await workers.map(impatient, payloads)
        assert [outcome.exit for outcome in outcomes] == [Exit.OK, Exit.TIME_LIMIT, Exit.CRASHED, Exit.OK] * 24
        assert workers.restarts["time_limit"] == 24
        assert workers.restarts["crashed"] == 48
        assert (await one(workers, impatient, 7)).exit is Exit.OK  # in place of the last one that died
        assert workers.ready


async def test_an_item_that_takes_no_cpu_and_does_not_end_is_stalled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MIN_STALL_S", 0.2)
    sleepy = Task("worker_tasks", "behave", 0.06)
    async with started(1, sleepy) as workers:
        outcomes = await workers.map(sleepy, [1, "sleep", 2])
    assert [outcome.exit for outcome in outcomes] == [Exit.OK, Exit.STALLED, Exit.OK]


async def test_an_item_that_others_starve_is_not_stalled(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one core beside loops, at the low priority of slow items, it takes some twenty times its CPU time."""
    monkeypatch.setattr(pool, "MIN_STALL_S", 0.5)
    monkeypatch.setattr(pool, "STALL_FACTOR", 0.1)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    loops: list[asyncio.subprocess.Process] = []
    try:
        async with started(1, BURN) as workers:
            for _ in range(2):
                loops.append(await asyncio.create_subprocess_exec("sh", "-c", "while :; do :; done"))
            assert (await one(workers, replace(BURN, time_limit_s=1.0), 0.3)).exit is Exit.OK
    finally:
        for loop in loops:
            loop.kill()
            await loop.wait()
        os.sched_setaffinity(0, cores)


async def test_cpu_time_is_reported() -> None:
    async with started(1, BURN) as workers:
        assert 0.2 <= (await one(workers, BURN, 0.2)).elapsed_s < 5


async def test_what_is_not_plain_data_is_the_items_own_trouble() -> None:
    async with started(1, ECHO) as workers:
        outcomes = await workers.map(ECHO, [1, "\ud800", object(), 1 << 70, 2])
    assert [outcome.exit for outcome in outcomes] == [Exit.OK, Exit.RAISED, Exit.RAISED, Exit.RAISED, Exit.OK]
    assert outcomes[1].message.startswith("payload: UnicodeEncodeError")


async def test_a_payload_larger_than_any_socket_buffer_arrives() -> None:
    large = "é" * 4_000_000
    async with started(2, ECHO, output_bytes=16 * 1024 * 1024) as workers:
        outcomes = await workers.map(ECHO, [large, 1, large, 2])
    assert [outcome.value for outcome in outcomes] == [large, 1, large, 2]


async def test_a_task_may_return_more_than_the_others() -> None:
    large = Task("worker_tasks", "behave", 10.0, output_bytes=3_000_000)
    async with started(1, ECHO, large) as workers:
        assert (await one(workers, large, "x" * 2_000_000)).exit is Exit.OK
        assert (await one(workers, large, "x" * 3_000_001)).exit is Exit.OUTPUT_LIMIT
        assert (await one(workers, ECHO, "x" * 2_000_000)).exit is Exit.OUTPUT_LIMIT


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


def test_any_payloads_come_back_unchanged_and_in_order() -> None:
    with asyncio.Runner() as runner:
        workers = Workers(2)
        workers.register(ECHO)
        runner.run(workers.start())

        @settings(max_examples=30, deadline=None)
        @given(st.lists(plain, max_size=40))
        def check(payloads: list[Any]) -> None:
            outcomes = runner.run(workers.map(ECHO, payloads))
            assert [outcome.exit for outcome in outcomes] == [Exit.OK] * len(payloads)
            assert msgspec.msgpack.encode([outcome.value for outcome in outcomes]) == msgspec.msgpack.encode(payloads)

        try:
            check()
        finally:
            runner.run(workers.stop())


async def test_each_outcome_is_told_as_soon_as_it_exists() -> None:
    async with started(1) as workers:
        delivered: list[tuple[int, Outcome]] = []
        first = asyncio.Event()

        def take(index: int, outcome: Outcome) -> None:
            delivered.append((index, outcome))
            first.set()

        call = asyncio.create_task(workers.map(BEHAVE, ["quick", "hang", b"quick too"], take))
        await first.wait()
        assert not call.done()
        outcomes = await call
    assert sorted(delivered, key=lambda pair: pair[0]) == list(enumerate(outcomes))
    assert [outcome.exit for outcome in outcomes] == [Exit.OK, Exit.TIME_LIMIT, Exit.OK]


async def test_nothing_keeps_what_a_caller_handed_over() -> None:
    """Also after an item that took so long that the pool looked at its worker's clocks."""
    async with started(1) as workers:
        listener = Listener()
        alive = weakref.ref(listener)
        await workers.map(BEHAVE, ["quick", "pause"], listener)
        del listener
        await until(lambda: alive() is None)


async def test_what_the_listener_raises_ends_its_own_call_alone() -> None:
    def refuse(index: int, outcome: Outcome) -> None:
        raise ZeroDivisionError(index)

    async with started(1) as workers:
        other = asyncio.create_task(workers.map(ECHO, list(range(50))))
        with pytest.raises(ZeroDivisionError):
            await workers.map(ECHO, ["a", "b"], refuse)
        assert [outcome.value for outcome in await other] == list(range(50))
        assert (await one(workers, ECHO, "still")).value == "still"


async def test_calls_at_the_same_time_each_get_their_own() -> None:
    async with started(2, ECHO) as workers, asyncio.TaskGroup() as group:
        calls = [group.create_task(workers.map(ECHO, [[call, item] for item in range(50)])) for call in range(20)]
    for number, call in enumerate(calls):
        assert [outcome.value for outcome in call.result()] == [[number, item] for item in range(50)]


async def test_warm_payloads_have_run_before_the_first_item() -> None:
    task = Task("worker_tasks", "warm", 1.0, warm=("one", {"two": 2}))
    async with started(1, task) as workers:
        assert (await one(workers, task, "three")).value == ["one", {"two": 2}]


async def test_a_zygote_begun_early_has_loaded_its_tasks_when_the_order_comes() -> None:
    warm = Task("worker_tasks", "warm", 1.0, warm=("early",))
    link.begin(warm)
    [(process, _)] = link._begun
    async with started(1, replace(warm, warm=("ordered",)), LOOK) as workers:
        assert (await one(workers, LOOK, "pids")).value[1] == process.pid
        assert (await one(workers, warm, "item")).value == ["early", "ordered"]
    assert not link._begun


async def test_a_zygote_begun_early_that_has_died_is_replaced() -> None:
    link.begin(ECHO)
    [(process, _)] = link._begun
    process.kill()
    process.wait()
    async with started(1) as workers:
        assert (await one(workers, ECHO, "a")).value == "a"


@pytest.mark.parametrize(("parts_owners", "times"), [(False, [1, 1, 1, 1, 1]), (True, [1, 1, 2, 2, 3])])
async def test_a_worker_forgets_the_texts_of_one_tenant_before_those_of_another_if_it_is_to(
    parts_owners: bool, times: list[int]
) -> None:
    async with started(1, TIMES_READ, parts_owners=parts_owners) as workers:

        async def ask(tenant: str) -> Any:
            TENANT.set(tenant)
            return (await one(workers, TIMES_READ, "a text")).value

        callers = ("red", "red", "blue", "blue", "red")
        assert [await asyncio.create_task(ask(caller)) for caller in callers] == times


# ---- slow items


async def test_a_slow_item_does_not_delay_fast_ones_behind_it() -> None:
    order: list[str] = []

    async def call(name: str, workers: Workers, task: Task, payloads: list[Any]) -> list[Outcome]:
        outcomes = await workers.map(task, payloads)
        order.append(name)
        return outcomes

    async with started(1, BURN, ECHO) as workers:
        async with asyncio.TaskGroup() as group:
            slow = group.create_task(call("slow", workers, BURN, [0.5]))
            fast = group.create_task(call("fast", workers, ECHO, list(range(30))))
        assert order == ["fast", "slow"]
        assert [outcome.value for outcome in fast.result()] == list(range(30))
        assert slow.result()[0].value == "burnt 0.5"
        assert workers.restarts == {"slow": 1}


async def test_more_slow_items_than_slow_workers_all_end() -> None:
    async with started(2, BURN, ECHO, slow_size=1) as workers:
        slow, fast = await asyncio.gather(workers.map(BURN, [0.2] * 4), workers.map(ECHO, list(range(30))))
        assert [outcome.value for outcome in slow] == ["burnt 0.2"] * 4
        assert [outcome.value for outcome in fast] == list(range(30))
        assert workers.restarts == {"slow": 4}


# ---- deaths from outside


@asynccontextmanager
async def door(answer: Callable[[int, int, int], Awaitable[str | None]], path: Path) -> AsyncIterator[str]:
    """A socket on which items say that they run; `answer(visit, pid, parent_pid)` is what they are told.

    None is not an answer: they wait until they die.
    """
    visits = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal visits
        visits += 1
        pid, parent = (await reader.readline()).split()
        reply = await answer(visits, int(pid), int(parent))
        if reply is None:
            await reader.read()
        else:
            writer.write(reply.encode())
        writer.close()

    async with await asyncio.start_unix_server(serve, path):
        yield str(path)


async def test_a_worker_killed_from_outside_loses_nothing(tmp_path: Path) -> None:
    async def answer(visit: int, pid: int, _parent: int) -> str | None:
        if visit > 1:
            return f"visit {visit}"
        os.kill(pid, signal.SIGKILL)
        return None

    numbers = list(range(40))
    async with started() as workers, door(answer, tmp_path / "door") as path:
        outcomes = await workers.map(BEHAVE, [*numbers, {"knock": path}, *numbers])
        assert [outcome.value for outcome in outcomes] == [*numbers, "visit 2", *numbers]
        assert workers.restarts == {"crashed": 1}


async def test_an_item_that_kills_two_workers_is_not_tried_again(tmp_path: Path) -> None:
    visitors = []

    async def answer(_visit: int, pid: int, _parent: int) -> None:
        visitors.append(pid)
        os.kill(pid, signal.SIGKILL)

    async with started() as workers, door(answer, tmp_path / "door") as path:
        outcomes = await workers.map(BEHAVE, [1, {"knock": path}, 2])
    assert [outcome.exit for outcome in outcomes] == [Exit.OK, Exit.KILLED, Exit.OK]
    assert len(set(visitors)) == 2


async def test_a_killed_zygote_loses_nothing(tmp_path: Path) -> None:
    async def answer(visit: int, _pid: int, parent: int) -> str | None:
        if visit > 1:
            return f"visit {visit}"
        os.kill(parent, signal.SIGKILL)
        return None

    numbers = list(range(40))
    async with started() as workers, door(answer, tmp_path / "door") as path:
        outcomes = await workers.map(BEHAVE, [*numbers, {"knock": path}, *numbers])
        assert [outcome.value for outcome in outcomes] == [*numbers, "visit 2", *numbers]
        assert workers.restarts["zygote"] == 1


async def test_an_item_is_not_run_for_ever_under_dying_zygotes(tmp_path: Path) -> None:
    async def answer(_visit: int, _pid: int, parent: int) -> None:
        os.kill(parent, signal.SIGKILL)

    async with started(1) as workers, door(answer, tmp_path / "door") as path:
        outcomes = await workers.map(BEHAVE, [1, {"knock": path}, 2])
        assert [outcome.exit for outcome in outcomes] == [Exit.OK, Exit.STALLED, Exit.OK]
        assert workers.restarts["zygote"] == pool.MAX_INTERRUPTIONS


@pytest.mark.boxes
async def test_a_zygote_that_no_longer_answers_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "ZYGOTE_PATIENCE_S", 1.0)
    async with started(1) as workers:
        zygote = (await one(workers, LOOK, "pids")).value[1]
        os.kill(zygote, signal.SIGSTOP)
        outcomes = await workers.map(BEHAVE, ["leave", 1])
        assert workers.restarts["zygote"] >= 1
    assert [outcome.exit for outcome in outcomes] == [Exit.CRASHED, Exit.OK]


SERVICE = """
import asyncio, sys
sys.path[:0] = sys.argv[1:]
from sandbox.workers import Task, Workers
look = Task("worker_tasks", "look", 1.0)
hang = Task("worker_tasks", "behave", 1000.0)
async def main():
    workers = Workers(2)
    workers.register(look)
    workers.register(hang)
    await workers.start()
    (outcome,) = await workers.map(look, ["pids"])
    print(*outcome.value, flush=True)
    await workers.map(hang, ["hang"] * 4)
asyncio.run(main())
"""


def test_zygote_and_workers_die_with_the_service() -> None:
    root = str(Path(pool.__file__).parents[2])
    with subprocess.Popen([sys.executable, "-c", SERVICE, root, HERE], stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        pidfds = [os.pidfd_open(int(pid)) for pid in service.stdout.readline().split()]
        assert len(pidfds) == 2
        service.kill()
    try:
        for pidfd in pidfds:
            poll = select.poll()
            poll.register(pidfd, select.POLLIN)
            assert poll.poll(PATIENCE_S * 1000), "still running"
    finally:
        for pidfd in pidfds:
            os.close(pidfd)


# ---- what a worker can see and do


async def test_environment_and_files_of_the_service_are_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDLINE_TEST_SECRET", "hunter2")
    ours, theirs = os.pipe()
    os.set_inheritable(ours, True)
    try:
        async with started(2, LOOK) as workers:
            environment, files = [outcome.value for outcome in await workers.map(LOOK, ["environment", "files"])]
    finally:
        os.close(ours)
        os.close(theirs)
    assert "hunter2" not in str(environment)
    of_libraries = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "SYMPY_GROUND_TYPES"}
    assert set(environment) <= {"LANG", "LC_CTYPE", "PYTHONHASHSEED"} | of_libraries
    assert [files.pop(stream) for stream in "012"] == ["/dev/null"] * 3
    assert len(files) == 1
    assert files["3"].startswith("socket:")


async def test_a_worker_cannot_write_files(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("before")
    there.chmod(0o666)
    async with started(1, WRITE) as workers:
        outcomes = await workers.map(WRITE, [str(there), str(tmp_path / "new")])
    assert [outcome.exit for outcome in outcomes] == [Exit.RAISED, Exit.RAISED]
    assert not (tmp_path / "new").exists() or (tmp_path / "new").stat().st_size == 0
    assert there.read_text() in ("before", "")


@needs_landlock
async def test_a_worker_cannot_touch_other_processes(tmp_path: Path) -> None:
    victim = await asyncio.create_subprocess_exec("sleep", "3600", env={"SECRET": "hunter2"})
    try:
        async with started(1, KILL, READ, RUN, WRITE) as workers:
            killed = await one(workers, KILL, victim.pid)
            read = await one(workers, READ, f"/proc/{victim.pid}/environ")
            ran = await one(workers, RUN, "/bin/true")
            written = await one(workers, WRITE, str(tmp_path / "new"))
        assert victim.returncode is None
    finally:
        victim.kill()
    assert await victim.wait() == -signal.SIGKILL
    for outcome in (killed, read, ran, written):
        assert outcome.exit is Exit.RAISED
        assert outcome.message.startswith("PermissionError")
    assert not (tmp_path / "new").exists()


async def test_a_worker_cannot_make_processes() -> None:
    async with started(1) as workers:
        outcome = await one(workers, BEHAVE, "fork")
        assert outcome.exit is Exit.RAISED
        assert outcome.message.startswith(("PermissionError", "BlockingIOError"))


async def test_the_garbage_collector_works_in_workers() -> None:
    async with started(1) as workers:
        assert (await one(workers, LOOK, "collector")).value is True


async def test_polite_signals_do_not_end_zygote_or_worker() -> None:
    async with started(1) as workers:
        worker, zygote = (await one(workers, LOOK, "pids")).value
        for pid in (worker, zygote):
            os.kill(pid, signal.SIGTERM)
            os.kill(pid, signal.SIGINT)
        assert (await one(workers, LOOK, "pids")).value == [worker, zygote]
        assert workers.restarts == {}


# ---- recycling and memory


async def test_workers_are_recycled_after_their_items_and_none_is_lost() -> None:
    async with started(2, LOOK, recycle_items=10) as workers:
        outcomes = await workers.map(LOOK, ["pids"] * 200)
        used = {outcome.value[0] for outcome in outcomes}
        assert all(outcome.exit is Exit.OK for outcome in outcomes)
        assert len(used) >= 200 // (10 + pool.WINDOW_ITEMS)
        assert set(workers.restarts) == {"recycled_items"}


async def test_a_worker_that_has_grown_is_recycled() -> None:
    async with started(1, HOLD, recycle_rss_mb=48) as workers:
        first = [(await one(workers, HOLD, 20)).value for _ in range(3)]
        assert (await one(workers, HOLD, 1)).value not in first
        assert workers.restarts["recycled_rss"] >= 1


async def test_memory_kept_by_earlier_items_does_not_decide_a_later_one() -> None:
    async with started(1, HOLD, ALLOCATE, recycle_rss_mb=1024) as workers:
        assert (await one(workers, HOLD, 150)).exit is Exit.OK
        assert (await one(workers, ALLOCATE, 150)).value == 150 * 1024 * 1024
        assert (await one(workers, ALLOCATE, 300)).exit is Exit.MEMORY_LIMIT


# ---- what workers remember


async def test_what_a_worker_remembers_is_told_and_halved_on_request() -> None:
    async with started(1, REMEMBER) as workers:
        for number in range(300):
            await one(workers, REMEMBER, f"{number:05}" * 1000)
        assert 2_000_000 < workers.memories_bytes < 4_000_000
        assert workers.resident_bytes > 10_000_000
        held = (await one(workers, REMEMBER, "held?")).value
        assert held > 3_000_000
        workers.halve_memories()
        assert (await one(workers, REMEMBER, "held?")).value <= held // 2


# ---- cancelling, starting, stopping


async def test_a_cancelled_call_gives_its_workers_back(tmp_path: Path) -> None:
    running, killed = asyncio.Event(), asyncio.Event()

    async def answer(_visit: int, _pid: int, _parent: int) -> str:
        running.set()
        await killed.wait()
        return ""

    patient = Task("worker_tasks", "behave", 1000.0)
    async with (
        started(1, patient, on_restart=lambda _: killed.set()) as workers,
        door(answer, tmp_path / "door") as path,
    ):
        call = asyncio.create_task(workers.map(patient, [{"knock": path}, *["hang"] * 50]))
        await running.wait()
        assert (workers.busy, workers.queued > 30) == (1, True)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert workers.queued == 0
        assert [outcome.value for outcome in await workers.map(patient, [1, 2])] == [1, 2]
        assert workers.restarts == {"cancelled": 1}


async def test_stop_leaves_nothing_behind_and_ends_calls() -> None:
    files = set(os.listdir("/proc/self/fd"))
    before = children()
    workers = Workers(3)
    for task in (LOOK, BURN):
        workers.register(task)
    await workers.start()
    pids = {pid for outcome in await workers.map(LOOK, ["pids"] * 60) for pid in outcome.value}
    call = asyncio.create_task(workers.map(BURN, [10.0] * 5))
    await until(lambda: workers.busy)
    await workers.stop()
    with pytest.raises(WorkersUnavailable):
        await call
    assert len(pids) >= 2
    assert not [pid for pid in pids if is_there(pid)]
    assert children() == before
    assert set(os.listdir("/proc/self/fd")) == files
    assert (workers.busy, workers.queued, workers.ready) == (0, 0, False)


async def test_a_pool_that_is_not_running_says_so_and_can_be_started_again() -> None:
    workers = Workers(1)
    workers.register(ECHO)
    with pytest.raises(WorkersUnavailable, match="not started"):
        await workers.map(ECHO, [1])
    for _ in range(2):
        await workers.start()
        assert (await one(workers, ECHO, 1)).value == 1
        assert await workers.map(ECHO, []) == []
        with pytest.raises(ValueError, match="not registered"):
            await workers.map(BURN, [1])
        with pytest.raises(RuntimeError):
            workers.register(BURN)
        await workers.stop()
        with pytest.raises(WorkersUnavailable, match="stopped"):
            await workers.map(ECHO, [1])


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Task("no_such_module", "echo", 1.0), "No module named 'no_such_module'"),
        (Task("worker_tasks", "no_such_function", 1.0), "no_such_function"),
        (Task("worker_tasks", "knock", 1.0), "write @worker_function above it"),
        (Task("worker_tasks", "behave", 1.0, warm=("raise",)), "ValueError: a reason"),
        (Task("worker_tasks", "behave", 1.0, warm=("leave",)), "ended before it was ready"),
    ],
)
async def test_a_task_that_cannot_be_loaded_fails_the_start(task: Task, message: str) -> None:
    before = children()
    workers = Workers(1)
    workers.register(task)
    with pytest.raises(WorkersUnavailable, match=message):
        await workers.start()
    assert not workers.ready
    assert children() == before


async def test_a_start_that_takes_too_long_fails() -> None:
    workers = Workers(1, start_timeout_s=0.5)
    workers.register(Task("worker_tasks", "behave", 1.0, warm=("sleep",)))
    with pytest.raises(WorkersUnavailable, match="was not ready within"):
        await workers.start()


async def echo_for_ever(workers: Workers) -> None:
    while True:
        await workers.map(ECHO, [1])


async def test_a_zygote_that_cannot_be_started_again_makes_the_pool_unavailable_until_it_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "RETRY_S", 0.01)
    async with started(1) as workers:
        zygote = (await one(workers, LOOK, "pids")).value[1]
        with monkeypatch.context() as broken:
            broken.setattr(sys, "executable", "/nowhere/python")
            os.kill(zygote, signal.SIGKILL)
            with pytest.raises(WorkersUnavailable, match="could not be started"):
                await echo_for_ever(workers)
            assert not workers.ready
        await until(lambda: workers.ready)
        assert (await one(workers, ECHO, 2)).value == 2
