"""How a run ended: by itself, or by which limit, whatever the program does against it."""

from typing import Any

import pytest

from tests.sandbox.runner.conftest import MakeBox
from tests.sandbox.runner.driver import Box

HELLO = "print('hello')"


@pytest.fixture(autouse=True)
def _the_box_is_fit_for_more(box: Box) -> Any:
    yield
    assert box.run(HELLO).out == b"hello\n"
    assert box.ask("unload").dirty == 0


@pytest.mark.boxes(beyond=4)
@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        pytest.param("7 ** 10 ** 9", marks=pytest.mark.boxes),
        pytest.param("import re\nre.match('(a+)+b', 'a' * 60)", marks=pytest.mark.boxes),
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "while True: pass",
        "import os\nfor i in range(3): os.fork()\nwhile True: pass",
        pytest.param(
            "import threading\nfor i in range(8): threading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()",
            marks=pytest.mark.boxes,
        ),
        "import os\nif os.fork(): os._exit(0)\nos.setsid()\nwhile True: pass",
        pytest.param(
            "try:\n    while True: pass\nexcept BaseException: pass\nwhile True: pass", marks=pytest.mark.boxes
        ),
        # Each child uses a little and is waited for: only their sum is too much.
        "import os\nfor i in range(1000):\n    if os.fork() == 0:\n        for _ in range(10 ** 6): pass\n        os._exit(0)\n    os.wait()",
        # Nobody waits for the children, and nobody would be charged for them if they could be ignored.
        "import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nfor i in range(30):\n    r, w = os.pipe()\n"
        "    if os.fork() == 0:\n        for _ in range(3 * 10 ** 6): pass\n        os._exit(0)\n"
        "    os.close(w)\n    os.read(r, 1)\n    os.close(r)",
        # Each child is the parent of the next.
        "import os\nfor i in range(1000):\n    for _ in range(10 ** 6): pass\n    if os.fork(): os._exit(0)",
    ],
    ids=[
        "loop",
        "c_loop",
        "regex",
        "deaf",
        "forks",
        "threads",
        "daemon",
        "stubborn",
        "children",
        "ignored_children",
        "chain",
    ],
)
def test_cpu_seconds_of_all_processes_are_limited(box: Box, source: str) -> None:
    result = box.run(source, cpu_s=0.3)
    if "daemon" not in source and "setsid" in source:
        # The run is over when its first process is; what that left behind is ended at once.
        assert (result.ended, result.left) == (None, 1)
        return
    if "if os.fork(): os._exit(0)" in source:
        assert result.left >= 1
        return
    assert result.ended == "cpu"
    assert 0.2 < result.cpu_s < 5


@pytest.mark.boxes(beyond=2)
@pytest.mark.parametrize(
    "source",
    [
        "import time\ntime.sleep(100)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        "import threading\nthreading.Event().wait()",
    ],
    ids=["sleeps", "stops_itself", "waits"],
)
def test_wall_time_is_the_backstop(box: Box, source: str) -> None:
    result = box.run(source, wall_s=0.5)
    assert result.ended == "wall"
    assert result.wall_s >= 0.5
    assert result.cpu_s < result.wall_s


def test_what_a_run_left_behind_is_ended_and_counted(box: Box) -> None:
    source = (
        "import os, time\n"
        "for i in range(5):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0: time.sleep(100)\n"
        "        os._exit(0)\n"
        "print('left')\n"
    )
    result = box.run(source)
    assert (result.ended, result.code, result.out) == (None, 0, b"left\n")
    assert result.left >= 5


@pytest.mark.boxes
def test_a_fork_bomb_is_held_and_ended(box: Box) -> None:
    result = box.run("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", cpu_s=1.0, processes=20)
    assert result.ended == "cpu"
    assert result.left >= 3


@pytest.mark.boxes
def test_a_shell_fork_bomb_is_held_and_ended(box: Box) -> None:
    result = box.shell("f() { f | f & }; f; sleep 100", cpu_s=0.3, wall_s=1.0, processes=20)
    assert result.ended in ("cpu", "wall", None)


def test_memory_is_limited_with_a_clean_error_where_that_can_be(box: Box) -> None:
    result = box.run("a = bytearray(400 << 20)\nprint(len(a))", memory_mb=128)
    assert (result.code, result.ended) == (1, None)
    assert "MemoryError" in result.err


