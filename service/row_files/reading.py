"""Reads the file of a data set, of any length, and damaged in any way: JSON lines, a JSON array, CSV, TSV, Parquet, a
folder of Hugging Face `datasets`; in UTF-8 or UTF-16; packed with gzip or zstd.

Memory is bounded by the longest line that is taken. All but plain JSON lines is read by another process, because a small
file can unpack to any size, or crash its reader.
"""

import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import IO, Any, Final

import msgspec

from service.row_files.unpack import (
    DELIMITERS,
    GZIP,
    INSPECT,
    PACKED_SUFFIXES,
    PARQUET,
    UTF16,
    ZSTD,
    is_array,
    is_object,
)

MAX_LINE_BYTES: Final = 8_000_000
"""A longer line is a finding."""
MAX_OWN_LINE_BYTES: Final = 256_000_000
"""The same for the files of somebody who runs a command, and has the memory to himself."""
NO_PYARROW: Final = "Parquet and saved data sets need pyarrow: pip install 'rewardline-server[parquet]'"
SUFFIXES: Final = (".jsonl", ".ndjson", ".json", *DELIMITERS, ".parquet", INSPECT)
"""Of the files that are read, packed or not."""
_FOREIGN: Final = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_BOM: Final = b"\xef\xbb\xbf"
_HEAD_BYTES: Final = 64
_SKIPPED_BYTES: Final = 1_000_000
_SECOND_TRY_BYTES: Final = 1_000_000
"""Python's own JSON reader holds up all threads while it reads."""
_UNPACKER: Final = Path(__file__).with_name("unpack.py")
_MAX_COMPLAINT_BYTES: Final = 2_000


class BadData(Exception):
    """The file cannot be read as a data set. The message says why."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A line that holds no row. `problem` says why, and what to write."""

    problem: str


Line = tuple[int, Any, int]
"""The number of a line or row from 1, its value (or `Unread`), and its bytes."""


def has_parquet() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def stem_of(path: Path) -> str:
    """The name without the endings of a form and its packing."""
    name = path.name
    for suffixes in (PACKED_SUFFIXES, SUFFIXES):
        name = next((name.removesuffix(suffix) for suffix in suffixes if name.endswith(suffix)), name)
    return name


def is_saved_dataset(path: Path) -> bool:
    """Whether Hugging Face `datasets` has saved a data set in this folder."""
    return (path / "state.json").is_file() or (path / "dataset_dict.json").is_file()


