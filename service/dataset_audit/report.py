"""The report of an audit: findings by kind with some rows of each, counts, and what right responses earn."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import msgspec

EARNED: Final = ("0", *(f"{n / 10:g}" for n in range(1, 10)), "below 1", "1")
"""The bins of scores by their upper ends. 0 and 1 have bins of their own."""
EXAMPLES: Final = 20
"""Rows of each kind of finding that are shown."""
_MAX_SHOWN_CHARS: Final = 300
_MAX_ITEM_CHARS: Final = 4_000
_MAX_EXAMPLES_CHARS: Final = 1_000_000
"""Of all examples of a report that keeps only some."""
_MAX_FIXES: Final = 50_000
_MAX_FIXES_CHARS: Final = 2_000_000

Json = dict[str, Any]


class Severity(StrEnum):
    """What a finding does to training, the worst first."""

    WRONG_REWARD = "wrong_reward"
    """A right response earns too little, or a wrong one too much."""
    NO_REWARD = "no_reward"
    """No response to the row can be judged."""
    HINT = "hint"
    """The row is judged, and could be plainer. This is not a finding."""


_WRONG: Final = frozenset({"not_itself", "solution_fails", "accepts_nothing"})
_HINTS: Final = frozenset({"worked_solution", "inline_options", "nothing_guards", "inspects_tests"})


def severity_of(reason: str) -> Severity:
    if reason in _HINTS:
        return Severity.HINT
    return Severity.WRONG_REWARD if reason in _WRONG else Severity.NO_REWARD


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake in a row."""

    row: int
    id: str | None
    check: str | None
    """The check of the recipe that the finding concerns. None: the row has no recipe."""
    verifier: str | None
    reason: str
    """A short stable word: a verifier's reason for `invalid`, or one of ours: `not_itself`, `solution_fails`,
    `accepts_nothing`, `bad_row`."""
    message: str
    told: Json
    """The labels and the reference of the row. It is a field of the report, so its name stays."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A new value for a part of a row."""

    row: int
    path: Sequence[str]
    """The columns that lead to the part."""
    value: Any


@dataclass(frozen=True, slots=True)
class Reading:
    """How a reference of mathematics is read."""

    row: int
    kind: str
    """A `verifiers.math.solutions.ReferenceKind`, or `invalid`."""
    answer: str
    """What answers are compared with; why there is nothing, if the reference is invalid."""


@dataclass(frozen=True, slots=True)
class Example:
    """A finding with what helps to mend it."""

    finding: Finding
    item: Json | None = None
    """The item that shows it. None: there is none, or it is long."""
    fix: Fix | None = None

    @property
    def chars(self) -> int:
        """About how much memory it takes."""
        texts = (self.finding.message, *self.finding.told.values(), self.item, self.fix and self.fix.value)
        return 200 + sum(len(str(text)) for text in texts)


@dataclass(slots=True)
class Kind:
    """All findings of a verifier and a reason."""

    verifier: str | None
    reason: str
    rows: int = 0
    """Findings; a row with several checks may have several."""
    examples: list[Example] = field(default_factory=list)

    @property
    def severity(self) -> Severity:
        return severity_of(self.reason)


class NoReport(ValueError):
    """This is not the report of an audit. The message says why."""


class _Stored(msgspec.Struct):
    """What is read again of a report that has been told as JSON."""

    rows: int
    bad_rows: int
    checks: int
    own_answers: int
    unjudged: int
    fixes_found: int
    unjudged_reasons: dict[str, int]
    recipes: dict[str, int]
    references: dict[str, int]
    earned: list[int]
    fixes: list[Fix]
    kinds: list[Kind]
    readings: list[Reading] = []


