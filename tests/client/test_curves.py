"""Curves of a run: what is counted in a step, and that a tracker's trouble costs the run nothing."""

from collections.abc import Mapping

import pytest
from rewardline import Client
from rewardline.curves import Curves, to_mlflow
from rewardline.results import Result, Status

from tests.conftest import Served

pytestmark = pytest.mark.contract


def result(reward: float | None, reason: str, **more: object) -> Result:
    status = Status.FAILED if reward is None else Status.OK
    fields = {"id": "0", "status": status, "score": reward, "reward": reward, "reason": reason, "verifier": "math"}
    return Result(**{**fields, "elapsed_ms": 4.0, **more})  # type: ignore[arg-type]  # the words of this table


def test_a_step_has_the_figures_of_each_judge() -> None:
    taken: list[tuple[Mapping[str, float], int]] = []
    curves = Curves([lambda figures, step: taken.append((figures, step))])
    items = [{"prompt": "a"}, {"prompt": "a"}, {"prompt": "b"}, {"prompt": "b"}, {"prompt": "b"}]
    results = [
        result(1, "correct"),
        result(0, "wrong_answer"),
        result(1, "correct"),
        result(1, "correct"),
        result(None, "deadline"),
    ]
    curves.add(items[:2], results[:2])
    curves.add(items[2:], results[2:])
    curves.add([{}], [result(0.5, "partial", recipe="mine")])
    curves.log(7)
    ((figures, step),) = taken
    assert step == 7
    assert figures == {
        "rewardline/math/items": 5, "rewardline/math/mean_reward": 0.75, "rewardline/math/failed": 0.2,
        "rewardline/math/invalid": 0, "rewardline/math/latency_ms": 4, "rewardline/math/groups_without_signal": 0.5,
        "rewardline/math/reason/correct": 0.6, "rewardline/math/reason/wrong_answer": 0.2,
        "rewardline/math/reason/deadline": 0.2,
        "rewardline/mine/items": 1, "rewardline/mine/mean_reward": 0.5, "rewardline/mine/failed": 0,
        "rewardline/mine/invalid": 0, "rewardline/mine/latency_ms": 4, "rewardline/mine/reason/partial": 1,
    }  # fmt: skip
    assert curves.log(8) == {}


def test_a_step_of_failures_has_no_mean() -> None:
    curves = Curves([])
    curves.add([{}], [result(None, "deadline")])
    figures = curves.log(1)
    assert figures["rewardline/math/failed"] == 1
    assert "rewardline/math/mean_reward" not in figures


def test_a_tracker_that_fails_is_logged_and_the_next_gets_its_figures(caplog) -> None:  # type: ignore[no-untyped-def]
    taken: list[int] = []
    curves = Curves([to_mlflow(None), lambda _, step: taken.append(step)])
    curves.add([{}], [result(1, "correct")])
    curves.log(3)
    assert taken == [3]
    assert "the figures of step 3 cannot be handed over: AttributeError" in caplog.text


def test_the_cost_is_what_the_service_says_of_the_run(served: Served) -> None:
    with Client(served.url, run_id="curves-of-mine") as client:
        client.score([{"verifier": "numeric", "response": "2", "reference": "2"}])
        assert Curves([], client=client, run_id="curves-of-mine").log(1) == {"rewardline/judge_cost": 0}
        assert Curves([], client=client, run_id="curves-of-nobody").log(1) == {}
