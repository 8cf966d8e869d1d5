"""Writes the rows of a file that is more than JSON lines as JSON lines: Parquet, a folder of Hugging Face `datasets`, CSV
and TSV, a JSON array or object, logs of Inspect, lines in UTF-16, and all but the folder packed with gzip or zstd.

It runs as a process of its own (`files.py`), confined like a worker before it loads the libraries that read the file. Its
first line is the number of rows, `?` if that is not known. Then a line begins with `+` and holds a row, or with `-` if the
row cannot be read, or with `!` if the file cannot be; these say why. A line with `+` alone stands for a blank one.
"""

import codecs
import csv
import gzip
import io
import resource
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import msgspec
import zstandard

from sandbox.workers.confine import confine, leave_network

if TYPE_CHECKING:
    from pyarrow import RecordBatch

PARQUET: Final = b"PAR1"
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
PACKED_SUFFIXES: Final = (".gz", ".zst")
INSPECT: Final = ".eval"
"""A log of Inspect: a zip archive with a file for each sample."""

_MEMORY_MB = 1900
"""Address space beside the interpreter; the libraries take about a quarter of it."""
_CPU_S = 3600
_BATCH_ROWS = 64
_MAX_CELL_CHARS = 256_000_000
_MAX_LINE_BYTES = 256_000_000
_ROW_LISTS = ("samples", "data")
"""What holds the rows of a file that is one object: `samples` in logs of Inspect."""
_DAMAGE = (
    *(OSError, EOFError, ValueError, NotImplementedError, zlib.error, zipfile.BadZipFile, zstandard.ZstdError),
    csv.Error,
)


def main(path: str) -> None:
    """Write the rows of the file to standard output."""
    leave_network()
    confine(_MEMORY_MB)
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    try:
        _write_rows(path)
    except MemoryError:
        _give_up("it needs more memory than there is; write JSON lines or Parquet with smaller rows")
    except BrokenPipeError:
        sys.exit("nobody reads")
    except _DAMAGE as error:
        _give_up(f"it cannot be read: {error}")


def _write_rows(path: str) -> None:
    file_path = Path(path)
    if file_path.is_dir():
        _write_batches(None, _batches_of_folder(file_path))
        return
    with file_path.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        if head == PARQUET or file_path.suffix == ".parquet":
            _write_parquet(file)
            return
        unpacked = _unpacked(file, head)
        if unpacked.peek(len(PARQUET)).startswith(PARQUET):
            _write_parquet(io.BytesIO(unpacked.read()))
            return
        _write(b"?\n")
        for line in _samples(file) if file_path.suffix == INSPECT else _lines(unpacked, file_path):
            _write((line if line.startswith(_UNREAD) else b"+" + line.rstrip(b"\r\n")) + b"\n")


def _unpacked(file: io.BufferedReader, head: bytes) -> io.BufferedReader:
    if head.startswith(GZIP):
        return io.BufferedReader(gzip.GzipFile(fileobj=file))
    if head.startswith(ZSTD):
        return io.BufferedReader(_Zstd(file))
    return file


class _Zstd(io.RawIOBase):
    """The content of a file packed with zstd. Unlike the library's reader it knows whether the last frame has ended."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._frame: Any = None
        self._packed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer.

        Raises:
            EOFError: the file ends within a frame.
        """
        while not self._ready:
            self._packed = self._packed or self._file.read(_PACKED_BYTES)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the file ends within a frame of zstd")
                return 0
            self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
            self._ready = memoryview(self._frame.decompress(self._packed))
            self._packed = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


_PACKED_BYTES = 4096
"""Read at once: they may unpack to a hundred megabytes."""


_UNREAD = b"-the row"
_HEADER_BYTES = 4096
_OTHER_DELIMITERS = (";", "\t")
"""Spreadsheets write these where a comma is a decimal mark."""


def _lines(buffered: io.BufferedReader, file_path: Path) -> Iterator[bytes]:
    """The rows as JSON, one to a line, as yet unchecked. A line that begins with `-` says why there is no row."""
    encoding = "utf-16" if buffered.peek(2)[:2] in UTF16 else "utf-8-sig"
    suffix = next((name for name in reversed(file_path.suffixes) if name not in PACKED_SUFFIXES), "")
    if (delimiter := DELIMITERS.get(suffix)) is not None:
        csv.field_size_limit(_MAX_CELL_CHARS)
        header = buffered.peek(_HEADER_BYTES)[:_HEADER_BYTES].decode(encoding, "ignore").partition("\n")[0]
        delimiter = next((mark for mark in (delimiter, *_OTHER_DELIMITERS) if mark in header), delimiter)
        text = io.TextIOWrapper(buffered, encoding, errors="surrogateescape", newline="")
        yield from _named(csv.reader(text, delimiter=delimiter, strict=True))
    elif is_array(buffered.peek(64)[:64], suffix, encoding):
        rows = msgspec.json.decode(buffered.read().decode(encoding), type=list[msgspec.Raw])
        yield from (msgspec.json.format(bytes(row), indent=-1) for row in rows)
    elif suffix == ".json":
        yield from _of_object(buffered, encoding)
    elif encoding == "utf-16":
        yield from (line.encode() for line in io.TextIOWrapper(buffered, encoding))
    else:
        while line := buffered.readline(_MAX_LINE_BYTES):
            yield line


