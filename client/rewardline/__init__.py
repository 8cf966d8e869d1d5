"""Rewards for reinforcement learning from a Rewardline server.

    with Client("http://verifier:8080") as client:
        results = client.score([{"verifier": "math", "response": r, "reference": g} for r, g in pairs])

A result with status `ok` has a score; one which could not be judged has none, and is never a 0.
"""

from rewardline.async_client import AsyncClient
from rewardline.batching import Item
from rewardline.errors import (
    FailedItems,
    FieldError,
    InvalidItems,
    InvalidRequest,
    RequestError,
    RewardlineError,
    TooLarge,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
)
from rewardline.results import Result, Status, raise_for_failed, raise_for_invalid
from rewardline.sync_client import Client

__all__ = [
    "AsyncClient",
    "Client",
    "FailedItems",
    "FieldError",
    "InvalidItems",
    "InvalidRequest",
    "Item",
    "RequestError",
    "Result",
    "RewardlineError",
    "Status",
    "TooLarge",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
    "raise_for_failed",
    "raise_for_invalid",
]
