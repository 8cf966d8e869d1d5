"""Rewards for AReaL as it calls them: a sync function, pickled into a pool of processes, one sample per call.

`AsyncRewardWrapper` makes a 0 of what takes 15 s, waiting for a free process included. This function raises before that, and
AReaL drops the group, but it cannot see how long its call has waited: use it for what is judged in milliseconds, and
`rewardline.areal_workflow.Workflow`, which has neither pool nor limit, for programs and judge models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewardline.always_reward import never_abstaining, never_none
from rewardline.hook import Hook, is_missing, plain
from rewardline.special_tokens import without_ending

DEADLINE_S = 10.0
"""Of AReaL's 15 s, in which a process may have to be started."""


@dataclass(frozen=True)
class Reward:
    """A reward function; `reward` makes them."""

    hook: Hook
    reference: str | None = "answer"
    """The column to judge against, of rows that have neither `reference` nor `ground_truth`."""

    def __call__(
        self, prompt: str, completions: str, prompt_ids: Any = None, completion_ids: Any = None, **row: Any
    ) -> float:
        """The reward of one completion.

        Raises:
            FailedItems, InvalidItems: there is none; AReaL tries again three times, then drops the sample's group.
        """
        return never_none(self.hook.reward(self.hook.score_one_blocking(item_of(self, prompt, completions, row))))


def reward(*, reference: str | None = "answer", **options: Any) -> Reward:
    """A reward function by the options of a `Hook`; one call without waiting for others, within 10 s."""
    return Reward(never_abstaining("AReaL", Hook(**{"deadline_s": DEADLINE_S, "gather_ms": 0.0, **options})), reference)


def item_of(function: Reward, prompt: str, completion: str, row: dict[str, Any]) -> dict[str, Any]:
    """One sample as the server takes it."""
    item = function.hook.item(without_ending(completion), prompt=row.get("messages") or prompt, row=row)
    named = None if function.reference is None else plain(row.get(function.reference))
    if not is_missing(named) and not {"reference", "ground_truth", "test_cases"} & set(item):
        item["reference"] = named
    return item


def reward_fn(prompt: str, completions: str, prompt_ids: Any = None, completion_ids: Any = None, **row: Any) -> float:
    """`reward_fn="rewardline.areal.reward_fn"`: by the labels of each row, at the server that REWARDLINE_URL names."""
    return reward()(prompt, completions, prompt_ids, completion_ids, **row)
