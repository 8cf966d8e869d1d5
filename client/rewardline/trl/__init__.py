"""Reward functions and an environment for TRL: GRPO, RLOO, and its other trainers with reward functions.

    from rewardline.trl import reward_func

    trainer = GRPOTrainer(
        model, reward_funcs=[reward_func("math"), reward_func("think_format", reference=None)],
        args=GRPOConfig(reward_weights=[1.0, 0.2], ...), train_dataset=rows,
    )

A sample that could not be judged within the deadline gets None, and TRL leaves it out of its group. An invalid sample, which
cannot be judged until the data set is mended, stops the training at its first step.
"""

from rewardline.trl.environment import Environment, environment
from rewardline.trl.functions import reward, reward_func

__all__ = ["Environment", "environment", "reward", "reward_func"]
