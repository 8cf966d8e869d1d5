"""Profile official gives the published checkers' verdicts, row by row."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tables import table
from verifiers.rules.instruction_following import InstructionFollowingParams, judge

DATA = Path(__file__).parents[3] / "data" / "rules"


def rows(name: str) -> Iterator[dict[str, Any]]:
    with (DATA / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def followed(row: dict[str, Any], mode: str) -> list[bool]:
    reference = {name: row[name] for name in ("instruction_id_list", "kwargs", "prompt")}
    params = InstructionFollowingParams.model_validate({"reference": reference, "profile": "official", "mode": mode})
    return [done["followed"] for done in judge(row["response"], params).detail["instructions"]]


@pytest.mark.accuracy
@pytest.mark.parametrize("mode", ["strict", "loose"])
@pytest.mark.parametrize("name", ["ifeval_oracle.jsonl", "ifbench_oracle.jsonl"])
def test_every_stable_verdict_is_the_published_one(name: str, mode: str) -> None:
    wrong = [
        (row["instruction_id_list"][position], row["kwargs"][position], row["response"])
        for row in rows(name)
        for position, (ours, theirs) in enumerate(zip(followed(row, mode), row[mode], strict=True))
        if ours != theirs and position not in row.get("unstable_idx", ())
    ]
    assert wrong == []


def test_the_training_constraints_are_judged_as_published() -> None:
    for row in rows("ifevalg_oracle.jsonl"):
        reference = {"instruction_id": [row["instruction_id"]], "kwargs": [row["kwargs"]]}
        params = InstructionFollowingParams(reference=reference, profile="official")
        empty_is_never_rewarded = bool(row["response"].strip())
        assert judge(row["response"], params).score == float(row["official"] and empty_is_never_rewarded), row


@table(
    ("name", "arguments", "response", "expected"),
    [
        ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "*\n- boats", True),
        ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "*\n* boats", True),
        ("keywords:existence", {"keywords": [" boat"]}, "boats", False),
        ("keywords:frequency", {"keyword": "C++", "frequency": 2, "relation": "at least"}, "CCC, c", True),
        ("keywords:forbidden_words", {"forbidden_words": ["C++"]}, "Cab", True),
        ("keywords:forbidden_words", {"forbidden_words": ["C++"]}, "I write C++.", False),
        ("copy:repeat_phrase", {"phrase": "the red boat.", "small_n": 1}, "the blue boats", False),
        ("copy:repeat_phrase", {"phrase": "the red boat.", "small_n": 1}, "the red boat!", True),
        ("copy:repeat_phrase", {"phrase": "the red boat", "small_n": 1}, "the  boat", False),
        ("length_constraints:number_words", {"num_words": 3, "relation": "less than"}, "आज मौसम", True),
        ("count:word_count_range", {"min_words": 1, "max_words": 1}, "e\u0301te\u0301 ½", True),
        ("count:person_names", {"N": 1}, "Emma\u0301", True),
        ("count:counting_composition", {"n_sent": 2, "n_words": 3}, "***".join(["he.? x y!"] * 3), True),
        ("count:counting_composition", {"n_sent": 2, "n_words": 2}, "***".join(["pp.? x!"] * 3), False),
        ("keywords:start_end", {}, "'½ a '½", True),
        ("words:alphabet", {}, "İndigo jays", False),
        ("words:alphabet", {}, "indigo jays", True),
        ("words:alphabet", {}, "Zebras açai", True),
        ("verify_letter_frequency", {"letter": "C", "N": 1}, "Cat, cat.", True),
        ("verify_postscript", {"postscript_marker": "P.S."}, "Text P.S. \n", False),
        ("verify_postscript", {"postscript_marker": "P.S."}, "P.S. a", True),
        ("validate_end", {"end_phrase": "bye"}, "good bye\n", False),
        ("validate_highlighted_sections", {"N": 2}, "**bold**", True),
        ("verify_sentence_constraint", {"N": 2, "quantifier": "at most"}, "Wow! Dr. Lee came. He left.", False),
        ("verify_paragraph_count", {"N": 2}, "a\n * * * \nb", True),
        ("validate_paragraphs", {"N": 2, "first_word": "No", "i": 2}, "a\n\nNow", True),
        ("validate_frequency_capital_words", {"N": 10, "quantifier": "around"}, "A " * 9, True),
        ("validate_lowercase", {}, "123", True),
    ],
)
def test_single_cases(name: str, arguments: dict[str, Any], response: str, expected: bool) -> None:
    if ":" in name:
        reference = {"instruction_id_list": [name], "kwargs": [arguments]}
    else:
        reference = {"func_name": name, **arguments}
    params = InstructionFollowingParams(reference=reference, profile="official")
    assert judge(response, params).score == float(expected)


@table(("profile", "field"), [("official", "official"), ("fixed", "intended")])
def test_disputed_cases_are_told_apart_by_profile(profile: Any, field: str) -> None:
    for row in rows("official_disputed.jsonl"):
        reference = {"instruction_id_list": [row["instruction_id"]], "kwargs": [row["kwargs"]]}
        verdict = judge(row["response"], InstructionFollowingParams(reference=reference, profile=profile))
        assert verdict.score == float(row[field]), row
