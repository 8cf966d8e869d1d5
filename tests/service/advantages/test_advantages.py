"""Advantages of groups: the formulas against values worked out by hand and against others written from the trainers' own
code, then the door.
"""

import asyncio
import math
import statistics
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.advantages.compute import compute_advantages
from service.advantages.schemas import AdvantagesResponse, GroupAdvantages, Options, RewardGroup
from service.doors.routes.groups import MAX_GROUP_BYTES, MAX_REWARDS
from tests.tables import table
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]
ROOT_OF_A_THIRD = math.sqrt(1 / 3)
"""The unbiased deviation of [1, 0, 0, 1] and of [1, 0, 1]."""


def answer(groups: Sequence[JSON], **options: Any) -> AdvantagesResponse:
    read = msgspec.convert(list(groups), list[RewardGroup])
    return asyncio.run(compute_advantages(read, msgspec.convert(options, Options)))


def of(rewards: Sequence[float | None], options: JSON | None = None, **fields: Any) -> GroupAdvantages:
    return answer([{"rewards": list(rewards), **fields}], **(options or {})).groups[0]


@table(
    ("preset", "expected"),
    [
        (None, 0.5 / (ROOT_OF_A_THIRD + 1e-6)),
        ("trl", 0.5 / (ROOT_OF_A_THIRD + 1e-4)),
        ("verl", 0.5 / (ROOT_OF_A_THIRD + 1e-6)),
        ("roll", 0.5 / (ROOT_OF_A_THIRD + 1e-6)),
        ("slime", 0.5 / (ROOT_OF_A_THIRD + 1e-6)),
        ("open_instruct", 0.5 / (0.5 + 1e-8)),
        ("openrlhf", 0.5 / (ROOT_OF_A_THIRD + 1e-9)),
    ],
)
def test_presets_have_the_deviation_and_the_eps_of_their_trainers(preset: str | None, expected: float) -> None:
    found = of([1, 0, 0, 1], {"preset": preset})
    assert found.advantages == pytest.approx([expected, -expected, -expected, expected], rel=1e-12)
    assert (found.mean, found.usable, found.keep, found.reason) == (0.5, 4, True, "kept")


def test_verls_own_values() -> None:
    """Recorded from its `compute_grpo_outcome_advantage`, an outage scored 0 and an outage left out."""
    scored = of([1, 0, 0, 1], {"preset": "verl"}).advantages
    assert scored == pytest.approx([0.866, -0.866, -0.866, 0.866], abs=5e-4)
    left_out = of([1, 0, None, 1], {"preset": "verl"}).advantages
    assert left_out[2] is None
    assert [left_out[at] for at in (0, 1, 3)] == pytest.approx([0.577, -1.155, 0.577], abs=5e-4)


@table(
    ("options", "rewards", "expected"),
    [
        ({"method": "dr_grpo"}, [1, 2, 3, 6], [-2, -1, 0, 3]),
        ({"method": "grpo", "scale": "none"}, [1, 2, 3, 6], [-2, -1, 0, 3]),
        ({"method": "rloo"}, [1, 2, 3, 6], [-8 / 3, -4 / 3, 0, 4]),
        ({"method": "rloo"}, [1, 2, None, 3, 6], [-8 / 3, -4 / 3, None, 0, 4]),
        ({"std": "population", "eps": 0.5}, [0, 0, 4, 4], [-0.8, -0.8, 0.8, 0.8]),
        ({"std": "unbiased", "eps": 0.5}, [0, 2, 4], [-0.8, 0, 0.8]),
        ({"std": "population", "eps": 0.5, "clip": 0.6}, [0, 0, 4, 4], [-0.6, -0.6, 0.6, 0.6]),
        ({"method": "dr_grpo", "clip": 2}, [1, 2, 3, 6], [-2, -1, 0, 2]),
        ({"method": "dr_grpo", "preset": "roll"}, [0, 100], [-10, 10]),
        ({"method": "dr_grpo", "preset": "roll", "clip": None}, [0, 100], [-50, 50]),
        ({"eps": 1e-12}, [0.1, 0.1, 0.1], [0, 0, 0]),
        ({"method": "rloo"}, [0.1, 0.1, 0.1], [0, 0, 0]),
    ],
)
def test_each_method_by_hand(options: JSON, rewards: list[float | None], expected: list[float | None]) -> None:
    found = of(rewards, options).advantages
    assert [None if value is None else round(value, 12) for value in found] == [
        None if value is None else round(value, 12) for value in expected
    ]


