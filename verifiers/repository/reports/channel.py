"""How a plugin of ours in a test runner reports, from Python 3.6 on. It runs in the container.

Each line of the report is signed with a key that is taken when this is imported, before any judged code is. The file of the
key is empty then, and gets the key of the next run of the tests when this one ends. What is called later is bound at the import.
"""

import atexit
import contextlib
import hashlib
import json.encoder
import os
import sys
import threading
from typing import Any

_KEY_FILE = "@KEY_FILE@"
_REPORT_FILE = "@REPORT_FILE@"
_TESTS: Any = "@TESTS@"
"""The names of the files of tests, without their folders."""
_FILES = [
    "open",
    "os.link",
    "os.symlink",
    "os.rename",
    "shutil.copyfile",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
]
_FRAMES = [
    "sys._getframe",
    "sys._current_frames",
    "sys.settrace",
    "sys.setprofile",
    "gc.get_objects",
    "gc.get_referrers",
]
"""Audit events of Python, see PEP 578, by which code may look at files, and at who has called it."""
_EXPLAIN = ("traceback.py", "warnings.py")
"""Modules that read the source of all code that they name."""
_quoted = json.encoder.encode_basestring_ascii


def _channel() -> Any:
    """What writes a signed line, and whether the order of tests is turned around; None if the key is taken already."""
    begin, write, getpid = hashlib.sha256, os.write, os.getpid
    open_file, flags = os.open, os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        with open(_KEY_FILE, "r+") as file:
            key = file.read().encode("ascii")
            file.truncate(0)
    except OSError:
        return None
    if not key:
        return None
    signer, owner = begin(key), getpid()
    following = begin(b"next" + key).hexdigest()[:-1] + key[-1:].decode("ascii")
    is_turned = int(key[-1:], 16) % 2 == 1
    del key
    state, one_by_one = {"file": -1, "count": 0}, threading.RLock()

    def report(name: str, word: str) -> None:
        text = f"{_quoted(name)}, {_quoted(word)}"
        with one_by_one:  # code that looks at tests may be in another thread
            if state["file"] < 0:
                state["file"] = open_file(_REPORT_FILE, flags, 0o600)
            signature = signer.copy()
            signature.update(f"{state['count']} {text}".encode("ascii"))
            state["count"] += 1
            write(state["file"], f'["{signature.hexdigest()}", {text}]\n'.encode("ascii"))

    def hand_on() -> None:
        if getpid() == owner:
            with contextlib.suppress(OSError):
                write(open_file(_KEY_FILE, os.O_WRONLY | os.O_TRUNC), following.encode("ascii"))

    atexit.register(hand_on)
    if hasattr(sys, "addaudithook"):  # from Python 3.8 on
        sys.addaudithook(_inspection(lambda words: report("", words) if getpid() == owner else None))
    return report, is_turned


def _inspection(tell: Any) -> Any:
    """A hook that tells which code looks at tests, once for each file and kind: `inspects calc.py: open`.

    Code of the working directory that is not a test's counts, and what the library opens for it.
    """
    getframe, thread, top = sys._getframe, threading.get_ident, os.getcwd() + os.sep
    library, folder_of = os.path.dirname(os.__file__) + os.sep, os.path.split
    told: Any = set()
    busy: Any = set()

    def is_tests(argument: Any) -> bool:
        if isinstance(argument, (list, tuple)):
            return any(is_tests(part) for part in argument[:100])
        text = argument.decode("utf-8", "replace") if isinstance(argument, bytes) else argument
        return isinstance(text, str) and any(name in text for name in _TESTS)

    def is_of_tests(path: str) -> bool:
        *folders, name = path.split(os.sep)
        return "test" in folders or "tests" in folders or name.startswith(("test_", "conftest.")) or "_test." in name

    def judged(frame: Any, *, through_library: bool) -> str:
        while frame is not None:
            file = frame.f_code.co_filename
            if frame.f_code.co_name == "_find_and_load" and file.startswith("<frozen"):  # it imports
                return ""
            if file.startswith(library) and "-packages" not in file:
                if (not through_library and not file.endswith("inspect.py")) or folder_of(file)[1] in _EXPLAIN:
                    return ""
            elif not file.startswith("<"):
                path = file[len(top) :] if file.startswith(top) else ""
                return "" if "-packages" in path or is_of_tests(path) else path
            frame = frame.f_back
        return ""

    def hear(event: str, arguments: Any) -> None:
        is_file = event in _FILES and is_tests(arguments)
        if not is_file and event not in _FRAMES and (event != "object.__getattr__" or arguments[1] != "tb_frame"):
            return
        if thread() in busy:  # the hook itself looks
            return
        busy.add(thread())
        try:
            path = judged(getframe(1), through_library=is_file)
            words = f"inspects {path}: {'tb_frame' if event[0:2] == 'ob' else event}"
            if path and words not in told and len(told) < 20:
                told.add(words)
                tell(words)
        finally:
            busy.discard(thread())

    return hear


class Replaced:
    """Tells which functions of a test runner are others than they were: `inspects _pytest.python.Function.runtest: replaced`."""

    def __init__(self, packages: Any) -> None:
        """`packages` are their names, each with a dot behind it."""
        self._functions: Any = []
        self._told: Any = set()
        for name, module in sorted(sys.modules.items()):
            if module is not None and f"{name}.".startswith(packages):
                self._note(module, name)
                for kind in list(vars(module).values()):
                    if isinstance(kind, type) and kind.__module__ == name:
                        self._note(kind, f"{name}.{kind.__name__}")

    def _note(self, owner: Any, name: str) -> None:
        for key, value in list(vars(owner).items()):
            if hasattr(getattr(value, "__func__", value), "__code__"):
                self._functions.append((vars(owner), key, value, _code_of_any(value), f"{name}.{key}"))

    def tell(self, report: Any) -> None:
        for owner, key, value, code, name in self._functions:
            now = owner.get(key)
            if (now is not value or _code_of_any(now) is not code) and name not in self._told and len(self._told) < 20:
                self._told.add(name)
                report("", f"inspects {name}: replaced")


def _code_of_any(function: Any) -> Any:
    return getattr(getattr(function, "__func__", function), "__code__", None)


def code_of(function: Any, file: Any) -> str:
    """A digest of the code of a test that its file has; empty if it has none there.

    Decorators hide the function that they got, and say so in `__wrapped__`. Theirs may be other files.
    """
    codes: Any = []
    while function is not None and len(codes) < 64:
        codes.append(getattr(getattr(function, "__func__", function), "__code__", None))
        function = getattr(function, "__wrapped__", None)
    own = [code for code in codes if code is not None and code.co_filename == file]
    return _digest(repr(_parts(own[-1])).encode("utf-8", "replace")).hexdigest()[:32] if own else ""


_digest = hashlib.sha256


def _parts(code: Any) -> Any:
    """What a code is made of, as far as it is the same in each process."""
    consts = [
        _parts(const)
        if hasattr(const, "co_code")
        else sorted(map(repr, const))
        if isinstance(const, frozenset)
        else const
        for const in code.co_consts
    ]
    return code.co_name, code.co_firstlineno, code.co_code, code.co_names, code.co_varnames, consts


channels = [_channel()]
"""What the plugin takes."""
