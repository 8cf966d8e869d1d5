"""What the scores of criteria come to, by the formulas of rubrics' authors. `w` are weights, `s` scores from 0 to 1.

    weighted   Σ ws / Σ of positive w, at least 0 and at most 1; of faults alone 1 - their share
    positive   the same, which may be below 0 or above 1             HealthBench, RubricHub, ResearchRubrics, PRBench
    share      Σ ws / Σ w                                            RaR (explicit), ProfBench, verifiers, tinker
    absolute   Σ ws / Σ |w|                                          open-instruct
    range      (Σ ws - Σ of negative w) / Σ |w|                      PRBench, normalised
    tree       at each node the share of its parts                   PaperBench
    grade      the mean of the answers, which are numbers            Prometheus, BiGGen, WildBench, RaR (implicit)
    all        1 if every criterion is met                           AdvancedIF
    any, min, product, threshold

The order of operations is that of the originals, so that the numbers are the same to the last bit.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from verifiers.judge.criteria import Criterion, total

Formula = Literal[
    "weighted", "all", "any", "min", "product", "threshold", "positive", "share", "absolute", "range", "tree", "grade"
]
Scores = Mapping[str, float]
"""The score of each criterion from 0 to 1, by id."""


def problem(formula: Formula, criteria: Sequence[Criterion]) -> str | None:
    """Why the formula has no value for these criteria, whatever their scores are; None if it has one."""
    weights = [c.weight for c in criteria]
    if formula == "tree" and any(weight < 0 for c in criteria for weight in (c.weight, *(w for _, w in c.path))):
        return "a tree has no weights below 0"
    if not any(weights) or (formula == "tree" and not _tree(criteria, {c.id: 1.0 for c in criteria}, 0)):
        return "all weights are 0"
    if formula == "positive" and not any(weight > 0 for weight in weights):
        return "no weight is above 0, and the formula divides by their sum"
    if formula == "share" and sum(weights) <= 0:
        return f"the sum of the weights is {sum(weights):g}, and the formula divides by it"
    if formula == "grade" and (len({c.choices for c in criteria}) > 1 or not _is_numeric(criteria[0].choices)):
        return "a grade needs one criterion whose choices are numbers, or several with the same"
    return None


def value(formula: Formula, criteria: Sequence[Criterion], scores: Scores, threshold: float | None = None) -> float:
    """The value of a formula that has no `problem`."""
    earned = sum(criterion.weight * scores[criterion.id] for criterion in criteria)
    match formula:
        case "positive":
            return earned / sum(criterion.weight for criterion in criteria if criterion.weight > 0)
        case "share":
            return earned / sum(criterion.weight for criterion in criteria)
        case "absolute":
            return earned / sum(abs(criterion.weight) for criterion in criteria)
        case "range":
            low = sum(criterion.weight for criterion in criteria if criterion.weight < 0)
            return (earned - low) / (sum(criterion.weight for criterion in criteria if criterion.weight > 0) - low)
        case "tree":
            return _tree(criteria, scores, 0)
        case "grade":
            return sum(grade(criterion, scores[criterion.id]) for criterion in criteria) / len(criteria)
        case "threshold":
            assert threshold is not None
            return float(total(criteria, scores) >= threshold)
        case "weighted":
            return total(criteria, scores)
        case _:
            return _of_met(formula, criteria, scores)


def score(formula: Formula, criteria: Sequence[Criterion], number: float, *, signed: bool) -> float:
    """A formula's value as a score from 0 to 1. `signed`: from -1 to 1, instead of from 0."""
    if formula == "grade":
        low, high = float(criteria[0].choices[0]), float(criteria[0].choices[-1])
        return (number - low) / (high - low)
    if signed:
        number = (number + 1) / 2
    return min(1.0, max(0.0, number))


def by_tag(
    formula: Formula, criteria: Sequence[Criterion], scores: Scores, threshold: float | None
) -> dict[str, float]:
    """The value for the criteria of each tag. Tags for which the formula has no value are left out."""
    tagged: dict[str, list[Criterion]] = {}
    for criterion in criteria:
        for tag in criterion.tags:
            tagged.setdefault(tag, []).append(criterion)
    return {
        tag: value(formula, chosen, scores, threshold)
        for tag, chosen in tagged.items()
        if problem(formula, chosen) is None
    }


def grade(criterion: Criterion, score: float) -> float:
    """The number that a score stands for on the scale of the criterion's choices."""
    low, high = float(criterion.choices[0]), float(criterion.choices[-1])
    steps = len(criterion.choices) - 1
    return low + round(score * steps, 9) * ((high - low) / steps)


def _of_met(formula: Formula, criteria: Sequence[Criterion], scores: Scores) -> float:
    met = [1.0 - scores[criterion.id] if criterion.weight < 0 else scores[criterion.id] for criterion in criteria]
    match formula:
        case "all":
            return float(min(met) == 1.0)
        case "any":  # the absence of a fault earns nothing
            merits = [scores[criterion.id] for criterion in criteria if criterion.weight > 0]
            return float(max(merits or met) == 1.0)
        case "min":
            return min(met)
        case "product":
            return math.prod(met)
        case _:
            raise AssertionError(formula)


def _tree(criteria: Sequence[Criterion], scores: Scores, depth: int) -> float:
    """The score of a node: the share of its parts by weight. `criteria` are all below it, `depth` groups deep."""
    groups: dict[str, list[Criterion]] = {}
    for c in criteria:
        groups.setdefault(c.path[depth][0] if len(c.path) > depth else f"leaf {c.id}", []).append(c)
    nodes = [_node(group, scores, depth) for group in groups.values()]
    weights = sum(weight for _, weight in nodes)
    return sum(share * weight for share, weight in nodes) / weights if weights else 0.0


def _node(part: Sequence[Criterion], scores: Scores, depth: int) -> tuple[float, float]:
    """The score and the weight of one part of a node."""
    first = part[0]
    if len(first.path) > depth:
        return _tree(part, scores, depth + 1), first.path[depth][1]
    return scores[first.id], first.weight


def _is_numeric(choices: Sequence[str]) -> bool:
    return len(choices) > 1 and all(choice.lstrip("-").isdecimal() for choice in choices)
