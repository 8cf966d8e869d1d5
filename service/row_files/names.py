"""The names that columns have in files of data sets and trainers."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

ABSENT: Final = msgspec.UNSET

REFERENCES = ("reference", "ground_truth", "gold", "answer", "solution", "target", "gts", "expected_answer", "label")
"""`target` is lm-eval's and Inspect's, `gts` verl's, `label` slime's and OpenRLHF's."""
LABELS = ("expected", "label", "is_correct")
"""Whether a response is right. Of these `label` is a reference where it is neither true nor false."""


def reference_path(fields: Mapping[str, Any], named: str | None, besides: str = "") -> tuple[str, ...]:
    """The columns that lead to the reference of a row. In verl's rows it is inside `reward_model`.

    Args:
        fields: The row.
        named: The column that is the reference, if one was named. `a.b` is the part b of column a.
        besides: A column that is something else.
    """
    if named is not None:
        return (named,) if named in fields else tuple(named.split("."))
    for name in REFERENCES:
        value = fields.get(name)
        if name != besides and value is not None and not (name in LABELS and isinstance(value, bool)):
            return (name,)
    model = fields.get("reward_model")
    return ("reward_model", "ground_truth") if isinstance(model, dict) and "ground_truth" in model else ()


def part_at(fields: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """The part of a row that these columns lead to, or `ABSENT`."""
    value: Any = fields if path else ABSENT
    for name in path:
        value = value.get(name, ABSENT) if isinstance(value, Mapping) else ABSENT
    return value
