"""Rows of rLLM's own tests of its rewards, with what these say of them."""

import json

from tests.conftest import ROOT
from tests.service.recipes.shipped.scorer import Scorer

ROWS = [json.loads(line) for line in (ROOT / "tests/data/recipes/rllm_rows.jsonl").read_text().splitlines()]


def test_rows_of_rllm_need_no_parameters(code_scorer: Scorer) -> None:
    """A row names its data source, and holds tests as that data set has them."""
    items = [{name: row[name] for name in ("data_source", "ground_truth", "response")} for row in ROWS]
    for row, result in zip(ROWS, code_scorer.score(*items), strict=True):
        assert (result.status, result.score) == ("ok", float(row["right"])), (row["data_source"], result)


def test_a_program_that_does_nothing_earns_nothing(code_scorer: Scorer) -> None:
    items = [
        {"data_source": row["data_source"], "ground_truth": row["ground_truth"], "response": "```python\npass\n```"}
        for row in ROWS
    ]
    assert [result.score for result in code_scorer.score(*items)] == [0.0] * len(items)
