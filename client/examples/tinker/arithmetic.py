"""An environment of tinker-cookbook whose sums a Rewardline server judges, that of the variable REWARDLINE_URL."""

from typing import Any

from rewardline.hook import Hook
from rewardline.tinker import VerifierEnv


def environment(renderer: Any, one: int, other: int) -> VerifierEnv:
    """One sum."""
    return VerifierEnv(renderer, f"{one}+{other}=", reference=str(one + other), hook=Hook(verifier="math"))
