"""Rewards for reinforcement learning from a Rewardline server.

    with Client("http://verifier:8080") as client:
        results = client.score([{"verifier": "math", "response": r, "reference": g} for r, g in pairs])

A result with status `ok` has a score. A result that could not be judged has none, and never counts as 0.
"""

from rewardline.async_client import AsyncClient
from rewardline.batching import Item
from rewardline.errors import (
    Conflict,
    FailedItems,
    FieldError,
    InvalidItems,
    InvalidRequest,
    NotFound,
    RequestError,
    RewardlineError,
    TooLarge,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
)
from rewardline.interactions import Turn
from rewardline.results import Result, Status, raise_for_failed, raise_for_invalid
from rewardline.sync_client import Client
from rewardline.version import __version__ as __version__

__all__ = [
    "AsyncClient",
    "Client",
    "Conflict",
    "FailedItems",
    "FieldError",
    "InvalidItems",
    "InvalidRequest",
    "Item",
    "NotFound",
    "RequestError",
    "Result",
    "RewardlineError",
    "Status",
    "TooLarge",
    "Turn",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
    "raise_for_failed",
    "raise_for_invalid",
]
