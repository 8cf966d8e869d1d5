"""Makes rows of the columns that trainers hand to reward functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewardline.hook import is_missing, plain


def rows_of(columns: Mapping[str, Any], size: int) -> list[dict[str, Any]]:
    """One row for each of `size` samples. Leaves out columns that are not lists or arrays of this size."""
    lists = {name: plain(values) for name, values in columns.items()}
    lists = {name: values for name, values in lists.items() if isinstance(values, list) and len(values) == size}
    return [{name: values[index] for name, values in lists.items()} for index in range(size)]


REFERENCES = ("reference", "ground_truth", "answer")
"""Columns that usually hold the reference; the first one with a value counts."""


def first_value(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of these columns that has one; None if none has."""
    return next((row[name] for name in names if not is_missing(row.get(name))), None)


def reference_of(row: Mapping[str, Any], column: str | None) -> Any:
    """The reference of a row: the value of `column`; None if that is missing or None."""
    value = None if column is None else row.get(column)
    return None if is_missing(value) else value
