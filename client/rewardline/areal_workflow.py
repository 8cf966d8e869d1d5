"""AReaL's RLVR workflow with asynchronous rewards: `workflow="rewardline.areal_workflow.Workflow"`.

It needs no pickling and no pool of processes, and no time limit turns a slow verdict into a reward of 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from areal.workflow.rlvr import RLVRWorkflow

from rewardline.always_reward import never_abstaining, never_none
from rewardline.areal import Reward, item_of
from rewardline.hook import Hook


class Workflow(RLVRWorkflow):
    """`RLVRWorkflow` with a reward function of its own: `workflow_kwargs={"rewardline": {"recipe": ...}, "gconfig": ...}`."""

    def __init__(
        self, *args: Any, rewardline: Mapping[str, Any] | None = None, reference: str | None = "answer", **kwargs: Any
    ) -> None:
        """Take the options of a `Hook` in `rewardline`; `reference` is the column of the reference."""
        self._judge = Reward(never_abstaining("AReaL", Hook.of(rewardline or {})), reference)
        super().__init__(self._reward, *args, **kwargs)
        self.async_reward_fn = self._reward

    async def _reward(self, prompt: str, completions: str, prompt_ids: Any, completion_ids: Any, **row: Any) -> float:
        """The reward of one completion.

        Raises:
            FailedItems, InvalidItems: There is no reward. AReaL drops the sample's group.
        """
        text = self.tokenizer.decode(completion_ids, skip_special_tokens=True)
        hook = self._judge.hook
        return never_none(hook.reward(await hook.score_one(item_of(self._judge, prompt, text, row))))