def is_array(head: bytes, suffix: str, encoding: str = "utf-8-sig") -> bool:
    """Whether a file that begins so is one list of objects, not lines."""
    start = "".join(head.decode(encoding, "ignore").split(" "))
    return start.lstrip().startswith("[") and (suffix == ".json" or start.lstrip()[1:].lstrip()[:1] in ("{", ""))


def is_table(head: bytes) -> bool:
    """Whether a file without a name that begins so, packed or not, is CSV or TSV."""
    try:
        start = _unpacked(io.BufferedReader(io.BytesIO(head)), head).peek(_HEADER_BYTES)[:_HEADER_BYTES]
    except _DAMAGE:
        return False
    text = start.decode("utf-16" if start[:2] in UTF16 else "utf-8-sig", "ignore").lstrip()
    return not text.startswith(("{", "[", PARQUET.decode()))


def is_object(head: bytes, suffix: str) -> bool:
    """Whether a file that begins so may be one object, not an object to a line."""
    return suffix == ".json" and head.lstrip().startswith(b"{")


def _of_object(buffered: io.BufferedReader, encoding: str) -> Iterator[bytes]:
    """The rows of a file that is one object: those that it lists, or itself. A file of lines gives its lines."""
    text = io.TextIOWrapper(buffered, encoding)
    lines = [text.readline()]
    try:
        whole = msgspec.json.decode(lines[0])
        for line in text:
            lines.append(line)
            if line.strip():
                yield from (line.encode() for line in chain(lines, text))
                return
    except msgspec.DecodeError:
        lines += text
        try:
            whole = msgspec.json.decode("".join(lines))
        except msgspec.DecodeError:
            yield from (line.encode() for line in lines)
            return
    lists = [whole.get(name) for name in _ROW_LISTS]
    yield from map(msgspec.json.encode, next((rows for rows in lists if isinstance(rows, list)), [whole]))


def _samples(file: IO[bytes]) -> Iterator[bytes]:
    with zipfile.ZipFile(file) as archive:
        for name in sorted(archive.namelist()):
            if name.startswith("samples/") and name.endswith(".json"):
                yield msgspec.json.format(archive.read(name), indent=-1)


def _named(table: Iterator[list[str]]) -> Iterator[bytes]:
    """The rows of a table by the names in its first one. An empty cell is an empty text: these files have no null."""
    names = next(table, [])
    while True:
        try:
            cells = next(table, None)
            if cells is None:
                return
            if len(cells) > len(names):
                yield _unread(f"it has {len(cells)} cells, the header has {len(names)}; quote cells with commas")
            elif cells:
                yield msgspec.json.encode(dict(zip(names, cells, strict=False)))
            else:
                yield b""
        except csv.Error as error:
            yield _unread(error)
        except UnicodeEncodeError:
            yield _unread("it is not UTF-8; write the file in UTF-8")


def _unread(why: object) -> bytes:
    return _UNREAD + f" cannot be read: {why}".replace("\n", " ").encode(errors="backslashreplace")


def _batches_of_folder(folder: Path) -> "Iterator[RecordBatch]":
    """The rows that `Dataset.save_to_disk` has written: streams of Arrow, in the order of their names."""
    from pyarrow import ipc  # noqa: PLC0415 - it may start threads, which would not be confined

    for path in sorted(folder.rglob("*.arrow")):
        if not path.name.startswith("cache-"):
            with path.open("rb") as file, ipc.open_stream(file) as stream:
                for batch in stream:
                    for start in range(0, batch.num_rows, _BATCH_ROWS):
                        yield batch.slice(start, _BATCH_ROWS)


def _write_parquet(file: IO[bytes]) -> None:
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - they may start threads, which would not be confined

    try:
        with parquet.ParquetFile(file, pre_buffer=False) as table:
            _write_batches(table.metadata.num_rows, table.iter_batches(batch_size=_BATCH_ROWS, use_threads=False))
    except MemoryError:
        raise
    except (ArrowException, OSError) as error:
        raise ValueError(f"it is not Parquet: {error}") from error


def _write_batches(total: int | None, batches: "Iterable[RecordBatch]") -> None:
    _write(b"?\n" if total is None else b"%d\n" % total)
    for batch in batches:
        for index in range(batch.num_rows):
            _write(_line(batch, index) + b"\n")


def _line(batch: "RecordBatch", index: int) -> bytes:
    try:
        (row,) = batch.slice(index, 1).to_pylist()
        return b"+" + msgspec.json.encode(row, enc_hook=str)
    except (ValueError, ArithmeticError, TypeError, RecursionError) as error:
        return _unread(error)


def _give_up(why: str) -> None:
    _write(b"!" + why.replace("\n", " ").encode(errors="backslashreplace") + b"\n")


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line)


if __name__ == "__main__":
    main(sys.argv[1])
