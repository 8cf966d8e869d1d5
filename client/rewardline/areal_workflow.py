"""AReaL's RLVR workflow with rewards that are awaited: `workflow="rewardline.areal_workflow.Workflow"`.

Nothing is pickled, no pool of processes stands in the way, and no time limit makes a 0 of what takes long.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from areal.workflow.rlvr import RLVRWorkflow

from rewardline.always_reward import never_abstaining, never_none
from rewardline.areal import Reward, item_of
from rewardline.hook import Hook


class Workflow(RLVRWorkflow):
    """`RLVRWorkflow` less its `reward_fn`: `workflow_kwargs={"rewardline": {"recipe": ...}, "gconfig": ...}`."""

    def __init__(
        self, *args: Any, rewardline: Mapping[str, Any] | None = None, reference: str | None = "answer", **kwargs: Any
    ) -> None:
        """Take the options of a `Hook` in `rewardline`; `reference` is the column to judge against."""
        self._judge = Reward(never_abstaining("AReaL", Hook(**(rewardline or {}))), reference)
        super().__init__(self._reward, *args, **kwargs)
        self.async_reward_fn = self._reward

    async def _reward(self, prompt: str, completions: str, prompt_ids: Any, completion_ids: Any, **row: Any) -> float:
        """The reward of one completion.

        Raises:
            FailedItems, InvalidItems: there is none; AReaL drops the sample's group.
        """
        text = self.tokenizer.decode(completion_ids, skip_special_tokens=True)
        hook = self._judge.hook
        return never_none(hook.reward(await hook.score_one(item_of(self._judge, prompt, text, row))))
