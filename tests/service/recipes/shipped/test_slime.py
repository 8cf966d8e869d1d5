"""The recipes that stand for slime's rm_hub, held against what it gives; for IFBench, its published checkers' verdicts."""

import json

import pytest

from tests.conftest import ROOT
from tests.service.recipes.shipped.scorer import Scorer


def test_ifbench_pays_for_all_instructions_by_its_published_checkers(scorer: Scorer) -> None:
    lines = (ROOT / "tests/data/rules/ifbench_oracle.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines[::7]) if "think>" not in row["response"]]
    samples = [
        {
            "recipe": "slime.ifbench",
            "response": row["response"],
            "reference": {
                "record_id": int(row["key"]),
                "prompt_text": row["prompt"],
                "instruction_id_list": row["instruction_id_list"],
                "kwargs": row["kwargs"],
            },
        }
        for row in rows
    ]
    assert scorer.rewards(*samples) == [float(all(row["strict"])) for row in rows]


def test_ifbench_judges_what_follows_thinking(scorer: Scorer) -> None:
    reference = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}], "prompt_text": "Write."}
    responses = ["<think>a, b</think>One boat.", "<think>a b</think>One, two.", "One, two.", ""]
    items = [{"recipe": "slime.ifbench", "response": each, "reference": reference} for each in responses]
    assert scorer.rewards(*items) == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "reference",
    [{"instruction_id_list": [], "kwargs": []}, {"instruction_id_list": ["boats:no"], "kwargs": [{}]}],
)
def test_ifbench_refuses_instructions_that_are_none(scorer: Scorer, reference: object) -> None:
    (result,) = scorer.score({"recipe": "slime.ifbench", "response": "One boat.", "reference": reference})
    assert result.status == "invalid"
