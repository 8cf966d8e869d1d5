"""Items of several checks in the engine: gates, failures, sharing, shapes."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from service.recipes import book
from tests.service.recipes.obedient import bench

Checks = list[dict[str, Any]]


def says(**verdicts: Any) -> dict[str, Any]:
    return {"response": json.dumps(verdicts)}


@pytest.mark.parametrize(
    ("checks", "verdicts", "reward", "score"),
    [
        ([{"verifier": "a"}, {"verifier": "b"}], {"a": 1, "b": 0}, 0.5, 1.0),
        ([{"verifier": "a", "weight": 3}, {"verifier": "b"}], {"a": 1, "b": 0}, 0.75, 1.0),
        ([{"verifier": "a", "weight": 0.9}, {"verifier": "b", "weight": 0.1}], {"a": 1, "b": 1}, 1.0, 1.0),
        ([{"verifier": "a", "scale": "pm1"}], {"a": 0}, -1.0, 0.0),
        ([{"verifier": "a"}, {"verifier": "b", "penalty": 0.5}], {"a": 1, "b": 0.5}, 0.375, 1.0),
        ([{"verifier": "a", "scale": {"reasons": {"no_answer": -1}}}], {"a": "no_answer"}, -1.0, 0.0),
        ([{"verifier": "a", "scale": [0, 8], "clip": [0, 2]}], {"a": 0.5}, 2.0, 0.5),
        ([{"verifier": "b"}, {"verifier": "a", "gate": {"after": "b", "at_least": 1}}], {"a": 1, "b": 0}, 0.0, 0.0),
        (
            [{"verifier": "b"}, {"verifier": "a", "gate": {"after": "b", "at_least": 1}, "skipped": "drop"}],
            {"a": 1, "b": 0.5},
            0.5,
            0.5,
        ),
        (
            [{"verifier": "a"}, {"verifier": "b", "gate": {"after": "a", "below": 1}, "skipped": -3}],
            {"a": 1, "b": 0},
            -1.0,
            1.0,
        ),
    ],
)
async def test_checks_become_a_reward(checks: Checks, verdicts: dict[str, Any], reward: float, score: float) -> None:
    async with bench() as b:
        result = await b.one(verdicts, checks=checks)
        assert (result.status, result.reward, result.score) == ("ok", reward, score)


@pytest.mark.contract
async def test_each_check_is_told() -> None:
    async with bench() as b:
        result = await b.one(
            {"a": 1, "b": "no_answer"},
            checks=[
                {"verifier": "a", "name": "task", "weight": 0.75},
                {"verifier": "b", "scale": "pm1", "weight": 0.25},
                {"verifier": "c", "gate": {"after": "b", "at_least": 1}},
            ],
        )
        assert result.checks is not None
        task, second, third = result.checks
        about = {"name": "task", "verifier": "a", "version": "1", "status": "ok", "reason": "correct", "detail": {}}
        assert task == {**about, "score": 1.0, "value": 1.0, "weight": 0.75, "extracted": "x", "cached": False}
        assert (second["reason"], second["value"], second["score"]) == ("no_answer", -1.0, 0.0)
        assert (third["status"], third["score"]) == ("skipped", None)
        assert (result.reason, result.verifier, result.extracted, result.recipe) == ("correct", "a", "x", None)


async def test_what_a_gate_keeps_out_is_never_asked() -> None:
    async with bench() as b:
        checks = [
            {"verifier": "a"},
            {"verifier": "b", "gate": {"after": "a", "at_least": 1}},
            {"verifier": "c", "gate": {"after": "b", "at_least": 1}},
        ]
        assert (await b.one({"a": 0, "b": 1, "c": 1}, checks=checks)).reward == 0
        assert not b.verifiers["b"].asked
        assert (await b.one({"a": 1, "b": 1, "c": 0.5}, checks=checks)).reward == pytest.approx(2.5 / 3)
        assert (await b.one({"a": 1, "b": 1, "c": 0.5}, checks=checks)).cached  # gates open at once from the cache
        assert [len(each.asked) for each in b.verifiers.values()] == [2, 1, 1]


@pytest.mark.parametrize("trouble", ["failed", "invalid"])
async def test_trouble_with_one_check_is_trouble_with_the_item(trouble: str) -> None:
    async with bench() as b:
        result = await b.one({"a": 1, "b": trouble}, checks=[{"verifier": "a"}, {"verifier": "b", "weight": 0}])
        assert (result.status, result.score, result.reward) == (trouble, None, None)
        assert result.verifier == "b"
        assert result.detail["message"].startswith("check b: ")


PARTIAL = """
recipes:
  lenient:
    about: x
    checks: [{verifier: a}, {verifier: b}, {verifier: c, gate: {after: b, below: 1}}]
    partial: true
  best:
    about: x
    checks: [{verifier: a}, {verifier: b, gate: {after: a, below: 1}, skipped: drop}]
    aggregate: max
  scaled:
    about: x
    checks: [{verifier: a}, {verifier: b, scale: [0, -2]}]
    aggregate: additive
    scale: [-1, 3]
    clip: 2
