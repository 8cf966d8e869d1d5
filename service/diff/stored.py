"""The verdicts that files hold already, and the items of the rows that have them.

A row holds its verdict itself if it is a record of the audit log, or has the columns `verdict_...` of a scored table.
Otherwise the verdict stands in the file that `rewardline score` wrote beside it.
"""

import math
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Protocol

from service.observe.audit_log.columns import is_cut
from service.rollouts.bad_input import Json
from service.rollouts.block_run import PREFIX
from service.rollouts.verdict_file import VERDICTS, of_source

_RECORD: Final = frozenset({"time", "status", "reason", "score", "reward", "verifier", "elapsed_ms"})
"""Fields that each record of the audit log has."""
_TEXTS: Final = ("response", "prompt", "reference")


def verdict_of(fields: Mapping[str, Any]) -> Json | None:
    """The verdict that these fields hold. None: they hold none, or a damaged one."""
    status, score, reward = fields.get("status"), fields.get("score"), fields.get("reward")
    if status not in ("ok", "invalid", "failed") or (status == "ok") is not _is_number(score):
        return None
    if score is not None and not 0 <= score <= 1:
        return None
    texts = {name: fields.get(name) for name in ("reason", "verifier", "version", "recipe", "extracted")}
    if any(not isinstance(text, str | None) for text in texts.values()):
        return None
    return {
        **texts,
        "reason": texts["reason"] or "",
        "status": status,
        "score": score,
        "reward": reward if _is_number(reward) else score,
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class Lines(Protocol):
    """Finds the verdict of a row by its line. Rows come in order."""

    def of(self, line: int, fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The stored verdict of a row; None: it has none."""


def is_record(fields: Mapping[str, Any]) -> bool:
    """Whether the row is a record of the audit log."""
    return fields.keys() >= _RECORD


def lack_of(fields: Mapping[str, Any]) -> str | None:
    """Why a record of the audit log cannot be judged again. None: it can be."""
    if fields.get("response_sha256") is not None:
        return "redacted: the log holds no texts"
    if isinstance(fields.get("response_messages"), str) or isinstance(fields.get("params"), str):
        return "cut: the log holds a part of the item"
    for name in _TEXTS:
        is_whole = name == "response" and fields.get("response_messages") is not None
        if is_cut(fields, name) and not is_whole:
            return "cut: the log holds a part of the item"
    if fields.get("recipe") is None and fields.get("checks"):
        return "own checks: the log holds their outcomes, not their parameters"
    return None


def fields_of(record: Mapping[str, Any]) -> Json:
    """The fields of the item of a record: it has either a recipe or a verifier, and no outcomes."""
    dropped = ("checks", "detail", "verifier") if record.get("recipe") is not None else ("checks", "detail")
    return {name: value for name, value in record.items() if name not in dropped}


class InRows:
    """Verdicts that the rows hold themselves."""

    def of(self, line: int, fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if is_record(fields):
            return verdict_of(fields)
        return verdict_of(
            {name.removeprefix(PREFIX): field for name, field in fields.items() if name.startswith(PREFIX)}
        )


class Beside:
    """Verdicts of a file of `rewardline score`, read along with the rows."""

    def __init__(self, path: Path, source: Path, stack: ExitStack) -> None:
        """
        Raises:
            BadInput: `rewardline score` has not written the file, or not for `source` as it is now.
        """
        _, self._lines = of_source(stack.enter_context(path.open("rb")), path, source)
        self._next = next(self._lines, None)

    def of(self, line: int, fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
        while self._next is not None and self._next["line"] < line:
            self._next = next(self._lines, None)
        return verdict_of(self._next) if self._next is not None and self._next["line"] == line else None


def beside(source: Path) -> Path | None:
    """The file of verdicts that `rewardline score` writes for a file of rows."""
    names = [source.name + VERDICTS]
    if source.suffix == ".jsonl":
        names.insert(0, source.stem + VERDICTS)
    return next((path for path in map(source.with_name, names) if path.is_file()), None)
