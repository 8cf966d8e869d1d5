"""The input files of a run, and the blocks that they are read in.

A block of a Parquet file is some row groups; a block of JSON lines is the lines that begin within a range of bytes. So
any process can read any block without reading what is before it. A file of another form (CSV, a JSON array, a packed
one) is one block. Files are wherever pyarrow finds them: below a local
path, or a URI such as `s3://bucket/rollouts/*.parquet`. In a URI `?` begins options of the file system.
"""

import io
import itertools
import json
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from service.rollouts.bad_input import BadInput, Json
from service.rollouts.columns import Columns, without_nulls
from service.row_files import reading as row_files
from service.row_files.reading import Unread
from service.row_files.unpack import PACKED_SUFFIXES

PARQUET: Final = ".parquet"
LINES: Final = (".jsonl", ".ndjson")
SUFFIXES: Final = tuple(form + packing for form in row_files.SUFFIXES for packing in ("", *PACKED_SUFFIXES))
BLOCK_ROWS: Final = 50_000
BLOCK_BYTES: Final = 64_000_000
READERS: Final = 16
"""Threads that read many small things, such as the ends of Parquet files, which may be far away."""
_WILD: Final = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an input file."""

    index: int
    """Blocks are numbered in the order of the rows: by file, then by place."""
    path: str
    """In the file system of the input."""
    start: int
    """The first row group, or the first byte."""
    end: int
    """The row group or byte after the last one."""
    nbytes: int
    """About its size in the file, for progress."""
    modified_ns: int

    @property
    def is_parquet(self) -> bool:
        return self.path.endswith(PARQUET)

    @property
    def is_lines(self) -> bool:
        return self.path.endswith(LINES)

    @property
    def name(self) -> str:
        """The name of what comes of the block. Names in order are blocks in order."""
        return f"part-{self.index:06}{PARQUET if self.is_parquet else '.jsonl'}"


def located(location: str) -> tuple[Any, str]:
    """The file system of a path or URI, and the path in it.

    Raises:
        BadInput: there is no such file system, or it cannot be reached.
    """
    try:
        if "://" in location:
            filesystem, path = fs.FileSystem.from_uri(location)
            return filesystem, path
        return fs.LocalFileSystem(), str(Path(location).absolute())
    except (OSError, ValueError, pa.ArrowException) as error:
        raise BadInput(f"{location}: {error}") from error


def plan(source: str, columns: Columns) -> tuple[Any, list[Block]]:
    """The file system of the input, and its blocks.

    Args:
        source: A file, a folder with all below it, or a pattern with `*`, `[...]` and, but in a URI, `?` within parts of
            the path.
        columns: Which fields a row must have.

    Raises:
        BadInput: there is no such file, one cannot be read, or it has no responses.
    """
    filesystem, files = _files(source)
    with ThreadPoolExecutor(READERS) as pool:
        block_spans = itertools.chain.from_iterable(pool.map(lambda file: [*_parts(filesystem, file, columns)], files))
        return filesystem, [
            Block(index, file.path, start, end, nbytes, file.mtime_ns or 0)
            for index, (file, start, end, nbytes) in enumerate(block_spans)
        ]


def _files(source: str) -> tuple[Any, list[Any]]:
    """The input files in the order of their paths."""
    path, mark, options = source.partition("?") if "://" in source else (source, "", "")
    steps = path.split("/")
    fixed = next((at for at, step in enumerate(steps) if _WILD & {*step}), len(steps))
    pattern = steps[fixed:]
    filesystem, base = located(("/".join(steps[:fixed]) or ("/" if source.startswith("/") else ".")) + mark + options)
    try:
        info = filesystem.get_file_info(base)
        infos = [info]
        if info.type == fs.FileType.Directory:
            infos = filesystem.get_file_info(fs.FileSelector(base, recursive=len(pattern) != 1))
    except (OSError, pa.ArrowException) as error:
        raise BadInput(f"{source}: {error}") from error
    files = [f for f in infos if f.type == fs.FileType.File and _is_meant(f.path, base, pattern)]
    if not files:
        raise BadInput(f"{source}: no file here ends in one of {', '.join(row_files.SUFFIXES)}, also with .gz or .zst")
    return filesystem, sorted(files, key=lambda file: str(file.path))


def _is_meant(path: str, base: str, pattern: Sequence[str]) -> bool:
    """What is hidden, and what other runs have noted, is read only if the pattern names it."""
    inside = PurePosixPath(path).relative_to(PurePosixPath(base)).parts if path != base else ()
    if not path.endswith(SUFFIXES):
        return False
    if not pattern:
        return not any(part.startswith(("_", ".")) for part in inside)
    return len(inside) == len(pattern) and all(map(fnmatchcase, inside, pattern))


def _parts(filesystem: Any, file: Any, columns: Columns) -> Iterator[tuple[Any, int, int, int]]:
    """Each part of a file: the file, where the part starts and ends, and its bytes.

    Raises:
        BadInput: the file cannot be read, or has no responses.
    """
    try:
        if file.path.endswith(PARQUET):
            yield from _row_groups(filesystem, file, columns)
        elif not file.path.endswith(LINES):
            _check_first_row(filesystem, file, columns)
            yield file, 0, file.size, file.size
        else:
            _check_first_line(filesystem, file, columns)
            for start in range(0, file.size, BLOCK_BYTES):
                end = min(start + BLOCK_BYTES, file.size)
                yield file, start, end, end - start
    except (OSError, pa.ArrowException) as error:
        raise BadInput(f"{file.path}: {error}") from error


def _row_groups(filesystem: Any, file: Any, columns: Columns) -> Iterator[tuple[Any, int, int, int]]:
    with filesystem.open_input_file(file.path) as stream:
        read = pq.ParquetFile(stream)
        columns.need_response(read.schema_arrow.names, file.path)
        start = rows = nbytes = 0
        for at in range(read.metadata.num_row_groups):
            group = read.metadata.row_group(at)
            if rows and rows + group.num_rows > BLOCK_ROWS:
                yield file, start, at, nbytes
                start, rows, nbytes = at, 0, 0
            rows += group.num_rows
            nbytes += group.total_byte_size
        if rows:
            yield file, start, read.metadata.num_row_groups, nbytes


def _check_first_line(filesystem: Any, file: Any, columns: Columns) -> None:
    """
    Raises:
        BadInput: the first line is a row without a response. So are probably all.
    """
    with io.BufferedReader(filesystem.open_input_file(file.path)) as lines:
        line = lines.readline()
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return  # a line that cannot be read is a row that is invalid
    if isinstance(fields, dict):
        columns.need_response(fields, f"{file.path}, line 1,")


def _check_first_row(filesystem: Any, file: Any, columns: Columns) -> None:
    """The same for a file that is read whole. One that is far away is not fetched for it."""
    if isinstance(filesystem, fs.LocalFileSystem):
        rows = rows_of(filesystem, file.path)
        first = next((row for row in rows if isinstance(row, dict)), None)
        rows.close()
        if first is None:
            raise BadInput(f"{file.path} has no row that is a JSON object")
        columns.need_response(first, file.path)


def rows_of(filesystem: Any, path: str) -> Generator[Json | Unread]:
    """The rows of a whole file, of any form.

    Raises:
        BadInput: the file cannot be read.
    """
    with _local_copy(filesystem, path) as copy:
        file = row_files.DataFile(copy, max_line_bytes=row_files.MAX_OWN_LINE_BYTES)
        try:
            for _, row, _ in file.lines():
                if isinstance(row, dict):
                    yield without_nulls(row) if file.pads_rows else row
                else:
                    yield row if isinstance(row, Unread) else Unread("the row is not a JSON object")
        except row_files.BadData as error:
            raise BadInput(f"{path}: {error}") from error


@contextmanager
def _local_copy(filesystem: Any, path: str) -> Iterator[Path]:
    if isinstance(filesystem, fs.LocalFileSystem):
        yield Path(path)
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / PurePosixPath(path).name
        fs.copy_files(path, str(copy), source_filesystem=filesystem, destination_filesystem=fs.LocalFileSystem())
        yield copy


def lines_of(filesystem: Any, block: Block) -> Iterator[bytes]:
    """The lines that begin in the block, without blank ones."""
    with io.BufferedReader(filesystem.open_input_file(block.path)) as lines:
        position = lines.seek(max(block.start - 1, 0))
        for number, line in enumerate(lines):
            line_start, position = position, position + len(line)
            if line_start >= block.end:
                return
            if (number or not block.start) and line.strip():
                yield line


def tables_of(filesystem: Any, block: Block, rows: int) -> Iterator[pa.Table]:
    """The rows of the block, some at a time. A table keeps the schema of its file."""
    with filesystem.open_input_file(block.path) as stream:
        read = pq.ParquetFile(stream)
        for batch in read.iter_batches(batch_size=rows, row_groups=[*range(block.start, block.end)]):
            yield pa.Table.from_batches([batch])
