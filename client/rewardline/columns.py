"""Columns of a batch, as trainers hand them to reward functions, as rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewardline.hook import is_missing, plain


def rows_of(columns: Mapping[str, Any], size: int) -> list[dict[str, Any]]:
    """One row for each of `size` samples, of those columns (lists or arrays) that have a value for each."""
    lists = {name: plain(values) for name, values in columns.items()}
    lists = {name: values for name, values in lists.items() if isinstance(values, list) and len(values) == size}
    return [{name: values[place] for name, values in lists.items()} for place in range(size)]


def reference_of(row: Mapping[str, Any], column: str | None) -> Any:
    """What a row is judged against; None where its column is missing, or nothing was named."""
    value = None if column is None else row.get(column)
    return None if is_missing(value) else value
