"""Detects tests that count on sharing a process with the program.

Here the program is in another process, and not affected.

    @patch("builtins.input", return_value="4")     the program reads its own standard input
    with pytest.warns(UserWarning): f()            it warns and logs in its own process

If such a test does not pass, that says nothing about the program: the test is untestable. If it passes, it has proved
what it wanted. Patches of the program itself (`solution.random.randint`), standard output, the tests' own objects and the
environment (see `surroundings`) work as in one process, and do not count here.
"""

import functools
import importlib
import re
import sys
import types
from collections.abc import Callable
from typing import Any, Final

from sandbox.runner.testing.object_server import is_file_of_tests, is_of_tests
from sandbox.runner.testing.remote_objects import Remote, RemoteModule
from sandbox.runner.testing.remote_program import RemoteProgram
from sandbox.runner.testing.specification import Specification

FIXTURES: Final = frozenset({"caplog", "recwarn"})
"""Fixtures of pytest."""
_REPLAYED: Final = ("stdout", "stderr", "argv")
"""Names of `sys`: what the program prints is printed here too, and it is told the arguments."""
_ABOUT_MOCKS: Final = re.compile(r"\bmock\b")
_ABOUT_NOTES: Final = re.compile(r"\bassert(?:Logs|NoLogs|Warns)")
_NOTERS: Final = ("_AssertLogsContext", "_AssertWarnsContext")


def detect_sharing(specification: Specification, program: RemoteProgram) -> None:
    """Begin to detect when tests count on sharing a process with the program, and tell `program`."""
    if specification.mentions(_ABOUT_MOCKS, "mock"):
        mock: Any = importlib.import_module("unittest.mock")
        _detect(program, mock._patch, "__enter__", lambda patch: _is_shared(patch.getter(), patch.attribute))
        _detect(program, mock._patch_dict, "_patch_dict", lambda patch: _is_shared_mapping(patch.in_dict))
    if specification.mentions(_ABOUT_NOTES, "assert"):
        for module, name in (("unittest.case", _NOTERS[1]), ("unittest._log", _NOTERS[0])):
            _detect(program, getattr(importlib.import_module(module), name), "__enter__")


def detect_sharing_in_pytest(program: RemoteProgram) -> None:
    """The same for pytest's own tools. Call it once pytest has started, because it uses such patches at its start."""
    patches: Any = importlib.import_module("_pytest.monkeypatch").MonkeyPatch
    for name in ("setattr", "delattr"):
        _detect(program, patches, name, lambda _, target, name="", *__, **___: _is_shared(target, name))
    for name in ("setitem", "delitem"):
        _detect(program, patches, name, lambda _, mapping, *__, **___: _is_shared_mapping(mapping))
    _detect(program, importlib.import_module("_pytest.recwarn").WarningsRecorder, "__enter__")


def _detect(
    program: RemoteProgram, holder: Any, name: str, is_shared: Callable[..., bool] = lambda *_, **__: True
) -> None:
    """Make a function or method report calls that concern shared objects."""
    function = getattr(holder, name)

    @functools.wraps(function)
    def noticing(*arguments: Any, **keywords: Any) -> Any:
        program.shares_process |= is_shared(*arguments, **keywords)
        return function(*arguments, **keywords)

    setattr(holder, name, noticing)


def _is_shared(target: Any, name: Any) -> bool:
    """Whether the program would see this attribute, if it were in the tests' process."""
    if isinstance(target, str):  # "builtins.input"
        return target.partition(".")[0] != "solution" and target not in (
            "os.environ",
            *(f"sys.{name}" for name in _REPLAYED),
        )
    if isinstance(target, Remote | RemoteModule) or (target is sys and name in _REPLAYED):  # solution; sys.stdout
        return False
    if isinstance(target, types.ModuleType):  # os; but not a helper module of the tests
        return not is_file_of_tests(getattr(target, "__file__", None))
    return isinstance(target, type) and not is_of_tests(target)


def _is_shared_mapping(mapping: Any) -> bool:
    return mapping is sys.modules or (isinstance(mapping, str) and mapping == "sys.modules")
