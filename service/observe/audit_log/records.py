"""Makes the record of one item.

With redaction a record holds of each text only SHA-256 and length, which tell texts apart. Then the log holds nothing
that a model wrote: neither the answer that a verifier took from the response, nor the verifier's detail. Metadata is
the caller's own, and stays.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from fairness import DEFAULT
from service.observe.audit_log.columns import COLUMNS
from service.wire import DAMAGED, DAMAGED_JSON, Message, Result, ScoreItem
from verifiers.base import InvalidItem
from verifiers.conversation import dialects, plain

ABSENT: Final = msgspec.Raw()
_CHECK_FIELDS: Final = frozenset(
    ("name", "verifier", "version", "status", "score", "value", "weight", "reason", "cached")
)
"""The fields of a check that redaction leaves."""
_MAX_ID_CHARS: Final = 256


class Record(msgspec.Struct, omit_defaults=True):
    """One line of the log. For each text it holds the text, cut to a length, or the SHA-256 of the text; and the length
    of the text.
    """

    time: str
    """The time at which the batch was done, UTC."""
    id: str | int
    status: str
    reason: str
    score: float | None
    reward: float | None
    verifier: str | None
    version: str | None
    cached: bool
    elapsed_ms: float
    request_id: str = ""
    tenant: str = DEFAULT
    """Whose the item is. Rows of releases without tenants are the default tenant's."""
    run_id: str = ""
    recipe: str | None = None
    domain: str | None = None
    data_source: str | None = None
    tag: str | None = None
    extracted: str | None = None
    checks: msgspec.Raw = ABSENT
    detail: msgspec.Raw = ABSENT
    metadata: msgspec.Raw = ABSENT
    response: str | None = None
    response_sha256: str | None = None
    response_chars: int | None = None
    prompt: str | None = None
    prompt_sha256: str | None = None
    prompt_chars: int | None = None
    reference: str | None = None
    """A text as it is, any other value as JSON."""
    response_messages: msgspec.Raw = ABSENT
    """The response if it is more than text; then `response` is the last text of the assistant. It is text if it is too
    long."""
    reference_sha256: str | None = None
    reference_chars: int | None = None
    params: msgspec.Raw = ABSENT
    prompt_messages: msgspec.Raw = ABSENT
    """The prompt if it came as messages; then `prompt` is all of it as text."""
    reference_is_json: bool | None = None
    """Whether the reference was another value than a text: `[1, 2]` may be either. None in records of older releases."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Which items are logged, and what of them."""

    sample: float = 1.0
    """The share of items."""
    keep_unjudged: bool = True
    """Log every item that is `invalid` or `failed`, whatever the share."""
    redact: bool = False
    max_text_chars: int = 20_000


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished batch as the engine handed it over."""

    time_s: float
    request_id: str
    items: Sequence[ScoreItem]
    references: Mapping[str, msgspec.Raw]
    results: Sequence[Result]
    nbytes: int
    tenant: str = DEFAULT
    run_id: str = ""


def record_of(batch: Finished, at: int, time: str, rules: Rules) -> Record | None:
    """The record of the item at this position. None if it is left out."""
    item, result = batch.items[at], batch.results[at]
    response, messages = _response(item.response)
    if not is_kept(item.id, messages or response, result.status, rules):
        return None
    return _record(time, batch, item, result, response, messages, rules)


def is_kept(item_id: str | int | None, response: str, status: str, rules: Rules) -> bool:
    """Whether the item is in the sample. A hash decides, so that the same answer to the same item is always in or
    always out, whatever the process and the step.
    """
    if rules.sample >= 1 or (rules.keep_unjudged and status != "ok"):
        return True
    id_text = "" if item_id is None else str(item_id)
    digest = hashlib.sha256(f"{id_text}\0{response}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < rules.sample * 2**64


def stored_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a stored verdict that has the fields of its item. Its texts are whole."""
    record = {name: row[name] for name in COLUMNS if row.get(name) is not None}
    response, prompt = row.get("response"), row.get("prompt", row.get("messages"))
    reference = row.get("reference", row.get("test_cases"))
    if response is not None:
        record["response"], messages = (
            _response(response) if isinstance(response, str | list) else (_text(response), None)
        )
        record["response_messages"] = None if messages is None else response
    if prompt is not None:
        record["prompt"] = text_of(prompt) if isinstance(prompt, str | list) else _text(prompt)
        record["prompt_messages"] = prompt if isinstance(prompt, list) else None
    if reference is not None:
        record["reference_is_json"] = not isinstance(reference, str)
        record["reference"] = reference if isinstance(reference, str) else _text(reference)
    return record


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def timestamp(time_s: float) -> str:
    """The time as text. Such texts sort like the times."""
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _record(
    time: str, batch: Finished, item: ScoreItem, result: Result, response: str, messages: str | None, rules: Rules
) -> Record:
    prompt = prompt_of(item)
    prompt_text = None if prompt is None else text_of(prompt)
    reference = _reference(item, batch.references)
    record = Record(
        time,
        result.id if isinstance(result.id, int) else _sound(result.id)[:_MAX_ID_CHARS],
        result.status,
        result.reason,
        result.score,
        result.reward,
        result.verifier,
        result.version,
        result.cached,
        result.elapsed_ms,
        request_id=batch.request_id,
        tenant=batch.tenant,
        run_id=batch.run_id,
        recipe=_label(result.recipe or item.recipe),
        domain=_label(item.domain),
        data_source=_label(item.data_source),
        tag=_label(item.tag),
        metadata=_json(bytes(item.metadata), rules),
    )
    if rules.redact:
        record.response_sha256, record.response_chars = _digest_and_length(messages or response)
        if prompt_text is not None:
            record.prompt_sha256, record.prompt_chars = _digest_and_length(prompt_text)
        if reference is not None:
            record.reference_sha256, record.reference_chars = _digest_and_length(reference[0])
        checks = [
            {name: value for name, value in check.items() if name in _CHECK_FIELDS} for check in result.checks or ()
        ]
        record.checks = _encoded(checks, rules) if result.checks else ABSENT
        return record
    limit = rules.max_text_chars
    record.response, record.response_chars = response[:limit], len(messages or response)
    if messages is not None:
        record.response_messages = _json(messages.encode(), rules)
    if prompt_text is not None:
        record.prompt, record.prompt_chars = prompt_text[:limit], len(prompt_text)
        if isinstance(prompt, list) and prompt:
            record.prompt_messages = _json(_encoder.encode(prompt), rules)
    if reference is not None:
        (text, record.reference_is_json) = reference
        record.reference, record.reference_chars = text[:limit], len(text)
    record.params = _json(bytes(item.params), rules)
    record.extracted = None if result.extracted is None else _sound(result.extracted)[:limit]
    record.checks = _encoded(result.checks, rules) if result.checks else ABSENT
    record.detail = _encoded(result.detail, rules) if result.detail else ABSENT
    return record


