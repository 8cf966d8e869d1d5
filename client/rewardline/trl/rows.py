"""From TRL's rows, prompts and completions to items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rewardline.hook import LABELS, ROW_FIELDS, Hook, is_missing
from rewardline.messages import sendable

REFERENCE = "solution"
"""The column in which TRL's own rewards look for what is right; the only one that may be asked for and missing."""


@dataclass(frozen=True)
class Rows:
    """Which columns of a data set say what."""

    reference: str | None
    """The column to judge against."""
    columns: Mapping[str, str]
    """Fields of an item that the data set has under other names."""

    def __post_init__(self) -> None:
        known = (*ROW_FIELDS, *LABELS)
        if unknown := set(self.columns) - set(known):
            raise ValueError(f"of a row, no {sorted(unknown)} can be sent, but {', '.join(known)}")

    def check(self, present: Iterable[str], needed: Iterable[str] = ()) -> None:
        """Raise ValueError if the data set lacks a column that was named, here or in `needed`."""
        there = set(present)
        named = {*self.columns.values(), *needed}
        if self.reference is not None and self.reference != REFERENCE:
            named.add(self.reference)
        if missing := named - there:
            raise ValueError(f"the data set has no column {sorted(missing)}; there are {sorted(there)}")

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
