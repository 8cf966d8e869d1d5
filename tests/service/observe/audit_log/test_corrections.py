"""Corrected verdicts as cases: what of a record is kept, and which records cannot be one."""

import json
import threading
from pathlib import Path

import msgspec
import pytest

from service.observe.audit_log import search
from service.observe.audit_log.corrections import FILE, Correction, Corrections, NotACase, case_of
from service.observe.audit_log.records import Rules, record_of
from service.observe.audit_log.tables import Tables
from tests.service.observe.audit_log.logs import JSON, finished, item, logging, result

WRONG = Correction(0.0, "7 is not prime there", "me")


def stored(folder: Path, rules: Rules | None = None, **fields: object) -> JSON:
    """An item as a search finds it in a log."""
    given = {"verifier": "math", "response": "\\boxed{7}", "reference": {"value": "7"}, "prompt": "Which?", **fields}
    kept = record_of(
        finished(item(**given), result(recipe=given.get("recipe"))), 0, "2026-03-01T00:00:00.0Z", rules or Rules()
    )
    path = folder / "log.jsonl"
    path.write_bytes(msgspec.json.encode(kept) + b"\n")
    with Tables([path]) as tables:
        return search.record(tables, f"{path}:1")


def test_a_case_is_the_item_with_what_it_should_have_got(tmp_path: Path) -> None:
    messages = [
        {"role": "assistant", "content": "\\boxed{7}", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    ]
    prompt = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which?"}]
    case = case_of(stored(tmp_path, response=messages, prompt=prompt, params={"abs_tol": 1}), WRONG)
    expected = {
        "verifier": "math", "response": messages, "prompt": prompt, "reference": {"value": "7"}, "params": {"abs_tol": 1},
        "expected": 0.0, "note": "7 is not prime there", "by": "me",
    }  # fmt: skip
    assert {name: case[name] for name in expected} == expected
    assert case["was"]["score"] == 1
    assert case_of(stored(tmp_path, recipe="think_math"), WRONG)["recipe"] == "think_math"


@pytest.mark.parametrize("reference", ["[1, 2]", [1, 2], "{}", {}, "7", 7, "[", None])
def test_a_reference_stays_the_text_or_the_value_that_it_was(tmp_path: Path, reference: object) -> None:
    assert case_of(stored(tmp_path, reference=reference), WRONG).get("reference") == reference


@pytest.mark.parametrize(
    ("rules", "fields", "message"),
    [
        (Rules(redact=True), {}, "the log holds no response"),
        (Rules(max_text_chars=5), {}, "the log cut the response"),
        (Rules(max_text_chars=10), {"reference": "7" * 20}, "the log cut the reference"),
        (Rules(max_text_chars=10), {"reference": "7", "params": {"abs_tol": 0.125}}, "the log cut the params"),
    ],
)
def test_what_cannot_be_judged_again_is_not_a_case(tmp_path: Path, rules: Rules, fields: JSON, message: str) -> None:
    with pytest.raises(NotACase, match=message):
        case_of(stored(tmp_path, rules, **fields), WRONG)


def test_cases_of_several_callers_are_whole_lines_and_no_records(tmp_path: Path) -> None:
    with logging(tmp_path):
        cases = Corrections(tmp_path / FILE)
        threads = [threading.Thread(target=cases.add, args=({"note": "é" * 5000},)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [json.loads(line) for line in cases.read().splitlines()] == [{"note": "é" * 5000}] * 8
    assert cases.add({}) == 9
