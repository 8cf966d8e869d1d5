"""Describes what went wrong with one attempt, and the consequences for the call, the endpoint and its load.

Servers say the same thing in many ways: `{"error": {"message", "type", "code", "param"}}`, `{"error": "text"}`,
`{"detail": [{"loc", "msg"}]}`, `{"object": "error", "message"}`, plain text, HTML. Their messages are quoted clipped,
with escaped control characters and without our keys.
"""

import email.utils
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from enum import Enum
from typing import Any

import msgspec

from verifiers.judge.endpoints.sizes import has_many_values

_MAX_QUOTED_CHARS = 200
_READ_CHARS = 20_000
"""This much of an error's text is read."""


class Retry(Enum):
    """Which endpoints may be asked again."""

    ANYWHERE = "anywhere"
    ELSEWHERE = "elsewhere"
    NEVER = "never"


class Fault(Exception):
    """The failure of one attempt."""

    def __init__(
        self,
        kind: str,
        message: str,
        retry: Retry = Retry.ANYWHERE,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        refused: bool = False,
        ill: bool = False,
        reached: bool = True,
        suspect: bool = False,
        parameter: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry = retry
        self.status = status
        self.retry_after_s = retry_after_s
        self.refused = refused
        """Whether the endpoint is overloaded, so that its limit shrinks."""
        self.ill = ill
        """Whether the failure counts against the endpoint's health."""
        self.reached = reached
        """Whether the endpoint may have worked on the call, so that another attempt adds to its load."""
        self.suspect = suspect
        """Whether key or model may be wrong for all calls, which is checked with a call of our own."""
        self.parameter = parameter
        """A parameter that the endpoint refuses; without it the call may succeed."""


class Filtered(Exception):
    """The endpoint's own filter refused the prompt: this is an answer, but no verdict."""


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """The parts of an error body in any dialect."""

    message: str
    code: str = ""
    type: str = ""
    param: str = ""

    @property
    def words(self) -> frozenset[str]:
        """The code and the type, which are stable words of the server."""
        return frozenset(word for word in (self.code.casefold(), self.type.casefold()) if word)


def read_error(body: bytes) -> ErrorBody:
    """The error in a body of any kind; it never raises."""
    text = body[: 4 * _READ_CHARS].decode("utf-8", "replace")
    try:
        content = None if has_many_values(body) else msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ErrorBody(text[:_READ_CHARS])
    return _from_json(content) or ErrorBody(text[:_READ_CHARS])


def _from_json(content: Any) -> ErrorBody | None:
    if isinstance(content, list) and len(content) == 1:  # Gemini's compatible API answers like this
        content = content[0]
    if not isinstance(content, dict):
        return None
    error = content.get("error")
    if isinstance(error, dict):
        cause = error.get("innererror")
        code = (
            _text(cause.get("code")) if isinstance(cause, dict) and not error.get("code") else _text(error.get("code"))
        )
        return ErrorBody(_text(error.get("message")), code, _text(error.get("type")), _text(error.get("param")))
    if isinstance(error, str):
        return ErrorBody(_text(error), _text(content.get("code")), _text(content.get("error_type")))
    detail = content.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):
        where = detail[0].get("loc")
        param = [_text(part) for part in where if part != "body"] if isinstance(where, list) else []
        return ErrorBody(_text(detail[0].get("msg")), "", _text(detail[0].get("type")), param[0] if param else "")
    if detail is not None:
        return ErrorBody(_text(detail))
    if "message" in content:
        return ErrorBody(
            _text(content["message"]),
            _text(content.get("code")),
            _text(content.get("type")),
            _text(content.get("param")),
        )
    return None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value[:_READ_CHARS]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    try:
        return "" if value is None else repr(value)[:_READ_CHARS]
    except RecursionError:
        return ""


def quoted(text: str, secrets: Sequence[str] = ()) -> str:
    """A server's message for display: in one line, clipped, printable, without our secrets."""
    text = text[:_READ_CHARS]
    for secret in secrets:
        text = text.replace(secret, "[key]")
    line = " ".join(text[: 2 * _MAX_QUOTED_CHARS].split())
    printable = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in line)
    return printable if len(printable) <= _MAX_QUOTED_CHARS else printable[: _MAX_QUOTED_CHARS - 1] + "…"


def retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """The pause that a server asks for, in seconds.

    It is a number of seconds or a date (RFC 9110, 10.2.3); `retry-after-ms` is more exact.
    """
    ms = _number(headers.get("retry-after-ms"))
    if ms is not None:
        return ms / 1000
    value = headers.get("Retry-After")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        date = email.utils.parsedate_to_datetime(value[:100])
        return max((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - wall, 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    if text is None or len(text) > 30:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
