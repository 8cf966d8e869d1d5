"""Python programs do in a warm interpreter what they do in one that was started for them."""

import signal
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from tests.sandbox.runner.driver import Box

PYTHON = "/usr/bin/python3"
STDIN = b"3 4\r\nzw\xc3\xb6lf \xff\n\nlast"

PROGRAMS = {
    "prints": "print('a', 'b', sep='-', end='')",
    "reads_lines": "import sys\nfor line in sys.stdin: print(repr(line))",
    "reads_by_input": "while True:\n    try: print(repr(input('? ')))\n    except EOFError: break",
    "reads_bytes_line_by_line": "import sys\nb = sys.stdin.buffer\nprint(b.readline(), b.readline(), b.read())",
    "reads_the_descriptor": "import os\nprint(os.read(0, 5), os.read(0, 100), os.read(0, 100))",
    "reads_twice": "import sys\na = sys.stdin.read()\nprint(repr(a), repr(sys.stdin.read()))",
    "rewinds": "import sys\na = sys.stdin.read()\nsys.stdin.seek(0)\nprint(a == sys.stdin.read())",
    "opens_descriptor_0": "print(open(0).read().split())",
    "opens_dev_stdin": "print(open('/dev/stdin').read().split())",
    "writes_dev_stdout": "open('/dev/stdout', 'w').write('hello\\n')",
    "writes_bytes_and_text": "import sys\nprint('1', flush=True)\nsys.stdout.buffer.write(b'\\xff2\\n')\nprint(3)",
    "writes_standard_error": "import sys\nprint('oh', file=sys.stderr)\nsys.stderr.write('no')",
    "ends_with_a_number": "raise SystemExit(3)",
    "ends_with_a_large_number": "raise SystemExit(1000)",
    "ends_with_minus_one": "import sys\nsys.exit(-1)",
    "ends_with_none": "import sys\nprint(1)\nsys.exit(None)",
    "ends_with_true": "import sys\nsys.exit(True)",
    "ends_with_a_text": "import sys\nprint(1)\nsys.exit('no solution')",
    "ends_with_an_object": "import sys\nsys.exit([1, 2])",
    "ends_at_once": "import os\nprint('lost')\nos._exit(7)",
    "raises": "def f():\n    return 1 / 0\nprint('before')\nf()",
    "raises_from": "try:\n    int('x')\nexcept ValueError as e:\n    raise KeyError('y') from e",
    "raises_a_group": "raise ExceptionGroup('g', [ValueError(1), TypeError(2)])",
    "raises_its_own": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
    "raises_a_syntax_error": "exec('1 +')",
    "raises_an_assertion": "assert 1 == 2, 'one is not two'",
    "raises_a_keyboard_interrupt": "print(1)\nraise KeyboardInterrupt",
    "aborts": "import os\nos.abort()",
    "kills_itself_softly": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nimport time; time.sleep(5)",
    "has_its_own_excepthook": "import sys\nsys.excepthook = lambda t, v, tb: print('caught', t.__name__)\n1 / 0",
    "has_a_broken_excepthook": "import sys\nsys.excepthook = lambda t, v, tb: int('x')\nprint(2)",
    "registers_atexit": "import atexit\natexit.register(print, 'bye')\nprint('hi')\nraise SystemExit(4)",
    "waits_for_threads": "import threading, time\n"
    "t = threading.Thread(target=lambda: (time.sleep(0.1), print('thread')))\nt.start()\nprint('main')",
    "waits_for_threads_before_atexit": "import threading, time, atexit\natexit.register(print, 'end')\n"
    "threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()",
    "does_not_wait_for_daemons": "import threading, time\n"
    "threading.Thread(target=lambda: time.sleep(1000), daemon=True).start()\nprint('main')",
    "raises_in_a_thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T')\nt.start()\nt.join()",
    "uses_a_thread_pool": "from concurrent.futures import ThreadPoolExecutor\n"
    "p = ThreadPoolExecutor(2)\nf = p.submit(lambda: print('pool'))",
    "runs_deep_in_a_thread": "import sys, threading\nsys.setrecursionlimit(10 ** 6)\nthreading.stack_size(128 << 20)\n"
    "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
    "t = threading.Thread(target=lambda: print(f(50000)))\nt.start()\nt.join()",
    "recurses_to_the_limit": "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(990))",
    "recurses_as_deep_as_it_can": "n = 0\ndef f():\n    global n\n    n += 1\n    f()\n"
    "try: f()\nexcept RecursionError: print(n)",
    "asks_where_its_input_is": "import sys\ns = sys.stdin\nprint(s.tell(), s.buffer.tell(), s.buffer.raw.tell(), s.readline())",
    "recurses_too_deep": "def f(n): return f(n + 1)\ntry: f(0)\nexcept RecursionError as e: print(e)",
    "closes_stdout": "import sys\nprint(1)\nsys.stdout.close()",
    "loses_stdout": "import sys\nprint(1)\nsys.stdout = None",
    "replaces_stdout": "import sys, io\nsys.stdout = io.StringIO()\nprint('unseen')",
    "wraps_stdout": "import sys, io\nsys.stdout = io.TextIOWrapper(open(1, 'wb', 0), write_through=True)\nprint('seen')",
    "closes_descriptor_1": "import os\nprint(1)\nos.close(1)",
    "closes_descriptor_2": "import os\nos.close(2)\nprint(1)",
    "leaves_a_file_open": "f = open('x', 'w')\nf.write('text')\nimport atexit\nprint('done')",
    "deletes_at_the_end": "class A:\n    def __del__(self): print('del')\na = A()\nprint('last')",
    "prints_surrogates": "print('\\udcff')",
    "reads_bad_utf8": "import sys\nprint(ascii(sys.stdin.read()))",
    "knows_itself": "print(__name__, __doc__, __spec__, __package__, __builtins__.__name__, sorted(globals()))",
    "is_the_main_module": "import sys\nprint(sys.modules['__main__'].__dict__ is globals(), sys.argv[1:], 'sandbox' in sys.modules)",
    "pickles": "import pickle\nclass A:\n    x = 1\nprint(pickle.loads(pickle.dumps(A())).x)",
    "uses_dataclasses": "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1\nprint(P(), __annotations__)",
    "uses_asyncio": "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 3\nprint(asyncio.run(f()))",
    "uses_subprocess": "import subprocess\nprint(subprocess.run(['echo', 'x'], capture_output=True).stdout)",
    "pipes_to_head": "import subprocess\nsubprocess.run('yes | head -n 1', shell=True)",
    "forks": "import os\npid = os.fork()\nif pid == 0:\n    os._exit(3)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
    "uses_a_process_pool": "import multiprocessing as m\ndef f(x): return x * x\n"
    "if __name__ == '__main__':\n    with m.get_context('fork').Pool(2) as p: print(p.map(f, [1, 2, 3]))",
    "has_a_future_import": '"""doc"""\nfrom __future__ import annotations\nprint(__doc__)',
    "has_a_coding_line": "# -*- coding: latin-1 -*-\nprint('x')",
    "has_a_bom": "\ufeffprint('bom')",
    "has_windows_lines": "import sys\r\nif True:\r\n    print('crlf')\r\n",
    "is_empty": "",
    "hashes_the_same": "print(hash('text') == hash('text'), {'b', 'a'} == {'a', 'b'})",
    "has_the_signals_of_a_new_process": "import signal\n"
    "print([signal.getsignal(s) for s in (2, 15, 1, 13)], signal.pthread_sigmask(0, []))",
    "handles_the_end_of_children": "import os, signal, time\nended = []\n"
    "signal.signal(signal.SIGCHLD, lambda *_: ended.append(1))\n"
    "if os.fork() == 0: os._exit(0)\nwhile not ended: time.sleep(0.01)\nprint(os.wait()[1])",
    "flushes_a_stream_of_its_own": "import os, sys\nclass Stream:\n    lines = []\n    write = lines.append\n"
    "    def flush(self):\n        os.write(1, ''.join(self.lines).encode())\n        self.lines.clear()\n"
    "sys.stdout = Stream()\nprint('a')",
    "reads_an_int_too_long": "print(len(str(int('9' * 4300))))\nint('9' * 4301)",
}


