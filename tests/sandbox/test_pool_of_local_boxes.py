"""`sandbox.boxes.pool` over real boxes."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandbox.base import Call, Execute, Exit, Limits, Program, Tests, TestStyle
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from sandbox.boxes.pool.counters import Reason
from tests.processes import children
from tests.sandbox.scripted_boxes import ResultCollector
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real() -> AsyncIterator[PooledSandbox]:
    pool = PooledSandbox(LocalBackend(), slots=2)
    await pool.start()
    yield pool
    await pool.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def used_once() -> AsyncIterator[PooledSandbox]:
    """Boxes for one program each."""
    pool = PooledSandbox(LocalBackend(), slots=2, fresh=True)
    await pool.start()
    yield pool
    await pool.stop()


ENDS = """
import os, sys
word = input()
while word == "loop":
    pass
while word == "flood":
    print("x" * 1000)
if word == "signal":
    os.kill(os.getpid(), 11)
if word == "memory":
    bytearray(1 << 30)
print(word)
sys.exit(3 if word == "exit" else 0)
"""


async def test_real_boxes_run_programs_and_tell_how_they_ended(real: PooledSandbox) -> None:
    collector = ResultCollector()
    words = ["hello", "exit", "loop", "flood", "signal", "memory", "again"]
    limits = Limits(cpu_s=0.3, memory_mb=256)
    built = await real.run(Program(ENDS), [Execute(word.encode(), limits=limits) for word in words], collector)
    assert built.ok
    hello, exit_, loop, flood, killed, memory, again = collector.results
    assert (hello.exit, hello.stdout) == (Exit.EXITED, b"hello\n")
    assert (exit_.exit, exit_.code) == (Exit.EXITED, 3)
    assert (loop.exit, flood.exit) == (Exit.TIME_LIMIT, Exit.OUTPUT_LIMIT)
    assert (killed.exit, killed.signal) == (Exit.SIGNALLED, 11)
    assert memory.exit is Exit.MEMORY_LIMIT or (memory.code == 1 and b"MemoryError" in memory.stderr)
    assert (again.exit, again.stdout) == (Exit.EXITED, b"again\n")


@pytest.mark.boxes(beyond=1)
@pytest.mark.parametrize("word", ["hello", "exit", "loop", "flood", "signal"])
@pytest.mark.parametrize("before", [0, 2], ids=["only", "last"])
async def test_the_last_run_in_a_box_used_once_ends_like_those_in_others(
    real: PooledSandbox, used_once: PooledSandbox, word: str, before: int
) -> None:
    ends = []
    for boxes in (real, used_once):
        collector = ResultCollector()
        runs = [Execute(text.encode(), limits=Limits(cpu_s=0.3)) for text in [*["hello"] * before, word]]
        assert (await boxes.run(Program(ENDS), runs, collector)).ok
        ends.append([(result.exit, result.code, result.signal, result.stdout[:100]) for result in collector.results])
    assert ends[0] == ends[1]
    assert len(ends[0]) == before + 1


SURROUNDINGS = """
import gc, os, resource, signal
def depth(n=0):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
names = [name for name in dir(resource) if name.startswith("RLIMIT_") and name != "RLIMIT_DATA"]  # it has what the runner has
limits = [resource.getrlimit(getattr(resource, name)) for name in names]
print(depth(), gc.isenabled(), os.getppid(), os.getpgid(0) == os.getpid(), os.getuid() == os.getgid(), os.getgroups())
print(sorted(os.listdir("/proc/self/fd")), dict(os.environ), os.getcwd(), oct(os.umask(0)), limits)
print([str(signal.getsignal(number)).partition(" at ")[0] for number in signal.valid_signals()])
print(sorted(os.listdir("/")), sorted(os.listdir("/proc/1/root/")) if os.access("/proc/1/root/", os.R_OK) else "closed")
with open("/proc/self/mounts") as mounts:
    print(sorted(line.split()[1] for line in mounts))
"""


async def test_a_run_has_the_same_around_it_in_a_box_used_once(real: PooledSandbox, used_once: PooledSandbox) -> None:
    seen = []
    for boxes in (real, used_once):
        for runs in (1, 2):
            collector = ResultCollector()
            await boxes.run(Program(SURROUNDINGS), [Execute()] * runs, collector)
            assert [result.stderr for result in collector.results] == [b""] * runs
            seen += [result.stdout.decode() for result in collector.results]
    assert seen == seen[:1] * 6


async def test_real_boxes_call_functions_and_run_tests(real: PooledSandbox) -> None:
    collector = ResultCollector()
    program = Program("def double(x):\n    return 2 * x")
    tests = Tests(TestStyle.ASSERTS, cases=["assert double(2) == 4", "assert double(2) == 5"])
    await real.run(program, [Call("double", b"[[21], {}]"), tests], collector)
    call, asserts = collector.results
    assert call.value == b"42"
    assert [outcome.passed for outcome in asserts.tests] == [True, False]
    assert asserts.complete


async def test_real_boxes_serve_many_programs_at_once(real: PooledSandbox) -> None:
    async def one(number: int) -> None:
        collector = ResultCollector()
        await real.run(Program(f"print({number}, input())"), [Execute(b"a"), Execute(b"b")], collector)
        assert [result.stdout for result in collector.results] == [b"%d a\n" % number, b"%d b\n" % number]

    await until(lambda: real.ready == 2)
    before = real.counters.boxes_started
    async with asyncio.TaskGroup() as group:
        for number in range(50):
            group.create_task(one(number))
    await until(lambda: real.busy == 0)
    assert real.counters.boxes_started == before


async def test_a_real_run_ends_when_its_caller_goes_away(real: PooledSandbox) -> None:
    collector = ResultCollector()
    runs = [Execute(word, limits=Limits(cpu_s=1000, wall_s=1000)) for word in (b"hello", b"loop")]
    running = asyncio.create_task(real.run(Program(ENDS), runs, collector))
    await until(lambda: collector.results)  # the next run has begun
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await until(lambda: real.ready == 2)


async def test_programs_are_what_the_kernel_ends_first_for_want_of_memory_and_not_their_runner() -> None:
    pool = PooledSandbox(LocalBackend(), slots=1)
    await pool.start()
    collector = ResultCollector()
    await pool.run(Program("print(open('/proc/self/oom_score_adj').read())"), [Execute()], collector)
    await pool.stop()
    assert [result.stdout.split() for result in collector.results] == [[b"1000"]]


@pytest.mark.boxes
async def test_real_boxes_killed_from_outside_cost_no_verdict() -> None:
    others = children()
    pool = PooledSandbox(LocalBackend(), slots=2)
    await pool.start()
    keepers = children() - others
    assert len(keepers) == 2
    collector = ResultCollector()
    program = Program("import time; time.sleep(float(input())); print('done')")
    async with asyncio.TaskGroup() as group:
        group.create_task(pool.run(program, [Execute(b"0"), Execute(b"1")], collector))
        await until(lambda: collector.results)  # the next run has begun
        for first in [pid for keeper in keepers for pid in children(keeper)]:
            os.kill(first, signal.SIGKILL)
    assert [(result.exit, result.stdout) for result in collector.results] == [(Exit.EXITED, b"done\n")] * 2
    await until(lambda: pool.counters.boxes_ended[Reason.DIED] == 2)
    assert pool.counters.jobs_again == 1
    await until(lambda: pool.ready == 2)
    await pool.stop()
    assert children() == others