class DataFile:
    """A file that is read once. One thread reads, others may look at its progress, or stop it."""

    def __init__(self, path: Path, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._path = path
        self._max_line_bytes = max_line_bytes
        self._stopped = False
        self._unpacker: subprocess.Popen[bytes] | None = None
        self._guard = threading.Lock()
        """Guards `_stopped` and `_unpacker`: no process begins after the stop."""
        self.size = 0
        self.position = 0
        """Bytes that have been read."""
        self.pads_rows = False
        """Whether rows have nulls that are there to give all the same fields, as in Parquet."""
        self.total_rows: int | None = None
        """None: not known, or not yet."""

    def stop(self) -> None:
        """End the reading. The reader sees the end of the file."""
        with self._guard:
            self._stopped = True
            if self._unpacker is not None:
                self._unpacker.kill()

    def lines(self) -> Iterator[Line]:
        """Every line that is not blank.

        Raises:
            BadData: the file cannot be read.
        """
        if is_saved_dataset(self._path):
            yield from self._by_unpacker(needs_pyarrow=True)
            return
        if self._path.is_dir():
            raise BadData("it is a folder, and no data set that Hugging Face's `save_to_disk` has written")
        try:
            with self._path.open("rb") as file:
                self.size = self._path.stat().st_size
                head = file.read(_HEAD_BYTES)
                file.seek(len(_BOM) if head.startswith(_BOM) else 0)
                if head.startswith(PARQUET) or ".parquet" in self._path.suffixes:
                    yield from self._by_unpacker(needs_pyarrow=True)
                elif self._needs_unpacker(head):
                    yield from self._by_unpacker()
                else:
                    yield from self._json(file)
        except OSError as error:
            raise BadData(error.strerror or str(error)) from error

    def _needs_unpacker(self, head: bytes) -> bool:
        """
        Raises:
            BadData: the file is packed as nothing here can unpack it.
        """
        suffix = self._path.suffix
        for mark, name in _FOREIGN.items():
            if head.startswith(mark) and suffix != INSPECT:
                raise BadData(f"the file is packed with {name}; unpack it first, or pack it with gzip or zstd")
        if head.startswith((GZIP, ZSTD, *UTF16)) or suffix in (*DELIMITERS, INSPECT):
            return True
        return is_array(head, suffix) or is_object(head, suffix)

    def _json(self, file: IO[bytes]) -> Iterator[Line]:
        for number, line, nbytes in self._bounded(file):
            self.position += nbytes
            if line is None:
                yield number, Unread(f"the line has more than {self._max_line_bytes / 1e6:g} MB; split or drop it"), 0
            elif not line.isspace():
                yield number, decoded(line), nbytes

    def _bounded(self, file: IO[bytes]) -> Iterator[tuple[int, bytes | None, int]]:
        """Each line with its bytes. None stands for a line that is too long; it is skipped without being held."""
        number = 0
        while not self._stopped and (line := file.readline(self._max_line_bytes + 1)):
            number += 1
            nbytes = len(line)
            if nbytes <= self._max_line_bytes:
                yield number, line, nbytes
                continue
            while not self._stopped and not line.endswith(b"\n") and (line := file.readline(_SKIPPED_BYTES)):
                nbytes += len(line)
            yield number, None, nbytes

    def _by_unpacker(self, *, needs_pyarrow: bool = False) -> Iterator[Line]:
        self.pads_rows = needs_pyarrow
        if needs_pyarrow and not has_parquet():
            raise BadData(NO_PYARROW)
        with self._guard:
            if self._stopped:
                return
            self._unpacker = subprocess.Popen(  # noqa: S603 - our own file, in an interpreter without our variables
                [sys.executable, "-I", str(_UNPACKER), str(self._path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"},
            )
        try:
            assert self._unpacker.stdout is not None
            yield from self._unpacked(self._unpacker.stdout)
            code = self._unpacker.wait()
        finally:
            self._unpacker.kill()
            self._unpacker.wait()
            if self._unpacker.stdout is not None:
                self._unpacker.stdout.close()
        if code and not self._stopped:
            raise BadData("the file's reader died; write the file anew")

    def _unpacked(self, pipe: IO[bytes]) -> Iterator[Line]:
        """The rows from the other process: first their number, then a line for each.

        Raises:
            BadData: the other process says why.
        """
        total: int | None = None
        for number, line, nbytes in self._bounded(pipe):
            if line is not None and line.startswith(b"!"):
                raise BadData(line[1:_MAX_COMPLAINT_BYTES].decode(errors="replace").strip())
            if number == 1:
                self.total_rows = total = int(line) if line and line.strip().isdigit() else None
                continue
            if line is None:
                problem = f"the row has more than {self._max_line_bytes / 1e6:g} MB as JSON; split or drop it"
                yield number - 1, Unread(problem), 0
            elif line.startswith(b"-"):
                yield number - 1, Unread(line[1:].decode().strip()), nbytes
            elif line != b"+\n":
                yield number - 1, decoded(line[1:]), nbytes
            if total:
                self.position = int(self.size * (number - 1) / total)


def decoded(line: bytes) -> Any:
    """The value of a line, or `Unread`."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        if len(line) > _SECOND_TRY_BYTES:
            return Unread("the line is not JSON")
    try:
        return json.loads(line)  # takes NaN and other encodings, too
    except UnicodeDecodeError:
        return Unread("the line is not UTF-8; write the file in UTF-8")
    except RecursionError:
        return Unread("the line is nested too deeply")
    except ValueError as error:
        return Unread(f"the line is not JSON: {error}")


def drawn(count: int, size: int, seed: int) -> frozenset[int]:
    """Positions, from 0, of so many of the rows; the same for the same seed."""
    return frozenset(Random(seed).sample(range(count), min(size, count)))  # noqa: S311 - a sample is not a secret
