"""Hooks for trainers that need a reward for every sample: they wait long, and then give a number or an exception."""

from __future__ import annotations

from typing import Any

from rewardline.hook import Hook

WAIT_S = 1800.0
_RESENDS = 1_000_000


class Unjudged(BaseException):
    """There is no reward, and the run ends. Not an `Exception`, since some trainers turn each of those into 0.0."""


def waiting_hook(trainer: str, **options: Any) -> Hook:
    """A hook that sends a sample again for half an hour, unless an option says otherwise.

    Raises:
        ValueError: The hook would abstain, or an option can never work.
        TypeError: There is no such option.
    """
    return never_abstaining(trainer, Hook.of({"deadline_s": WAIT_S, "max_resends": _RESENDS, **options}))


def never_abstaining(trainer: str, hook: Hook) -> Hook:
    """The same hook, after a check: each of its samples gets a number or an exception.

    Raises:
        ValueError: The hook would abstain.
    """
    if "abstain" in (hook.on_failed, hook.on_invalid):
        raise ValueError(f"{trainer} knows no abstention: set on_failed and on_invalid to 'raise' or to a number")
    return hook


def never_none(reward: float | None) -> float:
    """The reward of such a hook, as a number."""
    assert reward is not None, "such a hook does not abstain"
    return float(reward)