@pytest.mark.boxes(beyond=8)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_what_it_does_outside(box: Box, name: str) -> None:
    result = box.run(PROGRAMS[name], STDIN)
    outside, directory = _outside(name)
    if "process_pool" in name and box.configuration.landlock:
        assert "PermissionError" in result.err  # semaphores need /dev/shm, which is out of Landlock's reach
        return
    program = box.program
    assert result.out == outside.stdout
    assert (result.code, -result.signal) == (
        (outside.returncode, 0) if outside.returncode >= 0 else (None, outside.returncode)
    )
    assert result.ended is None
    assert result.err.replace(program, directory) == outside.stderr.decode()


@cache
def _outside(name: str) -> tuple[subprocess.CompletedProcess[bytes], str]:
    """What a program does there, and the directory it had."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "main.py").write_bytes(PROGRAMS[name].encode(errors="surrogateescape"))
        Path(directory, "stdin").write_bytes(STDIN)
        with open(f"{directory}/stdin", "rb") as file:
            done = subprocess.run(
                # Whoever runs the tests may have made this process ignore signals, which the interpreter would inherit.
                ["env", "--default-signal", PYTHON, "-s", "-S", f"{directory}/main.py"],
                stdin=file,
                capture_output=True,
                timeout=30,
                cwd=directory,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"},
            )
        return done, directory


def test_each_run_is_a_fresh_process_with_random_numbers_of_its_own(box: Box) -> None:
    box.load("import random, os\nprint(random.random(), os.getpid(), 'stale' in dir(random))\nrandom.stale = 1")
    first, second = (box.execute().out.split() for _ in range(2))
    box.ask("unload")
    assert first[0] != second[0]
    assert first[2] == second[2] == b"False"


def test_a_run_has_its_files_in_an_empty_directory_of_its_own(box: Box) -> None:
    source = (
        "import os\nprint(sorted(os.listdir()), open('a/b.txt').read(), os.getcwd())\nopen('left', 'w')\nimport helper"
    )
    box.load(source, files={"a/b.txt": b"program", "helper.py": b"print('helped', __name__)"})
    results = [box.execute(files={name: b""}) for name in ("x", "y")]
    box.ask("unload")
    assert [result.out.split(b"]")[0] for result in results] == [
        b"['a', 'helper.py', 'x'",
        b"['a', 'helper.py', 'y'",
    ]
    assert all(b"helped helper" in result.out for result in results), results[0].err


def test_arguments_and_environment_are_those_asked_for(box: Box) -> None:
    box.load(
        "import sys, os\nprint(sys.argv[1:], os.environ['X'], os.environ.get('HOME') == os.getcwd())",
        environment={"X": "1"},
    )
    result = box.execute(arguments=["a b", "ä"])
    box.ask("unload")
    assert result.out.decode() == "['a b', 'ä'] 1 True\n"


def test_runs_of_one_program_may_differ_in_everything(box: Box) -> None:
    source = "import sys, resource\nprint(sys.argv[1:], resource.getrlimit(resource.RLIMIT_FSIZE)[0] >> 20, input())"
    box.load(source)
    wanted = [(["a"], 8), (["a"], 8), (["b"], 8), (["b"], 4), (["a"], 8)]
    results = [
        box.execute(b"%d" % number, arguments=arguments, file_mb=megabytes).out.decode()
        for number, (arguments, megabytes) in enumerate(wanted)
    ]
    box.ask("unload")
    assert results == [f"{arguments} {megabytes} {number}\n" for number, (arguments, megabytes) in enumerate(wanted)]


def test_what_another_job_was_told_is_forgotten(box: Box) -> None:
    for arguments in (["secret"], [], ["secret"], []):
        box.load("import sys\nprint(sys.argv[1:])")
        result = box.execute(arguments=arguments)
        box.ask("unload")
        assert result.out.decode() == f"{arguments}\n"


def test_a_large_output_comes_back_whole(box: Box) -> None:
    result = box.run("for i in range(100000): print(i)\nimport sys; sys.stderr.write('e' * 16000)")
    assert result.out == "".join(f"{i}\n" for i in range(100000)).encode()
    assert len(result.err) == 16000


def test_the_source_can_be_read_but_not_written(box: Box) -> None:
    result = box.run("print(len(open(__file__).read()) > 10)\nopen(__file__, 'a').write('#')")
    assert result.out == b"True\n"
    assert result.code == 1


def test_what_fails_at_the_end_is_told_and_changes_nothing(box: Box) -> None:
    result = box.run("import atexit\natexit.register(lambda: 1 / 0)\nprint('hi')")
    assert (result.code, result.out) == (0, b"hi\n")
    assert result.err.endswith("ZeroDivisionError: division by zero\n")


def test_a_keyboard_interrupt_ends_by_the_signal(box: Box) -> None:
    result = box.run("raise KeyboardInterrupt")
    assert result.signal == signal.SIGINT


@pytest.mark.parametrize(
    "source", ["def f(:", "if True:\nprint(1)", "x = 1\n\0", "(" * 300, b"\xff\xfe = 1", "'" + "\\N{x}" + "'", "return"]
)
def test_what_is_no_python_is_not_loaded_and_says_why(box: Box, source: str | bytes) -> None:
    loaded = box.load(source)
    assert not loaded.ok
    assert "Error" in loaded.message
    assert box.run("print(1)").out == b"1\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("-" * 1_000_000 + "1", marks=pytest.mark.bombs),
        pytest.param("x = " + "1 + " * 300_000 + "1", marks=pytest.mark.bombs),
        pytest.param("[" * 100 + "1," * 2_000_000 + "]" * 100, marks=pytest.mark.bombs),
        "a" + ".b" * 400_000,
        pytest.param("x = 1\n" * 20_000 + "(", marks=pytest.mark.bombs),
    ],
)
def test_a_source_that_is_hard_to_parse_costs_the_runner_nothing(box: Box, source: str) -> None:
    assert isinstance(box.load(source).ok, bool)
    assert box.run("print(1)").out == b"1\n"


def test_a_thread_may_ask_for_a_stack_as_large_as_the_memory(box: Box) -> None:
    source = """
import sys, threading
sys.setrecursionlimit(10**6)
threading.stack_size(512 << 20)
def depth(n): return n and 1 + depth(n - 1)
def main(): print(depth(50_000))
thread = threading.Thread(target=main)
thread.start()
thread.join()
"""
    box.load(source)
    assert box.execute(memory_mb=512).out == b"50000\n"
