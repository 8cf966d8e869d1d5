"""The files that `rewardline view` shows."""

import json
import threading
from collections.abc import Sequence
from pathlib import Path

from service.prompts.stored_files import files, rows_beside, with_rows


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
                    out.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            new.replace(records)  # a search may read the old one
            shown = path if damaged else records
            self.damaged += damaged
            self._records[path] = state, shown
        return shown
