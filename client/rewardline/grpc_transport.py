"""gRPC: the same items, results and errors as HTTP. Needs `pip install rewardline[grpc]`."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

from rewardline import trace_context
from rewardline.answers import CALL_BYTES, most_bytes, most_values, parsed, too_long
from rewardline.batching import (
    Deliver,
    Item,
    Payload,
    Request,
    Unsendable,
    encode_reference_as_json,
    run_header,
    to_json,
)
from rewardline.errors import (
    FieldError,
    InvalidRequest,
    RequestError,
    RewardlineError,
    TooLarge,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
    cut,
    problem,
)
from rewardline.groups import GROUPS, RUBRICS
from rewardline.redaction import Secrets
from rewardline.tls import TlsFiles

try:
    import grpc
    from google.protobuf.message import DecodeError

    from rewardline.pb import rewardline_pb2 as pb
except ImportError as error:
    raise ImportError(f"gRPC needs grpcio and protobuf: pip install rewardline[grpc] ({error})") from error

_SERVICE = "/rewardline.v1.Verifier"
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_SMALL_BYTES = 1024 * 1024
"""An answer that cannot become large as messages, however many it has."""
_MOST_VERIFIERS = 1_000
_LENGTH_DELIMITED = 2
"""The wire type of messages in messages."""
_OPTIONS = [
    ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
    ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
    ("grpc.enable_retries", 0),  # the client retries; two layers of retries would multiply
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    (
        "grpc.max_reconnect_backoff_ms",
        2_000,
    ),  # by itself it would wait for two minutes before it sees a restarted server
]

_STATUSES = {pb.STATUS_OK: "ok", pb.STATUS_INVALID: "invalid", pb.STATUS_FAILED: "failed"}
_CACHE_MODES = {"use": pb.CACHE_MODE_USE, "refresh": pb.CACHE_MODE_REFRESH, "off": pb.CACHE_MODE_OFF}
_TEXTS = ("id", "verifier", "recipe", "domain", "data_source", "tag", "reference_id")
_JSONS = ("reference", "params", "metadata", "checks", "row", "group")
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character: a model may write one, and UTF-8 cannot hold it."""
_ROW = (
    *("messages", "ground_truth", "test_cases", "case_type", "test_case_function", "evaluation_criteria"),
    *("difficulty", "reward_weights", "reward_clip", "source"),
)
"""Fields of a data set's row. The message holds them in its field `row`."""

