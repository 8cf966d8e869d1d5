"""slime's reward functions, against a stand-in for its `Sample` and the arguments it parses."""

from __future__ import annotations

import asyncio
import itertools
import math
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from rewardline import FailedItems, InvalidItems
from rewardline.slime import custom_rm, post_process_rewards, reward

if TYPE_CHECKING:
    from tests.client.conftest import FakeServer
    from tests.conftest import Served

EXAMPLES = Path(__file__).parents[2] / "client" / "examples"
NOWHERE = "http://127.0.0.1:9"
RIGHT, WRONG = "so \\boxed{4}<|im_end|>", "so \\boxed{5}<|im_end|>"


@dataclass
class Sample:
    """A stand-in for slime's, with the fields its documentation promises to reward functions."""

    response: str
    label: Any = None
    prompt: Any = "2+2="
    metadata: dict[str, Any] = field(default_factory=dict)
    group_index: int | None = 0
    index: int | None = 0
    remove_sample: bool = False
    reward: Any = None

    def get_reward_value(self, args: Any) -> float:
        value = self.reward if not args.reward_key else self.reward[args.reward_key]
        return float(value)


def arguments(**given: Any) -> SimpleNamespace:
    known = {"reward_key": None, "rm_type": None, "n_samples_per_prompt": 4, "advantage_estimator": "grpo"}
    return SimpleNamespace(**{**known, "rewards_normalization": True, "grpo_std_normalization": True, **given})


async def test_a_sample_gets_a_number_and_a_group_gets_a_list(served: Served) -> None:
    rm = reward(verifier="math", url=served.url)
    assert await rm(arguments(), Sample(RIGHT, "4"), evaluation=False) == 1.0
    rewards = await rm(arguments(), [Sample(RIGHT, "4"), Sample(WRONG, "4")])
    assert rewards == [1.0, 0.0]
    assert all(isinstance(each, float) for each in rewards)
    assert await rm(arguments(), []) == []


async def test_the_server_rewards_the_samples_of_a_prompt_together(served: Served) -> None:
    """By majority, without labels: one by one, and with `--group-rm`."""
    rm = reward(verifier="math", url=served.url, group={"method": "majority"})
    texts = ["\\boxed{1/2}", "\\boxed{3}", "\\boxed{0.5}", "nothing"]
    alone = [Sample(text, group_index=1, index=4 + at) for at, text in enumerate(texts)]
    assert list(await asyncio.gather(*(rm(arguments(), sample) for sample in alone))) == [1, 0, 1, 0]
    together = [Sample(text, group_index=2, index=8 + at) for at, text in enumerate(texts)]
    assert await rm(arguments(), together) == [1, 0, 1, 0]
    tied = [Sample(text, group_index=3, index=12 + at) for at, text in enumerate(texts[:2] * 2)]
    assert await rm(arguments(), tied) == [0, 0, 0, 0]
    assert all(sample.remove_sample for sample in tied)
    assert await rm(arguments(), Sample(RIGHT, "4", group_index=None)) == 1


async def test_with_a_reward_key_it_is_a_dict_with_the_same_keys_for_all(served: Served) -> None:
    rm = reward(verifier="math", url=served.url)
    args = arguments(reward_key="score")
    right, wrong = await rm(args, [Sample(RIGHT, "4"), Sample(WRONG, "4")])
    assert (right["score"], wrong["score"]) == (1.0, 0.0)
    assert set(right) == set(wrong) >= {"acc", "failed", "invalid"}


async def test_options_come_from_the_custom_configuration(served: Served) -> None:
    args = arguments(rewardline={"url": served.url, "verifier": "exact_match"})
    assert await custom_rm(args, Sample("four<|im_end|>\n", "four")) == 1.0
    assert await custom_rm(args, Sample("five", "four")) == 0.0