routes:
- {tag: easy, recipe: best}
- {tag: math, recipe: best, params: {factor: 0.5}}
- {tag: math, difficulty: {gte: 3}, recipe: scaled}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "recipes.yaml"
    path.write_text(PARTIAL)
    return path


async def test_a_partial_recipe_goes_on_without_what_failed(file: Path) -> None:
    async with bench(file) as b:
        result = await b.one({"a": 1, "b": "failed", "c": 0}, recipe="lenient")
        assert (result.status, result.reward, result.detail["partial"]) == ("ok", 1.0, ["b", "c"])
        assert not b.verifiers["c"].asked, "nobody knows whether its gate is open"
        assert (await b.one({"a": "failed", "b": 1, "c": 1}, recipe="lenient")).status == "failed", "it is the score's"
        assert (await b.one({"a": 1, "b": "invalid", "c": 1}, recipe="lenient")).status == "invalid"


@pytest.mark.parametrize(("a", "b", "reason"), [(1, 0, "correct"), (0, 1, "correct"), (0, 0, "wrong_answer")])
async def test_the_second_opinion_never_overrules_an_accept(file: Path, a: int, b: int, reason: str) -> None:
    async with bench(file) as on:
        result = await on.one({"a": a, "b": b}, recipe="best")
        assert (result.score, result.reward, result.reason) == (max(a, b), max(a, b), reason)
        assert len(on.verifiers["b"].asked) == 1 - a


async def test_the_aggregate_is_scaled_and_clipped(file: Path) -> None:
    async with bench(file) as b:
        high, low = await b.score({"recipe": "scaled", **says(a=1, b=0)}, {"recipe": "scaled", **says(a=0, b=1)})
        assert (high.reward, high.score, high.detail) == (2.0, 1.0, {"clipped": True})
        assert low.reward == -2.0
        assert (await b.one({"a": 0.5, "b": 0}, recipe="scaled", reward_clip=[0, 0.25])).reward == 0.25


async def test_rows_are_routed(file: Path) -> None:
    async with bench(file) as b:
        half, hard, level, lost = await b.score(
            {"tag": "math", "ground_truth": {"x": 1}, **says(a=0.5, b=0.8)},
            {"tag": "math", "difficulty": "4.5", **says(a=1, b=0)},
            {"tag": "math", "difficulty": "hard", **says(a=1, b=0)},
            {"tag": "other", **says(a=1)},
        )
        assert (half.recipe, half.reward) == ("best", 0.4)
        assert {"x": 1} in b.verifiers["a"].references
        assert (hard.recipe, level.recipe) == ("scaled", "scaled")
        assert (lost.status, lost.reason) == ("invalid", "unroutable")
        assert (await b.one({"a": 1}, tag="math", difficulty="steep")).reason == "bad_difficulty"


