"""Rewards for verl: functions, reward managers, an interaction and a tool.

    functions    compute_score, and its forms for batches and for code without an event loop
    manager      RewardManager: `reward.reward_manager.name=rewardline`, verl 0.7 and later
    legacy       LegacyRewardManager: the same for a whole batch, for trainers up to 0.6 and their forks
    interaction  RewardInteraction: turns with feedback, verl up to 0.7
    tool         RewardTool: the model asks whether its answer is right

verl loads this module by the entry point `verl.plugins` (0.9 and later), or as one of VERL_USE_EXTERNAL_MODULES. This
registers the managers by the name `rewardline`. The functions need no verl.
"""

from __future__ import annotations

import importlib
import logging
from typing import Any

from rewardline.verl.functions import (
    NoVerdict,
    compute_score,
    compute_score_batch,
    compute_score_prime,
    compute_score_sync,
)

__all__ = [
    "LegacyRewardManager",
    "NoVerdict",
    "RewardInteraction",
    "RewardManager",
    "RewardTool",
    "compute_score",
    "compute_score_batch",
    "compute_score_prime",
    "compute_score_sync",
]

_log = logging.getLogger(__name__)

_BUILT_ON_VERL = {
    "RewardManager": "manager",
    "LegacyRewardManager": "legacy",
    "RewardInteraction": "interaction",
    "RewardTool": "tool",
}


def __getattr__(name: str) -> Any:
    """Import a class that needs verl on first use. A release of verl that lacks its base class raises ImportError then."""
    if name not in _BUILT_ON_VERL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_BUILT_ON_VERL[name]}"), name)


def _register_managers() -> None:
    """Import the modules of the managers: this registers their names in verl."""
    for part in ("manager", "legacy"):
        try:
            importlib.import_module(f"{__name__}.{part}")
        except ImportError as error:
            # verl hides the errors of a plug-in, and would only say that the manager is unknown.
            is_expected = (error.name or "").split(".")[0] == "verl"
            _log.log(logging.DEBUG if is_expected else logging.WARNING, "no reward manager of %s: %s", part, error)


_register_managers()
