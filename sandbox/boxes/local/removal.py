"""Removes directories that a judged program has filled, whatever the program did to them.

There is no recursion, and no path or link is followed: deep directories are moved up first. Use it only when no process
runs in the tree any more.

A service may be root with the right to pass by permissions (CAP_DAC_OVERRIDE), and without that to change what others own
(CAP_FOWNER). It cannot remove anything from a directory with the sticky bit, or change its mode: its owner can.
"""

import ctypes
import itertools
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_libc: Final = ctypes.CDLL(None)


def remove_tree(path: Path) -> None:
    """Remove the directory with everything in it; do nothing if it does not exist.

    Raises:
        OSError: something in it cannot be removed.
    """
    try:
        top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    token = secrets.token_hex(8)
    free_names = (f"{token}-{number}" for number in itertools.count())
    try:
        while entries := os.listdir(top):
            for entry in entries:
                if not _is_unlinked(entry, top):
                    _remove_level(entry, top, free_names)
    finally:
        os.close(top)
    path.rmdir()


def _remove_level(name: str, top: int, free_names: Iterator[str]) -> None:
    """Remove one directory; its subdirectories are moved next to it first."""
    with suppress(PermissionError):
        os.chmod(name, 0o700, dir_fd=top)
    level = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
    try:
        _open_up(level)
        for entry in os.listdir(level):
            if not _is_unlinked(entry, level):
                with suppress(PermissionError):  # who may not change it may pass by its mode
                    # a directory that cannot be written to cannot be moved to another parent
                    os.chmod(entry, 0o700, dir_fd=level)
                os.rename(entry, next(free_names), src_dir_fd=level, dst_dir_fd=top)
    finally:
        os.close(level)
    os.rmdir(name, dir_fd=top)


def _open_up(directory: int) -> None:
    """Take the sticky bit from a directory, as its owner."""
    status = os.fstat(directory)
    if status.st_mode & 0o1000:
        _libc.setfsuid(status.st_uid)  # of this thread; os.seteuid would change it for all of them
        try:
            os.fchmod(directory, 0o700)
        finally:
            _libc.setfsuid(os.geteuid())


def _is_unlinked(name: str, directory: int) -> bool:
    try:
        os.unlink(name, dir_fd=directory)
    except IsADirectoryError:
        return False
    return True
