"""Judges one block: rows in, rows with verdicts out.

The rows keep their columns, order and types. Verdicts are columns beside them, from `verdict_status` to
`verdict_recipe`; `verdict_detail` and `verdict_checks` are JSON text in Parquet. A few segments of the block are judged
at once, and so memory does not grow with the block.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Generic, Protocol, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from service.rollouts.bad_input import Json
from service.rollouts.blocks import Block, lines_of, rows_of, tables_of
from service.rollouts.columns import Columns, without_nulls
from service.rollouts.judging import Judge, judge_fields
from service.rollouts.manifest import Manifest, failed_name
from service.rollouts.tally import Tally
from service.row_files.reading import Unread
from service.wire import encode

SEGMENT_ROWS: Final = 2048
SEGMENTS_UNDER_WAY: Final = 3
PREFIX: Final = "verdict_"
_JSON_TEXT: Final = ("detail", "checks")
_UNREAD: Final = "unread_line"

RowsT = TypeVar("RowsT")

_TYPES: Final = {
    "status": pa.string(),
    "score": pa.float64(),
    "reward": pa.float64(),
    "reason": pa.string(),
    "verifier": pa.string(),
    "version": pa.string(),
    "extracted": pa.string(),
    "detail": pa.string(),
    "cached": pa.bool_(),
    "elapsed_ms": pa.float64(),
    "checks": pa.string(),
    "recipe": pa.string(),
}
"""The columns of verdicts, without their prefix."""


async def judge_block(filesystem: Any, block: Block, columns: Columns, judge: Judge, manifest: Manifest) -> Tally:
    """Judge all rows of a block, and write them with their verdicts. The block is finished then, unless it was before."""
    if finished := manifest.is_finished(block):
        return finished
    tally = Tally()
    source: _Rows[Any] = _WholeFile(filesystem, block)
    if block.is_parquet:
        source = _Tables(filesystem, block, columns)
    elif block.is_lines:
        source = _Lines(filesystem, block)
    with ExitStack() as files:
        target = _Target(source, files, manifest, block)
        async with aclosing(_judged(source, columns, judge)) as judged:
            async for rows, fields, results in judged:
                await asyncio.to_thread(target.write, rows, results)
                for row_fields, result in zip(fields, results, strict=True):
                    tally.count(result, None if row_fields is None else columns.label_of(row_fields))
    if not target.has_failed:
        manifest.remove(failed_name(block))  # of an earlier attempt
    manifest.finish(block, tally)
    return tally


async def _judged(
    source: "_Rows[RowsT]", columns: Columns, judge: Judge
) -> AsyncGenerator[tuple[RowsT, list[Json | None], list[Json]], None]:
    """The segments of the source in order, with their rows' fields and results."""
    segments = source.segments()
    under_way: deque[tuple[RowsT, list[Json | None], asyncio.Task[list[Json]]]] = deque()

    def read() -> tuple[RowsT, list[Json | None]] | None:
        rows = next(segments, None)
        return None if rows is None else (rows, source.fields(rows))

    try:
        while True:
            while len(under_way) < SEGMENTS_UNDER_WAY and (segment := await asyncio.to_thread(read)):
                rows, fields = segment
                under_way.append((rows, fields, asyncio.create_task(judge_fields(fields, columns, judge))))
            if not under_way:
                return
            rows, fields, task = under_way[0]
            results = await task
            under_way.popleft()
            yield rows, fields, results
    finally:
        for _, _, task in under_way:
            task.cancel()
        await asyncio.gather(*(task for _, _, task in under_way), return_exceptions=True)


def fields_of(table: pa.Table, columns: Columns) -> list[Json]:
    """The fields of each row that count, without nulls. Others, such as lists of tokens, are not read."""
    used = columns.used()
    table = table.select([at for at, name in enumerate(table.column_names) if name in used])
    rows = table.to_pylist()
    if not all(map(_is_plain, table.schema.types)):
        rows = [msgspec.to_builtins(row, enc_hook=str) for row in rows]
    return [without_nulls(row) for row in rows]


def _is_plain(kind: pa.DataType) -> bool:
    """Whether Python's value is what JSON has."""
    of_kind = (pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean, pa.types.is_integer)
    return any(is_kind(kind) for is_kind in of_kind) or pa.types.is_floating(kind)


def verdict_columns(results: Sequence[Json]) -> dict[str, pa.Array]:
    """The results as columns beside those of the rows."""
    return {
        PREFIX + name: pa.array([_cell(name, result.get(name)) for result in results], kind)
        for name, kind in _TYPES.items()
    }


def table_with_verdicts(table: pa.Table, results: Sequence[Json]) -> pa.Table:
    """The rows with their verdicts. Earlier verdicts are replaced."""
    added = verdict_columns(results)
    table = table.select([name for name in table.column_names if name not in added])
    for name, column in added.items():
        table = table.append_column(name, column)
    return table


def _cell(name: str, value: Any) -> Any:
    return encode(value).decode() if name in _JSON_TEXT and value is not None else value


class _Rows(Protocol[RowsT]):
    """The rows of a block in segments, in the form of its file."""

    def segments(self) -> Iterator[RowsT]: ...

    def fields(self, rows: RowsT) -> list[Json | None]: ...

    def with_verdicts(self, rows: RowsT, results: Sequence[Json]) -> RowsT: ...

    def chosen(self, rows: RowsT, positions: Sequence[int]) -> RowsT: ...

    def writer(self, stack: ExitStack, manifest: Manifest, name: str) -> Callable[[RowsT], None]: ...


