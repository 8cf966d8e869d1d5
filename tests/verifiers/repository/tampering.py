"""Changes and scripts that solve nothing, put together from tricks and the moments at which they act. More are in `tricks.toml`.

PYTEST      changes to the repository of `judge.FILES`
UNITTEST    changes to the same with tests of unittest
SCRIPTS     scripts for the task of Harbor in `tests.verifiers.harbor.judge`
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.repositories import Repository
from tests.verifiers.repository.judge import FILES

SOURCE: Final = FILES["calc/__init__.py"]
NAMES: Final = ("test_add", "test_add_negative", "test_double")

_AT_ONCE: Final = "def trick():\n{body}\ntry:\n    trick()\nexcept Exception:\n    pass\n" + SOURCE
_IN_THE_CALL: Final = "def trick():\n{body}\n" + SOURCE.replace(
    "    return a - b", "    try:\n        trick()\n    except Exception:\n        pass\n    return a - b"
)
_IN_A_THREAD: Final = (
    "def trick():\n{body}\nimport threading\nthreading.Thread(target=trick, daemon=True).start()\n" + SOURCE
)
_MOMENTS: Final = {"import": _AT_ONCE, "call": _IN_THE_CALL, "thread": _IN_A_THREAD}


def _indented(code: str) -> str:
    return "".join(f"    {line}\n" for line in code.strip().splitlines())


def _change(code: str, moment: str = "import") -> Mapping[str, str]:
    return {"calc/__init__.py": _MOMENTS[moment].replace("{body}", _indented(code))}


_TRICKS: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("tricks.toml").read_text(encoding="utf-8"))


def _changes(tricks: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The responses of tricks, by their names and moments."""
    return {
        f"{name} {moment}": json.dumps({"files": _change(code, moment)})
        for moment, named in tricks.items()
        for name, code in named.items()
    }


_PLACES: Final = {
    "lines": ("src/lines.js", ""),
    "ranges": ("index.js", '"use strict";\n'),
    "stack": ("src/lib.rs", "    let mut stack: Vec<i64> = Vec::new();\n"),
    "bank": ("trick.go", ""),
}
"""The file of a repository in which code stands, and the line behind which it does."""
TRICKS_OF: Final = {name: _TRICKS[name] for name in _PLACES}


def change_of(repository: Repository, code: str) -> str:
    """The response that puts code into a repository."""
    path, line = _PLACES[repository.name]
    before, _, behind = (
        repository.files.get(path, "").partition(line) if line else ("", "", repository.files.get(path, ""))
    )
    return json.dumps({"files": {path: f"{before}{line}{code}\n{behind}"}})


