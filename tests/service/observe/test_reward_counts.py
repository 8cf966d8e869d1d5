"""Rewards as metrics: counted once, in the right bucket, and never by what a caller made up."""

import httpx
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from service.observe.reward_counts import BOUNDS, OTHER, RewardCounts
from service.wire import Result, ScoreItem
from tests.conftest import Served


def result(reward: float | None, recipe: str | None = "think_math") -> Result:
    status = "failed" if reward is None else "ok"
    score = None if reward is None else 1.0
    return Result(0, status, score, reward, "because", "math", "1", None, {}, False, 0.0, None, recipe)


def exposed(counts: RewardCounts) -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(counts)
    lines = [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_rewards_are_counted_up_to_and_with_their_bound() -> None:
    counts = RewardCounts()
    rewards = [-3.0, -1.0, -0.99, 0.0, 0.05, 0.5, 1.0, 7.5]
    items = [ScoreItem("r", tag="known")] * (len(rewards) + 1)
    counts.observe(items, [*map(result, rewards), result(None)], {"known"})
    samples = exposed(counts)
    for bound in BOUNDS:
        name = f'rewardline_reward_bucket{{le="{bound}",recipe="think_math",tag="known"}}'
        assert samples[name] == sum(reward <= bound for reward in rewards)
    labels = 'recipe="think_math",tag="known"'
    assert samples[f'rewardline_reward_bucket{{le="+Inf",{labels}}}'] == len(rewards)
    assert samples[f"rewardline_reward_count{{{labels}}}"] == len(rewards)
    assert samples[f"rewardline_reward_sum{{{labels}}}"] == sum(rewards)


def test_labels_that_no_route_names_are_one() -> None:
    counts = RewardCounts()
    items = [ScoreItem("r", tag=f"made up {n}") for n in range(50)] + [ScoreItem("r"), ScoreItem("r", domain="known")]
    counts.observe(items, [result(1.0)] * len(items), {"known"})
    samples = {name: value for name, value in exposed(counts).items() if "_count" in name}
    assert samples == {
        f'rewardline_reward_count{{recipe="think_math",tag="{OTHER}"}}': 50.0,
        'rewardline_reward_count{recipe="think_math",tag=""}': 1.0,
        'rewardline_reward_count{recipe="think_math",tag="known"}': 1.0,
    }


def test_series_are_bounded_however_many_recipes_there_are() -> None:
    counts = RewardCounts()
    counts.observe([ScoreItem("r")] * 2000, [result(1.0, f"recipe {n}") for n in range(2000)], set())
    samples = {name: value for name, value in exposed(counts).items() if "_count" in name}
    assert len(samples) == 501
    assert sum(samples.values()) == 2000


def test_a_server_counts_what_it_judged(served: Served) -> None:
    items = [
        {"tag": "deepmath_103k", "response": "\\boxed{1}", "reference": "1"},
        {"tag": "nobody's own", "recipe": "think_math", "response": "x", "reference": "1"},
        {"verifier": "nobody", "response": "x"},
    ]
    name = 'rewardline_reward_count{recipe="roll.math_rule",tag="deepmath_103k"}'
    before = _counts(served).get(name, 0.0)
    assert httpx.post(f"{served.url}/v1/score", json={"items": items}).status_code == 200
    after = _counts(served)
    assert after[name] == before + 1
    assert 'rewardline_reward_count{recipe="think_math",tag="other"}' in after
    assert "nobody's own" not in str(after)


def _counts(served: Served) -> dict[str, float]:
    text = httpx.get(f"{served.url}/metrics").text
    lines = [line for line in text.splitlines() if line.startswith("rewardline_reward_count")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}
