"""The counts of a run over rollouts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(slots=True)
class Tally:
    """The counts of a run."""

    done_before: int = 0
    """Lines of the output that existed before this run."""
    lines: int = 0
    by_outcome: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """The number of results by verifier, status and reason."""
    agreement: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    """The number of labelled and judged lines by label and verdict."""
    score_sum: float = 0.0
    first: dict[tuple[str, str, str], tuple[int, str]] = field(default_factory=dict)
    """The first line of each outcome without a score, and its message."""

    def count(self, result: Mapping[str, Any], label: bool | None, line: int = 0) -> None:
        self.lines += 1
        outcome = (result.get("verifier") or "", result["status"], result["reason"])
        self.by_outcome[outcome] += 1
        if result["status"] != "ok" and outcome not in self.first:
            self.first[outcome] = (line, str((result.get("detail") or {}).get("message", "")))
        if result["status"] == "ok":
            self.score_sum += result["score"]
            if label is not None:
                self.agreement[(label, result["score"] >= 1.0)] += 1

    def add(self, second: Self) -> None:
        """Count what another tally has counted."""
        self.lines += second.lines
        self.by_outcome.update(second.by_outcome)
        self.agreement.update(second.agreement)
        self.score_sum += second.score_sum
        self.first = {**second.first, **self.first}

    def with_status(self, status: str) -> int:
        return sum(count for (_, outcome_status, _), count in self.by_outcome.items() if outcome_status == status)

    def plain(self) -> dict[str, Any]:
        """The counts as JSON; `of_plain` reads them."""
        return {
            "lines": self.lines,
            "by_outcome": [[*key, count] for key, count in self.by_outcome.items()],
            "agreement": [[*key, count] for key, count in self.agreement.items()],
            "score_sum": self.score_sum,
        }

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Self:
        outcomes = Counter({(verifier, status, reason): n for verifier, status, reason, n in plain["by_outcome"]})
        agreement = Counter({(label, right): n for label, right, n in plain["agreement"]})
        return cls(0, plain["lines"], outcomes, agreement, plain["score_sum"])
