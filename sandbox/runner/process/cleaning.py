"""Removes what programs left behind, whatever they did to make that hard.

Trees may be deeper than paths can be long, without permissions, sticky, or with any names. So all work is relative to
the current directory's descriptor and without recursion, and no link is ever followed. No process of the box may be
alive.
"""

import os
import stat
import time
from collections.abc import Container
from typing import Final

from sandbox.runner.errors import BoxUnusable
from sandbox.runner.isolation.identity import acting_as

_PATIENCE_S: Final = 10.0
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def empty(path: str, spared: Container[str] = ()) -> int:
    """Remove everything in a directory of ours, except the names to keep. Returns how many entries were removed.

    Raises:
        BoxUnusable: something could not be removed, or not in time.
    """
    names = [name for name in os.listdir(path) if name not in spared]
    if not names:
        return 0
    try:
        _remove_all(path, names)
        remaining = [name for name in os.listdir(path) if name not in spared]
    except OSError as error:
        raise BoxUnusable(f"cannot empty {path}: {error.strerror}") from error
    if remaining:
        raise BoxUnusable(f"cannot empty {path}: {len(remaining)} entries are left")
    return len(names)


def _remove_all(path: str, names: list[str]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    parent = os.open(path, _DIRECTORY)
    try:
        for name in names:
            _remove(parent, name, deadline)
    finally:
        os.close(parent)


def _remove(parent: int, name: str, deadline: float) -> None:
    if not stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode):
        os.unlink(name, dir_fd=parent)
        return
    directory = _enter(parent, name)
    names = [name]
    try:
        remaining = [_unlink_files(directory)]  # for each level, the directories still to be removed
        while remaining:
            if time.monotonic() > deadline:
                raise BoxUnusable(f"what programs left behind cannot be removed within {_PATIENCE_S:g} s")
            if remaining[-1]:
                names.append(remaining[-1].pop())
                directory = _replace_descriptor(directory, _enter(directory, names[-1]))
                remaining.append(_unlink_files(directory))
            else:
                directory = _replace_descriptor(directory, os.open("..", _DIRECTORY, dir_fd=directory))
                os.rmdir(names.pop(), dir_fd=directory)
                remaining.pop()
    finally:
        os.close(directory)


def _enter(parent: int, name: str) -> int:
    """Open a directory, and make it writable for its owner and for a process that overrides permissions."""
    try:
        directory = os.open(name, _DIRECTORY, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        directory = os.open(name, _DIRECTORY, dir_fd=parent)
    status = os.fstat(directory)
    if status.st_mode & 0o1700 != 0o700:
        with acting_as(status.st_uid):
            os.fchmod(directory, 0o700)
    return directory


def _unlink_files(directory: int) -> list[str]:
    """Remove everything except directories. Returns the directories."""
    directories = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                directories.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=directory)
    return directories


def _replace_descriptor(old: int, new: int) -> int:
    os.close(old)
    return new
