"""Files of the log as tables of DuckDB, opened for one query.

DuckDB reads all forms of files by itself and without Python's lock, so that scoring goes on beside it. It gets
descriptors instead of names: a name is never a pattern, a file that is packed or deleted meanwhile stays readable, and
no other file can be reached. Values of callers are bound; no text of theirs is ever SQL, but for conditions that
`condition` has read and written anew.

This module is imported when a log is first searched: DuckDB is large.
"""

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Final, Self

import duckdb

from service.observe.audit_log import reader
from service.observe.audit_log.columns import COLUMNS, JSON, STEP
from service.observe.audit_log.files import CLOSED, LIVE

_MEMORY: Final = "1GB"
_MAX_LINE_BYTES: Final = 64_000_000
_MADE_BY: Final = "made_by"
"""The field of the first line that `rewardline score` writes."""
_DELETED: Final = " (deleted)"
"""What Linux puts after the name of a file that has been deleted."""
_RESCUED: Final = 8
"""Damaged files of which what is whole is read. Of more, nothing is."""
_RESCUED_BYTES: Final = 1_000_000_000
_SETTINGS: Final = {
    "threads": 1,
    "memory_limit": _MEMORY,
    "temp_directory": "",
    # A descriptor's number is given to another file later.
    "enable_external_file_cache": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


class Stopped(Exception):
    """The query was stopped, because it took too long or nobody waits for it."""


@dataclass(slots=True)
class Tally:
    """What was read."""

    files: int = 0
    rows: int = 0
    damaged_rows: int = 0
    """Lines that are not whole records, as a crash may leave one."""
    damaged_files: list[str] = field(default_factory=list)
    """The names of files that end too early or cannot be read, each with a message."""

    def as_json(self, files_left: int = 0) -> dict[str, Any]:
        return {"files_left": files_left, **asdict(self)}


@dataclass(slots=True)
class Table:
    """One file."""

    key: str
    """What tells the file from the others, whatever form it has by now."""
    path: Path
    rows: str
    """SQL that gives its rows. `line` counts them, from 1; `moment` is the time, `step` the trainer's step."""
    lines: tuple[str, int] | None = None
    """The compression and the descriptor of a file of JSON lines that stands alone."""
    is_readable: bool = True


class Tables:
    """Some files, opened together. Only `stop` may be called from another thread."""

    error: ClassVar[type[Exception]] = duckdb.Error
    """What SQL raises. Who only writes SQL need not load the library."""

    def __init__(self, paths: Sequence[Path], output: int | None = None) -> None:
        """`output` is a descriptor that SQL may write to."""
        self.tally = Tally()
        self.tables: list[Table] = []
        self._paths = paths
        self._output = output
        self._closing = ExitStack()
        self._spares: list[int] = []
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            files = [(path, self._open(path, stack)) for path in self._paths]
            with contextlib.suppress(OSError):  # there may be no place for temporary files
                for _ in range(_RESCUED):
                    self._spares.append(stack.enter_context(tempfile.TemporaryFile()).fileno())
            self._connection = duckdb.connect(":memory:", config=_SETTINGS)
            stack.callback(self._connection.close)
            readable = [file for _, file in files if file is not None]
            self._lock([*readable, *self._spares, *([] if self._output is None else [self._output])])
            for path, file in files:
                if file is not None:
                    self._add(path, file)
            self._closing = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def stop(self) -> None:
        """End the query. Its thread raises `Stopped` soon; call again until it has."""
        self._stopped.set()
        if self._connection is not None:
            with contextlib.suppress(duckdb.ConnectionException):  # closed in this moment
                self._connection.interrupt()

    def sql(self, text: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a statement.

        Raises:
            Stopped
            MemoryError
            duckdb.Error: a file is damaged.
        """
        if self._stopped.is_set():
            raise Stopped
        assert self._connection is not None
        try:
            rows: list[tuple[Any, ...]] = self._connection.execute(text, values).fetchall()
        except duckdb.InterruptException as error:
            raise Stopped from error
        except duckdb.OutOfMemoryException as error:
            raise MemoryError("the query needs more than it may have") from error
        return rows

    def read(self, table: Table, select: Callable[[str], str], values: Mapping[str, Any] | None = None) -> bool:
        """Run a statement on a file. `select` makes it of the SQL for the file's rows. False if the file cannot be read;
        then the tally says so.
        """
        if not table.is_readable:
            return False
        try:
            self.sql(select(table.rows), values)
        except duckdb.Error as error:
            self._complain(table.path, str(error).partition("\n")[0])
            table.is_readable = self._rescue(table)
            return self.read(table, select, values)
        return True

    def together(self, tables: Sequence[Table]) -> list[str]:
        """SQL for the rows of some files: few statements, because each file in a union would hold memory of its own."""
        rows = [table.rows for table in tables if table.lines is None]
        by_compression: dict[str, list[int]] = {}
        for table in tables:
            if table.lines is not None:
                by_compression.setdefault(table.lines[0], []).append(table.lines[1])
        rows += (_numbered(_json(files, how)) for how, files in by_compression.items())
        none = ", ".join(f"NULL::{kind} AS {name}" for name, kind in COLUMNS.items())
        return rows or [_numbered(f"SELECT {none} WHERE false")]

    def _open(self, path: Path, stack: ExitStack) -> int | None:
        """Open a file, wherever it is by now. None if it is gone, because it was the oldest, or cannot be opened."""
        for candidate in (path, reader.elsewhere(path)):
            if candidate is None:
                break
            try:
                descriptor = os.open(candidate, os.O_RDONLY | os.O_NONBLOCK)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._complain(candidate, error.strerror or str(error))
                return None
            stack.callback(os.close, descriptor)
            return descriptor
        return None

    def _lock(self, descriptors: Sequence[int]) -> None:
        """From here on SQL reaches these files only, and can set nothing."""
        paths = dict.fromkeys(path for descriptor in descriptors for path in _places(descriptor))
        allowed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
        self.sql(f"SET allowed_paths = [{allowed}]")
        self.sql("SET enable_external_access = false")
        self.sql("SET lock_configuration = true")

    def _add(self, path: Path, file: int) -> None:
        try:
            rows = self._rows(file)
        except duckdb.Error as error:
            self._complain(path, str(error).partition("\n")[0])
            return
        compression = _compression(file)
        lines = None if compression is None else (compression, file)
        self.tables.append(Table(reader.key_of(path), path, _numbered(rows), lines))

    def _rows(self, file: int) -> str:
        """SQL for the rows of a file of any form."""
        compression = _compression(file)
        if compression is not None:
            return _json([file], compression)
        source = f"read_parquet('{_place(file)}')"
        kinds = {name: kind for name, kind, *_ in self.sql(f"DESCRIBE SELECT * FROM {source}")}
        cast = [f"{_cast(name, kind, kinds.get(name))} AS {name}" for name, kind in COLUMNS.items()]
        return f"SELECT {', '.join(cast)} FROM {source}"

    def _complain(self, path: Path, why: str) -> None:
        """Note a damaged file. DuckDB knows it by its descriptor, which says nothing to people."""
        reason = " ".join(word for word in why.split() if "/proc/self/fd/" not in word).rstrip(": ")
        self.tally.damaged_files.append(f"{path.name}: {reason}")

    def _rescue(self, table: Table) -> bool:
        """Copy what is whole of a damaged file: one that ends too early, or has a line that is too long for DuckDB."""
        if not self._spares or table.path.suffix == ".parquet":
            return False
        descriptor = self._spares.pop()
        room = _RESCUED_BYTES
        with open(descriptor, "wb", closefd=False) as rescued:
            for line in reader.lines(table.path, []):
                room -= len(line)
                if room < 0 or self._stopped.is_set():
                    break
                if line.endswith(b"\n"):
                    rescued.write(line)
        table.rows = _numbered(_json([descriptor], "none"))
        table.lines = "none", descriptor
        return True


def _place(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def _places(descriptor: int) -> list[str]:
    """What a descriptor leads to, and what its file will be called when it is closed, or packed and deleted: DuckDB
    asks for the name each time.
    """
    name = os.readlink(_place(descriptor))
    names = dict.fromkeys((name, name.removesuffix(LIVE) + CLOSED if name.endswith(LIVE) else name))
    return [_place(descriptor), *names, *(f"{file_name}{_DELETED}" for file_name in names)]


def _compression(file: int) -> str | None:
    """How lines are packed. None for Parquet."""
    name = os.readlink(_place(file)).removesuffix(_DELETED)
    if name.endswith(".parquet"):
        return None
    return "gzip" if name.endswith(".gz") else "zstd" if name.endswith(".zst") else "none"


def _json(descriptors: Sequence[int], compression: str) -> str:
    """Lines that are not objects give rows of nulls. What `rewardline score` was run with is not a row."""
    declared = ", ".join(f"{name}: '{kind}'" for name, kind in (*COLUMNS.items(), (_MADE_BY, JSON)))
    return (
        f"SELECT * EXCLUDE {_MADE_BY} FROM read_json({list(map(_place, descriptors))}, format = 'newline_delimited', columns = {{{declared}}}, "
        f"compression = '{compression}', ignore_errors = true, maximum_object_size = {_MAX_LINE_BYTES}) "
        f"WHERE {_MADE_BY} IS NULL"
    )


def _numbered(rows: str) -> str:
    return (
        f"(SELECT row_number() OVER () AS line, try_cast(time AS TIMESTAMP) AS moment, {STEP} AS step, * FROM ({rows}))"
    )


def _cast(name: str, kind: str, stored_kind: str | None) -> str:
    """A column of a Parquet file, in the type that it has in JSON lines."""
    if stored_kind is None:
        return f"NULL::{kind}"
    if name == "time" and stored_kind.startswith("TIMESTAMP"):
        return f"make_timestamp(epoch_us({name}))"
    if stored_kind.startswith("STRUCT") or stored_kind.endswith("]") or (name == "id" and stored_kind != JSON):
        return f"to_json({name})::{kind}"
    return f"try_cast({name} AS {kind})"
