"""Rewards for `trl grpo`. grpo.yaml, beside this file, names them.

The server is REWARDLINE_URL.
"""

from rewardline.trl import reward_func

accuracy = reward_func("math", name="accuracy")
form = reward_func(recipe="trl.think_format", reference=None, name="form")
