"""Reads CSV (RFC 4180) with a header, and converts its rows to the objects that a schema sees."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from verifiers.rules.documents import Unreadable, read_json


def read_csv(text: str, delimiter: str, columns: Sequence[str] | None) -> list[list[str]]:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise Unreadable("not_readable", str(error)) from error
    header = rows[0] if rows else []
    if columns is not None and header != list(columns):
        raise Unreadable("wrong_columns", f"the header is not the wanted one, but {header[:20]}")
    if len(rows) < 2 or (len(header) < 2 and columns is None):
        raise Unreadable("not_readable", "expected a header and at least one row, of two fields or more")
    if len(set(header)) < len(header) or not all(name.strip() for name in header):
        raise Unreadable("wrong_columns", "a column has no name, or two columns have the same name")
    if set(map(len, rows)) != {len(header)}:
        uneven = next(number for number, row in enumerate(rows, start=1) if len(row) != len(header))
        raise Unreadable(
            "not_readable", f"row {uneven} has {len(rows[uneven - 1])} fields, but the header has {len(header)}"
        )
    return rows


def objects(rows: list[list[str]], types: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows as a schema sees them."""
    header, *cells = rows
    return [{name: _field(cell, types.get(name)) for name, cell in zip(header, row, strict=True)} for row in cells]


def _field(text: str, kind: str | None) -> Any:
    if kind not in ("integer", "number", "boolean"):
        return text
    try:
        value = read_json(text.strip().lower() if kind == "boolean" else text.strip(), unique_keys=False)
    except Unreadable:
        return text
    return value if isinstance(value, bool) is (kind == "boolean") else text