async def test_equal_checks_are_judged_once_across_items_and_recipes(file: Path) -> None:
    async with bench(file) as b:
        both = says(a=1, b=1)
        results = await b.score(
            {"recipe": "best", **both},
            {"recipe": "scaled", **both},
            {"checks": [{"verifier": "a"}, {"verifier": "a", "name": "again"}], **both},
            {"verifier": "a", **both},
        )
        assert [result.status for result in results] == ["ok"] * 4
        assert len(b.verifiers["a"].asked) == 1


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"recipe": "bset"}, "unknown_recipe"),
        ({"recipe": "best", "verifier": "a"}, "ambiguous"),
        ({"recipe": "best", "checks": [{"verifier": "a"}]}, "ambiguous"),
        ({"checks": []}, "bad_checks"),
        ({"checks": [{"verifier": "z"}]}, "bad_checks"),
        ({"checks": [{"verifier": "a", "weight": 0}]}, "bad_checks"),
        ({"checks": [{"verifier": "a"}] * 17}, "bad_checks"),
        ({"checks": "a"}, "bad_checks"),
        ({"recipe": "best", "params": {"factors": 1}}, "bad_params"),
        ({"recipe": "best", "params": {"a": {"factor": "x"}}}, "bad_params"),
        ({"recipe": "best", "reward_clip": 0}, "bad_reward_clip"),
        ({"recipe": "best", "reward_clip": [1, 0]}, "bad_reward_clip"),
        ({"recipe": "lenient", "reward_weights": {"a": -1}}, "bad_reward_weights"),
        ({"recipe": "lenient", "reward_weights": {"a": 0, "b": 0, "c": 0}}, "bad_reward_weights"),
        ({"recipe": "lenient", "reward_weights": {"maths": 1}}, "unknown_recipe"),
        ({"recipe": "best", "reference": 1, "ground_truth": 1}, "ambiguous"),
        ({}, "unroutable"),
    ],
)
async def test_mistakes_are_invalid(file: Path, item: dict[str, Any], reason: str) -> None:
    async with bench(file) as b:
        result = await b.one({"a": 1, "b": 1, "c": 1}, **item)
        assert (result.status, result.reason, result.score) == ("invalid", reason, None)
        assert result.detail["message"]


async def test_parameters_reach_the_checks_that_take_them(file: Path) -> None:
    async with bench(file) as b:
        checks = [{"verifier": "a", "params": {"factor": 0.5}}, {"verifier": "b"}]
        says_ = {"a": 0.5, "b": 0.5}
        for params, values in [
            ({}, [0.25, 0.5]),
            ({"factor": 0.1}, [0.05, 0.05]),
            ({"b": {"factor": 0.1}}, [0.25, 0.05]),
            ({"factor": 0.2, "b": {"factor": 0.1}}, [0.1, 0.05]),
        ]:
            result = await b.one(says_, checks=checks, params=params)
            assert result.checks is not None
            assert [check["score"] for check in result.checks] == pytest.approx(values)


async def test_weights_of_a_row(file: Path) -> None:
    async with bench(file) as b:
        weights = {"a": 1, "b": 3, "c": 0}
        assert (await b.one({"a": 1, "b": 0, "c": 1}, recipe="lenient", reward_weights=weights)).reward == 0.25
        # By themselves they are a composition of verifiers and recipes of one check.
        alone = await b.one({"a": 1, "b": 0}, reward_weights={"a": 1, "b": 3}, ground_truth="x")
        assert (alone.reward, alone.recipe) == (0.25, None)


async def test_a_deadline_between_the_checks_fails_the_item() -> None:
    async with bench() as b:
        b.verifiers["b"].gate.clear()
        checks = [{"verifier": "a"}, {"verifier": "b", "gate": {"after": "a", "at_least": 1}}, {"verifier": "c"}]
        (result,) = await b.score({"checks": checks, **says(a=1, b=1, c=1)}, within_s=0.2)
        assert (result.status, result.reason) == ("failed", "deadline")
        b.verifiers["b"].gate.set()
        (again,) = await b.score({"checks": checks, **says(a=1, b=1, c=1)})
        assert (again.status, again.reward) == ("ok", 1.0)
        assert b.engine.under_way() == 0


async def test_a_caller_who_leaves_stops_the_checks_nobody_else_waits_for() -> None:
    async with bench() as b:
        b.verifiers["b"].gate.clear()
        checks = [{"verifier": "a"}, {"verifier": "b", "gate": {"after": "a", "at_least": 1}}]
        gone = asyncio.create_task(b.score({"checks": checks, **says(a=1, b=1)}))
        stays = asyncio.create_task(b.score({"verifier": "b", **says(a=1, b=1)}))
        await b.verifiers["b"].entered.wait()
        gone.cancel()
        b.verifiers["b"].gate.set()
        (result,) = await stays
        assert result.status == "ok"
        assert b.engine.under_way() == 0


async def test_other_recipes_come_into_force_between_items(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(PARTIAL.replace("{tag: easy, recipe: best}", "{tag: easy, recipe: scaled}"))
    async with bench(file) as b:
        before = await b.one({"a": 0.5, "b": 1}, tag="easy")
        b.engine.use(book.load(b.engine.registry, other))
        after = await b.one({"a": 0.5, "b": 1}, tag="easy")
        assert (before.recipe, after.recipe) == ("best", "scaled")
