"""Rewards for miles, a fork of slime: `--custom-rm-path rewardline.miles.custom_rm`.

`rewardline.slime` says what happens to samples that could not be judged. miles refuses `--group-rm` together with evaluation,
as slime does. An exception ends the run. With MILES_EXPERIMENTAL_ROLLOUT_REFACTOR=1 it does not: miles then logs the
exception and draws another group, so that only the log tells of an invalid data set.
"""

from __future__ import annotations

from rewardline.slime import custom_rm, post_process_rewards, reward

__all__ = ["custom_rm", "post_process_rewards", "reward"]
