"""Passes a caller's own request to one endpoint, unchanged except for the model's name and the keys, which are ours.

If the request itself is at fault (400, 413, 422), the endpoint's answer goes back unchanged. If the fault is on our
side (our key, an outage), the answer does not go back, and the request is tried elsewhere, until the first byte of a
stream has gone out.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from verifiers.judge.endpoints.endpoint import Lease
from verifiers.judge.endpoints.faults import Fault, Filtered, Retry
from verifiers.judge.endpoints.messages import Relayed, RelayedStream, Usage
from verifiers.judge.endpoints.pool import NOT_OURS
from verifiers.judge.endpoints.replies import outline, usage_of
from verifiers.judge.endpoints.requests import estimated_tokens
from verifiers.judge.endpoints.statuses import fault_of
from verifiers.judge.errors import EndpointFailure

if TYPE_CHECKING:
    import aiohttp

    from verifiers.judge.endpoints.wire import Answer, Wire

_HEADERS = ("Content-Type", "Retry-After", "retry-after-ms", "x-request-id")
_DEFAULT_MAX_TOKENS = 1024
"""The estimated tokens of a request without `max_tokens`, for budgets."""
_TAIL_BYTES = 16_384
"""Bytes at the end of a stream that are kept, because its usage is there if it has one."""


class Relay:
    """The errand of a whole request."""

    def __init__(self, body: Mapping[str, Any], clock: Callable[[], float], wall: Callable[[], float]) -> None:
        self._body = body
        self._clock = clock
        self._wall = wall
        self.tokens = _estimate(body)
        self.affinity: bytes | None = None
        self.is_whole = True

    async def run(self, lease: Lease, within_s: float, attempt: int) -> Relayed:
        endpoint = lease.endpoint
        began_at = self._clock()
        answer = await endpoint.wire.post(encoded(self._body, lease, stream=False), within_s)
        usage, cost = self._read(answer, lease)
        seconds = self._clock() - began_at
        body = redacted(answer.body, endpoint.wire)
        return Relayed(answer.status, headers_of(answer), body, endpoint.name, usage, cost, seconds, attempt)

    def _read(self, answer: "Answer", lease: Lease) -> tuple[Usage, float | None]:
        if answer.status == 200:
            usage = usage_of(outline(answer.body))
            return usage, lease.succeeded(usage)
        blame(answer, lease, self._wall())
        return Usage(), None


class StreamRelay:
    """The errand of a request with a streamed answer; it is done when the first piece is there."""

    def __init__(
        self, body: Mapping[str, Any], deadline: float, clock: Callable[[], float], wall: Callable[[], float]
    ) -> None:
        self._body = body
        self._deadline = deadline
        self._clock = clock
        self._wall = wall
        self.tokens = _estimate(body)
        self.affinity: bytes | None = None
        self.is_whole = False

    async def run(self, lease: Lease, within_s: float, attempt: int) -> RelayedStream:
        endpoint = lease.endpoint
        wire = endpoint.wire
        until = self._clock() + within_s
        response = await wire.begin(encoded(self._body, lease, stream=True), within_s)
        try:
            if response.status == 200 and response.content_type == "text/event-stream":
                _check_encoding(response)
                first = await wire.piece(response, until - self._clock())
                _check_first(first)
                head = {name: response.headers[name] for name in _HEADERS if name in response.headers}
                events = Events(first, response, lease, self._deadline, self._clock)
                return RelayedStream(200, head, endpoint.name, attempt, events)
            answer = await wire.read(response, until - self._clock())
        except BaseException:
            wire.end(response)
            raise
        if answer.status == 200:
            lease.succeeded(usage_of(outline(answer.body)))
        else:
            blame(answer, lease, self._wall())
        body = redacted(answer.body, wire)
        return RelayedStream(answer.status, headers_of(answer), endpoint.name, attempt, Whole(body))


class Whole(AsyncIterator[bytes]):
    """A body that came as one piece."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __anext__(self) -> bytes:
        if not self._body:
            raise StopAsyncIteration
        body, self._body = self._body, b""
        return body

    async def aclose(self) -> None:
        self._body = b""


