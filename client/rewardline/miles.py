"""Rewards for miles, which calls a custom reward as slime does: `--custom-rm-path rewardline.miles.custom_rm`.

Its samples are slime's, too; `rewardline.slime` says what becomes of those that could not be judged.
"""

from __future__ import annotations

from rewardline.slime import custom_rm, post_process_rewards, reward

__all__ = ["custom_rm", "post_process_rewards", "reward"]
