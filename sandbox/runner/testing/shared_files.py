"""Tests and program in one directory: what one of them writes there, the other can read, change and remove.

Each is a process of its own user. So all that they make is open to both, also what `tempfile` would make for one user.
The tests' own text stays in a directory that the program cannot reach.
"""

import functools
import os
import tempfile
from collections.abc import Callable
from typing import Any


def share_files(directory: str) -> None:
    """From now on, make files and directories open to other users, and temporary ones in this directory."""
    os.umask(0)
    os.environ["TMPDIR"] = directory  # noqa: TID251 - the program's or the tests'
    tempfile.tempdir = directory
    make_directory, open_file = os.mkdir, os.open

    def mkdir(path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        make_directory(path, mode | 0o777, dir_fd=dir_fd)

    def open_for_all(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        return open_file(path, flags, mode | 0o666, dir_fd=dir_fd)

    os.mkdir, os.open = mkdir, open_for_all
    os.chmod, os.utime = _of_owner(os.chmod), _of_owner(os.utime)


def _of_owner(function: Callable[..., None]) -> Callable[..., None]:
    """The function, but without effect on a file of the other user, which `shutil.copy` would else refuse to replace."""

    @functools.wraps(function)
    def of_owner(path: Any, *arguments: Any, **keywords: Any) -> None:
        try:
            function(path, *arguments, **keywords)
        except PermissionError:
            if os.stat(path).st_uid == os.getuid():
                raise

    return of_owner
