"""What can go wrong with a call as a whole. What goes wrong with one item is that item's `Result`, not an exception.

    RewardlineError
    ├── RequestError         the server refused the request; sending it again changes nothing
    │   ├── InvalidRequest   400, 422: not JSON, an unknown field, a wrong type
    │   ├── Unauthorized     401, 403: the API key
    │   ├── NotFound         404: no interaction has this id, or no longer
    │   ├── Conflict         409: an interaction is further than this turn, or was opened otherwise
    │   └── TooLarge         413 for a single item
    ├── UnexpectedAnswer     the other side does not speak this contract: a wrong address, a proxy's page
    ├── Unavailable          no answer worth having in time; trying later may help
    ├── InvalidItems         raised by `raise_for_invalid`
    └── FailedItems          raised by `raise_for_failed`

All of them survive pickling, since trainers carry them between processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rewardline.results import Result

_SHOWN = 3


class RewardlineError(Exception):
    """Anything that this package raises about a call."""


class FieldError(NamedTuple):
    """One complaint about the request."""

    loc: tuple[str | int, ...]
    """Where: `("items", 3, "reference")`, counted in the caller's own list."""
    msg: str


class RequestError(RewardlineError):
    """The server refused the request; the fields are those of its problem+json."""

    def __init__(
        self, title: str, *, status: int | None = None, detail: str = "", errors: Sequence[FieldError] = ()
    ) -> None:
        super().__init__(title)
        self.title = title
        self.status = status
        """The HTTP status; None where the refusal came by gRPC or from this package."""
        self.detail = detail
        self.errors = tuple(errors)

    @property
    def about_items(self) -> bool:
        """Other items might have been taken."""
        return not isinstance(self, Unauthorized)

    def __str__(self) -> str:
        parts = [self.title if self.status is None else f"{self.status} {self.title}"]
        if self.detail:
            parts.append(self.detail)
        parts += [f"{_path(error.loc)}: {error.msg}" for error in self.errors[:_SHOWN]]
        if len(self.errors) > _SHOWN:
            parts.append(f"and {len(self.errors) - _SHOWN} more")
        return "; ".join(parts)

    def renumber(self, indexes: Sequence[int]) -> None:
        """Point `errors` at the caller's items: the server counted those of one request, `indexes` says which."""
        self.errors = tuple(FieldError(_moved(error.loc, indexes), error.msg) for error in self.errors)


class InvalidRequest(RequestError):
    """The request, or an item in it, does not have the shape of the contract."""


class Unauthorized(RequestError):
    """The API key is missing, wrong or not allowed to do this."""


class NotFound(RequestError):
    """There is no interaction of this id: never opened, ended, or not used for as long as it is kept."""


class Conflict(RequestError):
    """An interaction of this id was opened otherwise, or another turn is next."""


class TooLarge(RequestError):
    """One item alone is larger than the server takes."""


class UnexpectedAnswer(RewardlineError):
    """The other side answered something that this contract does not know."""


class Unavailable(RewardlineError):
    """No answer worth having within the deadline and the retries; says nothing about the responses."""

    def __init__(self, reason: str, message: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(reason, message)
        self.reason = reason
        """`overloaded`, `unavailable`, `server_error`, `unreachable` or `deadline`."""
        self.message = message
        self.retry_after_s = retry_after_s
        """When the server asked to be tried again, in seconds from its answer."""

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}" if self.message else self.reason


class _ItemsError(RewardlineError):
    def __init__(self, results: Mapping[int, Result]) -> None:
        super().__init__(results)
        self.results = dict(results)
        """The results in question by their position in the batch."""

    def __str__(self) -> str:
        shown = [
            f"items[{index}]: {result.reason} {result.detail.get('message', '')}".rstrip()
            for index, result in list(self.results.items())[:_SHOWN]
        ]
        if len(self.results) > _SHOWN:
            shown.append(f"and {len(self.results) - _SHOWN} more")
        return "; ".join(shown)


class InvalidItems(_ItemsError):
    """Items that cannot be judged until their author mends them."""


class FailedItems(_ItemsError):
    """Items that could not be judged this time."""


def problem(answer: Any) -> dict[str, Any]:
    """The keyword arguments of a `RequestError` from a problem+json body; whatever else it is, none."""
    if not isinstance(answer, dict):
        return {}
    errors = answer.get("errors")
    return {
        "detail": str(answer.get("detail") or ""),
        "errors": [
            FieldError(_loc(error.get("loc")), str(error.get("msg", "")))
            for error in (errors if isinstance(errors, list) else [])
            if isinstance(error, dict)
        ],
    }


def _loc(value: Any) -> tuple[str | int, ...]:
    """`["items", 3, "x"]`, `"items[3].x"` and `"items.3.x"` are one place; FastAPI's leading "body" is none."""
    if isinstance(value, str):
        names = value.replace("[", ".").replace("]", "").split(".")
        value = [int(name) if name.isascii() and name.isdecimal() else name for name in names if name]
    if not isinstance(value, list):
        return ()
    loc = tuple(part if isinstance(part, int) else str(part) for part in value)
    return loc[1:] if loc[:1] == ("body",) else loc


def _moved(loc: tuple[str | int, ...], indexes: Sequence[int]) -> tuple[str | int, ...]:
    if len(loc) >= 2 and loc[0] == "items" and isinstance(loc[1], int) and 0 <= loc[1] < len(indexes):
        return (loc[0], indexes[loc[1]], *loc[2:])
    return loc


def _path(loc: tuple[str | int, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
