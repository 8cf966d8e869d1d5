"""Reads the reward that the tests of a task wrote, by the rules of Harbor's own verifier.

reward.json counts before reward.txt. An empty file, text that is not a number, and a number that is not finite are no
reward. Source: `harbor.verifier.verifier` of the package `harbor` 0.26.
"""

import json
import math
from typing import Any, Final

from sandbox.workers import worker_function

MAX_REWARD_BYTES: Final = 65_536


class NoReward(Exception):
    """The file says no reward."""


def rewards(name: str, content: bytes) -> dict[str, float]:
    """The rewards in a reward.txt or reward.json, by name.

    Raises:
        NoReward: there is none.
    """
    if not content or len(content) > MAX_REWARD_BYTES:
        raise NoReward(f"{name} is empty, or has more than {MAX_REWARD_BYTES} bytes")
    try:
        scores: Any = json.loads(content.decode()) if name == "reward.json" else {"reward": float(content.decode())}
    except (ValueError, RecursionError) as error:
        raise NoReward(f"{name} cannot be read: {error}") from error
    if not isinstance(scores, dict):
        raise NoReward(f"{name} is not an object of rewards")
    return {key: _number(name, value) for key, value in scores.items()}


def reward(name: str, content: bytes, key: str | None) -> float:
    """The reward that counts: the one that `key` names, or else `reward`, or the only one.

    Raises:
        NoReward: there is none.
    """
    scores = rewards(name, content)
    name_of_reward = key or ("reward" if "reward" in scores or len(scores) != 1 else next(iter(scores)))
    if name_of_reward not in scores:
        raise NoReward(f"{name} has no reward {name_of_reward!r}; name one of its {len(scores)} with reward_key")
    return scores[name_of_reward]


@worker_function
def reward_in_worker(payload: list[Any]) -> list[Any]:
    """Run `reward` in a worker: `[reward, message]`; the message is empty if there is a reward."""
    try:
        return [reward(*payload), ""]
    except NoReward as error:
        return [0.0, str(error)]


def _number(name: str, value: object) -> float:
    if not isinstance(value, int | float):
        raise NoReward(f"{name} has a reward that is not a number")
    try:
        number = float(value)
    except OverflowError as error:
        raise NoReward(f"{name} has a reward that is too large") from error
    if not math.isfinite(number):
        raise NoReward(f"{name} has a reward that is not finite")
    return number
