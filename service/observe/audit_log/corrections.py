"""Verdicts that a person corrected, kept as cases: an item that can be judged again, with the verdict that it should get.

They lie in a folder of the log, one in each line, as `rewardline check` and `rewardline score` read them. They are never
deleted, and take a bounded room.
"""

import json
import os
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

JSON = dict[str, Any]
FILE: Final = Path("corrections", "cases.jsonl")
"""In the folder of a log."""
_MAX_BYTES: Final = 100_000_000
_WAS: Final = ("status", "score", "reward", "reason", "verifier", "version", "extracted")


class NotACase(Exception):
    """The record cannot be judged again, or there is no room. The message says why."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person says of a record."""

    expected: float | Literal["invalid"]
    """The score that is right, or that the task has a mistake."""
    note: str
    by: str
    """The name of the caller's key."""


def case_of(record: JSON, correction: Correction) -> JSON:
    """The record as a case.

    Raises:
        NotACase
    """
    if record["response"] is None:
        raise NotACase("the log holds no response of this record (audit_redact), so that nothing could be judged again")
    messages, prompts = _plain(record["response_messages"]), _plain(record["prompt_messages"])
    whole = {"response": messages, "prompt": prompts, "reference": None}
    for name, as_messages in whole.items():
        length, text = record[f"{name}_chars"], record[name]
        is_cut = text is not None and length is not None and length > len(text)
        if is_cut and not isinstance(as_messages, list):
            raise NotACase(
                f"the log cut the {name} of this record (audit_max_text_chars), so that it would be another case"
            )
    params = _plain(record["params"])
    if isinstance(params, str):
        raise NotACase("the log cut the params of this record (audit_max_text_chars), so that it would be another case")
    judge = "recipe" if record["recipe"] else "verifier"
    if not record[judge]:
        raise NotACase("the record names neither a verifier nor a recipe")
    item = {
        "id": record["id"],
        judge: record[judge],
        "response": messages if isinstance(messages, list) else record["response"],
        "reference": _value(record["reference"], record["reference_is_json"]),
        "prompt": prompts if isinstance(prompts, list) else record["prompt"],
        "params": params,
        "data_source": record["data_source"],
    }
    return {
        **{name: value for name, value in item.items() if value is not None},
        "expected": correction.expected,
        "note": correction.note,
        "by": correction.by,
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "was": {name: record[name] for name in _WAS},
    }


class Corrections:
    """A file of cases. Its methods block."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        """Guards the file: one case after the other."""

    def add(self, case: JSON) -> int:
        """Keep a case. Returns how many there are.

        Raises:
            NotACase: there is no room.
        """
        line = json.dumps(case, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with open(descriptor, "ab") as file:
                if file.tell() + len(line) > _MAX_BYTES:
                    raise NotACase(f"{self._path} has {_MAX_BYTES // 1_000_000} MB of cases; move it away")
                file.write(line)
            return self.read().count(b"\n")

    def read(self) -> bytes:
        """All cases as JSON lines."""
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return b""


def _plain(raw: Any) -> Any:
    """JSON of a column."""
    return None if raw is None else json.loads(bytes(raw))


def _value(reference: str | None, is_json: bool | None) -> Any:
    """The log holds a reference that is not a text as JSON. Records of older releases do not say which it was."""
    if is_json is None:
        is_json = reference is not None and reference.startswith(("[", "{"))
    try:
        return json.loads(reference) if is_json and reference is not None else reference
    except (ValueError, RecursionError):
        return reference
