"""Rewards for `trl grpo`, which takes them by name: see grpo.yaml beside this file.

The server is the one that the variable REWARDLINE_URL names.
"""

from rewardline.trl import reward_func

accuracy = reward_func("math", name="accuracy")
form = reward_func(recipe="trl.think_format", reference=None, name="form")