class _Target(Generic[RowsT]):
    """The output of a block: all rows in one file, and those that could not be judged in another, if there are any."""

    def __init__(self, source: _Rows[RowsT], files: ExitStack, manifest: Manifest, block: Block) -> None:
        self._source, self._files, self._manifest = source, files, manifest
        self._failed_name = failed_name(block)
        self._write = self._open(block.name)
        self._write_failed: Callable[[RowsT], None] | None = None

    @property
    def has_failed(self) -> bool:
        return self._write_failed is not None

    def write(self, rows: RowsT, results: Sequence[Json]) -> None:
        self._write(self._source.with_verdicts(rows, results))
        missed = [at for at, result in enumerate(results) if result["status"] == "failed"]
        if missed:
            self._write_failed = self._write_failed or self._open(self._failed_name)
            self._write_failed(self._source.chosen(rows, missed))

    def _open(self, name: str) -> Callable[[RowsT], None]:
        return self._source.writer(self._files, self._manifest, name)


@dataclass(frozen=True, slots=True)
class _Tables:
    """Rows of Parquet."""

    filesystem: Any
    block: Block
    columns: Columns

    def segments(self) -> Iterator[pa.Table]:
        return tables_of(self.filesystem, self.block, SEGMENT_ROWS)

    def fields(self, rows: pa.Table) -> list[Json | None]:
        return [*fields_of(rows, self.columns)]

    def with_verdicts(self, rows: pa.Table, results: Sequence[Json]) -> pa.Table:
        return table_with_verdicts(rows, results)

    def chosen(self, rows: pa.Table, positions: Sequence[int]) -> pa.Table:
        return rows.take(pa.array(positions, pa.int64()))

    def writer(self, stack: ExitStack, manifest: Manifest, name: str) -> Callable[[pa.Table], None]:
        out = stack.enter_context(manifest.creating(name))
        writers: list[pq.ParquetWriter] = []

        def write(rows: pa.Table) -> None:
            if not writers:
                writers.append(stack.enter_context(pq.ParquetWriter(out, rows.schema)))
            writers[0].write_table(rows)

        return write


@dataclass(frozen=True, slots=True)
class _Lines:
    """Rows of JSON lines. What a line holds stays as it is written."""

    filesystem: Any
    block: Block

    def segments(self) -> Iterator[list[bytes]]:
        lines = lines_of(self.filesystem, self.block)
        return iter(lambda: [*islice(lines, SEGMENT_ROWS)], [])

    def fields(self, rows: list[bytes]) -> list[Json | None]:
        return [_object(line) for line in rows]

    def with_verdicts(self, rows: list[bytes], results: Sequence[Json]) -> list[bytes]:
        return [_extended(line, result) for line, result in zip(rows, results, strict=True)]

    def chosen(self, rows: list[bytes], positions: Sequence[int]) -> list[bytes]:
        return [rows[at].strip() + b"\n" for at in positions]

    def writer(self, stack: ExitStack, manifest: Manifest, name: str) -> Callable[[list[bytes]], None]:
        out = stack.enter_context(manifest.creating(name))
        return lambda rows: out.write(b"".join(rows))


@dataclass(frozen=True, slots=True)
class _WholeFile:
    """Rows of a file of another form: CSV, a JSON array, a packed one. They are written as JSON lines."""

    filesystem: Any
    block: Block

    def segments(self) -> Iterator[list[Json | Unread]]:
        rows = rows_of(self.filesystem, self.block.path)
        return iter(lambda: [*islice(rows, SEGMENT_ROWS)], [])

    def fields(self, rows: list[Json | Unread]) -> list[Json | None]:
        return [None if isinstance(row, Unread) else row for row in rows]

    def with_verdicts(self, rows: list[Json | Unread], results: Sequence[Json]) -> list[Json | Unread]:
        return [
            ({_UNREAD: row.problem} if isinstance(row, Unread) else row) | _prefixed(result)
            for row, result in zip(rows, results, strict=True)
        ]

    def chosen(self, rows: list[Json | Unread], positions: Sequence[int]) -> list[Json | Unread]:
        return [rows[at] for at in positions]

    def writer(self, stack: ExitStack, manifest: Manifest, name: str) -> Callable[[list[Json | Unread]], None]:
        out = stack.enter_context(manifest.creating(name))
        return lambda rows: out.write(b"".join(json.dumps(row, default=str).encode() + b"\n" for row in rows))


def _prefixed(result: Json) -> Json:
    return {PREFIX + name: result.get(name) for name in _TYPES}


def _object(line: bytes) -> Json | None:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _extended(line: bytes, result: Json) -> bytes:
    """The line with its verdict. The text of the line stays, unless it holds an earlier verdict."""
    verdict = _prefixed(result)
    fields = _object(line)
    if fields is None:
        return encode({_UNREAD: line.decode(errors="replace").strip(), **verdict}) + b"\n"
    if not fields or verdict.keys() & fields.keys():
        return json.dumps(fields | verdict).encode() + b"\n"
    return line.strip()[:-1] + b"," + encode(verdict)[1:] + b"\n"
