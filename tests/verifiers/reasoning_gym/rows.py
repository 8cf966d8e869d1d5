"""One entry for each judged task, with an answer that solves it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final


@dataclass(frozen=True)
class Row:
    """An entry as it comes from JSON."""

    task: str
    solution: str
    entry: dict[str, Any]


_FILE: Final = Path(__file__).parents[2] / "data" / "reasoning_gym" / "entries.jsonl"
ROWS: Final = [Row(**json.loads(line)) for line in _FILE.read_text(encoding="utf-8").splitlines()]


def row_of(task: str) -> Row:
    return next(row for row in ROWS if row.task == task)
