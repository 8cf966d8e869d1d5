"""Reads the rows of a data set: JSON lines, or Parquet if pyarrow is installed. Memory does not grow with the file."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from service.wire import RowFields, ScoreItem

Json = dict[str, Any]

_LABELS = ("domain", "data_source", "tag")
_REFERENCES = ("reference", "ground_truth", "gold", "answer", "solution")
_SOLUTIONS = ("reference_solution", "canonical_solution", "solution")
_TESTS = ("test_cases", "case_type", "test_case_function")
_PARQUET_ROWS = 256
WHOLE_ROW = "."
"""A name for the reference column that means the row itself, as in HumanEval."""


class BadData(Exception):
    """The file cannot be read as a data set. The message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row, as an item without a response."""

    number: int
    """The number of the line or row, from 1."""
    id: str | None
    item: ScoreItem | None
    """The item. None: the row is not an item, and `problem` says why."""
    problem: str
    solution: str | None
    """A program that should pass the tests of the row."""
    shown: Json
    """The parts of the row that a report shows."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns for each purpose. None: the first of the usual names that exists."""

    reference: str | None = None
    solution: str | None = None
    recipe: str | None = None
    """A recipe that judges all rows."""
    verifier: str | None = None
    """A verifier that judges all rows."""


def read(path: Path, columns: Columns) -> Iterator[Row]:
    """The rows of a file.

    Raises:
        BadData: the file cannot be read.
    """
    lines = parquet_rows(path) if path.suffix == ".parquet" else _json_lines(path)
    for number, fields in lines:
        yield _row(number, fields, columns)


def _json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.isspace():
                    yield number, _decoded(line)
    except OSError as error:
        raise BadData(f"{path}: {error}") from error


def _decoded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def parquet_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """The rows of a Parquet file with their numbers, from 1.

    Raises:
        BadData: the file cannot be read.
    """
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - an optional extra, slow to load
    except ImportError as error:
        raise BadData(f"{path}: Parquet needs pyarrow: pip install 'rewardline-server[parquet]'") from error
    try:
        number = 0
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
                for fields in batch.to_pylist():
                    number += 1
                    yield number, fields
    except (OSError, ArrowException) as error:
        raise BadData(f"{path}: {error}") from error


def _row(number: int, fields: Any, columns: Columns) -> Row:
    if not isinstance(fields, dict):
        return Row(number, None, None, "the row is not a JSON object", None, {})
    name = fields.get("id")
    shown = {label: fields[label] for label in _LABELS if fields.get(label) is not None}
    reference = _reference(fields, columns)
    item = {field: fields[field] for field in (*_LABELS, *_fields()) if fields.get(field) is not None}
    if reference is not ABSENT:
        item["reference"] = shown["reference"] = reference
    item |= {kind: chosen for kind in ("recipe", "verifier") if (chosen := getattr(columns, kind)) is not None}
    item |= {kind: fields[kind] for kind in ("recipe", "verifier", "params") if kind in fields and kind not in item}
    solution = _first(fields, (columns.solution,) if columns.solution else _SOLUTIONS)
    try:
        built = msgspec.convert({**_raw(item), "response": ""}, ScoreItem)
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        return Row(number, _text(name), None, f"{error}", None, shown)
    return Row(number, _text(name), built, "", solution if isinstance(solution, str) else None, shown)


ABSENT = msgspec.UNSET


def _reference(fields: Json, columns: Columns) -> Any:
    """The reference of the row. In verl's rows it is inside `reward_model`."""
    if columns.reference == WHOLE_ROW:
        return fields
    if columns.reference is not None:
        return fields.get(columns.reference, ABSENT)
    found = _first(fields, _REFERENCES)
    if found is not None:
        return found
    model = fields.get("reward_model")
    return model["ground_truth"] if isinstance(model, dict) and "ground_truth" in model else ABSENT


def _fields() -> tuple[str, ...]:
    """The fields of a row that decide how it is judged."""
    left_out = ("ground_truth", "source", "messages")
    return tuple(name for name in RowFields.__struct_fields__ if name not in left_out)


def _raw(item: Json) -> Json:
    """The item, with its JSON fields as raw bytes."""
    as_json = {field.name for field in msgspec.structs.fields(ScoreItem) if field.type is msgspec.Raw}
    return {name: msgspec.Raw(msgspec.json.encode(value)) if name in as_json else value for name, value in item.items()}


def _first(fields: Json, names: tuple[str, ...]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
