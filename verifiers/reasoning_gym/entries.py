"""Reads the entry of a data set, in the forms that rows use."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from verifiers.base import InvalidItem
from verifiers.reasoning_gym import tasks
from verifiers.reasoning_gym.tasks import Task

_MAX_CHARS: Final = 1_000_000
"""The most characters of an entry as JSON text. Entries that the package makes have up to 30,000."""
_MAX_DEPTH: Final = 64
_COMPOSITE: Final = "composite"
_HOLDERS: Final = ("entry", "extra_info")
"""The fields of a row that may hold the entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The part of an entry that a scorer gets beside the answer."""

    task: Task
    answer: str | None
    """The entry's answer; None if the task has no single answer, and its scorer checks any solution."""
    text: str
    """The entry as JSON, without its question, which no scorer reads."""
    owner: str = ""
    """Whose the entry is. Its check is remembered for the same owner alone."""

    @property
    def key(self) -> bytes:
        return hashlib.blake2b(f"{self.owner}\n{self.task.module}\n{self.text}".encode(), digest_size=16).digest()


def parse(reference: object, task: str | None) -> Entry:
    """Read the entry that a reference holds.

    Raises:
        InvalidItem: the reference holds no entry, or an entry of a task that is not on the list.
    """
    row = _object(reference, "the reference")
    row = next((_object(row[name], name) for name in _HOLDERS if "metadata" not in row and row.get(name)), row)
    metadata = _object(row.get("metadata"), "the entry's metadata")
    name = task if task not in (None, _COMPOSITE) else metadata.get("source_dataset", task)
    allowed = _task(name)
    answer = row.get("answer")
    if allowed.probe is not None and not isinstance(answer, str):
        answer = None
    elif not isinstance(answer, str) or not answer.strip():
        raise InvalidItem(
            "invalid_reference", f"the entry's answer must be a text that is not blank, not {answer!r:.60}"
        )
    return Entry(allowed, answer, _text({"answer": answer, "metadata": metadata}))


def _task(name: object) -> Task:
    if name is None:
        raise InvalidItem(
            "no_task", "neither `task` nor the entry's metadata.source_dataset names a task; give one of them"
        )
    task = tasks.ALLOWED.get(name) if isinstance(name, str) else None
    if task is not None:
        return task
    refusal = tasks.REFUSED.get(name) if isinstance(name, str) else None
    if refusal is None:
        raise InvalidItem(
            "unknown_task",
            f"reasoning-gym has no task {name!r:.60}; the tasks that are judged: {sorted(tasks.ALLOWED)}",
        )
    instead = f"; use the verifier `{refusal.instead}`" if refusal.instead else ""
    raise InvalidItem("task_not_allowed", f"the scorer of {name} is not used, because {refusal.why}{instead}")


def _object(value: object, label: str) -> dict[str, Any]:
    """The JSON object that a value is, or that its text holds."""
    if isinstance(value, str):
        if len(value) > _MAX_CHARS:
            raise InvalidItem(
                "reference_too_large", f"{label} has {len(value)} characters; at most {_MAX_CHARS} are allowed"
            )
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise InvalidItem("invalid_reference", f"{label} is text, but not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidItem("invalid_reference", f"{label} must be an object, not {type(value).__name__}")
    return value


def _text(entry: dict[str, Any]) -> str:
    if _is_deep(entry):
        raise InvalidItem("invalid_reference", f"the entry is nested deeper than {_MAX_DEPTH} levels")
    try:
        text = json.dumps(entry, allow_nan=False)
    except (ValueError, TypeError) as error:
        raise InvalidItem("invalid_reference", f"the entry cannot be written as JSON: {error}") from error
    if len(text) > _MAX_CHARS:
        raise InvalidItem(
            "reference_too_large", f"the entry has {len(text)} characters; at most {_MAX_CHARS} are allowed"
        )
    return text


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            child
            for entry in level
            for child in (
                entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list | tuple) else ()
            )
        ]
        if not level:
            return False
    return True
