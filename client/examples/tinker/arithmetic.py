"""An environment of sums for tinker-cookbook. The Rewardline server of REWARDLINE_URL judges them."""

from typing import Any

from rewardline.hook import Hook
from rewardline.tinker import VerifierEnv


def environment(renderer: Any, first: int, second: int) -> VerifierEnv:
    """One sum."""
    return VerifierEnv(renderer, f"{first}+{second}=", reference=str(first + second), hook=Hook(verifier="math"))
