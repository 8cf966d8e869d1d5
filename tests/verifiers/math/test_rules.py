"""What equals what, rule by rule, and an exam written by people who had not seen the verifier."""

import json
from pathlib import Path

import pytest

from tests.tables import table
from tests.verifiers.math.patience import until_judged
from verifiers.base import Item, Status
from verifiers.math import Math, MathParams
from verifiers.math.grading import grade
from verifiers.math.options import DEFAULT

DATA = Path(__file__).parents[2] / "data" / "math"


def rules() -> list[tuple[str, str, str]]:
    lines = (DATA / "rules.txt").read_text(encoding="utf-8").splitlines()
    cells = [line.split(" || ") for line in lines if line and not line.startswith("# ")]
    return [(truth, reference, answer) for truth, reference, answer in cells]


@table(("truth", "reference", "answer"), rules())
def test_rule(truth: str, reference: str, answer: str) -> None:
    result = grade([[reference], answer, DEFAULT.packed()])
    assert "reference" not in result["outcome"], result
    assert (result["outcome"] == "equal") is (truth == "T"), result


@pytest.mark.accuracy
async def test_the_exam(verifier: Math) -> None:
    rows = [json.loads(line) for line in (DATA / "exam.jsonl").read_text(encoding="utf-8").splitlines()]
    items = [Item(row["response"], MathParams(reference=row["gold"])) for row in rows]
    verdicts = await until_judged(verifier, items)
    wrong = [
        (row["gold"], row["response"][-80:], row["expected"], verdict.reason)
        for row, verdict in zip(rows, verdicts, strict=True)
        if verdict.score != float(row["expected"])
    ]
    print(*wrong, sep="\n")
    accepted = [row for row in wrong if not row[2] and row[3] == "correct"]
    assert not any(verdict.status is Status.FAILED for verdict in verdicts)
    assert len(accepted) <= len(rows) / 500
    assert len(wrong) <= len(rows) / 40
