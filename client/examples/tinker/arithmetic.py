"""An environment of sums for tinker-cookbook. The Rewardline server of REWARDLINE_URL judges them."""

from typing import Any

from rewardline.hook import Hook
from rewardline.tinker import VerifierEnv


def environment(renderer: Any, one: int, other: int) -> VerifierEnv:
    """One sum."""
    return VerifierEnv(renderer, f"{one}+{other}=", reference=str(one + other), hook=Hook(verifier="math"))