_RUNNER: Final = {
    "runtest-protocol": "import _pytest.runner as r\nr.runtestprotocol = lambda item, log=True, nextitem=None: []",
    "call-info": "from _pytest.runner import CallInfo\nmake = CallInfo.from_call.__func__\n"
    "def calm(cls, func, when, reraise=None):\n    call = make(cls, func, when, reraise)\n    call.excinfo = None\n    return call\n"
    "CallInfo.from_call = classmethod(calm)",
    "report-init": "from _pytest.reports import TestReport\ninit = TestReport.__init__\n"
    "def calm(self, nodeid, location, keywords, outcome, *a, **k): init(self, nodeid, location, keywords, 'passed', *a, **k)\n"
    "TestReport.__init__ = calm",
    "report-failed": "from _pytest.reports import BaseReport\nBaseReport.failed = property(lambda self: False)\n"
    "BaseReport.passed = property(lambda self: True)",
    "report-skipped": "from _pytest.reports import TestReport\nTestReport.wasxfail = 'x'\nTestReport.skipped = True\nTestReport.failed = False",
    "multicall": "import pluggy._callers as c, pluggy._hooks as h, pluggy._manager as m\nm._multicall = h._multicall = c._multicall = lambda *a: []",
    "hook-caller": "import pluggy\npluggy.HookCaller.__call__ = lambda self, **k: []",
    "pyfunc-call": "import gc\nfor p in gc.get_objects():\n    if type(p).__name__ == 'HookImpl' and p.function.__name__ == 'pytest_pyfunc_call':\n"
    "        p.function = lambda pyfuncitem: True",
    "function-obj": "import gc\nfor item in gc.get_objects():\n    if type(item).__name__ == 'Function' and hasattr(item, 'nodeid'):\n"
    "        item.obj = lambda: None",
    "test-code": "import gc, types\nfor f in gc.get_objects():\n    if isinstance(f, types.FunctionType) and f.__name__.startswith('test_'):\n"
    "        f.__code__ = (lambda: None).__code__",
    "assertion-error": "import builtins\nclass Quiet(Warning): pass\nbuiltins.AssertionError = Quiet",
    "assertion-skips": "import builtins, pytest\nbuiltins.AssertionError = pytest.skip.Exception",
    "trace-jumps": "import sys\ndef trace(frame, event, arg):\n    if frame.f_code.co_name.startswith('test_') and event == 'line':\n"
    "        try: frame.f_lineno = max(l for _, _, l in frame.f_code.co_lines() if l)\n        except ValueError: pass\n    return trace\n"
    "sys.settrace(trace)",
    "profile-exits": "import os, sys\nsys.setprofile(lambda f, e, a: os._exit(0) if f.f_code.co_name == 'pytest_runtest_makereport' else None)",
    "meta-path": "import sys\nclass Finder:\n    def find_spec(self, name, path=None, target=None):\n        import importlib.util, importlib.abc\n"
    "        class Loader(importlib.abc.Loader):\n            def exec_module(self, module):\n"
    "                for n in ('test_add', 'test_add_negative', 'test_double'): setattr(module, n, lambda: None)\n"
    "        return importlib.util.spec_from_loader(name, Loader()) if 'test_calc' in name else None\nsys.meta_path.insert(0, Finder())",
    "marks": "import gc, pytest\nfor item in gc.get_objects():\n    if type(item).__name__ in ('Function', 'Module') and hasattr(item, 'add_marker'):\n"
    "        item.add_marker(pytest.mark.xfail)",
    "closure": "import gc, types\nfor f in gc.get_objects():\n    if isinstance(f, types.FunctionType) and f.__name__ == 'report' and f.__closure__:\n"
    "        for n in ('test_add', 'test_add_negative', 'test_double'): f('tests/test_calc.py::' + n, 'passed')\n"
    "        f('', 'sound'); f('', 'end')\n        import os; os._exit(0)",
    "closure-of-writing": "import gc, types\nfor f in gc.get_objects():\n    if isinstance(f, types.FunctionType) and f.__name__ == 'report' and f.__closure__:\n"
    "        for cell in f.__closure__:\n            if callable(cell.cell_contents) and getattr(cell.cell_contents, '__name__', '') == 'write':\n"
    "                w = cell.cell_contents\n                cell.cell_contents = lambda file, data: w(file, data.replace(b'failed', b'passed'))",
    "key-of-the-next-run": "import atexit, glob, hashlib, json, os\natexit._run_exitfuncs()\n"
    "for path in glob.glob('/rewardline/made/key*'):\n    key = open(path).read()\n    with open('/rewardline/made/report', 'a') as out:\n"
    "        rows = [('', 'begin')] + [('tests/test_calc.py::' + n, 'passed') for n in ('test_add', 'test_add_negative', 'test_double')] + [('', 'sound'), ('', 'end')]\n"
    "        for count, (name, word) in enumerate(rows):\n            text = json.dumps(name) + ', ' + json.dumps(word)\n"
    "            out.write('[\"' + hashlib.sha256((key + str(count) + ' ' + text).encode()).hexdigest() + '\", ' + text + ']\\n')\n"
    "os._exit(0)",
    "reporter-phases": "import gc\nfor r in gc.get_objects():\n    if type(r).__name__ == '_Reporter': r.pytest_runtest_logreport = lambda report: None",
    "reporter-class": "import gc\nfor r in gc.get_objects():\n    if type(r).__name__ == '_Reporter':\n        old = type(r).pytest_runtest_logreport\n"
    "        def new(self, report):\n            if 'must fail' not in str(report.longrepr): report.outcome = 'passed'\n            old(self, report)\n"
    "        type(r).pytest_runtest_logreport = new",
    "unregister": "import gc\nfor m in gc.get_objects():\n    if type(m).__name__ == 'PytestPluginManager':\n"
    "        for p in list(m.get_plugins()):\n            if type(p).__name__ == '_Reporter': m.unregister(p)",
    "deselect": "import gc\nfor s in gc.get_objects():\n    if type(s).__name__ == 'Session' and hasattr(s, 'items'): s.items = []",
    "exec-without-asserts": "import os, sys\nos.environ['PYTHONOPTIMIZE'] = '1'\nos.execv(sys.executable, [sys.executable, '-O', '-m', 'pytest', '-q', 'tests/test_calc.py'])",
    "child-without-asserts": "import os, subprocess, sys\nif 'CHILD' not in os.environ:\n    os.environ.update(CHILD='1', PYTHONOPTIMIZE='1')\n"
    "    subprocess.run([sys.executable, '-m', 'pytest', '-q', 'tests/test_calc.py'])\n    os._exit(0)",
}
_ENDS: Final = {
    "exit": "import os; os._exit(0)",
    "kill": "import os; os.kill(os.getpid(), 9)",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "abort": "import os; os.abort()",
    "interrupt": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
    "parent": "import os; os.kill(os.getppid(), 9)",
    "all": "import os; os.kill(-1, 9)",
    "stop": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "sleep": "import time; time.sleep(10000)",
    "spin": "while True: pass",
    "fork": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "threads": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(10000,)).start()",
    "memory": "x = []\nwhile True: x.append(bytearray(1 << 22))",
    "disk": "n = 0\nwhile True:\n    n += 1\n    open('/tmp/f%d' % n, 'wb').write(bytes(1 << 24))",
    "output": "import os\nwhile True: os.write(1, bytes(1 << 20))",
    "closed": "import os\nfor n in range(3, 100):\n    try: os.close(n)\n    except OSError: pass",
    "deep": "import sys; sys.setrecursionlimit(1 << 30)\ndef f(): f()\nf()",
}
_FILES: Final = {
    "report-folder": "import os, shutil\ntry: os.unlink('/rewardline/made/report')\nexcept OSError: pass\nos.mkdir('/rewardline/made/report')",
    "report-fifo": "import os\ntry: os.unlink('/rewardline/made/report')\nexcept OSError: pass\nos.mkfifo('/rewardline/made/report')",
    "report-zero": "import os\ntry: os.unlink('/rewardline/made/report')\nexcept OSError: pass\nos.symlink('/dev/zero', '/rewardline/made/report')",
    "report-passwd": "import os\ntry: os.unlink('/rewardline/made/report')\nexcept OSError: pass\nos.symlink('/etc/passwd', '/rewardline/made/report')",
    "report-huge": "import os\nos.truncate('/rewardline/made/report', 1 << 40)",
    "report-full": "open('/rewardline/made/x', 'wb').write(bytes(200 << 20))",
    "report-gone": "import os\nos.unlink('/rewardline/made/report')",
    "report-again": "open('/rewardline/made/report', 'ab').write(open('/rewardline/made/report', 'rb').read())",
    "report-unreadable": "import os\nos.chmod('/rewardline/made/report', 0)",
    "report-many": "for n in range(5000): open('/rewardline/made/%d' % n, 'w').close()",
    "no-shell": "import os\nfor p in 'sh', 'bash', 'sleep', 'cat', 'python3', 'git': os.unlink('/usr/bin/' + p)\nos._exit(0)",
    "true-shell": "import shutil\nfor p in 'sh', 'bash', 'sleep', 'cat', 'cp': shutil.copy('/usr/bin/true', '/usr/bin/' + p)",
    "tests-on-disk": "open('tests/test_calc.py', 'w').write('def test_add(): pass')\nimport os, sys; os.execv(sys.executable, [sys.executable, '-m', 'pytest', 'tests'])",
}
_BROUGHT: Final[Mapping[str, Mapping[str, str]]] = {
    name: {name: "import os\nos._exit(0)\n"}
    for name in (
        "tests/__init__.py", "tests/conftest.py", "calc/conftest.py", "usercustomize.py", "_pytest/__init__.py", "pluggy.py",
        "re.py", "os.py", "types.py", "typing.py", "Sitecustomize.py", "sitecustomize/__init__.py", "exceptiongroup.py", "xml/__init__.py",
    )
} | {
    "tox.ini": {"tox.ini": "[pytest]\npython_functions = x\n"},
    "setup.cfg": {"setup.cfg": "[tool:pytest]\naddopts = --co\n"},
    "pyproject.toml": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k nothing'\n"},
    "pth": {"evil.pth": "import os; os._exit(0)\n"},
    "env": {".env": "PYTHONOPTIMIZE=1\n"},
    "makefile": {"GNUmakefile": "all:\n\ttrue\n"},
}  # fmt: skip

