"""Tests that are programs run beside the program, out of its reach."""

import json
import os
import signal

import pytest

from tests.sandbox.runner.conftest import KINDS, MakeBox
from tests.sandbox.runner.driver import LIMITS, Box, BoxDied
from tests.waiting import eventually

SOURCE = "def f(x):\n    while x == 'loop': pass\n    return x"


def test_each_test_has_its_outcome(box: Box) -> None:
    box.load(SOURCE)
    result = box.test({"cases": ["assert f(1) == 1", "assert f(1) == 2", "assert f([1]) == [1]"]})
    assert (result.passed, result.is_complete, result.ended, result.code) == ([True, False, True], True, None, 0)


def test_runs_of_all_kinds_follow_each_other(box: Box) -> None:
    box.load(SOURCE + "\nprint(f(input()) if __name__ == '__main__' else '')")
    for _ in range(3):
        assert box.test({"cases": ["assert f(1) == 1"]}).passed == [True]
        assert box.call("f", 5).value is not None
        assert box.execute(b"x\n").out == b"x\n"


FILES = """
import os, shutil, tempfile
from pathlib import Path
def put(path, text): Path(path).write_text(text)
def get(path): return Path(path).read_text()
def clone(one, other): shutil.copy2(one, other)
def folder(path): os.makedirs(path)
def temporary():
    name = tempfile.mkdtemp()
    put(name + "/a.txt", "1")
    return name
def secrets():
    found = []
    for root in (os.path.dirname(os.path.dirname(os.getcwd())) + "/t/w", os.path.dirname(os.getcwd()) + "/../t"):
        try: found += os.listdir(root)
        except OSError: pass
    return found
put("colorsys.py", "raise SystemExit")
"""
SHARING = (
    "put('a.txt', '1')\nassert open('a.txt').read() == '1'\nopen('a.txt', 'a').write('2')\nassert get('a.txt') == '12'",
    "import os\nassert os.path.exists('a.txt')\nos.remove('a.txt')\nassert not os.path.exists('a.txt')",
    "import tempfile\nwith tempfile.TemporaryDirectory() as d:\n    open(d + '/x', 'w').write('3')\n    assert get(d + '/x') == '3'\n    put(d + '/y', '4')",
    "import tempfile\nwith tempfile.NamedTemporaryFile('w') as f:\n    f.write('5')\n    f.flush()\n    assert get(f.name) == '5'\n    put(f.name, '6')",
    "import os, shutil\nd = temporary()\nassert os.listdir(d) == ['a.txt']\nshutil.rmtree(d)",
    "import os\nfolder('b/c')\nopen('b/c/d', 'w').close()\nassert os.listdir('b/c') == ['d']",
    "import shutil\nput('p', '1')\nopen('q', 'w').close()\nshutil.copy2('p', 'q')\nclone('q', 'p')\nassert get('q') == '1'",
    "assert secrets() == []",
    "import colorsys\nassert (secrets(), colorsys.rgb_to_hsv(0, 0, 0)) == ([], (0, 0, 0))",
)


def test_tests_and_program_share_a_directory_if_the_tests_need_it(box: Box) -> None:
    box.load(FILES)
    result = box.test({"cases": SHARING, "shares_files": True})
    assert result.passed == [True] * len(SHARING)
    assert box.test({"cases": SHARING[-2:]}).passed == [True, True]
    assert True not in box.test({"cases": SHARING[:1]}).passed


def test_a_hang_costs_only_its_own_test_and_those_after_it(box: Box) -> None:
    box.load(SOURCE)
    result = box.test({"cases": ["assert f(1) == 1", "assert f('loop') == 1", "assert f(2) == 2"]}, cpu_s=0.3)
    assert result.ended == "cpu"
    assert result.passed[0] is True
    assert True not in result.passed[1:]


def test_the_end_of_tests_costs_nothing_but_the_program(make_box: MakeBox) -> None:
    """Neither is the program let go on, nor is a process lost that programs are forked from."""
    box = make_box("namespaces-user")
    box.run("print(1)")
    eventually(lambda: len(_forks(box)) == 2)
    current, following = _forks(box)
    box.load("import os, time\nos._exit = lambda status: time.sleep(1000)\ndef f(x): return x")
    result = box.test({"cases": ["assert f(1) == 1"]}, wall_s=100.0)
    assert (result.passed, result.code, result.ended, result.left) == ([True], 0, None, 0)
    assert _forks(box) == [current, following]
    box.ask("unload")
    box.ask("ping")
    assert following in box.processes


def _forks(box: Box) -> list[int]:
    """What process 1 of the box has made, in order."""
    return box.processes[1:]


def test_a_program_that_sleeps_is_ended(box: Box) -> None:
    box.load("import time\ndef f(): time.sleep(100)")
    result = box.test({"cases": ["assert f() == 1"]}, wall_s=0.5)
    assert result.ended == "wall"
    assert True not in result.passed


