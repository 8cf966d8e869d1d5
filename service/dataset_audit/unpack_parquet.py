"""Writes the rows of a Parquet file as JSON lines: first their number, then one line for each row.

It runs as a process of its own, with little memory and without our packages (`files.py`). A line begins with `+`, or with
`-` if the row cannot be read; then it says why. The exit code is 1 if the file cannot be read; standard error says why.
"""

import resource
import sys

import msgspec
from pyarrow import ArrowException, RecordBatch, parquet

_MEMORY_BYTES = 2_000_000_000
"""Address space; the libraries take about a quarter of it."""
_CPU_S = 3600
_BATCH_ROWS = 64


def main(path: str) -> None:
    """Write the rows of the file to standard output."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            _write(b"%d\n" % file.metadata.num_rows)
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, use_threads=False):
                for place in range(batch.num_rows):
                    _write(_line(batch, place) + b"\n")
    except MemoryError:
        sys.exit("a few rows need more memory than there is; write the file with smaller values")
    except BrokenPipeError:
        sys.exit("nobody reads")
    except (OSError, ArrowException, ValueError) as error:
        sys.exit(f"the file is not Parquet that can be read: {error}")


def _line(batch: RecordBatch, place: int) -> bytes:
    try:
        (row,) = batch.slice(place, 1).to_pylist()
        return b"+" + msgspec.json.encode(row, enc_hook=str)
    except (ValueError, ArithmeticError, TypeError, RecursionError) as error:
        return b"-" + f"the row cannot be read: {error}".replace("\n", " ").encode(errors="backslashreplace")


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line)


if __name__ == "__main__":
    main(sys.argv[1])