@pytest.mark.boxes
def test_memory_within_the_limit_can_be_used(box: Box) -> None:
    result = box.run("a = bytearray(100 << 20)\nprint(len(a))", memory_mb=128)
    assert result.code == 0
    assert result.peak_kb > 100 << 10


@pytest.mark.boxes
def test_more_memory_than_allowed_is_noticed_where_the_process_has_no_limit(make_box: MakeBox, box: Box) -> None:
    source = "import mmap, time\nm = mmap.mmap(-1, 400 << 20)\nfor i in range(0, 400 << 20, 4096): m[i] = 1\ntime.sleep(1000)"
    if box.configuration.watch_memory:
        assert box.run(source, memory_mb=128).ended == "memory"
    watched = make_box("namespaces", watch_memory=True)
    assert watched.run(source, memory_mb=128).ended == "memory"


def test_programs_without_a_data_limit_have_their_memory_watched(box: Box) -> None:
    box.load("import time\na = bytearray(400 << 20)\ntime.sleep(1000)", data_limit=False)
    result = box.execute(memory_mb=128)
    box.ask("unload")
    assert result.ended == "memory"


@pytest.mark.parametrize(
    "source", ["while True: print('x' * 1000)", "import os\nwhile True: os.write(1, b'x' * 65536)"]
)
def test_too_much_output_ends_the_run(box: Box, source: str) -> None:
    result = box.run(source, output_bytes=100_000)
    assert result.ended == "output"
    assert len(result.out) == 100_000
    assert result.out == b"x" * 1000 + b"\n" + result.out[1001:] or set(result.out) == {ord("x")}


def test_a_little_too_much_output_is_noticed_after_the_end(box: Box) -> None:
    result = box.run("print('x' * 1000)", output_bytes=1000)
    assert (result.ended, result.out) == ("output", b"x" * 1000)
    assert box.run("print('x' * 999)", output_bytes=1000).ended is None


def test_too_much_on_standard_error_is_dropped(box: Box) -> None:
    result = box.run(
        "import sys\nfor i in range(100000): sys.stderr.write('e' * 100)\nprint('done')", stderr_bytes=5000
    )
    assert (result.ended, result.code, result.out) == (None, 0, b"done\n")
    assert result.err == "e" * 5000


def test_floods_on_both_streams_do_not_stop_each_other(box: Box) -> None:
    source = "import os\nfor i in range(50):\n    os.write(1, b'o' * 10000)\n    os.write(2, b'e' * 10000)"
    result = box.run(source)
    assert (result.ended, len(result.out), len(result.err)) == (None, 500_000, 16 << 10)


def test_too_large_a_file_ends_the_run(box: Box) -> None:
    assert box.run("f = open('x', 'wb')\nwhile True: f.write(b'x' * 100000)", file_mb=1).ended == "file_size"
    assert box.shell("head -c 3000000 /dev/zero > x", file_mb=1).code != 0


def test_a_sparse_file_is_as_large_as_it_says(box: Box) -> None:
    assert box.run("open('x', 'wb').truncate(2 << 20)", file_mb=1).ended == "file_size"


def test_a_held_pipe_does_not_hold_up_the_result(box: Box) -> None:
    """Else the run would last until the wall time ends it."""
    source = "import os, time\nif os.fork() == 0:\n    time.sleep(1000)\nprint('mine')"
    result = box.run(source)
    assert (result.out, result.left, result.ended) == (b"mine\n", 1, None)


def test_processes_and_threads_are_limited(box: Box) -> None:
    source = (
        "import threading\n"
        "n = 0\n"
        "over = threading.Event()\n"
        "try:\n"
        "    for i in range(100):\n"
        "        threading.Thread(target=over.wait, daemon=True).start()\n"
        "        n += 1\n"
        "except RuntimeError: pass\n"
        "print(n)"
    )
    result = box.run(source, processes=10)
    assert 5 <= int(result.out) <= 10


def test_a_program_that_kills_itself_is_not_taken_for_one_the_kernel_killed(make_box: MakeBox, box: Box) -> None:
    source = "import os\nos.kill(os.getpid(), 9)"
    result = box.run(source)
    assert result.signal == 9
    assert result.ended is None


def test_a_crash_is_the_programs_own(box: Box) -> None:
    result = box.run("import ctypes\nctypes.string_at(0)")
    assert (result.signal, result.ended) == (11, None)
