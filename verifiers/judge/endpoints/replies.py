"""Reads the message, or an error, from an endpoint's 200. It trusts nothing in the body but its JSON syntax."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from verifiers.judge.endpoints.faults import Fault, Filtered, Retry, quoted
from verifiers.judge.endpoints.messages import Usage
from verifiers.judge.endpoints.sizes import MAX_VALUES, has_many_values
from verifiers.judge.endpoints.statuses import fault_of

_NOTHING_SAID = Usage()
_MAX_PART_BYTES: Final = 16_384
"""The largest `usage` or `error` of a relayed answer."""


class _Outline(msgspec.Struct):
    """The parts of an answer that matter where it goes on to a caller as it is."""

    choices: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"null")
    usage: msgspec.Raw = msgspec.Raw(b"null")


def outline(body: bytes) -> dict[str, Any]:
    """The usage in the JSON object of a body, which may be as large as the caller asked for. Raises as `decode`."""
    try:
        fields = _outline_decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return decode(body)
    has_choices = bytes(fields.choices) not in (b"null", b"[]")
    content = {"choices": has_choices, "usage": _part(fields.usage), "error": _part(fields.error)}
    if content["error"] and not has_choices:
        raise _error_within(content["error"], body)
    return content


def _part(raw: msgspec.Raw) -> Any:
    part = bytes(raw)
    return msgspec.json.decode(part) if len(part) <= _MAX_PART_BYTES else {}


def decode(body: bytes) -> dict[str, Any]:
    """The JSON object of a body.

    Raises:
        Fault: `bad_upstream_body`, or the fault of an `error` within a 200.
        Filtered: that error comes from the endpoint's filter.
    """
    if has_many_values(body):
        raise _bad(f"more than {MAX_VALUES} values")
    try:
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        content = _lenient(body, error)
    if not isinstance(content, dict):
        raise _bad(f"expected a JSON object, found {type(content).__name__}")
    if content.get("error") and not content.get("choices"):
        raise _error_within(content["error"], body)
    return content


def _error_within(error: Any, body: bytes) -> Fault:
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600:
        return fault_of(code, {}, body, names=(), retry_404=False, wall=0.0, secrets=())
    return _bad("an error with status 200")


def _lenient(body: bytes, error: Exception) -> Any:
    """Accept escaped halves of surrogate pairs, which servers in Python write: each becomes U+FFFD.

    Any other error is raised.
    """
    if b"\\ud" not in body and b"\\uD" not in body:
        raise _bad(f"not JSON: {quoted(str(error))}") from error
    try:
        return _mended(json.loads(body.decode(), parse_constant=_no_constant))
    except (ValueError, RecursionError) as worse:
        raise _bad(f"not JSON: {quoted(str(worse))}") from worse


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_mended(member) for member in value]
    if isinstance(value, dict):
        return {_mended(name): _mended(member) for name, member in value.items()}
    return value


def choice_of(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The requested choice: the choice with index 0, or without any index.

    Raises:
        Fault: there is no such choice, or there are two different ones.
    """
    choices = content.get("choices")
    if not isinstance(choices, list) or not choices:
        raise _bad("no choices")
    first = [choice for choice in choices if isinstance(choice, dict) and choice.get("index") in (0, None)]
    if not first:
        raise _bad("no choice with index 0")
    if len(first) > 1 and not _all_equal(first):
        raise _bad("several choices with index 0")
    if not isinstance(first[0].get("message"), dict):
        raise _bad("a choice without message")
    return first[0]


def _all_equal(choices: Sequence[Mapping[str, Any]]) -> bool:
    try:
        return all(choice == choices[0] for choice in choices[1:])
    except RecursionError:
        return False


def message_of(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message; a content list of texts becomes one text."""
    message: Mapping[str, Any] = choice["message"]
    content = message.get("content")
    if isinstance(content, list) and all(
        isinstance(piece, dict) and piece.get("type") in ("text", "output_text") and isinstance(piece.get("text"), str)
        for piece in content
    ):
        return {**message, "content": "".join(piece["text"] for piece in content)}
    return message


def usage_of(content: Mapping[str, Any]) -> Usage:
    """The token counts of the endpoint; None for counts that are missing, or no whole numbers from 0."""
    usage = content.get("usage")
    if not isinstance(usage, dict):
        return _NOTHING_SAID
    details = usage.get("prompt_tokens_details")
    return Usage(
        _count(usage.get("prompt_tokens")),
        _count(details.get("cached_tokens")) if isinstance(details, dict) else None,
        _count(usage.get("completion_tokens")),
    )


def _count(value: Any) -> int | None:
    # A number beyond any model's context is a mistake that would exceed every budget.
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31 else None


def says_other_model(requested: str, answered: str | None) -> bool:
    """Whether another model answered: its name differs by more than a date or a folder."""
    if not answered:
        return False
    requested_name, answered_name = requested.casefold().rsplit("/", 1)[-1], answered.casefold().rsplit("/", 1)[-1]
    return not (requested_name.startswith(answered_name) or answered_name.startswith(requested_name))


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _bad(message: str) -> Fault:
    return Fault("bad_upstream_body", message, Retry.ANYWHERE, ill=True)


_outline_decoder = msgspec.json.Decoder(_Outline)

FILTERED_MESSAGE: Mapping[str, Any] = {"role": "assistant", "content": None}
"""The reply if the endpoint's filter refused the prompt (`finish_reason`: content_filter)."""

__all__ = [
    "FILTERED_MESSAGE",
    "Filtered",
    "choice_of",
    "decode",
    "message_of",
    "outline",
    "says_other_model",
    "text_or_none",
    "usage_of",
]
