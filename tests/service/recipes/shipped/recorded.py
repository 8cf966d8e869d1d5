"""Rewards recorded from the originals (`tests/data/recipes`), compared with those of the recipes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from service.wire import Result
from tests.service.recipes.shipped.scorer import Scorer

DATA = Path(__file__).parents[3] / "data" / "recipes"
_SAME = 1e-6


@dataclass(frozen=True)
class Recorded:
    """One response to one row, and the original's reward for it."""

    item: dict[str, Any]
    original: float | None
    """The original's reward. None if it raises instead."""
    here: float | None
    """The recipe's reward. None means `invalid`."""
    why: str
    """The reason why the two differ. Empty if they do not."""

    def fault(self, result: Result) -> str | None:
        """The mistake of a recipe's result, or of the row."""
        if bool(self.why) != (self.here != self.original):
            return f"{self.item}: {self.original} there, {self.here} here, and the reason is {self.why!r}"
        if self.here is None:
            is_as_expected = result.status == "invalid" and bool(result.detail["message"])
        else:
            reward = result.reward
            is_as_expected = reward is not None and math.isclose(reward, self.here, rel_tol=0, abs_tol=_SAME)
        return None if is_as_expected else f"{self.item}: {self.here} was expected: {result}"


def recorded(name: str) -> list[Recorded]:
    """All rows of a file, in their order. A row without `here` has the original's value."""
    groups = yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))
    return [row for group in groups for row in _rows(group)]


def _rows(group: dict[str, Any]) -> Iterator[Recorded]:
    shared = {key: value for key, value in group.items() if key != "rows"}
    for row in group["rows"]:
        item = {**shared, **row}
        original = item.pop("original")
        here = item.pop("here", original)
        why = item.pop("why", "")
        yield Recorded(item, original, here, why)


def faults(scorer: Scorer, rows: Sequence[Recorded]) -> list[str]:
    """The mistakes of all rows, scored as one batch."""
    results = scorer.score(*(row.item for row in rows))
    return [fault for row, result in zip(rows, results, strict=True) if (fault := row.fault(result)) is not None]
