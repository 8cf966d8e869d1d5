"""What came of an item.

ok        judged; `score` means something. A wrong or missing answer is judged: 0, with its reason.
invalid   the item must be mended by its author; no score.
failed    it could not be judged, by the server or because no answer came; no score.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from rewardline.errors import FailedItems, InvalidItems, UnexpectedAnswer


class Status(str, Enum):
    """Whether an item was judged; equal to its word on the wire."""

    OK = "ok"
    INVALID = "invalid"
    FAILED = "failed"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Result:
    """What came of one item; `score` and `reward` are None unless `status` is ok."""

    id: str
    """The item's own id, or its position in the call."""
    status: Status
    score: float | None
    """Correctness in [0, 1]."""
    reward: float | None
    """What the item's recipe makes of the score; equals it without a recipe."""
    reason: str
    """A short stable word to count by: `correct`, `wrong_answer`, `deadline`."""
    verifier: str = ""
    version: str = ""
    extracted: str | None = None
    """The answer that was judged, as it stood in the response."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """Small JSON; `message` says what was wrong with an invalid or failed item."""
    checks: tuple[Mapping[str, Any], ...] | None = None
    """The components of a composition."""
    cached: bool = False
    elapsed_ms: float = 0.0
    recipe: str | None = None
    """Whose shaping the reward has."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields which a newer server sends and this package does not know."""


def raise_for_invalid(results: Iterable[Result]) -> None:
    """Raise `InvalidItems` if any result is invalid: a mistake in the data set should stop a run at its first step."""
    invalid = {index: result for index, result in enumerate(results) if result.status is Status.INVALID}
    if invalid:
        raise InvalidItems(invalid)


def raise_for_failed(results: Iterable[Result]) -> None:
    """Raise `FailedItems` if any item could not be judged."""
    failed = {index: result for index, result in enumerate(results) if result.status is Status.FAILED}
    if failed:
        raise FailedItems(failed)


_KNOWN = frozenset(Result.__dataclass_fields__) - {"extra"} | {"index"}


def parse_result(raw: Any, default_id: str, item: Mapping[str, Any]) -> Result:
    """Make a Result of the server's JSON. `default_id` names an item which has no id of its own.

    Raises:
        UnexpectedAnswer: the answer breaks the contract, for example a score without a judgement.
    """
    if not isinstance(raw, dict):
        raise UnexpectedAnswer(f"expected an object for a result, found {type(raw).__name__}")
    try:
        status = Status(raw.get("status"))
        score, reward = _number(raw.get("score")), _number(raw.get("reward"))
    except (ValueError, TypeError) as error:
        raise UnexpectedAnswer(f"not a result: {error}") from error
    judged = status is Status.OK
    if judged is (score is None) or (reward is not None and not judged):
        raise UnexpectedAnswer(f"status {status} with score {score} and reward {reward}")
    if score is not None and not 0.0 <= score <= 1.0:
        raise UnexpectedAnswer(f"score {score} is not in [0, 1]")
    checks = raw.get("checks")
    return Result(
        id=str(raw.get("id", default_id)) if item.get("id") is not None else default_id,
        status=status,
        score=score,
        reward=reward,
        reason=str(raw.get("reason") or ""),
        verifier=str(raw.get("verifier") or ""),
        version=str(raw.get("version") or ""),
        extracted=raw.get("extracted"),
        detail=raw.get("detail") or {},
        checks=None if checks is None else tuple(checks),
        cached=bool(raw.get("cached")),
        elapsed_ms=float(raw.get("elapsed_ms") or 0.0),
        recipe=raw.get("recipe"),
        extra={name: value for name, value in raw.items() if name not in _KNOWN},
    )


def unjudged(status: Status, reason: str, message: str, default_id: str, item: Mapping[str, Any]) -> Result:
    """The result of an item which this side could not get judged."""
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
