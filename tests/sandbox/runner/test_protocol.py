"""The runner's end of the wire, and when it gives up."""

import json
import mmap
import os
import signal
from typing import Any

import pytest

from sandbox.boxes.backend import Profile
from sandbox.runner import frames
from sandbox.runner.errors import BoxUnusable
from sandbox.runner.isolation import landlock
from sandbox.runner.process.process_reaper import ProcessReaper
from sandbox.runner.process.standby import StandbyFork
from tests.sandbox.runner.conftest import KINDS_WITH_TEMPLATES, SOME_AND_ALL_KINDS, MakeBox
from tests.sandbox.runner.driver import LIMITS, Answer, Box, BoxDied
from tests.waiting import eventually


def test_it_says_what_it_is(box: Box) -> None:
    assert box.hello.answer == "hello"
    assert box.hello.protocol == frames.PROTOCOL
    assert box.hello.single_uid == box.kind.endswith("-user")
    assert (box.hello.pid == 1) == box.kind.startswith("namespaces")


def test_modules_are_preloaded_as_far_as_they_are_there(make_box: MakeBox) -> None:
    box = make_box("landlock", preload=("asyncio", "no_such_module"))
    assert box.hello.preloaded == ["asyncio"]
    assert box.run("import sys\nprint('asyncio' in sys.modules)").out == b"True\n"


@pytest.mark.parametrize("kind", SOME_AND_ALL_KINDS)
def test_a_box_for_one_program_runs_one_and_no_second(make_box: MakeBox, kind: str) -> None:
    box = make_box(kind, once=True)
    assert box.run("print(input())", b"first\n").out == b"first\n"
    with pytest.raises(BoxDied) as death:
        box.load("print(2)")
    assert death.value.args[0] == frames.EXIT_BOX_UNUSABLE
    assert "second program" in death.value.args[1]


def test_a_box_for_one_program_imports_what_tests_need_when_they_need_it(make_box: MakeBox) -> None:
    box = make_box("namespaces", once=True)
    box.load("import sys\ndef modules(): return sorted(sys.modules)")
    case = "from unittest import TestCase\nfrom solution import modules\nclass T(TestCase):\n    def test(self):\n"
    case += "        self.assertNotIn('unittest', modules())"
    result = box.test({"style": "unittest", "files": {"test_it.py": case}})
    assert (result.passed, result.is_complete) == ([True], True)


def test_boxes_for_tests_have_imported_it_already(make_box: MakeBox) -> None:
    box = make_box("landlock", preload=Profile.TESTS.preload)
    assert box.run("import sys\nprint('unittest' in sys.modules)").out == b"True\n"


def begin_long_run(box: Box) -> None:
    box.load("import time\ntime.sleep(1000)")
    limits = {**LIMITS, "wall_s": 1000.0}
    no_files: dict[str, Any] = {"arguments": [], "stdin": 0, "files": [], "fetch": []}
    before = box.processes
    box.send({"ask": "execute", "limits": limits, **no_files, "waits": False, "last": False})
    eventually(lambda: len(box.processes) > len(before))


@pytest.mark.parametrize("kind", SOME_AND_ALL_KINDS)
def test_it_ends_quietly_when_the_service_is_gone(make_box: MakeBox, kind: str) -> None:
    box = make_box(kind)
    box.run("print(1)")
    assert box.end() == (0, "")


@pytest.mark.parametrize("kind", SOME_AND_ALL_KINDS)
def test_it_ends_in_the_middle_of_a_run_when_the_service_is_gone(make_box: MakeBox, kind: str) -> None:
    box = make_box(kind)
    begin_long_run(box)
    assert box.end()[0] == 0


@pytest.mark.boxes(beyond=1)
@pytest.mark.parametrize(
    "data",
    [
        b"\xff" * 100,
        b"\0\0\0\2\0\0\0\0{]",
        b"\0\0\0\2\0\0\0\0[]",
        frames.packed({"ask": "dance"}),
        frames.packed({"ask": "execute"}),
        frames.packed({"ask": "load", "mode": "python"}),
        frames.packed({"no": "ask"}),
        frames.packed({"ask": "call", "limits": dict(LIMITS), "function": "f", "last": False}),
    ],
)
def test_it_does_not_go_on_after_nonsense(make_box: MakeBox, data: bytes) -> None:
    box = make_box("landlock")
    box.connection.sendall(data)
    with pytest.raises(BoxDied) as died:
        box.receive()
    code, words = died.value.args
    assert code in (0, frames.EXIT_BOX_UNUSABLE)
    assert words.count("\n") <= 1


