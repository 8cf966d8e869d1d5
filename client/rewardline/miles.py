"""Rewards for miles, which calls a custom reward as slime does: `--custom-rm-path rewardline.miles.custom_rm`.

Its samples are slime's, too; `rewardline.slime` says what becomes of those that could not be judged. miles, too, refuses
`--group-rm` together with evaluation. An exception ends the run, but not with MILES_EXPERIMENTAL_ROLLOUT_REFACTOR=1: that
rollout logs it and draws another group, so that a data set to be mended is seen in the log alone.
"""

from __future__ import annotations

from rewardline.slime import custom_rm, post_process_rewards, reward

__all__ = ["custom_rm", "post_process_rewards", "reward"]
