"""The directories of a box: one for the program, and one for each run to work in.

    <directory>/p      the program's files, which runs can read and execute but not write
    <directory>/r/w    the working directory of a run, its own, new for each
    <directory>/t/w    the working directory of tests, which the program under test cannot reach

Paths are the same for every run, so that no program can distinguish runs by them.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from sandbox.runner.configuration import Configuration
from sandbox.runner.isolation.identity import acting_as
from sandbox.runner.process.cleaning import empty

MAX_FETCHED_BYTES: Final = 64 << 20
_MAX_PATH_CHARS: Final = 1024
_MAX_NAME_BYTES: Final = 255
_MAX_DEPTH: Final = 16
_PIECE_BYTES: Final = 1 << 20
_PASSED_THROUGH, _READABLE, _OPEN = 0o711, 0o755, 0o777
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class BadPath(Exception):
    """A path that does not stay below the directory that it is meant for."""


class Workspace:
    """The directories of one box. Made once; emptied after each run and each job."""

    def __init__(self, configuration: Configuration) -> None:
        self._directory = configuration.directory
        self.program = f"{configuration.directory}/p"
        self.run = self.run_of(configuration.directory)
        self.test = f"{configuration.directory}/t/w"
        self.run_parent, self.test_parent = os.path.dirname(self.run), os.path.dirname(self.test)
        os.chmod(self._directory, _PASSED_THROUGH)
        for path, mode in (
            (self.program, _READABLE),
            (self.run_parent, _PASSED_THROUGH),
            (self.test_parent, _PASSED_THROUGH),
        ):
            os.mkdir(path)
            os.chmod(path, mode)
        self._made: set[str] = set()
        self._own = frozenset(os.listdir(self._directory))
        self._cleaned = {path: frozenset(os.listdir(path)) for path in configuration.cleaned if os.path.isdir(path)}

    @staticmethod
    def run_of(directory: str) -> str:
        """The working directory of runs, in a box with this directory."""
        return f"{directory}/r/w"

    @contextmanager
    def creating(self, path: str, uid: int, files: Mapping[str, bytes], *, is_open: bool = False) -> Iterator[None]:
        """Make a working directory with these files. Everything made inside the block belongs to `uid`.

        If `is_open`, other users may read and change all of it.
        """
        mode = _OPEN if is_open else 0o700
        parent = os.path.dirname(path)
        self._made.add(path)
        os.chmod(parent, _OPEN)
        with acting_as(uid):
            os.mkdir(path)
            os.chmod(path, mode)
            for name, data in files.items():
                write_file(path, name, data, mode)
            yield
        os.chmod(parent, _PASSED_THROUGH)

    def clear_runs(self) -> int:
        """Remove everything that runs made. Returns how many files they left outside their working directories.

        Raises:
            BoxUnusable: that is impossible.
        """
        for path in self._made:
            try:
                os.rmdir(path)  # enough after most runs: no process can make anything beside it
            except OSError:
                empty(os.path.dirname(path))
        self._made.clear()
        return sum(empty(path, spared) for path, spared in self._cleaned.items())

    def clear_program(self) -> None:
        """Remove the program's files, and anything beside them that should not be there.

        Raises:
            BoxUnusable: that is impossible.
        """
        os.chmod(self.program, _READABLE)
        empty(self.program)
        empty(self._directory, self._own)


def checked_path(path: str) -> str:
    """A relative path in its normal form.

    Raises:
        BadPath: it is absolute, leads out, or is too long or too deep.
    """
    segments = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or not segments or ".." in segments or "\0" in path:
        raise BadPath(f"not a path below the working directory: {path[:100]!r}; use a relative path without '..'")
    if len(path) > _MAX_PATH_CHARS or len(segments) > _MAX_DEPTH:
        raise BadPath(
            f"too long or too deep a path: {path[:100]!r}; allowed are {_MAX_PATH_CHARS} characters and {_MAX_DEPTH} parts"
        )
    if any(len(os.fsencode(part)) > _MAX_NAME_BYTES for part in segments):
        raise BadPath(f"too long a file name in {path[:100]!r}; at most {_MAX_NAME_BYTES} bytes are allowed")
    return "/".join(segments)


def write_file(directory: str, path: str, data: bytes, mode: int) -> None:
    """Write a new file, with its parent directories, below a directory that no other process writes to."""
    full = os.path.join(directory, path)
    if "/" in path:
        os.makedirs(os.path.dirname(full), 0o755, exist_ok=True)
    with open(full, "xb") as file:
        file.write(data)
        os.fchmod(file.fileno(), mode)


def read_files(directory: str, paths: Sequence[str], max_bytes: int = MAX_FETCHED_BYTES) -> dict[str, bytes]:
    """Read regular files that a run left in its directory, if they exist. No link is followed.

    Files that would make the total longer than `max_bytes` are left out.
    """
    contents: dict[str, bytes] = {}
    for path in paths:
        data = _read_file(directory, path.split("/"), max_bytes)
        if data is not None:
            contents[path] = data
            max_bytes -= len(data)
    return contents


def _read_file(directory: str, segments: Sequence[str], max_bytes: int) -> bytes | None:
    directory_fd = os.open(directory, _DIRECTORY)
    try:
        for part in segments[:-1]:
            child_fd = os.open(part, _DIRECTORY, dir_fd=directory_fd)
            os.close(directory_fd)
            directory_fd = child_fd
        descriptor = os.open(segments[-1], _FILE, dir_fd=directory_fd)
    except OSError:
        return None
    finally:
        os.close(directory_fd)
    try:
        return _content(descriptor, max_bytes)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _content(descriptor: int, max_bytes: int) -> bytes | None:
    status = os.fstat(descriptor)
    # A second link may mean that it is not the run's own file, but one that the run itself could not read.
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or status.st_size > max_bytes:
        return None
    data = bytearray()
    while piece := os.read(descriptor, _PIECE_BYTES):
        data += piece
    return bytes(data)