def test_the_batchs_deviation_is_over_all_rewards_of_groups_that_are_kept() -> None:
    groups = [{"rewards": [0, 2]}, {"rewards": [4, 6]}, {"rewards": [1000, 1000]}]
    options = {"scale": "batch", "std": "population", "eps": 1e-12, "filters": {"std": {}}}
    found = answer(groups, **options)
    deviation = math.sqrt(5)  # of 0, 2, 4, 6
    assert found.groups[0].advantages == pytest.approx([-1 / deviation, 1 / deviation])
    assert found.groups[1].advantages == pytest.approx([-1 / deviation, 1 / deviation])
    assert found.groups[2].advantages == [None, None]


rewards_of_a_group = st.lists(
    st.none() | st.sampled_from([0.0, 1.0, -1.0, 0.5]) | st.floats(-100, 100).map(lambda value: round(value, 3)),
    max_size=9,
)


@given(
    st.lists(rewards_of_a_group, min_size=1, max_size=5),
    st.sampled_from(["grpo", "dr_grpo", "rloo"]),
    st.sampled_from(["group", "batch", "none"]),
    st.sampled_from(["population", "unbiased"]),
    st.sampled_from([1e-4, 1e-6, 1e-8]),
)
def test_methods_agree_with_another_implementation(
    groups: list[list[float | None]], method: str, scale: str, std: str, eps: float
) -> None:
    found = answer([{"rewards": rewards} for rewards in groups], method=method, scale=scale, std=std, eps=eps)
    deviation = statistics.pstdev if std == "population" else statistics.stdev
    usable = [[Fraction(reward) for reward in rewards if reward is not None] for rewards in groups]
    everything = [float(reward) for rewards in usable if len(rewards) > 1 for reward in rewards]
    for rewards, exact, one in zip(groups, usable, found.groups, strict=True):
        if len(exact) < 2:
            assert (one.keep, one.reason, one.usable) == (False, "too_few_rewards", len(exact))
            assert one.advantages == [None] * len(rewards)
            continue
        mean = sum(exact) / len(exact)
        divisor = 1.0
        if method == "grpo" and scale != "none":
            divisor = deviation(map(float, exact) if scale == "group" else everything) + eps
        for reward, advantage in zip(rewards, one.advantages, strict=True):
            if reward is None:
                assert advantage is None
                continue
            centred = Fraction(reward) - mean
            if method == "rloo":
                centred = Fraction(reward) - (sum(exact) - Fraction(reward)) / (len(exact) - 1)
            assert advantage == pytest.approx(float(centred) / divisor, rel=1e-6, abs=1e-9)


@given(rewards_of_a_group, st.sampled_from(["grpo", "dr_grpo", "rloo"]))
def test_what_was_not_judged_changes_nobodys_advantage(rewards: list[float | None], method: str) -> None:
    found = of(rewards, {"method": method})
    without = of([reward for reward in rewards if reward is not None], {"method": method})
    assert [value for value in found.advantages if value is not None] == [
        value for value in without.advantages if value is not None
    ]
    assert (found.mean, found.std, found.keep) == (without.mean, without.std, without.keep)


@given(st.floats(-1e9, 1e9), st.integers(2, 40), st.sampled_from(["grpo", "dr_grpo", "rloo", "gdpo"]))
def test_equal_rewards_have_no_advantage_whatever_their_sum_rounds_to(reward: float, count: int, method: str) -> None:
    assert of([reward] * count, {"method": method, "eps": 1e-12}).advantages == [0.0] * count


def trl_gdpo(groups: list[list[list[float | None]]], weights: list[float], eps: float) -> list[float]:
    """As `multi_objective_aggregation="normalize_then_sum"` of TRL reckons; `groups[g][i][k]` is a component."""
    sums: list[float] = []
    for group in groups:
        totals = [0.0] * len(group)
        for at, weight in enumerate(weights):
            values = [(i, row[at]) for i, row in enumerate(group)]
            there = [(i, value) for i, value in values if value is not None]
            if len(there) < 2:
                continue
            mean, std = (statistic([value for _, value in there]) for statistic in (statistics.fmean, statistics.stdev))
            for i, value in there:
                totals[i] += weight * (value - mean) / (std + eps)
        sums += [total for total, row in zip(totals, group, strict=True) if any(value is not None for value in row)]
    mean, std = statistics.fmean(sums), statistics.stdev(sums)
    return [(value - mean) / (std + eps) for value in sums]


