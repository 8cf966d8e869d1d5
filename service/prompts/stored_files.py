"""Files of stored verdicts: audit logs, exports, and what `rewardline score` wrote beside the rows that it read."""

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from service.observe.audit_log import reader
from service.observe.audit_log.columns import STEP_NAMES
from service.observe.audit_log.records import stored_record
from service.rollouts.columns import Columns
from service.rollouts.verdict_file import MADE_BY, input_of, object_of
from service.row_files.reading import MAX_OWN_LINE_BYTES, BadData, DataFile

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
    lines = reader.lines(path, damaged)
    made = object_of(next(lines, b"")).get(MADE_BY)
    if not isinstance(made, dict):
        damaged.append(f"{path}: `rewardline score` has not written it, so that its rows are not known")
        return
    if made.get("input") not in (None, input_of(source)):
        damaged.append(f"{path}: {source} has changed since it was scored; run `rewardline score` again")
        return
    names = ("verifier", "recipe", "response_field", "reference_field")
    columns = replace(Columns(*(made.get(name) for name in names)), params=made.get("params"))
    rows = DataFile(source, max_line_bytes=MAX_OWN_LINE_BYTES).lines()
    try:
        for verdict in map(object_of, lines):
            fields = next((fields for number, fields, _ in rows if number == verdict.get("line")), None)
            yield {**_item(columns, fields, verdict.get("id")), **verdict}
    except BadData as error:
        damaged.append(f"{source}: {error}")


def _item(columns: Columns, fields: Any, id_: Any) -> dict[str, Any]:
    """The item of a row; the step of trainers that write it beside the item stands in its metadata."""
    if not isinstance(fields, dict) or fields.get("id") not in (None, id_):
        return {}
    steps = {name: fields[name] for name in STEP_NAMES if isinstance(fields.get(name), int)}
    return {**({"metadata": steps} if steps else {}), **(columns.item_of(fields) or {})}


class Shown:
    """The files that a view shows. Verdicts that `rewardline score` wrote become records with the texts of their rows,
    whatever the form of these; such files lie in a folder of the view.
    """

    def __init__(self, paths: Sequence[Path], folder: Path) -> None:
        self._paths = paths
        self._folder = folder
        self._lock = threading.Lock()
        """Guards what is below: searches run in threads."""
        self._records: dict[Path, tuple[list[int], Path]] = {}
        """By the file of verdicts: what it was made of, and the file that is shown."""
        self.damaged: list[str] = []
        """Messages about verdicts that are shown without texts."""

    def files(self) -> list[Path]:
        """
        Raises:
            reader.NotThere
        """
        with self._lock:
            return [self._with_texts(path) for path in files(self._paths)]

    def _with_texts(self, path: Path) -> Path:
        source = rows_beside(path)
        if source is None:
            return path
        state = [part for file in (path, source) for part in (file.stat().st_mtime_ns, file.stat().st_size)]
        old_state, shown = self._records.get(path, ([], path))
        if state != old_state:
            damaged: list[str] = []
            number = [*self._records, path].index(path)
            records = self._folder / f"{number}-{path.name}"
            new = records.with_suffix(".new")
            with new.open("wb") as out:
                for row in with_rows(path, source, damaged):
                    out.write(json.dumps(stored_record(row), ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            new.replace(records)  # a search may read the old one
            shown = path if damaged else records
            self.damaged += damaged
            self._records[path] = state, shown
        return shown