_REFUSED: dict[grpc.StatusCode, type[RequestError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequest,
    grpc.StatusCode.UNAUTHENTICATED: Unauthorized,
    grpc.StatusCode.PERMISSION_DENIED: Unauthorized,
    grpc.StatusCode.OUT_OF_RANGE: TooLarge,
}
_UNAVAILABLE = {
    grpc.StatusCode.RESOURCE_EXHAUSTED: "overloaded",
    grpc.StatusCode.UNAVAILABLE: "unreachable",
    grpc.StatusCode.CANCELLED: "unreachable",
    grpc.StatusCode.DEADLINE_EXCEEDED: "deadline",
    grpc.StatusCode.INTERNAL: "server_error",
    grpc.StatusCode.UNKNOWN: "server_error",
    grpc.StatusCode.ABORTED: "server_error",
    grpc.StatusCode.DATA_LOSS: "server_error",
}


class GrpcTransport:
    """One channel. It belongs to the event loop that made it."""

    def __init__(
        self, target: str, api_key: str | None, tls: TlsFiles | None, asks: Mapping[str, str] | None = None
    ) -> None:
        """Open a channel; without `tls`, in plain text. Raises OSError if a certificate cannot be read."""
        self._target = target
        self._secrets = Secrets("", api_key)
        key = () if api_key is None else (("authorization", f"Bearer {api_key}"),)
        self._metadata = (*key, *(asks or {}).items())
        if tls is not None:
            self._channel = grpc.aio.secure_channel(target, grpc.ssl_channel_credentials(*tls.pem()), options=_OPTIONS)
        else:
            self._channel = grpc.aio.insecure_channel(target, options=_OPTIONS)
        self._score = self._channel.unary_unary(
            f"{_SERVICE}/Score",
            request_serializer=pb.ScoreRequest.SerializeToString,
            response_deserializer=None,  # `_message` bounds it first
        )
        self._score_stream = self._channel.stream_stream(
            f"{_SERVICE}/ScoreStream",
            request_serializer=pb.Item.SerializeToString,
            response_deserializer=None,  # `_message` bounds it first
        )
        self._groups = {
            path: self._channel.unary_unary(
                f"{_SERVICE}/{method}",
                request_serializer=pb.ScoreGroupsRequest.SerializeToString,
                response_deserializer=None,  # `_message` bounds it first
            )
            for path, method in ((GROUPS, "ScoreGroups"), (RUBRICS, "EvolveRubrics"))
        }
        self._list = self._channel.unary_unary(
            f"{_SERVICE}/ListVerifiers",
            request_serializer=pb.ListVerifiersRequest.SerializeToString,
            response_deserializer=None,  # `_message` bounds it first
        )

    async def score(self, request: Request, deliver: Deliver) -> None:
        try:
            if request.stream:
                await self._deliver_stream(request, deliver)
            else:
                await self._deliver_batch(request, deliver)
        except grpc.aio.AioRpcError as error:
            raise _translated(error, self._target) from error

    async def _deliver_batch(self, request: Request, deliver: Deliver) -> None:
        body = await self._score(
            pb.ScoreRequest(
                items=[entry.payload.wire for entry in request.entries],
                references_json={name: reference.wire for name, reference in request.references.items()},
                deadline_s=request.deadline_s,
                cache=_CACHE_MODES[request.cache],
                explain=request.explain,
            ),
            timeout=request.timeout_s,
            metadata=(*self._call_metadata(request.run_id), ("x-item-count", str(len(request.entries)))),
        )
        expected = len(request.entries)
        answer = _message(pb.ScoreResponse, body, most_bytes(request), expected + 1)  # the results, and the summary
        if len(answer.results) != expected:
            raise UnexpectedAnswer(f"expected {expected} results, found {len(answer.results)}")
        for position, result in enumerate(answer.results):
            deliver(position, self._as_json(result, request.item_bytes))

    async def _deliver_stream(self, request: Request, deliver: Deliver) -> None:
        indexes: set[int] = set()
        metadata = self._call_metadata(request.run_id)
        call = self._score_stream(_stream_items(request), timeout=request.timeout_s, metadata=metadata)
        try:
            async for body in call:
                result = _message(pb.Result, body, most_bytes(request))
                if result.index >= len(request.entries) or result.index in indexes:
                    raise UnexpectedAnswer(f"a result for index {result.index}, of {len(request.entries)} items")
                indexes.add(result.index)
                deliver(result.index, self._as_json(result, request.item_bytes))
        finally:
            call.cancel()
        if len(indexes) < len(request.entries):
            raise Unavailable("unreachable", f"the stream ended after {len(indexes)} of {len(request.entries)} results")

    async def call(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        if path not in self._groups or body is None:
            raise InvalidRequest(f"{method} {path} needs HTTP; this client uses gRPC")
        options = json.loads(body)
        groups = [json.dumps(group) for group in options.pop("groups")]
        request = pb.ScoreGroupsRequest(options_json=json.dumps(options), groups_json=groups)
        metadata = (*self._call_metadata(), *((name.lower(), value) for name, value in headers.items()))
        try:
            answer = _message(pb.ScoreGroupsResponse, await self._groups[path](request, metadata=metadata), CALL_BYTES)
        except grpc.aio.AioRpcError as error:
            raise _translated(error, self._target) from error
        text = '{"groups":[%s],"summary":%s}' % (",".join(answer.groups_json), answer.summary_json)
        return parsed(self._secrets.body(text.encode()))

    async def verifiers(self, timeout_s: float) -> list[dict[str, Any]]:
        try:
            body = await self._list(pb.ListVerifiersRequest(), timeout=timeout_s, metadata=self._call_metadata())
        except grpc.aio.AioRpcError as error:
            raise _translated(error, self._target) from error
        answer = _message(pb.ListVerifiersResponse, body, CALL_BYTES, _MOST_VERIFIERS)
        return [
            {
                "name": info.name,
                "version": info.version,
                "summary": info.summary,
                "params_schema": _loaded(info.params_schema_json),
                "examples": _loaded(info.examples_json),
                "deterministic": info.deterministic,
            }
            for info in answer.verifiers
        ]

    def _as_json(self, result: Any, item_bytes: int) -> Mapping[str, Any]:
        """The result in the shape that HTTP answers."""
        if result.status not in _STATUSES:
            raise UnexpectedAnswer(f"status {result.status} is not known")
        text = self._secrets.text
        return {
            "id": result.id,
            "status": _STATUSES[result.status],
            "score": result.score if result.HasField("score") else None,
            "reward": result.reward if result.HasField("reward") else None,
            "reason": text(result.reason),
            "verifier": result.verifier,
            "version": result.version,
            "extracted": text(result.extracted) if result.HasField("extracted") else None,
            "detail": _loaded(text(result.detail_json), item_bytes) or {},
            "cached": result.cached,
            "elapsed_ms": result.elapsed_ms,
            "checks": _loaded(text(result.checks_json), item_bytes),
            "recipe": result.recipe if result.HasField("recipe") else None,
        }

    def _call_metadata(self, run_id: str | None = None) -> tuple[tuple[str, str], ...]:
        return (*self._metadata, *trace_context.headers().items(), *run_header(run_id).items())

    async def close(self) -> None:
        await self._channel.close(None)


def encode_item(index: int, item: Item) -> Payload:
    """The item as a message.

    Raises:
        InvalidRequest: The message has no such field, or the field has another type. HTTP answers these with 422.
        ValueError: A value is not JSON.
        Unsendable: A text holds a lone surrogate. Protobuf cannot carry it, so this item alone is invalid.
    """
    message = pb.Item()
    if "row" in item:
        raise _refused(index, "row", "no such field")
    fields = {name: value for name, value in item.items() if value is not None and name not in _ROW}
    if isinstance(response := fields.get("response"), str):
        fields["response"] = _SURROGATE.sub("\ufffd", response)  # as the service reads it over HTTP
    if row := {name: item[name] for name in _ROW if item.get(name) is not None}:
        fields["row"] = row
    for name, value in fields.items():
        try:
            _set(message, name, value)
        except UnicodeEncodeError as error:
            raise Unsendable(f"{name} holds a lone surrogate, which is not text: {error}") from error
        except (TypeError, KeyError) as error:
            raise _refused(index, name, f"{type(error).__name__}: {error}") from error
        except ValueError as error:
            raise ValueError(f"items[{index}].{name} is not JSON: {error}") from error
    return Payload(message, message.ByteSize())


def encode_reference(value: Any) -> Payload:
    wire = encode_reference_as_json(value).wire.decode()
    return Payload(wire, len(wire))


def _set(message: Any, name: str, value: Any) -> None:
    if name in _TEXTS:
        _check_text(value)
        setattr(message, name, value)
    elif name in _JSONS:
        text = to_json(value)
        _check_text(text)
        setattr(message, f"{name}_json", text)
    elif name in ("response", "prompt"):
        if isinstance(value, str):
            _check_text(value)
            setattr(message, name, value)
        elif not all(isinstance(entry, Mapping) for entry in value):
            raise TypeError("expected text or a list of messages")
        elif not all(map(_is_plain, value)):
            text = to_json(value)
            _check_text(text)
            setattr(message, f"{name}_json", text)
        else:
            messages = getattr(message, f"{name}_messages")
            messages.SetInParent()  # an empty conversation is a conversation too
            for turn in value:
                messages.messages.add(role=turn["role"], content=turn["content"])
    elif name == "explain":
        if not isinstance(value, bool):
            raise TypeError(f"expected true or false, found {type(value).__name__}")
        message.explain = value
    else:
        raise TypeError("no such field")


def _is_plain(message: Any) -> bool:
    """Whether a message has only a role and a text."""
    if message.keys() != {"role", "content"}:
        return False
    for value in message.values():
        if isinstance(value, str):
            _check_text(value)
    return all(isinstance(value, str) for value in message.values())


def _check_text(value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"expected text, found {type(value).__name__}")
    value.encode()  # protobuf's own error for lone surrogates differs between its versions


def _refused(index: int, name: str, message: str) -> InvalidRequest:
    return InvalidRequest("Item cannot be sent", errors=[FieldError(("items", index, name), message)])


async def _stream_items(request: Request) -> AsyncIterator[Any]:
    """The items of a stream. Each carries the options and its shared reference, since no request encloses them."""
    for entry in request.entries:
        message = pb.Item()
        message.CopyFrom(entry.payload.wire)
        message.cache = _CACHE_MODES[request.cache]
        message.explain |= request.explain
        if entry.reference is not None:
            message.ClearField("reference_id")
            message.reference_json = entry.reference[1].wire
        yield message


def _loaded(text: str, item_bytes: int = 0) -> Any:
    return parsed(text.encode(), most_values(1, item_bytes)) if text else None


def _message(kind: Any, body: bytes, max_bytes: int, fields: int | None = None) -> Any:
    """The message of an answer.

    Raises:
        UnexpectedAnswer: It has more than `max_bytes` bytes or so many `fields`, or it is another message.
    """
    if len(body) > max_bytes:
        raise too_long(max_bytes)
    try:
        if fields is not None and len(body) > _SMALL_BYTES and _has_more_fields(body, fields):
            raise UnexpectedAnswer(f"more than {fields} parts in an answer")
        return kind.FromString(body)
    except (DecodeError, ValueError, IndexError) as error:
        raise UnexpectedAnswer(f"not the message {kind.DESCRIPTOR.name}") from error


def _has_more_fields(body: bytes, limit: int) -> bool:
    """Whether a message of messages has more than `limit` of them. An empty one takes two bytes, and fifty times as much memory."""
    position = 0
    for _ in range(limit):
        if position >= len(body):
            return False
        if body[position] & 7 != _LENGTH_DELIMITED:
            raise ValueError("a field that is not a message")
        size, position = _varint(body, position + 1)
        position += size
    return position < len(body)


def _varint(body: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = body[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position


def _translated(error: grpc.aio.AioRpcError, target: str) -> RewardlineError:
    code, detail = error.code(), cut(error.details() or "")
    kind = _REFUSED.get(code)
    # gRPC itself refuses too large a message with the code that also means overload.
    if kind is None and "larger than max" in detail:
        kind = TooLarge
    if kind is not None:
        answer = {"detail": detail, **_problem(error)}
        return kind(cut(str(answer.get("title") or kind.__name__)), **problem(answer))
    if code in _UNAVAILABLE:
        return Unavailable(_UNAVAILABLE[code], f"{target}: {detail}", retry_after_s=_retry_after_s(error))
    return UnexpectedAnswer(f"{target}: {code.name} {detail}; is this the address of a Rewardline server?")


def _problem(error: grpc.aio.AioRpcError) -> dict[str, Any]:
    """The server's problem+json from the trailing metadata; empty if there is none."""
    try:
        answer = json.loads(_trailer(error, "problem-bin") or b"{}")
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _retry_after_s(error: grpc.aio.AioRpcError) -> float | None:
    """The seconds that the server asks to wait, from the trailing metadata."""
    value = _trailer(error, "retry-after")
    try:
        return None if value is None else max(0.0, float(value))
    except ValueError:
        return None


def _trailer(error: grpc.aio.AioRpcError, name: str) -> str | bytes | None:
    trailing: Any = error.trailing_metadata()
    return next((value for key, value in trailing or () if key == name), None)