class Events(AsyncIterator[bytes]):
    """A stream under way. It ends its lease and its connection when it ends, or when `aclose` is called."""

    def __init__(
        self,
        first: bytes,
        response: "aiohttp.ClientResponse",
        lease: Lease,
        deadline: float,
        clock: Callable[[], float],
    ) -> None:
        self._first = first
        self._response = response
        self._lease = lease
        self._deadline = deadline
        self._clock = clock
        self._tail = b""

    async def __anext__(self) -> bytes:
        if self._lease.over:
            raise StopAsyncIteration
        piece, self._first = self._first or await self._next(), b""
        if not piece:
            self._lease.succeeded(_last_usage(self._tail))
            self._close()
            raise StopAsyncIteration
        self._tail = (self._tail + piece)[-_TAIL_BYTES:] if len(piece) < _TAIL_BYTES else piece[-_TAIL_BYTES:]
        return piece

    async def _next(self) -> bytes:
        endpoint = self._lease.endpoint
        left_s = self._deadline - self._clock()
        idle_s = endpoint.config.timeout.idle_s
        try:
            return await endpoint.wire.piece(self._response, max(min(idle_s, left_s), 0.0))
        except Fault as fault:
            if fault.kind == "timeout" and left_s <= idle_s:
                fault = Fault("deadline", "the stream was cut off by the deadline", Retry.NEVER)
            self._lease.failed(fault)
            self._close()
            raise EndpointFailure(
                fault.kind, f"the stream of {endpoint.name} broke off: {fault.message}", retryable=True
            ) from fault
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Stop reading; the closed connection tells the endpoint."""
        self._lease.abandoned()
        self._close()

    def _close(self) -> None:
        self._lease.endpoint.wire.end(self._response)


def encoded(body: Mapping[str, Any], lease: Lease, *, stream: bool) -> bytes:
    """The request in the form for this endpoint."""
    config = lease.endpoint.config
    content = {**config.extra_body, **body, "model": config.model}
    if stream or "stream" in content:
        content["stream"] = stream
    if not stream:
        content.pop("stream_options", None)
    try:
        return msgspec.json.encode(content)
    except (TypeError, ValueError, RecursionError) as error:
        raise Fault(
            "bad_upstream_request", f"the request is not JSON: {type(error).__name__}", Retry.NEVER, reached=False
        ) from error


def blame(answer: "Answer", lease: Lease, wall: float) -> None:
    """Check that an answer other than 200 is the fault of the request, and end the lease.

    Raises:
        Fault: we or the endpoint are at fault.
    """
    endpoint = lease.endpoint
    try:
        fault = fault_of(
            answer.status,
            answer.headers,
            answer.body,
            names=(),
            retry_404=endpoint.config.retry_404,
            wall=wall,
            secrets=endpoint.wire.secrets,
        )
    except Filtered:
        lease.succeeded(Usage(prompt=0, completion=0))
        return
    if fault.kind not in NOT_OURS:
        raise fault
    lease.failed(fault)


def headers_of(answer: "Answer") -> dict[str, str]:
    """The headers that matter to a caller, without any that could reveal something about us."""
    return {name: answer.headers[name] for name in _HEADERS if name in answer.headers}


def redacted(body: bytes, wire: "Wire") -> bytes:
    """An answer without the key, which it may quote."""
    for secret in wire.secrets:
        if secret.encode() in body:
            body = body.replace(secret.encode(), b"[key]")
    return body


def _check_encoding(response: "aiohttp.ClientResponse") -> None:
    if response.headers.get("Content-Encoding", "identity").casefold() != "identity":
        raise Fault("bad_upstream_body", "a compressed stream", Retry.ELSEWHERE, ill=True)


def _check_first(piece: bytes) -> None:
    if not piece:
        raise Fault("bad_upstream_body", "an empty stream", ill=True)
    if piece.lstrip().startswith((b'data: {"error"', b"event: error")):
        raise Fault("bad_upstream_body", "a stream that begins with an error", ill=True)


def _last_usage(tail: bytes) -> Usage:
    for line in reversed(tail.split(b"\n")):
        if line.startswith(b"data:") and b'"usage"' in line:
            try:
                content = msgspec.json.decode(line[5:])
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if isinstance(content, dict) and isinstance(content.get("usage"), dict):
                return usage_of(content)
    return Usage()


def _estimate(body: Mapping[str, Any]) -> float:
    tokens = _count(body.get("max_completion_tokens", body.get("max_tokens")), _DEFAULT_MAX_TOKENS)
    return estimated_tokens(body.get("messages"), tokens * _count(body.get("n"), 1))


def _count(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 24 else otherwise
