"""For trainers that know no abstention: a hook of theirs waits as long as can be, and then has a number or an exception."""

from __future__ import annotations

from typing import Any

from rewardline.hook import Hook

PATIENCE_S = 1800.0
_RESENDS = 1_000_000


class Unjudged(BaseException):
    """There is no reward, said to what would make 0.0 of any `Exception`: it ends the run."""


def patient(trainer: str, **options: Any) -> Hook:
    """A hook that asks again for what could not be judged, for half an hour unless told otherwise.

    Raises:
        ValueError: it is to abstain, or an option can never work.
        TypeError: there is no such option.
    """
    return unabstaining(trainer, Hook(**{"deadline_s": PATIENCE_S, "max_resends": _RESENDS, **options}))


def unabstaining(trainer: str, hook: Hook) -> Hook:
    """The hook, if each of its samples gets a number or an exception.

    Raises:
        ValueError
    """
    if "abstain" in (hook.on_failed, hook.on_invalid):
        raise ValueError(f"{trainer} knows no abstention: on_failed and on_invalid are 'raise' or a number")
    return hook


def certain(value: float | None) -> float:
    """The reward that such a hook gave."""
    assert value is not None, "such hooks do not abstain"
    return float(value)
