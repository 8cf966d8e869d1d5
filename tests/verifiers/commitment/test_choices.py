"""How options are told in prose: a table of responses, paid and unpaid, for each question."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from verifiers.rules.multiple_choice import MultipleChoiceParams, judge

ROWS = yaml.safe_load((Path(__file__).parents[2] / "data" / "commitment" / "choices.yaml").read_text("utf-8"))
PREFACE = "First we look at the map. Then we compare what is left.\n\n"


def _wrong(row: dict[str, Any]) -> list[tuple[str, float | None]]:
    params = MultipleChoiceParams.model_validate_json(json.dumps(row["params"]))
    cases = [(response, 1.0) for response in row.get("paid", ())] + [(each, 0.0) for each in row.get("unpaid", ())]
    return [(response, score) for response, score in cases if judge(response, params).score != score]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: json.dumps(row["params"], ensure_ascii=True)[:60])
def test_responses_are_paid_for_what_they_commit_to(row: dict[str, Any]) -> None:
    assert _wrong(row) == []


@pytest.mark.accuracy
def test_no_reason_before_it_pays_what_leaves_it_open() -> None:
    for row in ROWS[:4]:
        params = MultipleChoiceParams.model_validate_json(json.dumps(row["params"]))
        paid = [text for text in row.get("unpaid", ()) if judge(PREFACE + text, params).score == 1.0]
        assert paid == []


def test_of_options_on_lines_of_their_own_the_last_is_shown() -> None:
    params = MultipleChoiceParams.model_validate_json(json.dumps({"reference": ["A", "B", "C"], "multi": True}))
    assert judge("A\nB\nC", params).extracted == "C"
