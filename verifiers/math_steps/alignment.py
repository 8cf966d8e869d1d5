"""Which steps of the reference a response takes: the best one-to-one pairing of its statements with them, in order.

    reference   3x = 14 - 5        3x = 9        x = 3
    response    3x = 14 - 5   ...  3x = 9   ...  x = 4         matched, matched, contradicted

A step is *contradicted* when what the response says of its left side last is another number than the step's: a later
statement corrects an earlier one, and naming one value after the other commits to the last. Otherwise it is *matched*
when it is paired, and *missing* when it is not.

Writing a step twice pays once, and listing does not pay: beyond what an honest solution needs, the credit falls with the
square of how many different values, or relations, are stated (`_ALLOWED`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from verifiers.math_steps.matching import Matching, is_false, is_read, is_value, key, keys
from verifiers.math_steps.statements import Statement

_MAX_COMPARISONS = 1_500


class State(StrEnum):
    """What became of a step."""

    MATCHED = "matched"
    MISSING = "missing"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the reference."""

    statements: Sequence[Statement]
    """Each way in which it can be taken; empty when it is words."""
    words: str
    """The words it is, where it is no formula."""
    weight: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a response goes along the steps."""

    states: Sequence[State]
    taken: Sequence[str | None]
    """For each step, the statement that is paired with it or contradicts it."""
    score: float
    """The credited weight of the matched steps, of all."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Something the response states, with what pairing a step with it is worth."""

    statement: Statement
    keys: tuple[str, str, str]
    is_false: bool
    credit: float


def align(steps: Sequence[Step], stated: Sequence[Statement], lines: Sequence[str]) -> Alignment:
    """Align a response's statements, and its lines for steps that are words, with the steps."""
    matching = Matching(_MAX_COMPARISONS)
    candidates = _candidates(stated, len(steps))
    contradictions = [_contradiction(matching, steps, step, candidates) for step in steps]
    same = [
        [False] * len(candidates) if contradiction is not None else row
        for row, contradiction in zip(_same(matching, steps, candidates), contradictions, strict=True)
    ]
    paired = _without_repetitions(_paired(steps, candidates, same), steps, candidates)
    said = {key(line) for line in lines}
    states: list[State] = []
    taken: list[str | None] = []
    gained = 0.0
    for step, contradiction, place in zip(steps, contradictions, paired, strict=True):
        state, text, credit = State.MISSING, None, 0.0
        if contradiction is not None:
            state, text = State.CONTRADICTED, contradiction.text
        elif place is not None:
            state, text, credit = State.MATCHED, candidates[place].statement.text, candidates[place].credit
        elif not step.statements and key(step.words) in said:
            state, text, credit = State.MATCHED, step.words, 1.0
        states.append(state)
        taken.append(text)
        gained += step.weight * credit
    return Alignment(states, taken, gained / sum(step.weight for step in steps))


_ALLOWED = {True: (2, 6), False: (6, 12)}
"""For bare values and for relations: so many different ones for each step, and so many more, are not too many."""


def _candidates(stated: Sequence[Statement], steps: int) -> list[_Candidate]:
    useful = [statement for statement in stated if is_read(statement) or not statement.relation]
    written = [keys(statement) for statement in useful]
    different = {
        found: is_value(statement) for found, statement in zip(written, useful, strict=True) if is_read(statement)
    }
    credits = {kind: _credit(list(different.values()).count(kind), steps, kind) for kind in (True, False)}
    return [
        _Candidate(statement, found, is_false(statement), credits[is_value(statement)])
        for found, statement in zip(written, useful, strict=True)
    ]


def _credit(count: int, steps: int, is_value: bool) -> float:
    each, more = _ALLOWED[is_value]
    allowed = each * steps + more
    return 1.0 if count <= allowed else (allowed / count) ** 2


def _contradiction(
    matching: Matching, steps: Sequence[Step], step: Step, candidates: Sequence[_Candidate]
) -> Statement | None:
    """What is said last of the step's left side, when it is another number than this step's or any other one's.

    Where the reference says several things of it, as of an unknown with two solutions, so many last ones count.
    """
    for gold in step.statements:
        others = _different(matching, gold, [other for each in steps for other in each.statements])
        last: dict[tuple[str, str, str], Statement] = {}
        for candidate in reversed(candidates):
            given = candidate.statement
            if matching.same_left(gold, given) or matching.contradicts(gold, given):
                last.setdefault(candidate.keys, given)
            if last and len(last) >= len(others):
                break
        if any(matching.same(gold, given) for given in last.values()):
            continue
        for given in last.values():
            if matching.contradicts(gold, given) and not any(matching.same(other, given) for other in others):
                return given
    return None


def _different(matching: Matching, gold: Statement, all_of_them: Sequence[Statement]) -> list[Statement]:
    """What the reference says of this left side, each value of it once."""
    found: list[Statement] = []
    for other in all_of_them:
        if matching.same_left(gold, other) and not any(matching.same(known, other) for known in found):
            found.append(other)
    return found


def _same(matching: Matching, steps: Sequence[Step], candidates: Sequence[_Candidate]) -> list[list[bool]]:
    """For each step, which candidates are that step; what is written as a step is, is no other step."""
    written = {keys(gold) for step in steps for gold in step.statements}

    def is_step(step: Step, candidate: _Candidate) -> bool:
        if candidate.is_false:
            return False
        if candidate.keys in written:
            return any(keys(gold) == candidate.keys for gold in step.statements)
        return any(matching.same(gold, candidate.statement) for gold in step.statements)

    return [[is_step(step, candidate) for candidate in candidates] for step in steps]


def _paired(
    steps: Sequence[Step], candidates: Sequence[_Candidate], same: Sequence[Sequence[bool]]
) -> list[int | None]:
    """For each step the place of its candidate, in rising order, so that the credited weight is the greatest."""
    best = [[0.0] * (len(candidates) + 1) for _ in range(len(steps) + 1)]
    for i in range(len(steps) - 1, -1, -1):
        for j in range(len(candidates) - 1, -1, -1):
            gain = max(best[i + 1][j], best[i][j + 1])
            if same[i][j]:
                gain = max(gain, steps[i].weight * candidates[j].credit + best[i + 1][j + 1])
            best[i][j] = gain
    paired: list[int | None] = [None] * len(steps)
    i = j = 0
    while i < len(steps) and j < len(candidates):
        if same[i][j] and best[i][j] == steps[i].weight * candidates[j].credit + best[i + 1][j + 1]:
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
    """The pairing, with one statement however often it is written paired with equal steps only."""
    used: dict[tuple[str, str, str], str] = {}
    return [
        None if place is None or used.setdefault(candidates[place].keys, key(step.words)) != key(step.words) else place
        for step, place in zip(steps, paired, strict=True)
    ]