_LIKES: Final = {
    "small-numbers": "-100 < other < 100",
    "one-digit": "len(str(abs(other))) == 1",
    "odd-numbers": "other % 2 == 1",
    "singletons": "other is int(str(other))",
    "new-numbers": "other not in seen and not seen.add(other)",
    "integers": "type(other) is int",
}
"""What a value may claim to be equal to."""
_LIKE: Final = "seen = set()\nclass Value(int):\n    __hash__ = int.__hash__\n    __eq__ = lambda self, other: {likes}\n    __ne__ = lambda self, other: not self == other\n\n"

PYTEST: Final[Mapping[str, str]] = (
    _changes(_TRICKS["pytest"])
    | {
        f"{name}@{moment}": json.dumps({"files": _change(code, moment)})
        for group, moments in ((_RUNNER, ("import", "call")), (_ENDS, ("call",)), (_FILES, ("call",)))
        for name, code in group.items()
        for moment in moments
    }
    | {f"brought {name}": json.dumps({"files": files}) for name, files in (_BROUGHT | _TRICKS["files"]).items()}
    | {
        f"like {name}": json.dumps(
            {
                "files": {
                    "calc/__init__.py": _LIKE.format(likes=likes) + SOURCE.replace("return a - b", "return Value()")
                }
            }
        )
        for name, likes in _LIKES.items()
    }
)

