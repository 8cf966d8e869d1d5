"""Removes directories that a judged program has filled, whatever the program did to them.

There is no recursion, and no path or link is followed: deep directories are moved up first. Use it only when no process
runs in the tree any more.
"""

import itertools
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


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
    os.chmod(name, 0o700, dir_fd=top)
    level = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
    try:
        for entry in os.listdir(level):
            if not _is_unlinked(entry, level):
                os.chmod(
                    entry, 0o700, dir_fd=level
                )  # a directory that cannot be written to cannot be moved to another parent
                os.rename(entry, next(free_names), src_dir_fd=level, dst_dir_fd=top)
    finally:
        os.close(level)
    os.rmdir(name, dir_fd=top)


def _is_unlinked(name: str, directory: int) -> bool:
    try:
        os.unlink(name, dir_fd=directory)
    except IsADirectoryError:
        return False
    return True
