"""Lets a small model decide what it is certain of, and a large one the rest.

    rule (the reference itself, or nothing to judge)  ->  small model, if its verdict is probable enough  ->  large model

How probable is enough is found on labelled rows by conformal risk control (Angelopoulos et al., 2022, arXiv 2208.02814,
equation 4): the least certainty at which the expected share of rows whose verdict differs from the large model's is at
most the share that was promised. This holds for rows like those of the calibration, and for no others.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verifiers.judge.panel import Ballot

UNKNOWN = "no_logprobs"
"""The flag of an answer without probabilities."""


def probability(ballot: "Ballot", scores: Mapping[str, float]) -> float | None:
    """The probability that the response is right, from 0 to 1.

    None if the endpoint gave none, or if the label that was written is not on the likelier side. `scores`: of each label.
    """
    decision = ballot.decision
    says_right = scores.get(str(decision.value), 0.0) > 0.5
    return None if UNKNOWN in ballot.flags or says_right is not (decision.score > 0.5) else decision.score


def certainty(right: float | None) -> float:
    """The probability of the likelier verdict, from 0.5 to 1; 0 if it is not known."""
    return 0.0 if right is None else max(right, 1.0 - right)


def least_certainty(certainties: Sequence[float], differs: Sequence[bool], promised: float) -> float | None:
    """The least certainty from which on the small model may decide.

    `differs[i]`: whether its verdict on row i differs from the large model's. None if no certainty keeps the promise: with
    fewer than 1 / promised - 1 rows none can.
    """
    rows = len(certainties)
    allowed = promised * (rows + 1) - 1.0  # n / (n + 1) * risk + 1 / (n + 1) <= promised
    least, wrong = None, 0
    ranked = sorted(zip(certainties, differs, strict=True), reverse=True)
    for at, (value, is_wrong) in enumerate(ranked):
        wrong += is_wrong
        if wrong > allowed or value <= 0.5:
            break
        if at + 1 == rows or ranked[at + 1][0] < value:  # rows of one certainty are decided together
            least = value
    return least
