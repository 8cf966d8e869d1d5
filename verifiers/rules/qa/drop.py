"""DROP's F1: spans are aligned one to one, and an answer span must share the numbers of its reference span.

Source: the evaluation script of DROP (Dua et al. 2019), as lm-evaluation-harness runs it. A span's words are a set;
they are divided at spaces and hyphens, lose punctuation and articles, and numbers are compared as floats. The F1 values
of the best alignment are averaged over the larger number of spans, and rounded to two decimals.

The original takes a text as one span. Here a text may list several spans if the reference has several: as JSON, or
divided by line breaks, semicolons, commas or "and". The reading with the best score counts.
"""

import json
import math
import re
import string
from collections.abc import Sequence

from verifiers.commitment.folding import visible
from verifiers.rules.qa.words import ARTICLES

MAX_SPANS = 24
"""The largest number of spans of a reference."""
MAX_LISTED_SPANS = 64
"""The largest number of spans of a JSON list. An answer in words may list `MAX_SPANS_RATIO` times the reference's."""
MAX_SPANS_RATIO = 2
_PUNCTUATION = frozenset(string.punctuation)
_DIVIDE = re.compile(r"[ \t\r\f\v-]")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_DIVISIONS = (re.compile(r"\n"), re.compile(r"[;؛]"), re.compile(r",(?!\d)"), re.compile(r",(?!\d)|\band\b|[、，،和]"))


def score(answer: str, reference: Sequence[str]) -> float:
    """The F1 of the answer, in the reading with the best score."""
    wanted = [_normal(span) for span in reference]
    return max(_f1_of_spans([_normal(span) for span in spans], wanted) for spans in _readings(answer, len(reference)))


def is_same(answer: str, reference: Sequence[str]) -> bool:
    """Whether some reading of the answer has the same spans, and as many: DROP's exact match."""
    wanted = [_normal(span) for span in reference]
    return any(
        len(spans) == len(wanted) and {_normal(span) for span in spans} == set(wanted)
        for spans in _readings(answer, len(reference))
    )


def spans_of(answer: str) -> list[str] | None:
    """The elements of a JSON list of texts and numbers; None for any other text."""
    if not (answer.startswith("[") and answer.endswith("]")):
        return None
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    is_plain = isinstance(found, list) and all(type(each) in (str, int, float) for each in found)
    return [str(each) for each in found] if is_plain and found else None


def divided(answer: str) -> list[list[str]]:
    """The divisions of a text that find more than one part."""
    if (listed := spans_of(answer)) is not None:
        return [listed]
    found = []
    for division in _DIVISIONS:
        parts = [part for piece in division.split(answer) if (part := _BULLET.sub("", piece).strip())]
        if len(parts) > 1 and parts not in found:
            found.append(parts)
    return found


def _readings(answer: str, most: int) -> list[list[str]]:
    answer = visible(answer)
    if (listed := spans_of(answer)) is not None:
        return [listed if len(listed) <= MAX_LISTED_SPANS else [answer]]
    if most == 1:
        return [[answer]]
    return [[answer], *(parts for parts in divided(answer) if len(parts) <= MAX_SPANS_RATIO * most)]


def _normal(span: str) -> str:
    words = [_word(word) for word in _DIVIDE.split(visible(span).replace("\n", " "))]
    return " ".join(word for word in words if word) or visible(span).lower()


def _word(word: str) -> str:
    word = word.lower()
    if (number := _number(word)) is None:
        word = "".join(char for char in word if char not in _PUNCTUATION)
        number = _number(word)
    return " ".join(ARTICLES.sub(" ", word if number is None else str(number)).split())


def _number(word: str) -> float | None:
    """The finite number that a word is; else None. `nan`, `infinity` and `1_0` are words."""
    if not any(map(str.isdigit, word)) or "_" in word:
        return None
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _f1_of_spans(given: Sequence[str], wanted: Sequence[str]) -> float:
    bags = [frozenset(span.split()) for span in given]
    values = [[_f1(bag, frozenset(span.split())) for bag in bags] for span in wanted]
    total = sum(values[row][column] for row, column in assignment(values))
    return round(100 * (total / max(len(given), len(wanted)))) / 100


def _f1(given: frozenset[str], wanted: frozenset[str]) -> float:
    """The F1 of two sets of words. It uses floats in the original's steps, so that halves are rounded as there."""
    numbers = {word for word in wanted if _number(word) is not None}
    common = len(given & wanted)
    if not common or (numbers and not numbers & given):
        return 0.0
    precision, recall = common / len(given), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def assignment(values: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """One-to-one pairs of rows and columns with the largest sum of values (the Hungarian method with potentials)."""
    if len(values) > len(values[0]):
        turned = assignment([list(column) for column in zip(*values, strict=True)])
        return sorted((row, column) for column, row in turned)
    costs = [[-value for value in row] for row in values]
    rows, columns = len(costs), len(costs[0])
    row_potential, column_potential = [0.0] * (rows + 1), [0.0] * (columns + 1)
    row_of, before = [0] * (columns + 1), [0] * (columns + 1)
    for row in range(1, rows + 1):
        row_of[0], at = row, 0
        least, is_used = [math.inf] * (columns + 1), [False] * (columns + 1)
        while row_of[at]:
            is_used[at] = True
            step, following = math.inf, 0
            for column in range(1, columns + 1):
                if is_used[column]:
                    continue
                cost = costs[row_of[at] - 1][column - 1] - row_potential[row_of[at]] - column_potential[column]
                if cost < least[column]:
                    least[column], before[column] = cost, at
                if least[column] < step:
                    step, following = least[column], column
            for column in range(columns + 1):
                if is_used[column]:
                    row_potential[row_of[column]] += step
                    column_potential[column] -= step
                else:
                    least[column] -= step
            at = following
        while at:
            row_of[at] = row_of[before[at]]
            at = before[at]
    return sorted((row_of[column] - 1, column - 1) for column in range(1, columns + 1) if row_of[column])