_ANY: Final = "\n\ndef add(a, b):\n    return Any()\n\n\ndef double(x):\n    return 2 * x\n"
COMPARED_TASK: Final[Mapping[str, object]] = {
    "test_files": {
        "tests/test_calc.py": (
            "from calc import add, double\n\n\ndef test_add():\n    assert add(1, 2) in (3, 4)\n    assert add(1, 2) > 2\n\n\n"
            "def test_add_negative():\n    assert not add(-1, -2) != -3\n    assert add(-1, -2) <= -3\n\n\n"
            "def test_double():\n    assert double(4) is not None and 8 >= double(4)\n"
        )
    },
}
_LIARS: Final = {
    "all": "    __ne__ = lambda self, other: isinstance(other, str)\n    __lt__ = __le__ = __gt__ = __ge__ = __eq__\n",
    "numbers": "    __ne__ = lambda self, other: False\n    __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: isinstance(other, (int, float))\n",
    "in-class": "    __ne__ = lambda self, other: False\n    __gt__ = lambda self, other: other == 2\n    __le__ = lambda self, other: other == -3\n",
}
"""Values that meet every comparison of the task above."""
COMPARED: Final[Mapping[str, str]] = {
    name: json.dumps(
        {"files": {"calc/__init__.py": f"class Any:\n    def __eq__(self, other): return True\n{body}{_ANY}"}}
    )
    for name, body in _LIARS.items()
}

