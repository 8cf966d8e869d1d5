"""The labelled outputs: each is read as labelled, or refused as labelled."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from verifiers.judge.errors import PARSE_KINDS, Unparseable
from verifiers.judge.parsing import read
from verifiers.judge.schemas import SCHEMAS, Context

_ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "data/judge/parse_examples.jsonl").read_text(encoding="utf-8").splitlines()
]


def _context(row: Mapping[str, Any]) -> Context:
    given = row.get("ctx") or {}
    return Context(
        criteria={each["id"]: each["weight"] for each in given.get("criteria", ())},
        n_steps=given.get("n_steps", 0),
        question=given.get("question", "verdict"),
        labels=given.get("labels", ()),
    )


@pytest.mark.parametrize("row", _ROWS, ids=[row["id"] for row in _ROWS])
def test_example(row: Mapping[str, Any]) -> None:
    expected = row["expect"]

    def reading() -> Any:
        schema = SCHEMAS[row["schema"]]
        return read(schema, row["message"], row["finish_reason"], context=_context(row), logprobs=row.get("logprobs"))

    if expected["status"] == "unparseable":
        with pytest.raises(Unparseable) as caught:
            reading()
        assert caught.value.kind in PARSE_KINDS
        return
    found = reading()
    assert found.value == expected["value"]
    assert found.score == pytest.approx(expected["score"], abs=1e-5)
    assert set(expected.get("flags", ())) <= set(found.flags)
    if "mass" in expected:
        assert found.mass == pytest.approx(expected["mass"])


def test_there_are_examples_of_every_protocol() -> None:
    assert len(_ROWS) >= 64
    assert {row["expect"]["status"] for row in _ROWS} == {"ok", "unparseable"}
