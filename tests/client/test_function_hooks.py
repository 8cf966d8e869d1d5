"""Hooks that are one function: tunix's, rLLM's and miles's; with the trainers' own code, see tests/e2e."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rewardline import miles, slime
from rewardline.columns import reference_of, rows_of
from rewardline.errors import FailedItems, InvalidItems
from rewardline.tunix import reward, task_reward, trajectory

STAND_INS = Path(__file__).parent / "stand_ins"
NOWHERE = "http://127.0.0.1:9"
CALL = {"name": "add", "arguments": {"a": 2}}
CALLING = [{"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": CALL}]}]


@pytest.fixture
def rllm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(STAND_INS))
    yield importlib.import_module("rewardline.rllm")
    for name in [name for name in sys.modules if name.split(".")[0] == "rllm"] + ["rewardline.rllm"]:
        del sys.modules[name]


def test_tunix_gets_a_number_for_each_completion(served: Any) -> None:
    score = reward(name="math", verifier="math", url=served.url)
    assert score.__name__ == "math"
    assert score(["2+2="] * 2, ["\\boxed{4}", "5"], answer=["4", "4"], other="a word", mode="train") == [1.0, 0.0]
    assert score([], []) == []
    with pytest.raises(InvalidItems):
        score(["2+2="], ["4"])
    with pytest.raises(FailedItems):
        reward(verifier="math", url=NOWHERE, deadline_s=0.2)(["2+2="], ["4"], answer=["4"])
    with pytest.raises(ValueError, match="tunix knows no abstention"):
        reward(verifier="math", on_failed="abstain")


def test_a_function_for_tunix_is_one_of_the_module_that_made_it() -> None:
    assert reward(verifier="math").__module__ == __name__


def test_an_environment_of_tunix_has_its_task_judged_and_the_learner_takes_that(served: Any) -> None:
    score = task_reward(verifier="math", url=served.url)
    task = {"question": "2+2=", "answer": "4"}
    rewards = [score(task=task, action=said) for said in ("\\boxed{4}", "5")]
    assert rewards == [1.0, 0.0]
    assert trajectory(["2+2="] * 2, ["first"] * 2, trajectory_rewards=rewards, answer=["4"] * 2) == rewards
    with pytest.raises(FailedItems):
        task_reward(verifier="math", url=NOWHERE, deadline_s=0.2)(task=task, action="4")


def test_columns_are_lists_or_arrays_with_a_value_for_each_sample() -> None:
    columns = {"answer": ["4", None], "array": Array([1, 2]), "mode": "train", "other": [1, 2, 3]}
    rows = rows_of(columns, 2)
    assert rows == [{"answer": "4", "array": 1}, {"answer": None, "array": 2}]
    assert [reference_of(row, "answer") for row in rows] == ["4", None]
    assert reference_of(rows[0], None) is None


class Array:
    """As numpy and torch have them."""

    def __init__(self, values: list[int]) -> None:
        self._values = values

    def tolist(self) -> list[int]:
        return self._values


def test_rllm_gets_an_output_that_says_why(served: Any, rllm: Any) -> None:
    types = importlib.import_module("rllm.rewards.reward_types")
    score = rllm.reward(verifier="math", url=served.url)
    right = score({"question": "2+2=", "ground_truth": "4"}, types.Action("\\boxed{4}"))
    assert (right.reward, right.is_correct, right.metadata["reason"]) == (1.0, True, "correct")
    wrong = score({"question": "2+2=", "answer": "4"}, "\\boxed{5}")
    assert (wrong.reward, wrong.is_correct, wrong.metadata["extracted"]) == (0.0, False, "5")


@pytest.mark.parametrize(("wanted", "value"), [([CALL], 1.0), ([], 0.0)])
def test_rllm_hands_on_what_a_model_calls(served: Any, rllm: Any, wanted: list[Any], value: float) -> None:
    score = rllm.reward(verifier="tool_call", url=served.url)
    assert score({"reference": json.dumps(wanted)}, CALLING).reward == value


def test_miles_calls_what_slime_calls() -> None:
    assert (miles.custom_rm, miles.post_process_rewards) == (slime.custom_rm, slime.post_process_rewards)
