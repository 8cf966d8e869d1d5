"""Writes the rows of a Parquet file as JSON lines: first their number, then one line for each row.

It runs as a process of its own (`files.py`), confined like a worker before it loads the libraries that read the file. A
line begins with `+`, or with `-` if the row cannot be read, or with `!` if the file cannot be; then it says why.
"""

import resource
import sys
from typing import TYPE_CHECKING

import msgspec

from sandbox.workers.confine import confine, leave_network

if TYPE_CHECKING:
    from pyarrow import RecordBatch

_MEMORY_MB = 1900
"""Address space beside the interpreter; the libraries take about a quarter of it."""
_CPU_S = 3600
_BATCH_ROWS = 64


def main(path: str) -> None:
    """Write the rows of the file to standard output."""
    leave_network()
    confine(_MEMORY_MB)
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    try:
        _write_rows(path)
    except MemoryError:
        _give_up("a few rows need more memory than there is; write the file with smaller values")
    except BrokenPipeError:
        sys.exit("nobody reads")
    except (OSError, ValueError) as error:
        _give_up(f"the file is not Parquet that can be read: {error}")


def _write_rows(path: str) -> None:
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - they may start threads, which would not be confined

    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            _write(b"%d\n" % file.metadata.num_rows)
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, use_threads=False):
                for place in range(batch.num_rows):
                    _write(_line(batch, place) + b"\n")
    except MemoryError:
        raise
    except ArrowException as error:
        raise ValueError(str(error)) from error


def _line(batch: "RecordBatch", place: int) -> bytes:
    try:
        (row,) = batch.slice(place, 1).to_pylist()
        return b"+" + msgspec.json.encode(row, enc_hook=str)
    except (ValueError, ArithmeticError, TypeError, RecursionError) as error:
        return b"-" + f"the row cannot be read: {error}".replace("\n", " ").encode(errors="backslashreplace")


def _give_up(why: str) -> None:
    _write(b"!" + why.replace("\n", " ").encode(errors="backslashreplace") + b"\n")


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line)


if __name__ == "__main__":
    main(sys.argv[1])
