"""Shares files and the environment of tests with the program, as in one process.

    open("a.txt", "w")                  tests and program work in one directory, the program's
    tempfile.mkdtemp(), tmp_path        and their temporary files are there, too
    os.environ["LEVEL"] = "3"           sent to the program with the next request, like `sys.argv` and the current directory

Only tests whose text mentions such things share anything. The test modules themselves stay where the program cannot
reach them. The program may change files of the tests, as in one process; nothing of the environment is sent back.
"""

import functools
import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from sandbox.runner.testing.specification import Specification

_ABOUT_FILES: Final = re.compile(
    r"\b(?:open|tempfile|tmp_path\w*|tmpdir\w*|pathlib|Path|glob|shutil|chdir"
    r"|os\.(?:path\.(?!join\b|basename\b|dirname\b)|listdir|scandir|walk|mk|remove|rmdir|unlink|rename|stat|access))\b"
)
_ABOUT_ENVIRONMENT: Final = re.compile(r"\b(?:environ|putenv|setenv|delenv|argv|chdir)\b")
_OPEN_DIRECTORY, _OPEN_FILE = 0o777, 0o666
_MAX_ENTRIES: Final = 10_000

Changes = list[Any]
"""As sent: variables by name, null for those that are gone; `sys.argv` and the current directory, null if unchanged."""


class Surroundings:
    """What tests have changed around them since the program was told."""

    def __init__(self) -> None:
        self._variables = _variables()
        self._arguments = list(sys.argv)
        self._directory = os.getcwd()

    def changes(self) -> Changes | None:
        """The arguments of `surround` in the program; None: it knows them already."""
        variables, arguments, directory = _variables(), list(sys.argv), _current_directory()
        told: Mapping[str, str | None] = {
            **dict.fromkeys(self._variables.keys() - variables.keys()),
            **{name: value for name, value in variables.items() if self._variables.get(name) != value},
        }
        changes: Changes = [
            told,
            None if arguments == self._arguments else arguments,
            None if directory == self._directory else directory,
        ]
        self._variables, self._arguments, self._directory = variables, arguments, directory
        return changes if any(change is not None and change != {} for change in changes) else None


def share_with(specification: Specification, directory: str, share_files: Callable[[], object]) -> Surroundings | None:
    """Begin to share what the tests mention. None if they mention nothing.

    Args:
        specification: The tests.
        directory: The program's working directory.
        share_files: Asks the program to open that directory.
    """
    is_about_files = specification.mentions(_ABOUT_FILES, "")
    if is_about_files:
        share_files()
        with suppress(PermissionError):  # the program did not open it: its tests cannot pass
            _work_in(directory)
    return Surroundings() if is_about_files or specification.mentions(_ABOUT_ENVIRONMENT, "") else None


def surround(variables: Mapping[str, str | None], arguments: list[str] | None, directory: str | None) -> None:
    """In the program's process: take over what tests have changed."""
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)  # noqa: TID251 - the program's
        else:
            os.environ[name] = value  # noqa: TID251
    if arguments is not None:
        sys.argv[:] = arguments
    if directory is not None:
        with suppress(OSError):
            os.chdir(directory)


def open_directory() -> None:
    """In the program's process: let the tests read and change all files of the working directory."""
    os.umask(0)
    os.chmod(".", _OPEN_DIRECTORY)
    entries = ((at, name, names) for at, names, files in os.walk(".") for name in (*names, *files))
    for _, (at, name, directories) in zip(range(_MAX_ENTRIES), entries, strict=False):
        with suppress(OSError):
            os.chmod(os.path.join(at, name), _OPEN_DIRECTORY if name in directories else _OPEN_FILE)


def open_temporary_directories(factory: Any) -> None:
    """Make the directories that a class of pytest makes for tests accessible for the program."""
    make = factory.mktemp

    @functools.wraps(make)
    def making(*arguments: Any, **keywords: Any) -> Any:
        path = make(*arguments, **keywords)
        for made in (path, *path.parents):
            if made.stat().st_uid != os.geteuid():
                break
            made.chmod(_OPEN_DIRECTORY)
        return path

    factory.mktemp = making


def _work_in(directory: str) -> None:
    os.chdir(directory)
    os.umask(0)
    tempfile: Any = importlib.import_module("tempfile")
    os.environ["TMPDIR"] = tempfile.tempdir = directory  # noqa: TID251 - the tests'
    _opening(tempfile, "mkdtemp", lambda path: path, _OPEN_DIRECTORY)
    _opening(tempfile, "_mkstemp_inner", lambda made: made[1], _OPEN_FILE)


def _opening(module: Any, name: str, path_of: Callable[[Any], Any], mode: int) -> None:
    function = getattr(module, name)

    @functools.wraps(function)
    def opening(*arguments: Any, **keywords: Any) -> Any:
        made = function(*arguments, **keywords)
        os.chmod(path_of(made), mode)
        return made

    setattr(module, name, opening)


def _variables() -> dict[str, str]:
    return dict(os.environ)  # noqa: TID251 - the tests'


def _current_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # the tests have removed it
        return "/"
