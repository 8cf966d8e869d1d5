"""Rows of data sets with rubrics, unchanged, through each door: the same number everywhere."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from rewardline import Client
from rewardline.hook import Hook
from rewardline.verl.samples import item_of_row

from service.rollouts.columns import Columns
from tests.conftest import Served, serving
from tests.judge_upstream.grader import Grader
from tests.verifiers.judge.rubrics.rows import judged
from tests.waiting import PATIENCE_S
from verifiers.judge.parameters import JudgeParams

Row = dict[str, Any]
_CRITERION = re.compile(r"^- (c(\d+)): ", re.MULTILINE)
_FILE = Path(__file__).parents[2] / "data/judge/rubric_rows.jsonl"
_GIVEN = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
ROWS: dict[str, Row] = {each["format"]: each["row"] for each in _GIVEN}
_HEALTH = [
    {"criterion": "Advises to call an ambulance", "points": 7, "tags": ["axis:accuracy", "level:example"]},
    {"criterion": "Is overly long", "points": -4, "tags": ["axis:communication_quality"]},
    {"criterion": "Asks since when", "points": 5, "tags": ["axis:accuracy"]},
]
_OWN = {"criteria": [{"name": "kind", "text": "Is kind", "choices": ["no", "partly", "yes"]}]}
_LIST = {"conversation_input": [{"role": "user", "content": "Hi"}], "checklist": ["Is it short?"]}
_LABEL = {
    "query": "Why is the sky blue?",
    "rubrics": [
        {"description": "Names scattering", "weight": 1.0, "title": "Scattering"},
        {"description": "Is rude", "weight": -2.0, "title": "Rude"},
    ],
}


def _answers(text: str) -> str:
    """The best answer for odd criteria, the worst for even ones."""
    marks = list(_CRITERION.finditer(text))
    blocks = [text[mark.end() : after.start()] for mark, after in itertools.pairwise(marks)]
    blocks.append(text[marks[-1].end() :])
    entries = []
    for mark, block in zip(marks, blocks, strict=True):
        _, _, listed = block.partition("answers:")
        one_line = [choice.strip() for choice in listed.split("|")]
        lines = [line.strip().partition(":")[0] for line in listed.splitlines() if line.strip()]
        choices = [0, 1] if not listed else one_line if len(one_line) > 1 else lines
        entries.append({"id": mark[1], "reason": "r", "score": choices[-1] if int(mark[2]) % 2 else choices[0]})
    return json.dumps({"criteria": entries})


def _expected(row: Any, **params: Any) -> Any:
    given = JudgeParams.model_validate({"criteria": row, **params})
    assert given.criteria is not None
    picked = [int(each.id[1:]) % 2 * (len(each.choices) - 1 if each.choices else 1) for each in given.criteria]
    return judged(given, picked)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("rubrics")
    with Grader(lambda sections: _answers(sections["CRITERIA"])) as grader:
        file = grader.file(folder)
        with serving(folder / "log", judge_file=str(file), workers="1", sandbox="none") as running:
            yield running


def test_rows_of_others_have_the_value_of_their_formula(served: Served) -> None:
    rows = {**ROWS, "healthbench": {"prompt": [{"role": "user", "content": "My chest hurts."}], "rubrics": _HEALTH}}
    items = [{"verifier": "judge", "response": "Call 112.", "evaluation_criteria": row} for row in rows.values()]
    for url in (str(served.url), f"grpc://{served.grpc}"):
        with Client(url) as client:
            results = client.score(items)
        for (name, row), result in zip(rows.items(), results, strict=True):
            expected = _expected(row)
            assert (result.status, result.score) == ("ok", expected.score), name
            assert result.detail["rubric"]["value"] == expected.detail["rubric"]["value"]
            assert result.detail["rubric"]["format"] == name


def test_tags_come_back_with_their_scores(served: Served) -> None:
    with Client(str(served.url)) as client:
        [result] = client.score(
            [{"verifier": "judge", "response": "Call 112.", "evaluation_criteria": {"rubrics": _HEALTH}}]
        )
    assert result.score == 1.0
    assert result.detail["rubric"]["by_tag"] == {"axis:accuracy": 1.0, "level:example": 1.0}
    assert result.detail["criteria"][1]["tags"] == ["axis:communication_quality"]


@pytest.mark.parametrize("label", [_LABEL, json.dumps(_LABEL)], ids=["object", "text"])
def test_a_rubric_as_the_label_is_not_a_reference(served: Served, label: Any) -> None:
    with Client(str(served.url)) as client:
        plain, scaled = client.score(
            [
                {"verifier": "judge", "response": "Scattering.", "ground_truth": label},
                {"recipe": "open_instruct.rubric", "response": "Scattering.", "ground_truth": label},
            ]
        )
    assert (plain.score, plain.detail["rubric"]["value"]) == (1 / 3, 1 / 3)
    assert scaled.reward == pytest.approx(1 / 3, abs=1e-15)


@pytest.mark.parametrize("place", ["reward_model", "extra_info", "both"])
def test_rows_of_verl(served: Served, place: str) -> None:
    reward_model = {"style": "rubric", "rubrics": _HEALTH, "ground_truth": ""}
    row: Row = {"data_source": "healthbench", "reward_model": {"ground_truth": ""}, "extra_info": {"index": 1}}
    if place != "extra_info":
        row["reward_model"] = reward_model
    if place != "reward_model":
        row["extra_info"] = {"prompt": "My chest hurts.", "reward_model": reward_model}
    hook = Hook(verifier="judge", url=str(served.url))
    [result] = hook.score_blocking([item_of_row(hook, "Call 112.", row)])
    assert (result.status, result.score) == ("ok", _expected({"rubrics": _HEALTH}).score)


def test_columns_of_any_rubric_in_rows_of_verl(served: Served) -> None:
    hook = Hook(verifier="judge", url=str(served.url))
    rows = {
        **ROWS,
        "multichallenge": {"TARGET_QUESTION": "Short?", "PASS_CRITERIA": "NO"},
        "prime": _OWN,
        "wildbench": _LIST,
    }
    for part in ("reward_model", "extra_info"):
        columns = ({"data_source": "x", "reward_model": {"ground_truth": ""}, part: row} for row in rows.values())
        results = hook.score_blocking([item_of_row(hook, "Call 112.", row) for row in columns])
        assert [result.score for result in results] == [_expected(row).score for row in rows.values()], part


@pytest.mark.parametrize("server", ["inverse_if", "multichallenge"])
def test_rows_of_nemo_gym(served: Served, server: str) -> None:
    row = ROWS[f"nemo_gym_{server}"]
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Carrots, Alex."}]}
    body = {**row, "response": {"output": [message]}}
    answer = httpx.post(f"{served.url}/compat/nemo_gym/verify", json=body, timeout=PATIENCE_S).json()
    assert answer["reward"] == _expected(row).score


@pytest.mark.parametrize("naming", ["url", "row"])
def test_rows_of_any_rubric_through_the_door_of_nemo_gym(served: Served, naming: str) -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Call 112."}]}
    rollout = {"responses_create_params": {"input": "q"}, "response": {"output": [message]}}
    named = {"verifier_metadata": {"verifier": "judge"}} if naming == "row" else {}
    url = f"{served.url}/compat/nemo_gym/verify" + ("?verifier=judge" if naming == "url" else "")
    for row in (*ROWS.values(), {"rubrics": _HEALTH}, _OWN, _LIST, _LABEL):
        answer = httpx.post(url, json={**row, **rollout, **named}, timeout=PATIENCE_S).json()
        assert answer["reward"] == _expected(row).score, row


def test_rows_of_a_file() -> None:
    row = {"prompt": "q", "rubrics": _HEALTH, "response": "Call 112.", "prompt_id": "7", "canary": "x"}
    item = Columns(verifier="judge").item_of(row)
    assert item == {
        "verifier": "judge",
        "prompt": "q",
        "response": "Call 112.",
        "evaluation_criteria": {"prompt": "q", "rubrics": _HEALTH},
    }
    assert Columns(verifier="math").item_of(row) == {"verifier": "math", "prompt": "q", "response": "Call 112."}


def test_criteria_that_a_rule_decides_ask_no_model(served: Served) -> None:
    follows = {
        "instruction_id_list": ["length_constraints:number_words"],
        "kwargs": [{"relation": "less than", "num_words": 5}],
    }
    criteria = [
        {"text": "has fewer than 5 words", "rule": {"verifier": "instruction_following", "reference": follows}},
        {"criterion": "the answer is 42", "tags": ["verifier:rule", "function:math_verify", "parameters:42"]},
        {"text": "is kind"},
    ]
    with Client(str(served.url)) as client:
        both, alone, bad = client.score(
            [
                {"verifier": "judge", "response": "The answer is 42.", "params": {"criteria": criteria}},
                {"verifier": "judge", "response": "It is \\boxed{41}", "params": {"criteria": criteria[:2]}},
                {
                    "verifier": "judge",
                    "response": "x",
                    "params": {"criteria": [{"text": "x", "rule": {"verifier": "judge"}}]},
                },
            ]
        )
    assert [each["score"] for each in both.detail["criteria"]] == [1.0, 1.0, 1.0]
    assert both.detail["rubric"]["by_rule"] == 2 / 3
    assert (alone.score, alone.detail["votes"], alone.detail["rubric"]["by_rule"]) == (0.5, [], 1.0)
    assert (bad.status, bad.reason) == ("invalid", "bad_params")


def test_many_criteria_take_several_calls(served: Served) -> None:
    criteria = [f"criterion {number}" for number in range(1, 151)]
    with Client(str(served.url)) as client:
        [result] = client.score([{"verifier": "judge", "response": "x", "params": {"criteria": criteria}}])
    assert len(result.detail["votes"]) == 3
    assert result.score == 0.5