components = st.none() | st.sampled_from([0.0, 0.25, 1.0]) | st.floats(-10, 10).map(lambda value: round(value, 2))


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(st.tuples(*[components] * n), max_size=6), min_size=1)))
def test_gdpo_of_trl(groups: list[list[tuple[float | None, ...]]]) -> None:
    names = [f"c{at}" for at in range(len(next((rows[0] for rows in groups if rows), ("",))))]
    given_groups = [
        {"components": {name: [row[at] for row in rows] for at, name in enumerate(names)}} for rows in groups
    ]
    weights = {name: 1.0 + at for at, name in enumerate(names)}
    found = answer(given_groups, preset="trl", method="gdpo", weights=weights)
    kept = [rows for rows, one in zip(groups, found.groups, strict=True) if one.keep]
    advantages = [value for one in found.groups for value in one.advantages if value is not None]
    if not kept:
        assert not advantages
        return
    expected = trl_gdpo([[list(row) for row in rows] for rows in kept], list(weights.values()), 1e-4)
    assert advantages == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_gdpo_of_verl_counts_an_answer_as_often_as_it_has_tokens() -> None:
    groups: list[JSON] = [
        {"components": {"right": [1, 0, 1], "form": [1, 1, 0]}, "lengths": [10, 20, 30]},
        {"components": {"right": [0, 1], "form": [0.5, 1]}, "lengths": [5, 7]},
    ]
    found = answer(groups, preset="verl", method="gdpo", weights={"form": 0.5})
    per_token: list[float] = []
    per_answer: list[float] = []
    for one in groups:
        totals = [0.0] * len(one["lengths"])
        for name, weight in (("right", 1.0), ("form", 0.5)):
            values = one["components"][name]
            for at, value in enumerate(values):
                totals[at] += weight * (value - statistics.fmean(values)) / (statistics.stdev(values) + 1e-6)
        per_answer += totals
        per_token += [total for total, length in zip(totals, one["lengths"], strict=True) for _ in range(length)]
    mean, variance = statistics.fmean(per_token), statistics.variance(per_token)
    expected = [(value - mean) / math.sqrt(variance + 1e-8) for value in per_answer]
    assert [value for one in found.groups for value in one.advantages] == pytest.approx(expected)


def test_components_are_weighed_where_the_method_is_not_gdpo() -> None:
    group = {"components": {"a": [1, 0, None, 1], "b": [0, 1, 1, None]}}
    strict = answer([group], method="dr_grpo", weights={"b": 3}).groups[0]
    assert strict.advantages == [-1, 1, None, None]
    partial = answer([group], method="dr_grpo", weights={"b": 3}, partial=True).groups[0]
    assert partial.advantages == [-1, 1, 1, -1]


@table(
    ("rewards", "filters", "reason"),
    [
        ([1, 1, 0, 0], {"mean": {"low": 0.5}}, "mean_too_low"),
        ([1, 1, 0, 0], {"mean": {"low": 0.499}}, "kept"),
        ([1, 1, 0, 0], {"mean": {"high": 0.5}}, "mean_too_high"),
        ([1, 1, 0, 0], {"mean": {"low": 0.1, "high": 0.501}}, "kept"),
        ([1, 1, 1], {"mean": {"low": 0, "high": 1}}, "mean_too_high"),
        ([0, 0, 0], {"mean": {"low": 0, "high": 1}}, "mean_too_low"),
        ([0.1, 0.1, 0.1], {"std": {}}, "deviation_too_small"),
        ([0, 2, 4], {"std": {"min": 2}}, "deviation_too_small"),
        ([0, 2, 4], {"std": {"min": 1.999}}, "kept"),
        # slime: more than 1e-6.
        ([1, 1.0000001], {"std": {"min": 1e-6}}, "deviation_too_small"),
        ([1, 1.00001], {"std": {"min": 1e-6}}, "kept"),
        ([1, None, 1], {"mean": {"high": 0.9}}, "mean_too_high"),
        ([1], {"mean": {"high": 0.9}}, "too_few_rewards"),
        ([], {}, "too_few_rewards"),
        ([1, 1, 1], {}, "kept"),
    ],
)
def test_filters_have_strict_bounds_and_say_why(rewards: list[float | None], filters: JSON, reason: str) -> None:
    found = of(rewards, {"filters": filters})
    assert (found.reason, found.keep) == (reason, reason == "kept")
    assert all(value is not None for value in found.advantages) is (reason == "kept" or not rewards)


