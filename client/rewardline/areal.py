"""Reward functions for AReaL. It pickles them into a pool of processes, and calls them for one sample at a time.

AReaL's `AsyncRewardWrapper` turns a call into a reward of 0 after 15 s, and the wait for a free process counts. The function
raises earlier, and AReaL then drops the group; but it cannot know how long its call has waited. So use it for verifiers that
take milliseconds. For programs and judge models use `rewardline.areal_workflow.Workflow`, which has neither pool nor limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewardline.always_reward import never_abstaining, never_none
from rewardline.hook import Hook, is_missing, plain
from rewardline.special_tokens import without_ending

DEADLINE_S = 10.0
"""AReaL stops waiting after 15 s, and may have to start a process in that time."""


@dataclass(frozen=True)
class Reward:
    """A reward function; `reward` makes it."""

    hook: Hook
    reference: str | None = "answer"
    """The column of the reference, for rows without `reference` and `ground_truth`."""

    def __call__(
        self, prompt: str, completions: str, prompt_ids: Any = None, completion_ids: Any = None, **row: Any
    ) -> float:
        """The reward of one completion.

        Raises:
            FailedItems, InvalidItems: There is no reward. AReaL retries three times, then drops the sample's group.
        """
        return never_none(self.hook.reward(self.hook.score_one_blocking(item_of(self, prompt, completions, row))))


def reward(*, reference: str | None = "answer", **options: Any) -> Reward:
    """Make a reward function by the options of a `Hook`. A call waits for no other calls and ends within 10 s."""
    return Reward(
        never_abstaining("AReaL", Hook.of({"deadline_s": DEADLINE_S, "gather_ms": 0.0, **options})), reference
    )


def item_of(function: Reward, prompt: str, completion: str, row: dict[str, Any]) -> dict[str, Any]:
    """Make the item of one sample."""
    item = function.hook.item(without_ending(completion), prompt=row.get("messages") or prompt, row=row)
    reference = None if function.reference is None else plain(row.get(function.reference))
    if not is_missing(reference) and not {"reference", "ground_truth", "test_cases"} & set(item):
        item["reference"] = reference
    return item


def reward_fn(prompt: str, completions: str, prompt_ids: Any = None, completion_ids: Any = None, **row: Any) -> float:
    """The function for `reward_fn="rewardline.areal.reward_fn"`. The server of REWARDLINE_URL routes rows by labels."""
    return reward()(prompt, completions, prompt_ids, completion_ids, **row)
