"""`rewardline judges calibrate ROWS` finds how certain a small judge must be to decide in place of a large one.

Both judge every row. Half of the rows (`verifiers.judge.cascades` says how) give the certainty; the other half shows whether
the promise is kept, and what is saved. Rows that a rule decides, and rows that one of both could not judge, are counted apart.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from service.cli.judge_evaluation import BadRows, Row, opened, verdicts_of
from verifiers.base import Status, Verdict
from verifiers.judge.cascades import UNKNOWN, certainty, least_certainty
from verifiers.judge.evaluation import Figure, share
from verifiers.judge.panel import Panel


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result, and how it does on the rows that did not take part in it."""

    profile: str
    first: str
    promised: float
    """The largest expected share of rows whose verdict differs from the profile's own."""
    certainty: float | None
    """None: no certainty keeps the promise on these rows."""
    rows: int
    """Rows of the calibration."""
    held_out: int
    by_rule: int
    not_judged: int
    disagreement: Figure | None = None
    """Of the cascade and the profile alone, on the rows held out, as all figures below."""
    decided_first: Figure | None = None
    tokens_saved: float | None = None
    """The share of the large model's tokens."""
    first_tokens: float | None = None
    """The small model's tokens, as a share of the large model's without a cascade."""
    agreement: Figure | None = None
    """Of the cascade with the labels."""
    agreement_alone: Figure | None = None
    """Of the profile alone with the labels."""

    @property
    def is_kept(self) -> bool:
        """Whether the rows held out do not speak against the promise."""
        return self.disagreement is not None and self.disagreement.low <= self.promised

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A row that both have judged."""

    label: bool
    certainty: float
    first: bool
    alone: bool
    first_tokens: int
    tokens: int


async def calibrate(judge_file: Path, rows: Sequence[Row], profile: str, first: str, promised: float) -> Calibration:
    """The calibration of a cascade from profile `first` to `profile`.

    Raises:
        BadJudges, BadKey, BrokenPrompt: the file of judges has mistakes.
        BadRows: there is no such profile, or it cannot be part of a cascade.
    """
    async with opened(judge_file, (profile, first)) as panel:
        _without_cascade(panel, profile, first)
        small, large = [await verdicts_of(panel, name, rows) for name in (first, profile)]
    judged = [
        (row, one, two)
        for row, one, two in zip(rows, small, large, strict=True)
        if one.status is two.status is Status.OK
    ]
    pairs = [_pair(*group) for group in judged if "votes" in group[2].detail]
    order = np.random.default_rng(0).permutation(len(pairs))
    half = (len(pairs) + 1) // 2
    known, held_out = ([pairs[at] for at in part] for part in (order[:half], order[half:]))
    least = least_certainty([pair.certainty for pair in known], [pair.first != pair.alone for pair in known], promised)
    counts = (len(known), len(held_out), len(judged) - len(pairs), len(rows) - len(judged))
    return Calibration(profile, first, promised, least, *counts, **_measured(held_out, least))


def _without_cascade(panel: Panel, profile: str, first: str) -> None:
    """Let the profile judge all rows itself."""
    config = panel.config
    large, small = config.profiles[profile], config.profiles[first]
    if large.mode != "reference" or small.mode != "reference" or small.score_source != "expected":
        raise BadRows(f"{profile} and {first} must be of mode reference, and {first} needs score_source: expected")
    alone = large.model_copy(update={"cascade": None})
    panel.config = config.model_copy(update={"profiles": {**config.profiles, profile: alone}})


def _pair(row: Row, small: Verdict, large: Verdict) -> _Pair:
    assert small.score is not None
    assert large.score is not None
    right = None if UNKNOWN in small.detail.get("flags", ()) else small.score
    first, alone = small.score > 0.5, large.score > 0.5
    return _Pair(row.label >= 0.5, certainty(right), first, alone, _tokens(small), _tokens(large))


def _tokens(verdict: Verdict) -> int:
    return sum(count or 0 for vote in verdict.detail.get("votes", ()) for count in vote["tokens"])


def _measured(pairs: Sequence[_Pair], least: float | None) -> dict[str, Any]:
    if least is None or not pairs:
        return {}
    firsts = [pair.certainty >= least for pair in pairs]
    verdicts = [pair.first if is_first else pair.alone for pair, is_first in zip(pairs, firsts, strict=True)]
    rows, tokens = len(pairs), sum(pair.tokens for pair in pairs) or 1
    return {
        "disagreement": share(sum(v != pair.alone for v, pair in zip(verdicts, pairs, strict=True)), rows),
        "decided_first": share(sum(firsts), rows),
        "tokens_saved": sum(pair.tokens for pair, is_first in zip(pairs, firsts, strict=True) if is_first) / tokens,
        "first_tokens": sum(pair.first_tokens for pair in pairs) / tokens,
        "agreement": share(sum(v == pair.label for v, pair in zip(verdicts, pairs, strict=True)), rows),
        "agreement_alone": share(sum(pair.alone == pair.label for pair in pairs), rows),
    }
