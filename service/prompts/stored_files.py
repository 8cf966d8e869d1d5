"""Files of stored verdicts: audit logs, exports, and what `rewardline score` wrote beside the rows that it read."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from service.observe.audit_log import reader
from service.rollouts import verdict_file

VERDICTS: Final = ".verdicts.jsonl"
FORMS: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")
REPORT: Final = ".json"
"""A report of `rewardline audit`, which is not one of them."""


def files(paths: Sequence[Path]) -> list[Path]:
    """The files at these places: those that are named, and in folders all that may hold records.

    Raises:
        reader.NotThere
    """
    inside = [
        file
        for path in paths
        if path.is_dir()
        for file in sorted(path.iterdir())
        if file.name.endswith(FORMS) and file.is_file() and not file.name.startswith(".")
    ]
    texts = {rollouts_of(file) for file in inside}
    return reader.find(
        [
            *(path for path in paths if not path.is_dir() and path.suffix != REPORT),
            *(file for file in inside if file not in texts),
        ]
    )


def rollouts_of(path: Path) -> Path | None:
    """The file that `rewardline score` read row by row, if this is what it wrote."""
    if not path.name.endswith(VERDICTS):
        return None
    with contextlib.suppress(OSError), path.open("rb") as lines:
        if verdict_file.is_sampled(lines.readline()):
            return None
    return rows_beside(path)


def rows_beside(path: Path) -> Path | None:
    """The file that `rewardline score` read, beside what it wrote, whether it judged all rows or a sample."""
    neighbours = (path.with_name(path.name.removesuffix(VERDICTS) + form) for form in ("", ".jsonl", ".parquet"))
    return next((neighbour for neighbour in neighbours if neighbour.is_file()), None)