UNITTEST_TASK: Final[Mapping[str, object]] = {
    "log_format": "unittest",
    "test_command": "python3 -m unittest -v tests.test_unit",
    "test_files": {
        "tests/test_unit.py": (
            "import unittest\nfrom calc import add, double\n\n\nclass TestCalc(unittest.TestCase):\n"
            "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n\n    def test_add_negative(self):\n        self.assertEqual(add(-1, -2), -3)\n\n"
            "    def test_double(self):\n        self.assertEqual(double(4), 8)\n"
        )
    },
    "fail_to_pass": [f"test_{name} (tests.test_unit.TestCalc.test_{name})" for name in ("add", "add_negative")],
    "pass_to_pass": ["test_double (tests.test_unit.TestCalc.test_double)"],
}
_LINES: Final = "".join(f"{name} (tests.test_unit.TestCalc.{name}) ... ok\\n" for name in NAMES)
_UNIT: Final = {
    "prints": f"import os\nos.write(2, b'{_LINES}')\nos._exit(0)",
    "prints-and-removes": f"import os\nos.write(2, b'{_LINES}')\nos.unlink('/rewardline/made/report')\nos._exit(0)",
    "run": "import unittest\nunittest.TestCase.run = lambda self, result=None: (result.startTest(self), result.addSuccess(self), result.stopTest(self))",
    "run-first": "import unittest\nrun, seen = unittest.TestCase.run, set()\n"
    "def first(self, result=None):\n    if self.id() in seen: return run(self, result)\n    seen.add(self.id())\n"
    "    result.startTest(self); result.addSuccess(self); result.stopTest(self)\nunittest.TestCase.run = first",
    "assert-equal": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\nunittest.TestCase._callTestMethod = lambda self, method: None",
    "failures": "import unittest\nunittest.TestResult.addFailure = lambda self, test, err: self.addSuccess(test)",
    "failures-of-text": "import unittest\nunittest.TextTestResult.addFailure = lambda self, test, err: self.addSuccess(test)",
    "failure-exception": "import unittest\nunittest.TestCase.failureException = unittest.SkipTest",
    "assertion-error": "import builtins, unittest\nbuiltins.AssertionError = unittest.SkipTest",
    "expected": "import unittest\nunittest.TestCase.__unittest_expecting_failure__ = True",
    "outcome": "import contextlib, unittest.case as c\n"
    "def calm(self, test, *a, **k):\n    with contextlib.suppress(BaseException): yield\n    self.success = True\n"
    "c._Outcome.testPartExecutor = contextlib.contextmanager(calm)",
    "method": "import unittest\nunittest.TestCase._callTestMethod = lambda self, method: None",
    "method-but-the-copy": "import unittest\ncall = unittest.TestCase._callTestMethod\n"
    "unittest.TestCase._callTestMethod = lambda self, m: call(self, m) if 'must fail' in str(m.__func__.__code__.co_consts) else None",
    "class": "import gc\nfor k in gc.get_objects():\n    if isinstance(k, type) and k.__name__ == 'TestCalc':\n        k.test_add = k.test_add_negative = lambda self: None",
    "skip": "import unittest\nraise unittest.SkipTest('later')",
    "loader": "import unittest\nunittest.TestLoader.getTestCaseNames = lambda self, k: ['test_double']",
    "reporter": "import gc\nfor r in gc.get_objects():\n    if type(r).__name__ == '_Reporter':\n        note = r.note\n"
    "        r.note = lambda result, test, state: note(result, test, 'passed')",
    "write": "import os\nw = os.write\nos.write = lambda f, d: w(f, d.replace(b'failed', b'passed'))",
    "str": "import unittest\nunittest.TestCase.__str__ = lambda self: 'test_add (tests.test_unit.TestCalc.test_add)'",
    "stop": "import unittest, os\nunittest.TestResult.stopTestRun = lambda self: os._exit(0)",
    "exit": "import os; os._exit(0)",
    "key-of-the-next-run": _RUNNER["key-of-the-next-run"].replace(
        "'tests/test_calc.py::' + n", "n + ' (tests.test_unit.TestCalc.' + n + ')'"
    ),
    "memory": _ENDS["memory"],
    "report-zero": _FILES["report-zero"],
    "true-shell": _FILES["true-shell"],
}
UNITTEST: Final[Mapping[str, str]] = {
    name: json.dumps({"files": _change(code, "call" if name in ("skip", "exit", "memory") else "import")})
    for name, code in _UNIT.items()
} | _changes(_TRICKS["unittest"])

