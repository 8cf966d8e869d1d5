"""The result of one item, by its status.

ok        The server judged it, and `score` is a number. A wrong or missing answer scores 0, with a reason.
invalid   Its author must mend the item. It has no score.
failed    The server could not judge it, or no answer came. It has no score.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from rewardline.answers import check_depth
from rewardline.errors import FailedItems, InvalidItems, UnexpectedAnswer, cut

NO_RETRY_MENDS = ("judge_not_configured", "language_unavailable", "pin_differs", "pin_unknown")
"""Reasons of `failed` that stay until somebody changes the server's settings."""
DECIDED = ("no_majority", "no_answers", "undecided", "no_comparison", "group_incomplete", "group_over")
"""Reasons of `failed` by which a group was decided. Members that are sent again get the same."""


class Status(str, Enum):
    """Whether the server judged an item. Each value equals its word in the protocol."""

    OK = "ok"
    INVALID = "invalid"
    FAILED = "failed"

    def __str__(self) -> str:
        return self.value

    @property
    def flags(self) -> dict[str, float]:
        """`failed` and `invalid` as 0 or 1, for the metrics of a trainer."""
        return {"failed": float(self is Status.FAILED), "invalid": float(self is Status.INVALID)}


@dataclass(frozen=True)
class Result:
    """The result of one item. `score` and `reward` are None unless `status` is ok."""

    id: str
    """The id of the item, or its position in the call if it has none."""
    status: Status
    score: float | None
    """Correctness in [0, 1]."""
    reward: float | None
    """The score as the item's recipe shapes it; without a recipe, the score itself."""
    reason: str
    """A short stable word that can be counted: `correct`, `wrong_answer`, `deadline`."""
    verifier: str = ""
    version: str = ""
    extracted: str | None = None
    """The answer that the server judged, as the response has it."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """Small JSON. `message` says what was wrong with an invalid or failed item.

    With `explain`, `mentions` lists what was read as a possible answer: `span`, `text`, `stance`, `channel`, `role`.
    """
    checks: tuple[Mapping[str, Any], ...] | None = None
    """The components of a composition."""
    cached: bool = False
    elapsed_ms: float = 0.0
    recipe: str | None = None
    """The recipe that shaped the reward."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a newer server that this package does not know."""

    @property
    def receipt(self) -> Mapping[str, Any] | None:
        """What judged, by which versions, as the server signs it. None: it was not asked for."""
        receipt = self.detail.get("receipt")
        return receipt if isinstance(receipt, Mapping) else None


def raise_for_invalid(results: Iterable[Result]) -> None:
    """Raise `InvalidItems` if any result is invalid. So a mistake in the data set stops a run at its first step."""
    invalid = {index: result for index, result in enumerate(results) if result.status is Status.INVALID}
    if invalid:
        raise InvalidItems(invalid)


def raise_for_failed(results: Iterable[Result]) -> None:
    """Raise `FailedItems` if any result is failed."""
    failed = {index: result for index, result in enumerate(results) if result.status is Status.FAILED}
    if failed:
        raise FailedItems(failed)


_CONTAINERS = (dict, list)
_KNOWN = frozenset(Result.__dataclass_fields__) - {"extra"} | {"index"}


def parse_result(raw: Any, default_id: str, item: Mapping[str, Any]) -> Result:
    """Make a Result of the server's JSON. `default_id` is the id of an item that has none.

    Raises:
        UnexpectedAnswer: The answer breaks the contract: for example, a failed item has a score.
    """
    if not isinstance(raw, dict):
        raise UnexpectedAnswer(f"expected an object for a result, found {type(raw).__name__}")
    for value in raw.values():
        if value and value.__class__ in _CONTAINERS:
            check_depth(value)
    try:
        status = Status(raw.get("status"))
        score, reward = _number(raw.get("score")), _number(raw.get("reward"))
        elapsed_ms = _number(raw.get("elapsed_ms")) or 0.0
    except (ValueError, TypeError, OverflowError) as error:
        raise UnexpectedAnswer(f"not a result: {cut(str(error))}") from error
    judged = status is Status.OK
    if judged is (score is None) or (reward is not None and not judged):
        raise UnexpectedAnswer(f"status {status} with score {score} and reward {reward}")
    if score is not None and not 0.0 <= score <= 1.0:
        raise UnexpectedAnswer(f"score {score} is not in [0, 1]")
    detail, checks = raw.get("detail") or {}, raw.get("checks")
    if not isinstance(detail, dict) or not isinstance(checks, (list, type(None))):
        raise UnexpectedAnswer("expected an object for detail, and a list for checks")
    return Result(
        id=str(raw.get("id", default_id)) if item.get("id") is not None else default_id,
        status=status,
        score=score,
        reward=reward,
        reason=str(raw.get("reason") or ""),
        verifier=str(raw.get("verifier") or ""),
        version=str(raw.get("version") or ""),
        extracted=raw.get("extracted"),
        detail=detail,
        checks=None if checks is None else tuple(checks),
        cached=bool(raw.get("cached")),
        elapsed_ms=elapsed_ms,
        recipe=raw.get("recipe"),
        extra={name: value for name, value in raw.items() if name not in _KNOWN},
    )


def unjudged(status: Status, reason: str, message: str, default_id: str, item: Mapping[str, Any]) -> Result:
    """The result of an item for which the client got no verdict."""
    return Result(
        id=default_id if item.get("id") is None else str(item["id"]),
        status=status,
        score=None,
        reward=None,
        reason=reason,
        verifier=str(item.get("verifier") or ""),
        detail={"message": message} if message else {},
    )


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    return float(value)