@pytest.mark.boxes
def test_tests_that_hang_are_ended_too(make_box: MakeBox) -> None:
    """After some seconds, which boxes of all kinds wait for at once."""
    boxes = [make_box(kind) for kind in KINDS]
    for box, hang in zip(boxes, ("while True: pass", "__import__('time').sleep(100)") * 2, strict=True):
        box.load(SOURCE)
        box.send_tests({"cases": ["assert f(1) == 1", hang, "assert f(1) == 1"]}, cpu_s=1.0, wall_s=3.0)
    for box in boxes:
        result = box.receive()
        assert result.ended in ("cpu", "wall", "starved")  # as the machine let them run
        assert (result.passed, result.is_complete) == ([True], False)


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos._exit(0)",
        "raise SystemExit(0)",
        "1 / 0",
        "import os\nos.abort()",
        "def f(x):\n    import os\n    os._exit(0)",
    ],
)
def test_a_program_that_ends_passes_nothing(box: Box, source: str) -> None:
    box.load(source)
    result = box.test({"cases": ["assert f(1) == 1", "assert f(2) == 2"]})
    assert True not in result.passed
    assert result.is_complete


def test_a_program_that_leaves_a_daemon_holding_the_channel_does_not_hang_the_tests(box: Box) -> None:
    """Else they would last until the wall time ends them."""
    box.load("import os, time\nif os.fork() == 0:\n    time.sleep(1000)\n    os._exit(0)\nos._exit(3)")
    result = box.test({"cases": ["assert f(1) == 1"]})
    assert True not in result.passed
    assert (result.code, result.ended) == (3, None)


def test_the_text_of_the_tests_is_in_no_memory_but_the_testers(box: Box) -> None:
    """The program looks for it through its own memory and all it can open of others'."""
    secret = "0123456789abcdef" * 4
    source = (
        "import os\n"
        "def look():\n"
        "    needle = ''.join(['0123456789', 'abcdef']).encode() * 2\n"
        "    found = []\n"
        "    for pid in filter(str.isdigit, os.listdir('/proc')):\n"
        "        if pid == str(os.getpid()): continue\n"
        "        for name in ('cmdline', 'environ', 'mem', 'fd/6', 'cwd/test_a.py'):\n"
        "            try: data = open(f'/proc/{pid}/{name}', 'rb').read(1 << 20)\n"
        "            except (OSError, ValueError): continue\n"
        "            if needle in data: found.append(name)\n"
        "    try: maps = open('/proc/self/maps').readlines()\n"
        "    except PermissionError: return found\n"
        "    for line in maps:\n"
        "        a, b = (int(x, 16) for x in line.split()[0].split('-'))\n"
        "        if 'r' not in line.split()[1] or '[v' in line: continue\n"
        "        try:\n"
        "            with open('/proc/self/mem', 'rb') as f: f.seek(a); data = f.read(b - a)\n"
        "        except (OSError, ValueError, OverflowError): continue\n"
        "        if data.count(needle) > 2: found.append(line)\n"
        "    return found\n"
    )
    if not box.configuration.init:
        source = source.replace("os.listdir('/proc')", "[str(p) for p in range(os.getppid(), os.getppid() + 50)]")
    box.load(source)
    result = box.test({"setup": f"SECRET = {secret!r}", "cases": ["assert look() == []"]}, cpu_s=10.0)
    assert result.passed == [True], result.parts[3]


def test_the_program_cannot_end_or_stop_the_tester(box: Box) -> None:
    box.load(
        "import os, signal\n"
        "def f(x):\n"
        "    for pid in range(2, 50) if os.getpid() < 100 else range(os.getpid() - 20, os.getpid() + 20):\n"
        "        if pid == os.getpid(): continue\n"
        "        for n in (signal.SIGKILL, signal.SIGSTOP):\n"
        "            try: os.kill(pid, n)\n"
        "            except OSError: pass\n"
        "    return x"
    )
    result = box.test({"cases": ["assert f(1) == 1"]})
    assert (result.passed, result.is_complete) == ([True], True)


def test_what_the_program_prints_and_complains_is_told(box: Box) -> None:
    box.load("import sys\nprint('loading')\nprint('oh', file=sys.stderr)\ndef f(x): return x")
    result = box.test({"cases": ["assert f(1) == 1"]})
    assert (result.out, result.err) == (b"loading\n", "oh\n")


def test_large_tests_are_taken_whole(box: Box) -> None:
    box.load(SOURCE)
    cases = [f"assert f({i}) == {i}" for i in range(2000)]
    result = box.test({"setup": "x = " + repr("y" * 1_000_000), "cases": cases[:200]}, cpu_s=20.0, wall_s=60.0)
    assert result.passed == [True] * 200


def test_a_tester_that_is_killed_before_it_has_the_tests_ends_the_box(make_box: MakeBox) -> None:
    box = make_box("landlock")
    box.load(SOURCE)
    header = {"ask": "tests", "limits": LIMITS, "shares_files": False}
    packed = json.dumps(header).encode()
    box.connection.sendall(len(packed).to_bytes(4, "big") + (1000).to_bytes(4, "big") + packed + b"{")
    tester = _process_of(box, box.configuration.first_uid + box.configuration.uids)
    os.kill(tester, signal.SIGKILL)
    with pytest.raises(BoxDied) as died:
        box.receive()
    assert died.value.args == (70, "runner: BoxUnusable: the tester did not read all of the tests\n")


def _process_of(box: Box, first_uid: int) -> int:
    found: list[int] = []

    def look() -> list[int]:
        found[:] = [pid for pid in box.processes if _uid(pid) >= first_uid]
        return found

    eventually(look)
    return found[0]


def _uid(pid: int) -> int:
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Uid:"))
