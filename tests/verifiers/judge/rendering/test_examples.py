"""The labelled attacks: what must hold of each rendered prompt, guard and parsed output."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.verifiers.judge.rendering.prompt_checks import check_structure
from verifiers.judge.errors import Unparseable
from verifiers.judge.guards import addresses_judge, precheck
from verifiers.judge.parsing import read
from verifiers.judge.prompts import load
from verifiers.judge.rendering import Data, Limits, render
from verifiers.judge.schemas import SCHEMAS

_ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "data/judge/injection_examples.jsonl")
    .read_text(encoding="ascii")
    .splitlines()
]
_PROMPTS = {"reference": "ref_equiv@1", "rubric": "rubric@1", "pair": "pair@1"}


def _data(row: Mapping[str, Any], **instead: Any) -> Data:
    criteria = {each["id"]: each["text"] for each in row.get("criteria", ())}
    fields = {
        "question": row["question"],
        "references": [row["reference"]] if row.get("reference") else (),
        "response": row["response"],
        "response_b": row.get("response_b"),
        "criteria": criteria or None,
    }
    return Data(**{**fields, **instead})


@pytest.mark.parametrize("row", _ROWS, ids=[row["id"] for row in _ROWS])
def test_example(row: Mapping[str, Any]) -> None:
    must = row["must"]
    data = _data(row)
    prompt = load()[_PROMPTS[row["mode"]]]
    limits = Limits(**row.get("limits", {}))
    rendered = render(prompt, data, secret=b"secret", limits=limits)
    field = row["field"]
    benign = _data(row, **{field: {"c1": "States the sum."} if field == "criteria" else "The sum is 42."})
    check_structure(rendered, render(prompt, benign, secret=b"secret", limits=limits), attacked=field)
    user = rendered.messages[1]["content"]
    assert all(text in user for text in must.get("data_contains", ()))
    assert not any(text in user for text in must.get("prompt_absent", ()))
    assert ("truncated_response" in rendered.flags) is must.get("truncated", False)
    assert precheck(row["response"], data.references) == must.get("precheck", "none")
    if "detector" in must:
        assert addresses_judge(row["response"]) is must["detector"]
    if "judge_raw" in must:
        _check_parse(SCHEMAS[prompt.schema], must["judge_raw"], must["parse"])


def _check_parse(schema: Any, raw: str, expected: Mapping[str, Any]) -> None:
    if expected["status"] != "ok":
        with pytest.raises(Unparseable):
            read(schema, {"content": raw}, "stop")
        return
    assert read(schema, {"content": raw}, "stop").value == expected["value"]
