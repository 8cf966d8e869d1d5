"""Finds the steps of the reference that a response takes, by the best one-to-one pairing with its statements, in order.

    reference   3x = 14 - 5        3x = 9        x = 3
    response    3x = 14 - 5   ...  3x = 9   ...  x = 4         matched, matched, contradicted

A step is *contradicted* if the last number that the response gives for its left side differs from the step's: a later
statement corrects an earlier one, and a list of values commits to the last one. Otherwise a step is *matched* if it is
paired, and *missing* if it is not.

A step that is written twice pays once, and listing values does not pay: beyond the number that an honest solution
needs, the credit falls with the square of the number of different values, or relations, that are stated (`_ALLOWED`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from verifiers.math_steps.matching import Matching, is_false, is_read, is_value, key, keys
from verifiers.math_steps.statements import Statement

_MAX_COMPARISONS = 1_500


class State(StrEnum):
    """The result for a step."""

    MATCHED = "matched"
    MISSING = "missing"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the reference."""

    statements: Sequence[Statement]
    """The readings of the step; empty if it is words."""
    words: str
    """The words of the step, if it is not a formula."""
    weight: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a response matches the steps."""

    states: Sequence[State]
    taken: Sequence[str | None]
    """For each step, the statement that is paired with it or contradicts it."""
    score: float
    """The share of the credited weight of matched steps in the total weight."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A statement of the response, with the credit for pairing a step with it."""

    statement: Statement
    keys: tuple[str, str, str]
    is_false: bool
    credit: float


def align(steps: Sequence[Step], stated: Sequence[Statement], lines: Sequence[str]) -> Alignment:
    """Align the statements of a response with the steps; steps that are words are aligned with its lines."""
    matching = Matching(_MAX_COMPARISONS)
    candidates = _candidates(stated, len(steps))
    contradictions = [_contradiction(matching, steps, step, candidates) for step in steps]
    is_same = [
        [False] * len(candidates) if contradiction is not None else row
        for row, contradiction in zip(_same(matching, steps, candidates), contradictions, strict=True)
    ]
    paired = _without_repetitions(_paired(steps, candidates, is_same), steps, candidates)
    spoken = {key(line) for line in lines}
    states: list[State] = []
    texts: list[str | None] = []
    gained = 0.0
    for step, contradiction, index in zip(steps, contradictions, paired, strict=True):
        state, text, credit = State.MISSING, None, 0.0
        if contradiction is not None:
            state, text = State.CONTRADICTED, contradiction.text
        elif index is not None:
            state, text, credit = State.MATCHED, candidates[index].statement.text, candidates[index].credit
        elif not step.statements and key(step.words) in spoken:
            state, text, credit = State.MATCHED, step.words, 1.0
        states.append(state)
        texts.append(text)
        gained += step.weight * credit
    return Alignment(states, texts, gained / sum(step.weight for step in steps))


_ALLOWED = {True: (2, 6), False: (6, 12)}
"""The numbers of different bare values and relations that are allowed: for each step, and beyond that."""


def _candidates(stated: Sequence[Statement], steps: int) -> list[_Candidate]:
    useful = [statement for statement in stated if is_read(statement) or not statement.relation]
    written_keys = [keys(statement) for statement in useful]
    different = {
        pair: is_value(statement) for pair, statement in zip(written_keys, useful, strict=True) if is_read(statement)
    }
    credits = {kind: _credit(list(different.values()).count(kind), steps, kind) for kind in (True, False)}
    return [
        _Candidate(statement, pair, is_false(statement), credits[is_value(statement)])
        for pair, statement in zip(written_keys, useful, strict=True)
    ]


def _credit(count: int, steps: int, is_value: bool) -> float:
    per_step, extra = _ALLOWED[is_value]
    allowed = per_step * steps + extra
    return 1.0 if count <= allowed else (allowed / count) ** 2


def _contradiction(
    matching: Matching, steps: Sequence[Step], step: Step, candidates: Sequence[_Candidate]
) -> Statement | None:
    """The last statement about the step's left side, if it gives another number than this step or any other step.

    If the reference gives several values for it, as for an unknown with two solutions, as many last statements count.
    """
    for gold in step.statements:
        rivals = _different(matching, gold, [rival for other_step in steps for rival in other_step.statements])
        last: dict[tuple[str, str, str], Statement] = {}
        for candidate in reversed(candidates):
            statement = candidate.statement
            if matching.same_left(gold, statement) or matching.contradicts(gold, statement):
                last.setdefault(candidate.keys, statement)
            if last and len(last) >= len(rivals):
                break
        if any(matching.same(gold, statement) for statement in last.values()):
            continue
        for statement in last.values():
            if matching.contradicts(gold, statement) and not any(matching.same(rival, statement) for rival in rivals):
                return statement
    return None


def _different(matching: Matching, gold: Statement, all_of_them: Sequence[Statement]) -> list[Statement]:
    """The different values that the reference gives for this left side, each once."""
    values: list[Statement] = []
    for statement in all_of_them:
        if matching.same_left(gold, statement) and not any(matching.same(value, statement) for value in values):
            values.append(statement)
    return values


def _same(matching: Matching, steps: Sequence[Step], candidates: Sequence[_Candidate]) -> list[list[bool]]:
    """For each step, whether each candidate is that step; a candidate that is written as one step is no other step."""
    step_keys = {keys(gold) for step in steps for gold in step.statements}

    def is_step(step: Step, candidate: _Candidate) -> bool:
        if candidate.is_false:
            return False
        if candidate.keys in step_keys:
            return any(keys(gold) == candidate.keys for gold in step.statements)
        return any(matching.same(gold, candidate.statement) for gold in step.statements)

    return [[is_step(step, candidate) for candidate in candidates] for step in steps]


def _paired(
    steps: Sequence[Step], candidates: Sequence[_Candidate], is_same: Sequence[Sequence[bool]]
) -> list[int | None]:
    """For each step the position of its candidate, in rising order, with the greatest credited weight."""
    best = [[0.0] * (len(candidates) + 1) for _ in range(len(steps) + 1)]
    for i in range(len(steps) - 1, -1, -1):
        for j in range(len(candidates) - 1, -1, -1):
            gain = max(best[i + 1][j], best[i][j + 1])
            if is_same[i][j]:
                gain = max(gain, steps[i].weight * candidates[j].credit + best[i + 1][j + 1])
            best[i][j] = gain
    paired: list[int | None] = [None] * len(steps)
    i = j = 0
    while i < len(steps) and j < len(candidates):
        if is_same[i][j] and best[i][j] == steps[i].weight * candidates[j].credit + best[i + 1][j + 1]:
            paired[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return paired


def _without_repetitions(
    paired: Sequence[int | None], steps: Sequence[Step], candidates: Sequence[_Candidate]
) -> list[int | None]:
    """The pairing in which a repeated statement is paired with equal steps only."""
    used: dict[tuple[str, str, str], str] = {}
    return [
        None if index is None or used.setdefault(candidates[index].keys, key(step.words)) != key(step.words) else index
        for step, index in zip(steps, paired, strict=True)
    ]
