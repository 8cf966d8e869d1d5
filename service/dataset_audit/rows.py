"""Makes an item without a response of each row of a data set."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from service.recipes import data_sets
from service.recipes.data_sets import DataSet
from service.row_files.names import ABSENT, part_at, reference_path
from service.row_files.reading import MAX_OWN_LINE_BYTES, BadData, DataFile, Unread, drawn
from service.wire import RowFields, ScoreItem
from verifiers.near_names import near

Json = dict[str, Any]

_LABELS = ("domain", "data_source", "tag")
_SOLUTIONS = ("reference_solution", "canonical_solution", "solution")
_TESTS = ("test_cases", "case_type", "test_case_function")
WHOLE_ROW = "."
"""A name for the reference column that means the row itself, as in HumanEval."""


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
    """A right response to the row: a program that should pass its tests, or a text."""
    shown: Json
    """The parts of the row that a report shows."""
    reference_path: tuple[str, ...] = ()
    """The columns that lead to the reference. Empty: the row has none, or is itself the reference."""
    params_path: tuple[str, ...] = ()
    """The column of the parameters."""
    names_solution: bool = False
    """Whether the column of the solution was named, not guessed."""
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns for each purpose. None: the first of the usual names that exists. `a.b` is the part b of column a."""

    reference: str | None = None
    solution: str | None = None
    """Of a right response: a program, or a text. Named, it is judged by every verifier; otherwise only programs are."""
    prompt: str | None = None
    params: str | None = None
    recipe: str | None = None
    """A recipe that judges all rows."""
    verifier: str | None = None
    """A verifier that judges all rows."""
    all_params: Mapping[str, Any] | None = None
    """Parameters of all rows. They replace those that a row has itself."""

    def check(self, fields: Json, number: int) -> None:
        """Check the first row.

        Raises:
            BadData: it has not a column that was named.
        """
        for purpose in ("reference", "solution", "prompt", "params"):
            name = getattr(self, purpose)
            if name not in (None, WHOLE_ROW) and name not in fields and name.split(".")[0] not in fields:
                columns = f"it has {sorted(fields)[:20]}{near(name, fields)}"
                raise BadData(f"row {number} has no column {name!r} for the {purpose}; {columns}")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rows of a file are looked at: all, or the first of them, or some of those by chance."""

    limit: int | None = None
    sample: int | None = None
    seed: int = 0


def read(path: Path, columns: Columns, choice: Choice = Choice()) -> Iterator[Row]:
    """The chosen rows of a file.

    Raises:
        BadData: the file cannot be read.
    """
    try:
        chosen = None
        if choice.sample is not None:
            count = sum(1 for _ in islice(_open(path).lines(), choice.limit))
            chosen = drawn(count, choice.sample, choice.seed)
        for position, row in enumerate(rows_of(_open(path), columns, choice.limit)):
            if chosen is None or position in chosen:
                yield row
    except BadData as error:
        raise BadData(f"{path}: {error}") from error


def _open(path: Path) -> DataFile:
    return DataFile(path, max_line_bytes=MAX_OWN_LINE_BYTES)


def rows_of(file: DataFile, columns: Columns, limit: int | None = None) -> Iterator[Row]:
    """The first rows of a file.

    Raises:
        BadData: the file cannot be read.
    """
    is_first = True
    for number, fields, nbytes in islice(file.lines(), limit):
        if is_first and isinstance(fields, dict):
            columns.check(fields, number)
            is_first = False
        yield _row(number, fields, columns, nbytes)


def _row(number: int, fields: Any, columns: Columns, nbytes: int) -> Row:
    if not isinstance(fields, dict):
        return Row(number, None, None, _no_object(fields), None, {}, nbytes=nbytes)
    name = _text(fields.get("id"))
    labels = {label: fields[label] for label in _LABELS if fields.get(label) is not None}
    data_set = _data_set(fields, columns)
    path = _reference_path(fields, columns, data_set)
    item = {field: fields[field] for field in (*_LABELS, *_fields()) if fields.get(field) is not None}
    reference = fields if columns.reference == WHOLE_ROW else part_at(fields, path)
    if data_set is not None:
        item = {field: fields[field] for field in ("data_source",) if isinstance(fields.get(field), str)}
        reference = data_set.slim(fields)
    if reference is not ABSENT:
        item["reference"] = labels["reference"] = reference
    item |= {kind: chosen for kind in ("recipe", "verifier") if (chosen := getattr(columns, kind)) is not None}
    item |= {kind: fields[kind] for kind in ("recipe", "verifier") if kind in fields and kind not in item}
    params = columns.params or "params"
    more_columns = (("params", params), ("prompt", columns.prompt))
    item |= {field: fields[column] for field, column in more_columns if column and fields.get(column) is not None}
    if columns.all_params:
        own = item.get("params")
        item["params"] = {**(own if isinstance(own, dict) else {}), **columns.all_params}
    solution = _first(fields, (columns.solution,) if columns.solution else _SOLUTIONS)
    try:
        msgspec.json.encode(labels)  # half a character in a label is found here
        built = msgspec.convert({**_raw(item), "response": ""}, ScoreItem)
    except UnicodeEncodeError:
        return Row(number, name, None, "the row holds half a character (a lone surrogate)", None, labels, nbytes=nbytes)
    except RecursionError:
        return Row(number, name, None, "the row is nested too deeply", None, {}, nbytes=nbytes)
    except (msgspec.MsgspecError, TypeError, ValueError, ArithmeticError) as error:
        return Row(number, name, None, f"{error}", None, labels, nbytes=nbytes)
    text = solution if isinstance(solution, str) else None
    return Row(number, name, built, "", text, labels, path, (params,), columns.solution is not None, nbytes)


def _no_object(value: Any) -> str:
    if isinstance(value, Unread):
        return value.problem
    if isinstance(value, list):
        return "the row is a list, not a JSON object; jq -c '.[]' makes rows of a file that is one list"
    return "the row is not a JSON object"


def _data_set(fields: Json, columns: Columns) -> DataSet | None:
    """The known data set of a row, if neither the row nor the caller says how it is judged."""
    namings = (
        columns.recipe,
        columns.verifier,
        columns.reference,
        *(fields.get(n) for n in ("recipe", "verifier", "checks")),
    )
    label = fields.get("data_source")
    if any(namings):
        return None
    return data_sets.known().of(fields, label if isinstance(label, str) else None)


def _reference_path(fields: Json, columns: Columns, data_set: DataSet | None) -> tuple[str, ...]:
    """The columns that lead to the reference."""
    if data_set is not None:
        return data_set.path(fields)
    return () if columns.reference == WHOLE_ROW else reference_path(fields, columns.reference)


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
    return str(value) if isinstance(value, str | int | float) else None
