"""Selects the records that a reader wants to see, and the fields that are shown."""

import re
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from fairness import DEFAULT
from service.observe.audit_log.records import timestamp

_AGO: Final = re.compile(r"(\d{1,6})\s*([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class BadMoment(Exception):
    """The text is not a point in time. The message says what to write."""


class AuditEntry(msgspec.Struct):
    """The fields of a record that are read here."""

    time: str
    id: str | int
    status: str
    reason: str
    score: float | None = None
    reward: float | None = None
    verifier: str | None = None
    recipe: str | None = None
    request_id: str = ""
    tenant: str = DEFAULT
    run_id: str = ""
    extracted: str | None = None
    response: str | None = None
    response_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """The conditions that a record must meet, all of them. An empty set is met by every record."""

    judges: Set[str] = frozenset()
    """Verifiers or recipes."""
    reasons: Set[str] = frozenset()
    statuses: Set[str] = frozenset()
    ids: Set[str] = frozenset()
    """Ids of items or requests."""
    min_score: float | None = None
    max_score: float | None = None
    """Both bounds are inclusive. A record without a score is never between them."""
    since: datetime | None = None
    until: datetime | None = None
    tenants: Set[str] = frozenset()
    runs: Set[str] = frozenset()
    _since: str = field(init=False)
    _until: str = field(init=False)

    def __post_init__(self) -> None:
        for name, moment in (("_since", self.since), ("_until", self.until)):
            object.__setattr__(self, name, timestamp(moment.timestamp()) if moment else "")

    def holds(self, entry: AuditEntry) -> bool:
        if self.judges and entry.verifier not in self.judges and entry.recipe not in self.judges:
            return False
        if self.reasons and entry.reason not in self.reasons:
            return False
        if self.statuses and entry.status not in self.statuses:
            return False
        if self.ids and str(entry.id) not in self.ids and entry.request_id not in self.ids:
            return False
        if self.tenants and entry.tenant not in self.tenants:
            return False
        if self.runs and entry.run_id not in self.runs:
            return False
        if self._since and entry.time < self._since:
            return False
        if self._until and entry.time > self._until:
            return False
        return self._holds_of(entry.score)

    def _holds_of(self, score: float | None) -> bool:
        if self.min_score is None and self.max_score is None:
            return True
        if score is None or (self.min_score is not None and score < self.min_score):
            return False
        return self.max_score is None or score <= self.max_score


@dataclass(slots=True)
class Tally:
    """The counts of a reading."""

    read: int = 0
    shown: int = 0
    by_outcome: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Records that were shown, by verifier, status and reason."""
    unreadable_lines: int = 0
    damaged_files: list[str] = field(default_factory=list)

    def entry_of(self, line: bytes, query: Query) -> AuditEntry | None:
        """The record in the line, if it is wanted."""
        try:
            entry = _decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            self.unreadable_lines += 1
            return None
        self.read += 1
        if not query.holds(entry):
            return None
        self.shown += 1
        self.by_outcome[(entry.verifier or "", entry.status, entry.reason)] += 1
        return entry


def moment(text: str, now: datetime) -> datetime:
    """A point in time: ISO 8601 (UTC unless it names a zone), or a duration before now, such as `2h`.

    Raises:
        BadMoment
    """
    try:
        if ago := _AGO.fullmatch(text.strip()):
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        instant = datetime.fromisoformat(text.strip())
        return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise BadMoment(f"{text!r} is not a time: expected 2026-03-07T09:15 or 30s, 15m, 2h, 7d, 1w ago") from None


_decoder: Final = msgspec.json.Decoder(AuditEntry)
