"""The numbers of the data sets' own functions, on 1,000 judge outputs each: the same to the last bit.

`rubric_values.json` holds what those functions returned (their files are named in `formats.yaml`).
"""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.tables import table
from tests.verifiers.judge.rubrics.rows import ROWS, judged
from verifiers.judge.modes import finding
from verifiers.judge.parameters import JudgeParams
from verifiers.judge.parsing import read
from verifiers.judge.profiles import Profile
from verifiers.judge.schemas import SCHEMAS
from verifiers.judge.voting import Decision, decide

_RECORDED: dict[str, list[list[Any]]] = json.loads(
    (Path(__file__).parents[3] / "data/judge/rubric_values.json").read_text(encoding="utf-8")
)
_CASES = 1_000


def _value(name: str, weights: Any, answers: Any, **more: Any) -> Any:
    params = JudgeParams.model_validate({"criteria": ROWS[name](weights), **more})
    assert params.format == name
    return judged(params, answers)


@pytest.mark.judges
@table("name", sorted(ROWS.keys() - {"rubrichub", "advanced_if", "multichallenge", "biggen"}))
def test_the_value_is_that_of_the_original(name: str) -> None:
    cases = _RECORDED[name]
    assert len(cases) == _CASES
    judgeable = [case for case in cases if name != "paperbench" or _earns(case[0])]
    wrong = [case for case in judgeable if _value(name, case[0], case[1]).detail["rubric"]["value"] != case[2]]
    assert wrong == []


def _earns(node: Any) -> bool:
    """Whether a response can earn something by a tree. The original gives 0 to all by one whose weights are 0."""
    return any(part[0] > 0 and (not part[1] or _earns(part)) for part in node[1])


def test_a_tree_by_which_nobody_earns_anything_is_refused() -> None:
    empty = [case for case in _RECORDED["paperbench"] if not _earns(case[0])]
    assert empty
    assert not any(case[2] for case in empty)
    for case in empty:
        with pytest.raises(ValidationError, match="all weights are 0"):
            _value("paperbench", case[0], case[1])


def test_the_score_of_rubrichub_is_that_of_the_original() -> None:
    """Its function cuts at 0 by itself."""
    cases = _RECORDED["rubrichub"]
    assert [case for case in cases if _value("rubrichub", case[0], case[1]).score != case[2]] == []


def test_the_normalised_points_of_prbench() -> None:
    cases = _RECORDED["prbench:range"]
    found = [_value("prbench", case[0], case[1], aggregate="range").score for case in cases]
    assert [case for case, score in zip(cases, found, strict=True) if score != case[2]] == []


def test_all_and_the_rate_of_advanced_if() -> None:
    for count, answers, (every, rate) in _RECORDED["advanced_if"]:
        assert _value("advanced_if", count, answers).score == every
        assert _value("advanced_if", count, answers, aggregate="share").score == rate


def test_the_question_of_multichallenge_has_its_own_right_answer() -> None:
    for passes, verdict, passed in _RECORDED["multichallenge"]:
        params = JudgeParams.model_validate({"criteria": ROWS["multichallenge"](passes)})
        assert params.criteria is not None
        answer = params.criteria[0].choices.index(verdict)
        assert judged(params, [answer]).score == passed


def test_the_grade_of_biggen() -> None:
    for _, grade, original in _RECORDED["biggen"]:
        found = _value("biggen", 0, [int(grade) - 1])
        assert found.detail["rubric"]["value"] == original
        assert found.score == (original - 1) / 4


def test_the_two_orders_of_arena_hard() -> None:
    schema = SCHEMAS["arena5"]
    profile = Profile.model_validate({"mode": "pairwise", "pool": "p", "prompt": "arena5@1"})
    params = JudgeParams(other="x", orders="arena_hard")
    for first, second, original in _RECORDED["arena_hard"]:
        decisions: list[Decision] = []
        for verdict in (first, second):
            reading = read(schema, {"content": f"Both have merits.\n\nMy final verdict is: [[{verdict}]]"}, "stop")
            decisions.append(decide([reading], labels=True))
        assert finding("pairwise", [], decisions, params, profile).score == original