def _digest_and_length(text: str) -> tuple[str, int]:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), len(text)


def _response(value: str | list[Message]) -> tuple[str, str | None]:
    """The last text of the assistant; and the messages as JSON, if they are more than that."""
    if isinstance(value, str):
        return _sound(value), None
    messages = _sound(_encoder.encode(value).decode())
    try:
        conversation = dialects.read(value)
    except InvalidItem:
        return messages, messages
    text = plain(conversation)
    return (_sound(conversation.text("last")), messages) if text is None else (_sound(text), None)


def prompt_of(item: ScoreItem) -> str | list[Message] | None:
    """The prompt of an item, under either name."""
    return item.prompt if item.prompt is not None else item.messages


def text_of(value: str | list[Message]) -> str:
    """A prompt as text."""
    if isinstance(value, str):
        return _sound(value)
    try:
        return _sound(str(dialects.read(value)))
    except InvalidItem:
        return _sound(_encoder.encode(value).decode())


def _sound(text: str) -> str:
    """The text without the mark for half a character, which must not become known outside."""
    return text.replace(DAMAGED, "\ufffd") if DAMAGED in text else text


def _label(text: str | None) -> str | None:
    return None if text is None else _sound(text)


def _reference(item: ScoreItem, references: Mapping[str, msgspec.Raw]) -> tuple[str, bool] | None:
    """The reference of the item, under whichever name it came; and whether it is JSON of another value than a text."""
    shared = references.get(item.reference_id, ABSENT) if item.reference_id is not None else ABSENT
    for raw in map(bytes, (item.reference, shared, item.ground_truth, item.test_cases)):
        if not raw:
            continue
        json_bytes = raw.replace(DAMAGED_JSON, b"\\ufffd")
        is_json = not json_bytes.startswith(b'"')
        try:
            return _compact(json_bytes) if is_json else _text_decoder.decode(json_bytes), is_json
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return json_bytes.decode("utf-8", "replace"), is_json
    return None


def _json(raw: bytes, rules: Rules) -> msgspec.Raw:
    """JSON of a caller on one line. It becomes text if it is not JSON or is too long."""
    if not raw:
        return ABSENT
    json_bytes = raw.replace(DAMAGED_JSON, b"\\ufffd")
    try:
        text = _compact(json_bytes)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return msgspec.Raw(_encoder.encode(json_bytes[: rules.max_text_chars].decode("utf-8", "replace")))
    if len(text) > rules.max_text_chars:
        return msgspec.Raw(_encoder.encode(text[: rules.max_text_chars]))
    return msgspec.Raw(text.encode())


def _compact(raw: bytes) -> str:
    return msgspec.json.format(raw, indent=-1).decode()


def _encoded(value: Any, rules: Rules) -> msgspec.Raw:
    """The output of verifiers as JSON. It becomes text if it is too long."""
    encoded = _encoder.encode(value)
    if len(encoded) > rules.max_text_chars:
        encoded = _encoder.encode(encoded[: rules.max_text_chars].decode("utf-8", "ignore"))
    return msgspec.Raw(encoded)


_encoder: Final = msgspec.json.Encoder()
_text_decoder: Final = msgspec.json.Decoder(str)