def test_filters_look_at_the_scores_before_shaping() -> None:
    found = of([0.9, 0.7, 0.8], {"filters": {"mean": {"high": 1}}}, scores=[1, 1, 1])
    assert found.reason == "mean_too_high"
    assert found.mean == pytest.approx(0.8)


def test_answers_that_were_cut_off() -> None:
    truncated = {"truncated": [False, True, False]}
    masked = of([0, 3, 6], {"method": "dr_grpo", "filters": {"overlong": "mask"}}, **truncated)
    assert (masked.advantages, masked.mean) == ([-3, None, 3], 3)
    excluded = of([0, 9, 6], {"method": "dr_grpo", "filters": {"overlong": "exclude"}}, **truncated)
    assert (excluded.advantages, excluded.mean) == ([-3, None, 3], 3)
    by_length = {"lengths": [5, 10, 9], "max_length": 10}
    assert of([0, 3, 6], {"filters": {"overlong": "mask"}}, **by_length).advantages[1] is None
    for mode, reason in (("mask", "all_overlong"), ("exclude", "all_overlong")):
        assert of([0, 3], {"filters": {"overlong": mode}}, truncated=[True, True]).reason == reason
    assert of([0, 3], {"filters": {"overlong": "exclude"}}, truncated=[True, False]).reason == "too_few_rewards"
    assert of([0, 3, 6], {"method": "dr_grpo"}, **truncated).advantages == [-3, 0, 3]


def test_a_status_that_is_not_ok_outweighs_a_reward() -> None:
    """Some trainers' hooks must put a number where there is none."""
    found = of([1, 0, 0, 1], statuses=["ok", "failed", "ok", "ok"])
    assert found.advantages == of([1, None, 0, 1]).advantages


@table(
    ("lengths", "rewards", "expected"),
    [
        ([10, 20, 30], [1, 1, 1], [0.5, 0, -0.5]),
        ([10, 20, 30], [0, 0, 0], [0, 0, -0.5]),
        ([10, 30, 20, 90], [0, 1, 1, None], [0, -0.5, 0, None]),
        ([10, 10, 10], [1, 0, 1], [0, 0, 0]),
    ],
)
def test_kimis_length_reward(lengths: list[int], rewards: list[float | None], expected: list[float | None]) -> None:
    group = of(rewards, {"method": "dr_grpo", "length_reward": {"weight": 2}}, lengths=lengths)
    total = [
        None if reward is None or more is None else reward + 2 * more
        for reward, more in zip(rewards, expected, strict=True)
    ]
    assert group.advantages == of(total, {"method": "dr_grpo"}).advantages


def test_filters_do_not_see_the_length_reward() -> None:
    options = {"length_reward": {}, "filters": {"mean": {"high": 1}}}
    assert of([1, 1], options, lengths=[1, 9]).reason == "mean_too_high"


@table(
    ("group", "options", "said"),
    [
        ({"rewards": [1, 0], "lengths": [1]}, {}, "lengths: expected one entry for each of 2 answers, found 1"),
        ({"rewards": [1, 0], "components": {"a": [1, 0]}}, {}, "not both"),
        ({"components": {"a": [1, 0]}}, {"weights": {"b": 1}}, "no group has the components ['b']"),
        ({"rewards": [1, 0]}, {"filters": {"overlong": "mask"}}, "needs truncated"),
        ({"rewards": [1, 0]}, {"length_reward": {}}, "needs lengths"),
        ({"rewards": [1, 0]}, {"preset": "verl", "method": "gdpo"}, "lengths are needed"),
        ({"rewards": [1, 0], "lengths": [0, 1]}, {"preset": "verl", "method": "gdpo"}, "each at least 1"),
        ({"rewards": [1, 0], "scores": [1, None]}, {}, "has no score"),
    ],
)
def test_a_group_that_makes_no_sense_says_so(group: JSON, options: JSON, said: str) -> None:
    found = answer([group], **options).groups[0]
    assert (found.keep, found.reason, found.advantages) == (False, "invalid", [None, None])
    assert said in found.message


def test_a_bad_group_costs_the_others_nothing() -> None:
    good, bad = {"rewards": [1, 0, 1], "id": "good"}, {"rewards": [1, 0], "statuses": ["ok"]}
    found = answer([good, bad, good], scale="batch")
    assert [one.keep for one in found.groups] == [True, False, True]
    assert found.groups[0].advantages == found.groups[2].advantages
    assert [one.id for one in found.groups] == ["good", 1, "good"]
    assert found.summary.reasons == {"kept": 2, "invalid": 1}
    assert answer([good, {"components": {"a": [1]}}]).groups[0].reason == "invalid"


