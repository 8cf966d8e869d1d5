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
    gold = [_normal(span) for span in reference]
    return max(_f1_of_spans([_normal(span) for span in spans], gold) for spans in _readings(answer, len(reference)))


def is_same(answer: str, reference: Sequence[str]) -> bool:
    """Whether some reading of the answer has the same spans, and as many: DROP's exact match."""
    gold = [_normal(span) for span in reference]
    return any(
        len(spans) == len(gold) and {_normal(span) for span in spans} == set(gold)
        for spans in _readings(answer, len(reference))
    )


def spans_of(answer: str) -> list[str] | None:
    """The elements of a JSON list of texts and numbers; None for any other text."""
    if not (answer.startswith("[") and answer.endswith("]")):
        return None
    try:
        elements = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    is_plain = isinstance(elements, list) and all(type(element) in (str, int, float) for element in elements)
    return [str(element) for element in elements] if is_plain and elements else None


def divided(answer: str) -> list[list[str]]:
    """The divisions of a text that find more than one part."""
    if (listed := spans_of(answer)) is not None:
        return [listed]
    divisions = []
    for division in _DIVISIONS:
        spans = [part for piece in division.split(answer) if (part := _BULLET.sub("", piece).strip())]
        if len(spans) > 1 and spans not in divisions:
            divisions.append(spans)
    return divisions


def _readings(answer: str, max_spans: int) -> list[list[str]]:
    answer = visible(answer)
    if (listed := spans_of(answer)) is not None:
        return [listed if len(listed) <= MAX_LISTED_SPANS else [answer]]
    if max_spans == 1:
        return [[answer]]
    return [[answer], *(spans for spans in divided(answer) if len(spans) <= MAX_SPANS_RATIO * max_spans)]


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


def _f1_of_spans(answer_spans: Sequence[str], gold: Sequence[str]) -> float:
    bags = [frozenset(span.split()) for span in answer_spans]
    values = [[_f1(bag, frozenset(span.split())) for bag in bags] for span in gold]
    total = sum(values[row][column] for row, column in assignment(values))
    return round(100 * (total / max(len(answer_spans), len(gold)))) / 100


def _f1(answer_words: frozenset[str], reference_words: frozenset[str]) -> float:
    """The F1 of two sets of words. It uses floats in the original's steps, so that halves are rounded as there."""
    numbers = {word for word in reference_words if _number(word) is not None}
    common = len(answer_words & reference_words)
    if not common or (numbers and not numbers & answer_words):
        return 0.0
    precision, recall = common / len(answer_words), common / len(reference_words)
    return 2 * precision * recall / (precision + recall)


def assignment(values: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """One-to-one pairs of rows and columns with the largest sum of values (the Hungarian method with potentials)."""
    if len(values) > len(values[0]):
        turned = assignment([list(column) for column in zip(*values, strict=True)])
        return sorted((row, column) for column, row in turned)
    costs = [[-value for value in row] for row in values]
    rows, columns = len(costs), len(costs[0])
    row_potential, column_potential = [0.0] * (rows + 1), [0.0] * (columns + 1)
    row_of, previous = [0] * (columns + 1), [0] * (columns + 1)
    for row in range(1, rows + 1):
        row_of[0], at = row, 0
        lowest, is_used = [math.inf] * (columns + 1), [False] * (columns + 1)
        while row_of[at]:
            is_used[at] = True
            step, following = math.inf, 0
            for column in range(1, columns + 1):
                if is_used[column]:
                    continue
                cost = costs[row_of[at] - 1][column - 1] - row_potential[row_of[at]] - column_potential[column]
                if cost < lowest[column]:
                    lowest[column], previous[column] = cost, at
                if lowest[column] < step:
                    step, following = lowest[column], column
            for column in range(columns + 1):
                if is_used[column]:
                    row_potential[row_of[column]] += step
                    column_potential[column] -= step
                else:
                    lowest[column] -= step
            at = following
        while at:
            row_of[at] = row_of[previous[at]]
            at = previous[at]
    return sorted((row_of[column] - 1, column - 1) for column in range(1, columns + 1) if row_of[column])