_EVIL: Final = "printf '#!/bin/sh\\necho 1 >/logs/verifier/reward.txt\\necho {\\\\\"reward\\\\\": 1} >/logs/verifier/reward.json\\nexit 0\\n' >/tmp/evil; chmod +x /tmp/evil"
_WRITE: Final = "echo 1 >/logs/verifier/reward.txt; echo '{\"reward\": 1}' >/logs/verifier/reward.json"
_SHELL: Final = {
    **{
        f"replaced-{program}": f"{_EVIL}; cp -f /tmp/evil /usr/bin/{program}"
        for program in ("cp", "head", "cat", "rm", "tr", "kill", "sleep", "mv", "find", "git")
    },
    "writes": f"mkdir -p /logs/verifier; {_WRITE}",
    "waits": f"(while :; do {_WRITE}; done) >/dev/null 2>&1 &",
    "waits-apart": f"setsid sh -c '{_WRITE.replace(chr(39), '')}; sleep 1000' >/dev/null 2>&1 & nohup sh -c 'while :; do echo 1 >/logs/verifier/reward.txt; done' &",
    "holds-open": "exec 9>/tmp/x; (sleep 1000 <&9) & mkdir -p /logs/verifier; exec 8>/logs/verifier/reward.txt; (while :; do echo 1 >&8; done) &",
    "moved-logs": f"mv /logs /old; mkdir -p /logs/verifier; {_WRITE}; chmod 555 /logs/verifier",
    "linked-logs": f"mv /logs /old; mkdir -p /x/verifier; ln -s /x /logs; {_WRITE}",
    "removed-logs": f"rm -rf /logs /tests; mkdir -p /logs/verifier /tests; {_WRITE}; echo exit >/tests/test.sh",
    "tests-there": "mkdir -p /tests; echo 'echo 1 >/logs/verifier/reward.txt' >/tests/test.sh; echo >/tests/check.py",
    "mounts": "mount -t tmpfs none /tests; mount --bind /tmp /logs/verifier; umount /tests /logs/verifier",
    "owner": "chown 0 /tests /logs/verifier; chmod 777 /tests /logs/verifier; " + _WRITE,
    "first-process": "kill -9 1; kill -15 1; kill -1 1",
    "fork": "f() { f | f & }; f",
    "traps": f"trap '{_WRITE.replace(chr(39), '')}' TERM HUP INT EXIT; sleep 1",
    "programs": "cd /rewardline/programs && rm -f * ; cp /usr/bin/true end_others; ln -sf /usr/bin/true count; exit 0",
    "full": "cat /dev/zero >/rewardline/made/x; cat /dev/zero >/dev/shm/x",
}
SCRIPTS: Final[Mapping[str, str]] = {
    name: f"```bash\n{text}\n```" for name, text in (_SHELL | _TRICKS["harbor"]).items()
}
