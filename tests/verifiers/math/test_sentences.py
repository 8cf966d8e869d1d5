"""Answers stated in sentences, of all kinds of values and in several languages: right ones are paid, wrong ones never."""

import json
from pathlib import Path
from typing import Any

from tests.verifiers.found import Found
from verifiers.base import Item, Verdict
from verifiers.math import MathParams

_ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "math" / "sentences.jsonl").read_text("utf-8").splitlines()
]
"""With `open`: right answers that nobody reads yet."""


def _verdicts(found: Found) -> list[Verdict]:
    items = [Item(row["response"], MathParams(reference=row["gold"], **row.get("math", {}))) for row in _ROWS]
    return list(found.score(found.registry["math"], items))


def test_a_sentence_states_its_answer(found: Found) -> None:
    wrong = [
        (row["gold"], row["response"], verdict.score, verdict.reason, verdict.extracted)
        for row, verdict in zip(_ROWS, _verdicts(found), strict=True)
        if verdict.score != float(row["expected"]) and not row.get("open")
    ]
    assert wrong == []


def test_few_sentences_are_left_open() -> None:
    left = [row for row in _ROWS if row.get("open")]
    assert all(row["expected"] for row in left)
    assert len(left) <= 0.01 * len(_ROWS)