@given(
    st.lists(st.lists(st.none() | st.floats(-1e9, 1e9), max_size=5), max_size=4),
    st.sampled_from(["grpo", "dr_grpo", "rloo", "gdpo"]),
    st.sampled_from(["group", "batch", "none"]),
)
def test_no_answer_holds_an_infinity(groups: list[list[float | None]], method: str, scale: str) -> None:
    found = answer([{"rewards": rewards} for rewards in groups], method=method, scale=scale, eps=1e-12)
    numbers = [value for one in found.groups for value in (*one.advantages, one.mean, one.std) if value is not None]
    assert all(map(math.isfinite, numbers))


def post(served: Any, body: JSON | bytes) -> httpx.Response:
    content = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return httpx.post(f"{served.url}/v1/group/advantages", content=content, timeout=PATIENCE_S)


def test_the_door_answers_group_by_group(served: Any) -> None:
    groups = [{"id": "p1", "rewards": [1, 0, None, 1]}, {"rewards": [1, 1]}, {"rewards": [0]}]
    reply = post(served, {"preset": "trl", "filters": {"mean": {"low": 0, "high": 1}}, "groups": groups})
    assert reply.status_code == 200
    body = reply.json()
    first = body["groups"][0]
    assert first["advantages"] == pytest.approx([0.57725, -1.15450, None, 0.57725], abs=1e-5)
    assert [one["reason"] for one in body["groups"]] == ["kept", "mean_too_high", "too_few_rewards"]
    assert [one["id"] for one in body["groups"]] == ["p1", 1, 2]
    assert body["formula"] == {
        "method": "grpo", "scale": "group", "std": "unbiased", "eps": 1e-4, "clip": None, "partial": True, "k": 2,
    }  # fmt: skip
    assert body["summary"]["kept"] == 1


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize(
    ("body", "status", "loc"),
    [
        (b'{"groups": [{"rewards": [1e999]}]}', 422, ["groups", 0, "rewards", 0]),
        (b'{"groups": [{"rewards": [1]}, {"rewards": [1e10]}]}', 422, ["groups", 1, "rewards", 0]),
        (b'{"groups": [{"rewards": [NaN]}]}', 400, None),
        (b'{"groups": [{"rewards": [true]}]}', 422, ["groups", 0, "rewards", 0]),
        (b'{"groups": [{"reward": [1]}]}', 422, ["groups", 0, "reward"]),
        (b'{"groups": [], "eps": 0}', 422, ["eps"]),
        (b'{"groups": [], "clip": -1}', 422, ["clip"]),
        (b'{"groups": [], "method": "ppo"}', 422, ["method"]),
        (b'{"groups": [], "preset": "nosuch"}', 422, ["preset"]),
        (b'{"groups": [], "filter": {}}', 422, ["filter"]),
        (b"{}", 422, ["groups"]),
        (b'{"groups": [', 400, None),
    ],
)
def test_the_door_refuses_what_is_not_of_its_shape(
    served: Any, body: bytes, status: int, loc: list[Any] | None
) -> None:
    reply = post(served, body)
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    if loc is not None:
        assert reply.json()["errors"][0]["loc"] == loc


def test_the_door_is_bounded(served: Any) -> None:
    group = b'{"rewards": [' + b",".join([b"1"] * 2048) + b"]}"
    many = MAX_REWARDS // 2048 + 1
    assert post(served, b'{"groups": [' + b",".join([group] * many) + b"]}").status_code == 413
    assert post(served, b'{"groups": [' + b",".join([group] * (many - 1)) + b"]}").status_code == 200
    assert post(served, b'{"groups": [{"id": "' + b"x" * MAX_GROUP_BYTES + b'"}]}').status_code == 413
    assert post(served, b'{"groups": [{"rewards": [' + b",".join([b"1"] * 2049) + b"]}]}").status_code == 422
    assert post(served, b'{"groups": []}' + b" " * 8_000_000).status_code == 413
    assert httpx.get(f"{served.url}/v1/group/advantages").status_code == 405


def test_the_documents_example_is_reckoned(served: Any) -> None:
    document = httpx.get(f"{served.url}/openapi.json").json()
    operation = document["paths"]["/v1/group/advantages"]["post"]
    example = operation["requestBody"]["content"]["application/json"]["example"]
    assert [one["keep"] for one in post(served, example).json()["groups"]] == [True, False]
    assert document["components"]["schemas"]["RewardGroup"]["additionalProperties"] is False
