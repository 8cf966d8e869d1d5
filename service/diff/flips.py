"""What differs between two verdicts on one response, counted by kind."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from verifiers.rules.instruction_following.languages import identify
from verifiers.rules.language.prose import prose_of

Json = dict[str, Any]

_EQUAL: Final = 1e-9
"""Scores and rewards that differ by no more are equal: files may hold fewer digits."""
_MAX_NAMES: Final = 200
"""Names of an axis that are told apart. A file may hold any number of them."""
_MAX_IDENTIFIED: Final = 10_000
"""Flips whose language is identified, which takes about a millisecond each."""
_SAMPLE_CHARS: Final = 1_000
_LEAST_BYTES: Final = 60
"""Of prose in UTF-8: a dozen words in Latin letters, a sentence in Chinese. In less no language can be told from its neighbours."""
_MAX_SHOWN_CHARS: Final = 400
_REST: Final = "others"
_FIELDS: Final = ("status", "score", "reward", "reason", "verifier", "version", "recipe", "extracted")


class Kind(StrEnum):
    """How two verdicts differ, the worst first. An item has the first kind that fits."""

    STATUS = "status_changed"
    """One of them has no score."""
    PAID_TO_UNPAID = "paid_to_unpaid"
    """The score was above 0, and is 0."""
    UNPAID_TO_PAID = "unpaid_to_paid"
    SCORE = "score_changed"
    REWARD = "reward_changed"
    """The scores are equal, and the rewards differ."""
    REASON = "reason_changed"
    """A trainer sees no difference."""


def kind_of(old: Mapping[str, Any], new: Mapping[str, Any]) -> Kind | None:
    """How the second verdict differs from the first. None: it does not."""
    if old["status"] != new["status"]:
        return Kind.STATUS
    if (old["score"] or 0) > 0 and new["score"] == 0:
        return Kind.PAID_TO_UNPAID
    if old["score"] == 0 and (new["score"] or 0) > 0:
        return Kind.UNPAID_TO_PAID
    if not _equal(old["score"], new["score"]):
        return Kind.SCORE
    if not _equal(old.get("reward"), new.get("reward")):
        return Kind.REWARD
    return None if old["reason"] == new["reason"] else Kind.REASON


def _equal(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return math.isclose(first, second, rel_tol=_EQUAL, abs_tol=_EQUAL)


@dataclass(frozen=True, slots=True)
class Flip:
    """One response with two verdicts that differ."""

    kind: Kind
    file: str
    line: int
    item: Json
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def verifier(self) -> str:
        return str(self.after.get("verifier") or self.before.get("verifier") or "none")

    def plain(self) -> Json:
        """The flip as JSON, with the beginnings of its texts."""
        return {
            "kind": self.kind,
            "file": self.file,
            "line": self.line,
            "id": self.item.get("id"),
            "response": _shown(self.item.get("response")),
            "reference": _shown(self.item.get("reference")),
            "before": {name: self.before.get(name) for name in _FIELDS},
            "after": {name: self.after.get(name) for name in _FIELDS},
        }


def summary(verdict: Mapping[str, Any]) -> str:
    """A verdict in a line."""
    score = "no score" if verdict["score"] is None else f"{verdict['score']:g}"
    return " ".join(
        str(part) for part in (verdict["status"], score, verdict["reason"], verdict.get("extracted")) if part
    )


def _shown(value: Any) -> str | None:
    """The beginning and the end of a text: an answer stands at the end."""
    if value is None:
        return None
    text = value if isinstance(value, str) else str(value)
    half = _MAX_SHOWN_CHARS // 2
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:half]} … {text[-half:]}"


@dataclass(slots=True)
class Comparison:
    """The result of a comparison, as it grows. Its memory does not grow with the rows."""

    kept: int = 5
    """Examples that are kept of each kind and verifier."""
    rows: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """Rows that were not compared, by why."""
    kinds: Counter[Kind] = field(default_factory=Counter)
    changes: Counter[tuple[Kind, str, str, str]] = field(default_factory=Counter)
    """Flips by kind, verifier, and the reasons before and after."""
    versions: dict[str, dict[str, Counter[str]]] = field(default_factory=lambda: {"before": {}, "after": {}})
    """Of each side and verifier, the verdicts by version."""
    compared_by: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    flips_by: dict[str, dict[str, Counter[Kind]]] = field(default_factory=lambda: defaultdict(dict))
    """Flips by verifier, recipe and language."""
    examples: dict[tuple[Kind, str], list[Json]] = field(default_factory=dict)
    statuses: dict[str, Counter[str]] = field(default_factory=lambda: {"before": Counter(), "after": Counter()})
    """The verdicts of each side by status."""
    troubles: dict[str, str] = field(default_factory=dict)
    """Of each side, why the first item without a score has none."""

    @property
    def compared(self) -> int:
        return self.rows - self.skipped.total()

    @property
    def judged(self) -> int:
        """Verdicts with a score, of both sides."""
        return sum(counts["ok"] for counts in self.statuses.values())

    @property
    def unjudged(self) -> int:
        """Verdicts `failed`, of both sides: no judgement, so nothing is known of these items."""
        return sum(counts["failed"] for counts in self.statuses.values())

    @property
    def flips(self) -> int:
        """Items whose status, score or reward differs. A reason alone teaches nothing else."""
        return self.kinds.total() - self.kinds[Kind.REASON]

    @property
    def share(self) -> float:
        """The share of flips. 0 if nothing was compared."""
        return self.flips / self.compared if self.compared else 0.0

    def skip(self, why: str) -> None:
        self.rows += 1
        self.skipped[why] += 1

    def take(self, flip: Flip | None, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Count two verdicts on one row; `flip` if they differ. With no score on either side there is nothing to compare."""
        self.rows += 1
        for side, verdict in (("before", old), ("after", new)):
            verifiers = self.versions[side]
            verifier = _bounded(verifiers, verdict.get("verifier") or "none")
            versions = verifiers.setdefault(verifier, Counter())
            versions[_bounded(versions, verdict.get("version") or "none")] += 1
            self.statuses[side][_bounded(self.statuses[side], verdict["status"])] += 1
            if verdict["status"] != "ok" and side not in self.troubles:
                message = (verdict.get("detail") or {}).get("message")
                self.troubles[side] = f"{verdict.get('reason')}: {message}" if message else str(verdict.get("reason"))
        if old["score"] is None and new["score"] is None and (flip is None or flip.kind is Kind.REASON):
            self.skipped["no score on either side"] += 1
            return
        axes = {"verifier": new.get("verifier") or old.get("verifier") or "none"}
        if recipe := new.get("recipe") or old.get("recipe"):
            axes["recipe"] = recipe
        for axis, name in axes.items():
            self.compared_by[axis][_bounded(self.compared_by[axis], name)] += 1
        if flip is not None:
            self._take_flip(flip, axes)

    def _take_flip(self, flip: Flip, axes: dict[str, str]) -> None:
        self.kinds[flip.kind] += 1
        change = (flip.kind, flip.verifier, str(flip.before["reason"]), str(flip.after["reason"]))
        if change in self.changes or len(self.changes) < _MAX_NAMES:
            self.changes[change] += 1
        if self.kinds.total() <= _MAX_IDENTIFIED:
            axes["language"] = language_of(flip.item)
        for axis, name in axes.items():
            names_of_axis = self.flips_by[axis]
            names_of_axis.setdefault(_bounded(names_of_axis, name), Counter())[flip.kind] += 1
        examples = self.examples.setdefault(
            (flip.kind, _bounded({name for _, name in self.examples}, flip.verifier)), []
        )
        if len(examples) < self.kept:
            examples.append(flip.plain())


def _bounded(names: Any, name: str) -> str:
    """The name, or one for all that do not fit."""
    return name if name in names or len(names) < _MAX_NAMES else _REST


def language_of(item: Mapping[str, Any]) -> str:
    """The programming language that the item names, or the language that its response is written in."""
    for part in (item.get("params"), item.get("reference")):
        if isinstance(part, dict) and isinstance(part.get("language"), str):
            return str(part["language"])[:40]
    response = item.get("response")
    text = response if isinstance(response, str) else str(response)
    prose = prose_of(text[:_SAMPLE_CHARS])
    return (len(prose.encode()) >= _LEAST_BYTES and identify(prose)) or "none"
