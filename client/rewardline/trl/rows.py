"""Makes items of TRL's rows, prompts and completions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rewardline.hook import LABELS, ROW_FIELDS, Hook, is_missing
from rewardline.messages import sendable

REFERENCE = "solution"
"""The column where TRL's own rewards find the reference. It alone may be missing from the data set."""


@dataclass(frozen=True)
class Rows:
    """Says which column of a data set is which field of an item."""

    reference: str | None
    """The column to judge against."""
    columns: Mapping[str, str]
    """The columns of fields that have another name in the data set."""

    def __post_init__(self) -> None:
        known_names = (*ROW_FIELDS, *LABELS)
        if unknown := set(self.columns) - set(known_names):
            raise ValueError(f"columns: there is no {sorted(unknown)} in an item; there are {', '.join(known_names)}")

    def check(self, present: Iterable[str], needed: Iterable[str] = ()) -> None:
        """Raise ValueError if the data set lacks a column that this object or `needed` names."""
        columns = set(present)
        needed_columns = {*self.columns.values(), *needed}
        if self.reference is not None and self.reference != REFERENCE:
            needed_columns.add(self.reference)
        if missing := needed_columns - columns:
            raise ValueError(f"the data set has no column {sorted(missing)}; there are {sorted(columns)}")

    def item(self, hook: Hook, row: Mapping[str, Any], response: Any, prompt: Any) -> dict[str, Any]:
        """The item of one sample."""
        reference = row.get(self.reference) if self.reference else None
        renamed = {field: row[column] for field, column in self.columns.items()}
        return hook.item(
            sendable(response) or "",
            reference=None if is_missing(reference) else reference,
            prompt=sendable(prompt),
            row={**row, **renamed} if renamed else row,
        )
