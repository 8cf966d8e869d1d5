"""Writes and reads closed files as Parquet, for users of DuckDB, pandas or Spark. This module is imported only if
Parquet was chosen: it needs the extra `parquet`.

A record is a row. Parts of a record that are JSON (checks, detail, metadata, params) are columns of JSON text. An id is text
even if it was a number.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from fairness import DEFAULT
from service.observe.audit_log.records import ABSENT, Record, timestamp

_ROWS_AT_ONCE: Final = 100
_ROW_GROUP_BYTES: Final = 16_000_000
_JSON: Final = ("checks", "detail", "metadata", "params", "response_messages", "prompt_messages")
_SCHEMA: Final = pa.schema(
    [
        ("time", pa.timestamp("us", tz="UTC")),
        *((name, pa.string()) for name in ("id", "status", "reason")),
        *((name, pa.float64()) for name in ("score", "reward")),
        *((name, pa.string()) for name in ("verifier", "version")),
        ("cached", pa.bool_()),
        ("elapsed_ms", pa.float64()),
        *(
            (name, pa.string())
            for name in ("request_id", "tenant", "run_id", "recipe", "domain", "data_source", "tag", "extracted")
        ),
        *((name, pa.string()) for name in _JSON),
        *(
            (f"{text}{part}", pa.int64() if part == "_chars" else pa.string())
            for text in ("response", "prompt", "reference")
            for part in ("", "_sha256", "_chars")
        ),
        ("reference_is_json", pa.bool_()),
    ]
)
_decoder: Final = msgspec.json.Decoder(Record)
_encoder: Final = msgspec.json.Encoder()


def write(source: Path, target: Path) -> None:
    """Write the lines of a closed file as Parquet. Half a line, which a crash may leave, is left out."""
    with source.open("rb") as lines, pq.ParquetWriter(target, _SCHEMA, compression="zstd") as writer:
        batches: list[Any] = []
        for batch in _batches(lines):
            batches.append(batch)
            if sum(record_batch.nbytes for record_batch in batches) > _ROW_GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(batches))
                batches.clear()
        if batches:
            writer.write_table(pa.Table.from_batches(batches))


def _batches(lines: Iterable[bytes]) -> Iterator[Any]:
    """Batches of rows. They are small, because no other thread has Python's lock while one is made."""
    rows: list[dict[str, Any]] = []
    for line in lines:
        try:
            record = _decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
        rows.append(_row(record))
        if len(rows) == _ROWS_AT_ONCE:
            yield pa.RecordBatch.from_pylist(rows, _SCHEMA)
            rows.clear()
    if rows:
        yield pa.RecordBatch.from_pylist(rows, _SCHEMA)


def lines(path: Path) -> Iterator[bytes]:
    """The records as the lines from which they were made.

    Raises:
        OSError
        ValueError: the file is not one of our Parquet files.
    """
    with pq.ParquetFile(path) as parquet:
        for batch in parquet.iter_batches(_ROWS_AT_ONCE * 10):
            for row in batch.to_pylist():
                yield _encoder.encode(_record(row)) + b"\n"


def _row(record: Record) -> dict[str, Any]:
    row = msgspec.structs.asdict(record)
    row["time"] = datetime.fromisoformat(record.time)
    row["id"] = str(record.id)
    for name in _JSON:
        row[name] = bytes(row[name]).decode() or None
    return row


def _record(row: dict[str, Any]) -> Record:
    row["time"] = timestamp(row["time"].astimezone(UTC).timestamp())
    if row.get("tenant") == DEFAULT:
        del row["tenant"]  # lines leave it out, too
    for name in _JSON:
        row[name] = ABSENT if row.get(name) is None else msgspec.Raw(row[name].encode())
    return Record(**{name: row[name] for name in Record.__struct_fields__ if name in row})
