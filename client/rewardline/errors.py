"""The errors of a call as a whole. An error of one item is that item's `Result`, not an exception.

    RewardlineError
    ├── RequestError         the server refused the request; sending it again changes nothing
    │   ├── InvalidRequest   400, 422: not JSON, an unknown field, a wrong type
    │   ├── Unauthorized     401, 403: the API key
    │   ├── NotFound         404, 410: the server has no interaction with this id, forgot it, or it was damaged
    │   ├── Conflict         409: another turn of the interaction is next, or it was opened with other fields
    │   └── TooLarge         413 for a single item
    ├── UnexpectedAnswer     the answer is not that of a Rewardline server: a wrong address, a proxy's page
    ├── Unavailable          no usable answer came in time; trying later may help
    ├── InvalidItems         raised by `raise_for_invalid`
    └── FailedItems          raised by `raise_for_failed`

All of them can be pickled, since trainers pass them between processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rewardline.results import Result

_SHOWN = 3
"""Messages name at most so many items or fields."""
_TEXT_CHARS = 4_000
"""The longest text of a server that becomes part of an error."""
_POSITION_DIGITS = 9
_SHOWN_PARTS = 32
"""The longest path to a field."""


class RewardlineError(Exception):
    """The base of all errors that this package raises about a call."""


class FieldError(NamedTuple):
    """One complaint about the request."""

    loc: tuple[str | int, ...]
    """The place, such as `("items", 3, "reference")`; 3 is the position in the caller's list."""
    msg: str


class RequestError(RewardlineError):
    """The server refused the request. The attributes are those of its problem+json."""

    def __init__(
        self, title: str, *, status: int | None = None, detail: str = "", errors: Sequence[FieldError] = ()
    ) -> None:
        super().__init__(title)
        self.title = title
        self.status = status
        """The HTTP status; None if the refusal came by gRPC or from this package."""
        self.detail = detail
        self.errors = tuple(errors)

    @property
    def about_items(self) -> bool:
        """Whether the server might have accepted other items."""
        return not isinstance(self, Unauthorized)

    def __str__(self) -> str:
        pieces = [self.title if self.status is None else f"{self.status} {self.title}"]
        repeats = any(error.msg in self.detail for error in self.errors)
        if detail := self.detail.partition(": ")[0] if repeats else self.detail:
            pieces.append(detail)
        pieces += [f"{_path(error.loc)}: {error.msg}" for error in self.errors[:_SHOWN]]
        if len(self.errors) > _SHOWN:
            pieces.append(f"and {len(self.errors) - _SHOWN} more")
        return "; ".join(pieces)

    def renumber(self, indexes: Sequence[int]) -> None:
        """Make `errors` name the caller's items. Position `i` of the request is the caller's item `indexes[i]`."""
        self.errors = tuple(FieldError(_moved(error.loc, indexes), error.msg) for error in self.errors)


class InvalidRequest(RequestError):
    """The request or one of its items breaks the contract."""


class Unauthorized(RequestError):
    """The API key is missing or wrong, or does not allow this call."""


class NotFound(RequestError):
    """The server has no interaction with this id: it was never opened, was ended, or expired."""


class Conflict(RequestError):
    """An interaction with this id was opened with other fields, or another turn is next."""


class TooLarge(RequestError):
    """One item alone is larger than the server accepts."""


class UnexpectedAnswer(RewardlineError):
    """The answer breaks the contract, so it is probably not that of a Rewardline server."""


class Unavailable(RewardlineError):
    """No usable answer came within the deadline and the retries. It says nothing about the responses."""

    def __init__(self, reason: str, message: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(reason, message)
        self.reason = reason
        """`overloaded`, `unavailable`, `server_error`, `unreachable` or `deadline`."""
        self.message = message
        self.retry_after_s = retry_after_s
        """The server asked the client to wait this long, in seconds from its answer."""

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}" if self.message else self.reason


class _ItemsError(RewardlineError):
    def __init__(self, results: Mapping[int, Result]) -> None:
        super().__init__(results)
        self.results = dict(results)
        """Each such result, by its position in the batch."""

    def __str__(self) -> str:
        lines = [
            f"items[{index}]: {result.reason} {result.detail.get('message', '')}".rstrip()
            for index, result in list(self.results.items())[:_SHOWN]
        ]
        if len(self.results) > _SHOWN:
            lines.append(f"and {len(self.results) - _SHOWN} more")
        return "; ".join(lines)


class InvalidItems(_ItemsError):
    """The server cannot judge these items until their author mends them."""


class FailedItems(_ItemsError):
    """The server could not judge these items this time."""


BY_STATUS: dict[int, type[RequestError]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Unauthorized,
    413: TooLarge,
    422: InvalidRequest,
}
"""The error of an HTTP status, for every route."""
BY_STATUS_OF_STATE: dict[int, type[RequestError]] = {404: NotFound, 409: Conflict, 410: NotFound}
"""The error of an HTTP status, for routes with state on the server."""


def problem(answer: Any) -> dict[str, Any]:
    """The keyword arguments of a `RequestError`, from a problem+json body. Any other body gives none."""
    if not isinstance(answer, dict):
        return {}
    errors = answer.get("errors")
    return {
        "detail": cut(str(answer.get("detail") or "")),
        "errors": [
            FieldError(_loc(error.get("loc")), cut(str(error.get("msg", ""))))
            for error in (errors if isinstance(errors, list) else [])
            if isinstance(error, dict)
        ],
    }


def _loc(value: Any) -> tuple[str | int, ...]:
    """Parse a place: `["items", 3, "x"]`, `"items[3].x"` and `"items.3.x"` are the same. Drops FastAPI's leading "body"."""
    if isinstance(value, str):
        names = value.replace("[", ".").replace("]", "").split(".")
        value = [int(name) if _is_position(name) else name for name in names if name]
    if not isinstance(value, list):
        return ()
    loc = tuple(part if isinstance(part, int) else cut(str(part)) for part in value[:_SHOWN_PARTS])
    return loc[1:] if loc[:1] == ("body",) else loc


def _is_position(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= _POSITION_DIGITS


def cut(text: str) -> str:
    """A text of a server, as long as an error may have it."""
    return text if len(text) <= _TEXT_CHARS else f"{text[:_TEXT_CHARS]}..."


def _moved(loc: tuple[str | int, ...], indexes: Sequence[int]) -> tuple[str | int, ...]:
    if len(loc) >= 2 and loc[0] == "items" and isinstance(loc[1], int) and 0 <= loc[1] < len(indexes):
        return (loc[0], indexes[loc[1]], *loc[2:])
    return loc


def _path(loc: tuple[str | int, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
