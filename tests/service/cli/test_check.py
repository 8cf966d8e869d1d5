"""`rewardline check`: cases that hold, that differ, and that cannot be judged."""

import json
from pathlib import Path
from typing import Any

from tests.conftest import rewardline

RIGHT = {"verifier": "numeric", "response": "It is 12.", "reference": "12", "expected": 1, "note": "plain"}


def checked(folder: Path, *cases: Any) -> tuple[int, str]:
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases))
    done = rewardline("check", path)
    return done.returncode, (done.stdout + done.stderr).replace(str(path), "cases.jsonl")


def test_cases_hold_or_are_named_with_what_they_got(tmp_path: Path) -> None:
    wrong = {**RIGHT, "response": "It is 13.", "expected": False}
    invalid = {**RIGHT, "reference": "no number", "expected": "invalid"}
    assert checked(tmp_path, RIGHT, wrong, invalid) == (0, "3 of 3 cases hold.\n")
    code, said = checked(tmp_path, RIGHT, {**wrong, "expected": 1}, {**RIGHT, "expected": "invalid", "note": ""})
    assert code == 1
    assert said.splitlines() == [
        "cases.jsonl:2: expected 1, got 0 (wrong answer; note: plain)",
        "cases.jsonl:3: expected invalid, got 1 (correct)",
        "1 of 3 cases hold.",
    ]


def test_what_could_not_be_judged_is_not_a_difference(tmp_path: Path) -> None:
    lost = {"verifier": "judge", "response": "x", "reference": "y", "expected": 0}
    code, said = checked(tmp_path, RIGHT, lost)
    assert code == 3
    assert "cases.jsonl:2: expected 0, got failed (judge not configured" in said


def test_a_mistake_in_a_case_is_named_by_its_line(tmp_path: Path) -> None:
    for case, said in (
        ({**RIGHT, "expected": "right"}, "cases.jsonl:2: expected is 'right'; write a score from 0 to 1"),
        ({**RIGHT, "expected": 2}, "cases.jsonl:2: expected is 2"),
        ({"verifier": "numeric"}, "cases.jsonl:2: a case is an object with response"),
        ([1], "cases.jsonl:2: a case is an object"),
    ):
        code, shown = checked(tmp_path, RIGHT, case)
        assert (code, said in shown) == (2, True), shown
    assert checked(tmp_path)[0] == 2


def test_curves_without_their_tracker_say_what_to_install(tmp_path: Path) -> None:
    done = rewardline("curves", tmp_path, "--to", "trackio")
    assert done.returncode == 2
    assert "pip install trackio" in done.stderr