async def test_without_options_the_type_of_reward_names_the_recipe(served: Served) -> None:
    args = arguments(rewardline={"url": served.url}, rm_type="dapo")
    assert await custom_rm(args, Sample("Answer: 5", "4")) == -1.0
    assert await custom_rm(args, Sample(RIGHT, "4", metadata={"rm_type": "math"})) == 1.0
    gpqa = {"rm_type": "gpqa", "choices": ["one", "four", "six", "ten"]}
    assert await custom_rm(args, Sample("The answer is B", "B", metadata=gpqa)) == 1.0
    ifbench = {"rm_type": "ifbench", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    assert await custom_rm(args, Sample("one two", "", metadata=ifbench)) == 1.0
    assert await custom_rm(args, Sample("one, two", "", metadata=ifbench)) == 0.0


async def test_labels_in_the_metadata_route_what_nothing_else_does(served: Served) -> None:
    args = arguments(rewardline={"url": served.url}, rm_type="remote_rm")
    assert await custom_rm(args, Sample(RIGHT, "4", metadata={"tag": "deepmath_103k"})) == 1.0


async def test_what_could_not_be_judged_is_removed_and_never_zero_in_its_group(server: FakeServer) -> None:
    rm = reward(verifier="math", url=server.url, max_resends=0, send_prompt=False)
    server.fails["lost"] = 1
    group = [Sample("4", "4"), Sample("5", "4"), Sample("lost", "4"), Sample("4", "4")]
    rewards = await rm(arguments(), group)
    assert rewards == [1.0, 0.0, pytest.approx(2 / 3), 1.0]
    assert [sample.remove_sample for sample in group] == [False, False, True, False]


async def test_a_removed_sample_has_a_dict_too(server: FakeServer) -> None:
    rm = reward(verifier="math", url=server.url, max_resends=0, send_prompt=False)
    server.fails["lost"] = 1
    group = [Sample("4", "4"), Sample("lost", "4")]
    rewards = await rm(arguments(reward_key="score"), group)
    assert [each["score"] for each in rewards] == [1.0, 1.0]
    assert [each["failed"] for each in rewards] == [0.0, 1.0]


async def test_the_tokenizers_marks_are_not_sent(server: FakeServer) -> None:
    assert (
        await reward(verifier="math", url=server.url, send_prompt=False)(arguments(), Sample("4<|im_end|>", "4")) == 1.0
    )
    assert server.bodies[0]["items"][0]["response"] == "4"


async def test_alone_and_away_from_its_server_a_sample_is_removed() -> None:
    sample = Sample(RIGHT, "4")
    value = await reward(verifier="math", url=NOWHERE, deadline_s=0.2)(arguments(), sample)
    assert sample.remove_sample
    assert math.isfinite(value)


async def test_in_evaluation_there_is_nothing_to_remove_from() -> None:
    sample = Sample(RIGHT, "4", group_index=None)
    with pytest.raises(FailedItems):
        await reward(verifier="math", url=NOWHERE, deadline_s=0.2)(arguments(), sample)
    custom = reward(verifier="math", url=NOWHERE, deadline_s=0.2, on_failed=-2.0)
    assert await custom(arguments(), sample) == -2.0


async def test_a_data_set_to_be_mended_ends_the_run(served: Served) -> None:
    with pytest.raises(InvalidItems):
        await reward(verifier="math", url=served.url)(arguments(), [Sample(RIGHT, "4"), Sample(RIGHT, None)])


def rewarded(values: list[float], removed: int, group: int) -> list[Sample]:
    return [
        Sample("", reward=value, group_index=group, remove_sample=index == removed)
        for index, value in enumerate(values)
    ]


def test_each_group_is_normalised_without_its_removed_samples() -> None:
    samples = rewarded([1.0, 0.0, 7.0, 1.0], 2, 0) + rewarded([3.0, 3.0, 3.0, 3.0], -1, 1)
    raw, normalised = post_process_rewards(arguments(), samples)
    assert raw == [1.0, 0.0, 7.0, 1.0, 3.0, 3.0, 3.0, 3.0]
    assert normalised[:4] == pytest.approx([0.57735, -1.1547, 0.0, 0.57735], abs=1e-4)
    assert normalised[4:] == [0.0] * 4


def test_normalisation_is_slimes_own_for_each_estimator() -> None:
    samples = rewarded([1.0, 0.0, 1.0, 1.0], -1, 0)
    centred = [0.25, -0.75, 0.25, 0.25]
    assert post_process_rewards(arguments(advantage_estimator="reinforce_plus_plus_baseline"), samples)[1] == centred
    assert post_process_rewards(arguments(grpo_std_normalization=False), samples)[1] == centred
    for off in ({"advantage_estimator": "ppo"}, {"rewards_normalization": False}):
        assert post_process_rewards(arguments(**off), samples)[1] == [1.0, 0.0, 1.0, 1.0]


def test_samples_without_a_group_are_grouped_by_their_number() -> None:
    samples = rewarded([1.0, 0.0], -1, 0) + rewarded([5.0, 3.0], -1, 0)
    for sample in samples:
        sample.group_index = None
    args = arguments(n_samples_per_prompt=2, grpo_std_normalization=False)
    assert post_process_rewards(args, samples)[1] == [0.5, -0.5, 1.0, -1.0]
    assert post_process_rewards(args, [samples[:2], samples[2:]])[1] == [0.5, -0.5, 1.0, -1.0]


def test_a_group_that_was_removed_whole_weighs_nothing() -> None:
    samples = rewarded([0.0], 0, 0)
    assert post_process_rewards(arguments(), samples) == ([0.0], [0.0])


async def test_the_example_is_a_configuration(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDLINE_URL", served.url)
    args = arguments(**yaml.safe_load((EXAMPLES / "slime" / "rewardline.yaml").read_text()))
    group = [Sample(f"<think>2+2</think>{RIGHT}", "4"), Sample(WRONG, "4")]
    assert await custom_rm(args, group) == [1.0, 0.0]


@pytest.mark.parametrize("trainer", ["slime", "miles"])
def test_the_example_evaluates_which_excludes_rewards_of_groups(trainer: str) -> None:
    text = (EXAMPLES / trainer / "train.sh").read_text()
    command = shlex.split(text.partition("python3")[2].replace("\\\n", " "))
    options = dict(itertools.pairwise(command))
    assert options["--custom-rm-path"] == f"rewardline.{trainer}.custom_rm"
    assert options["--custom-reward-post-process-path"] == f"rewardline.{trainer}.post_process_rewards"
    assert (EXAMPLES.parents[1] / options["--custom-config-path"]).is_file()
    assert "--eval-interval" in options
    assert "--eval-prompt-data" in options
    assert "--group-rm" not in options
