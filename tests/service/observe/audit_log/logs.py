"""Helpers for tests of the audit log: batches to record, and the content of its folder afterwards."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from service.observe.audit_log import reader
from service.observe.audit_log.records import Finished
from service.observe.audit_log.writer import AuditLog, Options
from service.wire import BatchRequest, Result, ScoreItem
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]


def item(**fields: Any) -> ScoreItem:
    """An item as it comes over HTTP: `response`, `id`, `reference`, ..."""
    return msgspec.json.decode(msgspec.json.encode({"response": "", **fields}), type=ScoreItem)


def result(**fields: Any) -> Result:
    right: JSON = {
        "id": 0, "status": "ok", "score": 1.0, "reward": 1.0, "reason": "correct", "verifier": "math", "version": "1",
        "extracted": None, "detail": {}, "cached": False, "elapsed_ms": 0.5,
    }  # fmt: skip
    return Result(**{**right, **fields})


def batch(items: Sequence[ScoreItem]) -> BatchRequest:
    return BatchRequest(items, {}, "use", False, 0.0)


def finished(
    of: ScoreItem, outcome: Result | None = None, references: dict[str, msgspec.Raw] | None = None
) -> Finished:
    return Finished(time.time(), "request-1", [of], references or {}, [outcome or result()], 0)


def observe(log: AuditLog, responses: Sequence[str]) -> None:
    items = [item(response=response, id=response[:40]) for response in responses]
    log.observe(batch(items), [result(id=each.id) for each in items])


@contextmanager
def logging(folder: Path, **options: Any) -> Iterator[AuditLog]:
    """A log that writes into the folder. After the block all of it is on the disk."""
    log = AuditLog(Options(folder, **options))
    log.start()
    try:
        yield log
    finally:
        log.close(PATIENCE_S)


def records(folder: Path) -> list[JSON]:
    """All records in the folder, in order. Every line must be whole."""
    damaged: list[str] = []
    found = [json.loads(line) for path in reader.find([folder]) for line in reader.lines(path, damaged)]
    assert not damaged
    return found


def names(folder: Path) -> list[str]:
    """The names of the files, without the common beginning."""
    return sorted(path.name.partition(".")[2].partition(".")[2] for path in folder.iterdir())
