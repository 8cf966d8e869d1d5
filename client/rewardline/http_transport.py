"""HTTP: one aiohttp session with its pool of connections. Translates the errors of aiohttp and of the server."""

from __future__ import annotations

import asyncio
import email.utils
import gzip
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import aiohttp

from rewardline import trace_context
from rewardline.batching import Deliver, Payload, Request, json_bytes, run_header
from rewardline.errors import (
    BY_STATUS,
    BY_STATUS_OF_STATE,
    RequestError,
    RewardlineError,
    Unavailable,
    UnexpectedAnswer,
    problem,
)
from rewardline.tls import TlsFiles

COMPRESS_FROM_BYTES = 64 * 1024
"""Smaller bodies are never compressed."""
_CONNECT_TIMEOUT_S = 10.0
_NDJSON = "application/x-ndjson"
_EXCERPT_CHARS = 200


class HttpTransport:
    """One session. It belongs to the event loop that made it."""

    def __init__(self, url: str, api_key: str | None, max_in_flight: int, compress: str | None, tls: TlsFiles) -> None:
        """Raises OSError if a certificate cannot be read."""
        self._url = url
        self._compress = compress
        headers = {"User-Agent": "rewardline-python"}
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=max_in_flight + 1,  # one for verifiers() while all slots are taken
                ssl=tls.context() if url.startswith("https:") else True,
            ),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=_CONNECT_TIMEOUT_S
            ),  # the client enforces the deadline
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=headers,
        )

    async def score(self, request: Request, deliver: Deliver) -> None:
        body = body_of(request)
        headers = {
            "Content-Type": "application/json",
            "Accept": f"{_NDJSON}, application/json;q=0.5" if request.stream else "application/json",
            "X-Item-Count": str(len(request.entries)),
            **trace_context.headers(),
            **run_header(request.run_id),
        }
        if self._compress == "gzip" and len(body) >= COMPRESS_FROM_BYTES:
            headers["Content-Encoding"] = "gzip"
            body = await asyncio.get_running_loop().run_in_executor(None, gzip.compress, body, 1)
        with _translated(self._url):
            async with self._session.post(
                f"{self._url}/v1/score", data=body, headers=headers, allow_redirects=False
            ) as response:
                if response.status != 200:
                    raise refusal(response.status, response.headers, await response.read())
                if response.content_type == _NDJSON:
                    await _deliver_lines(response, len(request.entries), deliver)
                else:
                    deliver_batch(parsed(await response.read()), len(request.entries), deliver)

    async def call(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        """Call any other route and return its JSON."""
        headers = {**trace_context.headers(), **headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        with _translated(self._url):
            async with self._session.request(
                method, f"{self._url}{path}", data=body, headers=headers, allow_redirects=False
            ) as response:
                answer = await response.read()
                if response.status not in (200, 201):
                    raise refusal(response.status, response.headers, answer, BY_STATUS_OF_STATE)
                return parsed(answer)

    async def verifiers(self, timeout_s: float) -> list[dict[str, Any]]:
        answer = await self.call("GET", "/v1/verifiers", None, {})
        listed = answer.get("verifiers") if isinstance(answer, dict) else answer
        if not isinstance(listed, list):
            raise UnexpectedAnswer("expected a list of verifiers")
        return listed

    async def close(self) -> None:
        await self._session.close()


def body_of(request: Request) -> bytes:
    """Join the items, which were encoded when the call was cut into requests."""
    rest = json_bytes({"deadline_s": request.deadline_s, "cache": request.cache, "explain": request.explain})
    parts = [b'{"items":[', b",".join(entry.payload.wire for entry in request.entries), b"],"]
    if request.references:
        parts += [b'"references":{', b",".join(_named(*pair) for pair in request.references.items()), b"},"]
    parts.append(rest[1:])
    return b"".join(parts)


def _named(name: str, reference: Payload) -> bytes:
    wire: bytes = reference.wire
    return json_bytes(name) + b":" + wire


def deliver_batch(answer: Any, expected: int, deliver: Deliver) -> None:
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list) or len(results) != expected:
        found = f"{len(results)} results" if isinstance(results, list) else "none"
        raise UnexpectedAnswer(f"expected {expected} results, found {found}")
    for position, raw in enumerate(results):
        deliver(position, raw)


async def _deliver_lines(response: aiohttp.ClientResponse, expected: int, deliver: Deliver) -> None:
    seen: set[int] = set()
    rest = b""
    async for data in response.content.iter_any():
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if line.strip():
                _deliver_line(parsed(line), expected, seen, deliver)
    if rest.strip():
        _deliver_line(parsed(rest), expected, seen, deliver)
    if len(seen) < expected:
        raise Unavailable("unreachable", f"the stream ended after {len(seen)} of {expected} results")


def _deliver_line(raw: Any, expected: int, seen: set[int], deliver: Deliver) -> None:
    if not isinstance(raw, dict):
        raise UnexpectedAnswer("expected an object on each line")
    if "index" not in raw:
        return  # the summary
    position = raw["index"]
    if type(position) is not int or not 0 <= position < expected or position in seen:
        raise UnexpectedAnswer(f"a result for index {position!r}, of {expected} items")
    seen.add(position)
    deliver(position, raw)


def parsed(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except ValueError as error:
        raise UnexpectedAnswer(f"not JSON ({error}): {_excerpt(body)}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Raise Unavailable for every error of aiohttp: this attempt brought no answer."""
    try:
        yield
    except (aiohttp.ClientError, OSError, asyncio.TimeoutError) as error:
        raise Unavailable("unreachable", f"{url}: {str(error) or type(error).__name__}") from error


def refusal(
    status: int, headers: Mapping[str, str], body: bytes, more: Mapping[int, type[RequestError]] | None = None
) -> RewardlineError:
    """The error of a response. The statuses in `more` count only with a title, which no other kind of server sends."""
    try:
        answer = parsed(body)
    except UnexpectedAnswer:
        answer = None
    title = str(answer.get("title") or "") if isinstance(answer, dict) else ""
    kinds = {**BY_STATUS, **(more or {})} if title else BY_STATUS
    if status in kinds:
        details = problem(answer) or {"detail": _excerpt(body)}  # a proxy sends text, not problem+json
        return kinds[status](title or kinds[status].__name__, status=status, **details)
    if status in (408, 425, 429) or status >= 500:
        reason = {429: "overloaded", 503: "unavailable"}.get(status, "server_error")
        message = f"{status} {title or _excerpt(body)}".strip()
        return Unavailable(reason, message, retry_after_s=_retry_after_s(headers.get("Retry-After")))
    where = f" to {headers['Location']}" if "Location" in headers else ""
    return UnexpectedAnswer(f"status {status}{where}; is this the address of a Rewardline server? {_excerpt(body)}")


def _retry_after_s(value: str | None) -> float | None:
    """The seconds that the header asks to wait. It holds seconds or a date (RFC 9110, 10.2.3); else None."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def _excerpt(body: bytes) -> str:
    return body[:_EXCERPT_CHARS].decode("utf-8", "replace")