@dataclass(slots=True)
class Report:
    """The result of the audit of a data set, as it grows."""

    kept: int | None = None
    """Examples that are kept of each kind. None: all. A limit bounds the memory of the report as a whole."""
    rows: int = 0
    bad_rows: int = 0
    checks: int = 0
    """References that were checked. A recipe may have several for each row."""
    own_answers: int = 0
    """Those of them for which a right response was at hand."""
    unjudged: int = 0
    unjudged_reasons: Counter[str] = field(default_factory=Counter)
    kinds: dict[tuple[str, str], Kind] = field(default_factory=dict)
    recipes: Counter[str] = field(default_factory=Counter)
    references: Counter[str] = field(default_factory=Counter)
    """References of mathematics, by the kind of their `Reading`."""
    earned: list[int] = field(default_factory=lambda: [0] * len(EARNED))
    """Right responses that were judged, by their score: see `bin_of`."""
    fixes: list[Fix] = field(default_factory=list)
    fixes_found: int = 0
    """Fixes that were found. Beyond a limit they are only counted."""
    readings: list[Reading] = field(default_factory=list)
    """How the reference of each row of mathematics is read. Beyond a limit they are only counted, in `references`."""
    _chars: int = 0
    _readings_chars: int = 0
    _fixes_chars: int = 0
    _last_bad: set[int] = field(default_factory=set)

    def add(self, example: Example) -> None:
        """Note a finding or a hint."""
        finding = example.finding
        kind = self.kinds.setdefault((finding.verifier or "", finding.reason), Kind(finding.verifier, finding.reason))
        kind.rows += 1
        if self.kept is None or (len(kind.examples) < self.kept and self._chars < _MAX_EXAMPLES_CHARS):
            kind.examples.append(example)
            self._chars += example.chars
        if kind.severity is not Severity.HINT and finding.row not in self._last_bad:
            self._last_bad.add(finding.row)
            self.bad_rows += 1
        if example.fix is not None:
            self._add_fix(example.fix)

    def _add_fix(self, fix: Fix) -> None:
        self.fixes_found += 1
        if len(self.fixes) < _MAX_FIXES and self._fixes_chars < _MAX_FIXES_CHARS:
            self.fixes.append(fix)
            self._fixes_chars += len(str(fix.value))

    def add_reading(self, reading: Reading) -> None:
        """Note how a reference is read."""
        self.references[reading.kind] += 1
        if len(self.readings) < _MAX_FIXES and self._readings_chars < _MAX_FIXES_CHARS:
            self.readings.append(reading)
            self._readings_chars += len(reading.answer)

    def first_readings(self, limit: int) -> list[Reading]:
        """The first readings of each kind, the most frequent kind last."""
        by_kind = [[reading for reading in self.readings if reading.kind == kind] for kind in self.references]
        return [reading for readings in sorted(by_kind, key=len) for reading in readings[:limit]]

    def copy(self) -> "Report":
        """The report as it is now, for a thread that reads it while it grows."""
        kinds = {key: replace(kind, examples=[*kind.examples]) for key, kind in self.kinds.items()}
        return replace(
            self,
            kinds=kinds,
            recipes=Counter(self.recipes),
            references=Counter(self.references),
            unjudged_reasons=Counter(self.unjudged_reasons),
            earned=[*self.earned],
            fixes=[*self.fixes],
            readings=[*self.readings],
        )

    def end_segment(self) -> None:
        """Forget which rows are bad. All findings of a row are noted between two calls."""
        self._last_bad.clear()

    @property
    def findings(self) -> list[Finding]:
        """The findings that are kept, without hints."""
        kinds = [kind for kind in self.kinds.values() if kind.severity is not Severity.HINT]
        return sorted((example.finding for kind in kinds for example in kind.examples), key=lambda finding: finding.row)

    def worst_first(self) -> list[Kind]:
        """The kinds, by what they do to training and then by how many rows have them."""
        order = list(Severity)
        return sorted(self.kinds.values(), key=lambda kind: (order.index(kind.severity), -kind.rows, kind.reason))

    def by_reason(self) -> Counter[tuple[str, str]]:
        """Findings by verifier and reason, without hints."""
        return Counter({key: kind.rows for key, kind in self.kinds.items() if kind.severity is not Severity.HINT})

    def plain(self) -> Json:
        """The report as JSON."""
        counts = ("rows", "bad_rows", "checks", "own_answers", "unjudged", "earned", "fixes_found")
        return {
            **{name: getattr(self, name) for name in counts},
            "recipes": dict(self.recipes.most_common()),
            "references": dict(self.references.most_common()),
            "readings": [*map(asdict, self.readings)],
            "by_reason": [{"verifier": v, "reason": r, "rows": n} for (v, r), n in self.by_reason().most_common()],
            "findings": [*map(asdict, self.findings)],
            "unjudged_reasons": dict(self.unjudged_reasons),
            "fixes": [*map(asdict, self.fixes)],
            "kinds": [asdict(replace(kind, examples=kind.examples[:EXAMPLES])) for kind in self.worst_first()],
        }

    @classmethod
    def of(cls, plain: Any) -> "Report":
        """The report that `plain` has told, with some rows of each kind.

        Raises:
            NoReport: it is something else, or was told by an older release, which told less.
        """
        try:
            stored = msgspec.convert(plain, _Stored)
        except msgspec.ValidationError as error:
            raise NoReport(f"this is not a report of `rewardline audit`, or an older one: {error}") from error
        if len(stored.earned) != len(EARNED):
            raise NoReport("the report is of another release: make it again")
        counters = {name: Counter(getattr(stored, name)) for name in ("unjudged_reasons", "recipes", "references")}
        kinds = {(kind.verifier or "", kind.reason): kind for kind in stored.kinds}
        return cls(kept=EXAMPLES, **{**msgspec.structs.asdict(stored), **counters, "kinds": kinds})


def bin_of(score: float) -> int:
    """The place of a score in `EARNED`."""
    return len(EARNED) - 1 if score >= 1 else max(0, math.ceil(score * 10 - 1e-9))


def cut(row_fields: Json) -> Json:
    """The shown parts of a row, short enough to be kept."""
    return {
        clip(str(name)): value if isinstance(value, int | float) else clip(_text(value))
        for name, value in row_fields.items()
    }


def short_item(item: Json) -> Json | None:
    """The item, if it is short enough to be kept."""
    try:
        text = json.dumps(item)
        text.encode()
    except (ValueError, RecursionError, TypeError):
        return None
    return item if len(text) <= _MAX_ITEM_CHARS else None


def clip(text: str) -> str:
    """The beginning of a text, without halves of characters, which no file can hold."""
    short = text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 1] + "…"
    return short.encode("utf-8", "backslashreplace").decode()


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)
    except (RecursionError, ValueError, TypeError):
        return "(nested too deeply)"
