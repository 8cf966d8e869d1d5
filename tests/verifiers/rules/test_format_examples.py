"""The labelled rows about form, length and repetition: every one is judged as labelled."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox.workers import Workers
from verifiers.base import Item, Params, Resources, Status, Verdict, Verifier
from verifiers.rules import (
    cosine_length,
    json_schema,
    language,
    length,
    overlong,
    regex,
    repetition,
    structured_output,
    tag_count,
    think_format,
    xml,
)

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/rules/format_examples.jsonl").read_text().splitlines()
]


def ask(module: Any, response: str, params: dict[str, Any]) -> Verdict:
    verifier: Verifier[Any] = module.create(Resources(workers=Workers(1)))
    typed: Params = verifier.params.model_validate_json(json.dumps(params))
    (verdict,) = asyncio.run(score(verifier, Item(response, typed)))
    return verdict


async def score(verifier: Verifier[Any], item: Item[Any]) -> Sequence[Verdict]:
    return await verifier.score([item])


def judge(row: dict[str, Any]) -> Any:
    """What the verifiers say, on the scale of the row: true and false, or the original's reward."""
    params = row.get("params", {})
    match row["kind"]:
        case "think_answer_strict":
            verdict = ask(think_format, row["response"], params)
        case "think_strict":
            verdict = ask(think_format, row["response"], {"preset": "deepseek", **params})
        case "tag_count":
            verdict = ask(tag_count, row["response"], params)
        case "json_valid":
            verdict = ask(structured_output, row["response"], {"format": "json", **params})
        case "json_schema":
            verdict = ask(json_schema, row["response"], {"reference": row["schema"], **params})
        case "xml_wellformed":
            verdict = ask(xml, row["response"], params)
        case "soft_overlong":
            tokens = {"max_length": row["max_len"], "buffer": row["cache"], "completion_tokens": row["length"]}
            return ask_score(overlong, "", tokens) - 1
        case "cosine":
            tokens = {"max_length": row["max_len"], "completion_tokens": row["length"], "correct": row["correct"]}
            return ask(cosine_length, "", {**tokens, **params}).detail["reward"]
        case "repetition":
            return (ask_score(repetition, row["response"], {"n": row["ngram"]}) - 1) * -row["max_penalty"]
        case "length_bounds":
            bounds = {"unit": row["unit"], "minimum": row["min"], "maximum": row["max"]}
            verdict = ask(length, row["response"], bounds)
        case "script_share":
            verdict = ask(language, row["response"], {"script": row["script"], "min_share": row["min_share"]})
        case _:
            assert row["kind"] == "regex_full"
            verdict = ask(regex, row["response"], {"reference": row["pattern"]})
    assert verdict.status is Status.OK
    assert verdict.score is not None
    return verdict.score


def ask_score(module: Any, response: str, params: dict[str, Any]) -> float:
    verdict = ask(module, response, params)
    assert verdict.score is not None
    return verdict.score


@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] != "kimi_len"], ids=lambda row: str(row["id"]))
def test_a_row_is_judged_as_labelled(row: dict[str, Any]) -> None:
    assert judge(row) == pytest.approx(float(row["expected"]), abs=1e-9)


@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] == "kimi_len"], ids=lambda row: str(row["id"]))
def test_a_group_is_judged_as_labelled(row: dict[str, Any]) -> None:
    group = {"mode": "kimi", "unit": "tokens", "group_lengths": row["lengths"]}
    rewards = [
        ask(length, "", {**group, "completion_tokens": tokens, "correct": correct}).detail["reward"]
        for tokens, correct in zip(row["lengths"], row["correct"], strict=True)
    ]
    assert rewards == pytest.approx(row["expected"], abs=1e-9)
