"""No trick is rewarded, no text takes long, and verdicts are the same everywhere."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables import table
from verifiers.rules.instruction_following import InstructionFollowingParams, judge

ROOT = Path(__file__).parents[4]
DATA = ROOT / "tests" / "data" / "rules"


def every_instruction() -> dict[str, dict[str, Any]]:
    """Each id with the arguments of one row."""
    found: dict[str, dict[str, Any]] = {}
    for name in ("ifeval_oracle.jsonl", "ifbench_oracle.jsonl"):
        for line in (DATA / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            for instruction, arguments in zip(row["instruction_id_list"], row["kwargs"], strict=True):
                found.setdefault(instruction, arguments)
    for line in (DATA / "ifevalg_oracle.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["instruction_id"], row["kwargs"])
    return found


INSTRUCTIONS = every_instruction()
BATCHES = [list(INSTRUCTIONS)[start : start + 56] for start in (0, 56)]


def params(names: list[str], **options: Any) -> InstructionFollowingParams:
    reference = {"instruction_id_list": names, "kwargs": [INSTRUCTIONS[name] for name in names]}
    return InstructionFollowingParams(reference=reference, **options)


def test_there_are_all_of_them() -> None:
    assert len(INSTRUCTIONS) == 25 + 58 + 29


@table("profile", ["fixed", "official"])
@table("mode", ["strict", "loose"])
@table("response", ["", " \n\t", "<think>some words</think>", "<think>never closed, no end"])
def test_a_response_without_an_answer_is_never_rewarded(response: str, mode: Any, profile: Any) -> None:
    for names in BATCHES:
        assert judge(response, params(names, profile=profile, mode=mode, think="auto")).score == 0.0


@table("response", ["\u200b", "\u200b\u2060\ufeff", "...", "\u202e\u202c", "\u00ad \u00ad", "<!-- words -->"])
def test_nothing_to_be_seen_is_never_rewarded(response: str) -> None:
    for names in BATCHES:
        assert judge(response, params(names)).score == 0.0


HIDDEN = ["\u200b", "\u00ad", "\u2060", "\u200d", "\u202e", "\ufeff"]


@given(
    word=st.sampled_from(["rock", "lamp", "harbour"]),
    sign=st.sampled_from(HIDDEN),
    place=st.integers(1, 3),
    before=st.text(max_size=20),
)
def test_a_forbidden_word_cannot_be_hidden(word: str, sign: str, place: int, before: str) -> None:
    reference = {"instruction_id_list": ["keywords:forbidden_words"], "kwargs": [{"forbidden_words": [word]}]}
    hidden = word[:place] + sign + word[place:]
    for said in (word, hidden, word.upper(), word.replace("o", "\u043e").replace("a", "\u0430"), f"_{word}_"):
        response = f"{before} {said} too."
        assert judge(response, InstructionFollowingParams(reference=reference, think="none")).score == 0.0


LONG = 8_000
BOMBS = [
    "*" * LONG,
    "[" * LONG,
    "<<" * LONG,
    "(" * LONG,
    '{"a":' * LONG,
    "\n" * LONG + "x",
    "a" + " \n" * LONG + "b",
    " " * LONG + "x",
    "." * LONG + "x",
    "!)" * LONG + "x",
    "e.g. " * LONG,
    "a." * LONG + "b",
    "a-" * LONG,
    "a'" * LONG,
    '"' * LONG + "a",
    "<i>" + "a" * LONG,
    "<i>a" * LONG,
    "p. " * LONG,
    "a\u200b" * LONG,
    "1" * LONG,
    "\u4f60\u597d\u3002" * LONG,
    "\U0001f600" * LONG,
    '"a#' * LONG,
    "a\u0301" * LONG,
]


@pytest.mark.bombs
@pytest.mark.parametrize("profile", ["fixed", "official"])
@pytest.mark.parametrize("bomb", BOMBS, ids=range(len(BOMBS)))
def test_hostile_texts_get_a_verdict(bomb: str, profile: Any) -> None:
    for names in BATCHES:
        assert judge(bomb, params(names, profile=profile, mode="loose")).score is not None


@settings(max_examples=60, deadline=None)
@given(response=st.text(st.sampled_from("aB.!?,;: \n*-<>[]()\"'“”’#1é你。😀\u200b"), max_size=120), data=st.data())
def test_any_text_gets_a_verdict(response: str, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(list(INSTRUCTIONS)), min_size=1, max_size=12))
    profile = data.draw(st.sampled_from(["fixed", "official"]))
    mode = data.draw(st.sampled_from(["strict", "loose"]))
    verdict = judge(response, params(names, profile=profile, mode=mode))
    assert verdict.score is not None
    assert verdict == judge(response, params(names, profile=profile, mode=mode))
    alone = [judge(response, params([name], profile=profile, mode=mode)).score == 1.0 for name in names]
    assert [done["followed"] for done in verdict.detail["instructions"]] == alone


@settings(max_examples=40, deadline=None)
@given(response=st.text(st.sampled_from("aB.!?, \n*-"), max_size=80))
def test_loose_accepts_what_strict_accepts(response: str) -> None:
    for profile in ("fixed", "official"):
        strict, loose = (
            [
                done["followed"]
                for done in judge(response, params(BATCHES[0], profile=profile, mode=mode)).detail["instructions"]
            ]
            for mode in ("strict", "loose")
        )
        assert all(second for first, second in zip(strict, loose, strict=True) if first)


SCRIPT = """
import json, sys
from verifiers.rules.instruction_following import InstructionFollowingParams, judge
for line in sys.stdin:
    response, params = json.loads(line)
    print(json.dumps(judge(response, InstructionFollowingParams.model_validate_json(params)).detail))
"""


@pytest.mark.wording
def test_verdicts_are_the_same_in_another_process_and_order() -> None:
    texts = [
        "HELLO WORLD",
        "Hallo Welt. Wie geht es dir?",
        "We rest, Dr. Lee. Do we?\n\n* a\n* b",
        "it's its",
        "你好。",
    ]
    items = [
        (text, params(names, profile=profile))
        for text in texts
        for names in BATCHES
        for profile in ("fixed", "official")
    ]
    here = [dict(judge(text, chosen).detail) for text, chosen in items]
    sent = "\n".join(json.dumps([text, chosen.model_dump_json()]) for text, chosen in reversed(items))
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            input=sent,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment,
            check=True,
        )
        assert [json.loads(line) for line in done.stdout.splitlines()][::-1] == here