def test_requests_may_be_sent_before_answers_are_read(box: Box) -> None:
    source = b"print(int(input()) + 1)"
    load: dict[str, Any] = {
        "ask": "load",
        "mode": "python",
        "files": [["main.py", len(source)]],
        "main": "main.py",
        "compile": None,
        "argv": [],
        "keep": [],
        "environment": {},
        "data_limit": True,
        "handles_children": False,
        "has_tests": True,
        "core": None,
    }
    execute = {
        "ask": "execute",
        "limits": dict(LIMITS),
        "arguments": [],
        "stdin": 2,
        "files": [],
        "fetch": [],
        "waits": False,
        "last": False,
    }
    spec = json.dumps(
        {
            "style": "asserts",
            "cases": ["assert 1"],
            "setup": "",
            "entry_point": "",
            "files": {},
            "objects": False,
            "seal": "",
        }
    )
    box.send(load, source)
    for n in range(5):
        box.send(execute, b"%d\n" % n)
    box.send({"ask": "tests", "limits": dict(LIMITS), "shares_files": False}, spec.encode())
    box.send({"ask": "unload"})
    box.send({"ask": "ping"})
    answers = [box.receive() for _ in range(9)]
    assert [answer.answer for answer in answers] == ["loaded", *["result"] * 6, "unloaded", "pong"]
    assert [answer.out for answer in answers[1:6]] == [b"%d\n" % (n + 1) for n in range(5)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_polite_signals_are_not_for_it(make_box: MakeBox, number: int) -> None:
    box = make_box("landlock")
    os.kill(box.process.pid, number)
    assert box.run("print(1)").out == b"1\n"


def test_a_runner_that_is_killed_takes_its_processes_with_it(make_box: MakeBox) -> None:
    box = make_box("namespaces")
    begin_long_run(box)
    os.kill(_runner(box), signal.SIGKILL)
    with pytest.raises(BoxDied):
        box.receive()


def test_without_the_fork_for_the_next_job_it_gives_up(make_box: MakeBox) -> None:
    box = make_box("namespaces-user")
    for _ in range(2):
        assert box.run("print(1)").out == b"1\n"
    eventually(lambda: len(_forks(box)) == 2)
    os.kill(_forks(box)[-1], signal.SIGKILL)
    with pytest.raises(BoxDied) as died:
        box.receive()
    code, words = died.value.args
    assert code == frames.EXIT_BOX_UNUSABLE
    assert "ended with -9" in words


LEAVES_A_PROCESS = "import os, time\nos.fork() or time.sleep(1000)\nprint(1)"


def test_the_fork_for_the_next_job_is_replaced_when_a_job_ends_all_processes(make_box: MakeBox) -> None:
    box = make_box("namespaces-user")
    for _ in range(3):
        assert box.run(LEAVES_A_PROCESS).left == 1
        assert box.run("print(2)").out == b"2\n"
    eventually(lambda: len(_forks(box)) == 2)


@pytest.mark.parametrize("kind", KINDS_WITH_TEMPLATES)
def test_what_programs_are_forked_from_is_spared_when_a_job_ends_all_processes(make_box: MakeBox, kind: str) -> None:
    box = make_box(kind)
    template = _first_template(box)
    original = _forks(box)[0]
    for _ in range(3):
        assert box.run(LEAVES_A_PROCESS).left == 1
        assert box.run("while True: pass", cpu_s=0.1).ended == "cpu"
        assert _forks(box)[0] == original
    assert template not in _forks(box)


@pytest.mark.parametrize("which", ["original", "template", "next template"])
@pytest.mark.parametrize("kind", KINDS_WITH_TEMPLATES)
def test_without_what_programs_are_forked_from_it_gives_up(make_box: MakeBox, kind: str, which: str) -> None:
    box = make_box(kind)
    assert box.load("print(1)").ok
    eventually(lambda: len(_forks(box)) == 3)
    os.kill(_forks(box)[["original", "template", "next template"].index(which)], signal.SIGKILL)
    with pytest.raises(BoxDied) as died:
        _run_programs(box, 3)
    code, words = died.value.args
    assert code == frames.EXIT_BOX_UNUSABLE
    assert "which programs are forked from, has ended" in words


@pytest.mark.parametrize("kind", KINDS_WITH_TEMPLATES)
def test_it_gives_up_when_the_template_is_ended_while_it_compiles(make_box: MakeBox, kind: str) -> None:
    box = make_box(kind)
    template = _first_template(box)
    os.kill(template, signal.SIGSTOP)
    box.send_load("print(1)")
    eventually(lambda: len(_forks(box)) == 3)
    os.kill(template, signal.SIGKILL)
    with pytest.raises(BoxDied) as died:
        box.receive()
    assert died.value.args[0] == frames.EXIT_BOX_UNUSABLE


@pytest.mark.parametrize("kind", KINDS_WITH_TEMPLATES)
def test_it_ends_while_it_waits_for_a_template_when_the_service_is_gone(make_box: MakeBox, kind: str) -> None:
    box = make_box(kind)
    os.kill(_first_template(box), signal.SIGSTOP)
    box.send_load("print(1)")
    eventually(lambda: len(_forks(box)) == 3)
    assert box.end() == (0, "")


@pytest.mark.parametrize("kind", SOME_AND_ALL_KINDS)
def test_the_service_need_not_wait_for_a_template(make_box: MakeBox, kind: str) -> None:
    """Nor need those that were made ahead be there when a job comes."""
    box = make_box(kind)
    for n in range(20):
        box.send_load(f"print({n})")
        box.send({"ask": "unload"})
    assert [box.receive().answer for _ in range(40)] == ["loaded", "unloaded"] * 20
    assert box.run("print(7)").out == b"7\n"


def test_tests_in_a_job_that_was_to_have_none_end_a_box_that_has_confined_it_for_programs(make_box: MakeBox) -> None:
    box = make_box("landlock")
    assert box.load("def f(): return 1", has_tests=False).ok
    assert box.call("f").code == 0
    with pytest.raises(BoxDied) as died:
        box.test({"cases": ["assert f() == 1"]})
    code, words = died.value.args
    assert code == frames.EXIT_BOX_UNUSABLE
    assert "announced without tests" in words


@pytest.mark.parametrize("kind", KINDS_WITH_TEMPLATES)
def test_a_job_stays_on_the_processor_it_is_told(make_box: MakeBox, kind: str) -> None:
    box = make_box(kind)
    there = sorted(os.sched_getaffinity(0))
    for core in (0, 1, 1, None, len(there) + 1, None):
        assert box.load("import os\nprint(sorted(os.sched_getaffinity(0)))", core=core).ok
        seen = [json.loads(box.execute().out) for _ in range(2)]
        box.ask("unload")
        assert seen == [there if core is None else [there[core % len(there)]]] * 2


def test_a_box_that_may_use_more_processors_uses_them(make_box: MakeBox) -> None:
    box = make_box(cpus=2)
    assert box.load("import os\nprint(len(os.sched_getaffinity(0)))", core=0).ok
    assert int(box.execute().out) == len(os.sched_getaffinity(0))


@pytest.mark.leaks
def test_descriptors_and_memory_do_not_grow(box: Box) -> None:
    def grown() -> tuple[int, int]:
        pid = _runner(box)
        return len(os.listdir(f"/proc/{pid}/fd")), int(_status(pid, "VmRSS"))

    def work() -> None:
        box.load("import sys\nprint(sys.stdin.read())\ndef f(): return 1")
        for _ in range(20):
            box.execute(b"x" * 1000)
        box.call("f")
        box.test({"cases": ["assert f() == 1"]})
        box.ask("unload")

    work()
    # The fork for the job after the next one is made, where such forks are.
    forks = 3 if box.kind in KINDS_WITH_TEMPLATES else 2
    eventually(lambda: len(_forks(box)) == forks or landlock.version() < landlock.SCOPES_SIGNALS)
    descriptors, memory = grown()
    for _ in range(5):
        work()
    eventually(lambda: grown()[0] == descriptors)
    assert grown()[1] < memory + 2000


def test_a_runner_refuses_to_be_what_it_is_not() -> None:
    """To kill "all" anywhere but in a PID namespace of its own would end everything on the machine."""
    with pytest.raises(BoxUnusable):
        ProcessReaper(StandbyFork(mmap.mmap(-1, mmap.PAGESIZE)), is_init=True, single_uid=False)


def test_it_says_so_when_the_box_is_not_as_it_was_told(make_box: MakeBox) -> None:
    with pytest.raises(BoxDied) as died:
        make_box("landlock", init=True)
    code, words = died.value.args
    assert code == frames.EXIT_BOX_UNUSABLE
    assert "not the first one" in words


def _forks(box: Box) -> list[int]:
    """In the order in which they were made; numbers wrap around."""
    runner = _runner(box)
    with open(f"/proc/{runner}/task/{runner}/children") as file:
        return list(map(int, file.read().split()))


def _run_programs(box: Box, count: int) -> None:
    for _ in range(count):
        box.execute()
        box.load("print(2)")


def _first_template(box: Box) -> int:
    """Of a box that has had no job, when it waits for its first order."""
    eventually(lambda: len(_forks(box)) == 2 and _status(_forks(box)[1], "State") == "S")
    return _forks(box)[1]


def _runner(box: Box) -> int:
    pid = box.process.pid
    if not box.configuration.init:
        return pid
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return int(file.read())


def _status(pid: int, name: str) -> str:
    with open(f"/proc/{pid}/status") as file:
        return next(line.split()[1] for line in file if line.startswith(name))


def test_answers_are_what_the_service_reads(box: Box) -> None:
    answer: Answer = box.run("print(1)")
    assert set(answer.header) == {
        *("answer", "code", "signal", "ended", "cpu_s", "wall_s", "delay_s", "peak_kb", "left", "stdout", "stderr"),
        *("value", "tests", "fetched"),
    }
