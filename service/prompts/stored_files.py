"""Files of stored verdicts: audit logs, exports, and what `rewardline score` wrote beside the rows that it read."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from service.observe.audit_log import reader
from service.observe.audit_log.columns import step_of
from service.observe.audit_log.records import stored_record
from service.rollouts.bad_input import BadInput
from service.rollouts.columns import Columns
from service.rollouts.verdict_file import VERDICTS, of_source
from service.row_files.reading import MAX_OWN_LINE_BYTES, BadData, DataFile

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
    texts = {rows_beside(file) for file in inside}
    return reader.find(
        [
            *(path for path in paths if not path.is_dir() and path.suffix != REPORT),
            *(file for file in inside if file not in texts),
        ]
    )


def rows_beside(path: Path) -> Path | None:
    """The file that `rewardline score` read, beside what it wrote. None: it is not there, or this is no such file."""
    if not path.name.endswith(VERDICTS):
        return None
    neighbours = (path.with_name(path.name.removesuffix(VERDICTS) + form) for form in ("", ".jsonl", ".parquet"))
    return next((neighbour for neighbour in neighbours if neighbour.is_file()), None)


def with_rows(path: Path, source: Path, damaged: list[str]) -> Iterator[dict[str, Any]]:
    """The verdicts that `rewardline score` wrote, with the items of their rows. Where the ids differ, there is no item."""
    try:
        made, verdicts = of_source(reader.lines(path, damaged), path, source)
        names = ("verifier", "recipe", "response_field", "reference_field")
        columns = replace(Columns(*(made.get(name) for name in names)), params=made.get("params"))
        rows = DataFile(source, max_line_bytes=MAX_OWN_LINE_BYTES).lines()
        for verdict in verdicts:
            fields = next((fields for number, fields, _ in rows if number == verdict["line"]), None)
            yield stored_record({**_item(columns, fields, verdict.get("id")), **verdict})
    except BadInput as error:
        damaged.append(str(error))
    except BadData as error:
        damaged.append(f"{source}: {error}")


def _item(columns: Columns, fields: Any, id_: Any) -> dict[str, Any]:
    """The item of a row; the step of trainers that write it beside the item stands in its metadata."""
    if not isinstance(fields, dict) or fields.get("id") not in (None, id_):
        return {}
    step = step_of(fields)
    return {**({} if step is None else {"metadata": {"step": step}}), **(columns.item_of(fields) or {})}
