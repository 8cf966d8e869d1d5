"""The former name of `rewardline.always_reward`, for code that imports `Unjudged` from here."""

from rewardline.always_reward import Unjudged

__all__ = ["Unjudged"]
