"""HTTP: one aiohttp session with its pool of connections. Translates the errors of aiohttp and of the server."""

from __future__ import annotations

import asyncio
import email.utils
import gzip
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import aiohttp

from rewardline import answers, trace_context
from rewardline.answers import CALL_BYTES, check_depth, excerpt, most_bytes, most_values, parsed
from rewardline.batching import Deliver, Payload, Request, json_bytes, run_header
from rewardline.errors import (
    BY_STATUS,
    BY_STATUS_OF_STATE,
    RequestError,
    RewardlineError,
    Unavailable,
    UnexpectedAnswer,
    cut,
    problem,
)
from rewardline.redaction import Secrets, shown_url
from rewardline.tls import TlsFiles

COMPRESS_FROM_BYTES = 64 * 1024
"""Smaller bodies are never compressed."""
_CONNECT_TIMEOUT_S = 4.0
_NO_SUCH_METHOD = 501
"""Of a web server that knows no POST. A retry mends nothing."""
_NDJSON = "application/x-ndjson"


class HttpTransport:
    """One session. It belongs to the event loop that made it."""

    def __init__(
        self,
        url: str,
        api_key: str | None,
        max_in_flight: int,
        compress: str | None,
        tls: TlsFiles,
        asks: Mapping[str, str] | None = None,
    ) -> None:
        """Raises OSError if a certificate cannot be read."""
        self._url = url
        self._shown_url = shown_url(url)
        self._secrets = Secrets(url, api_key)
        self._compress = compress
        headers = {"User-Agent": "rewardline-python", "Accept-Encoding": "gzip", **(asks or {})}
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
            auto_decompress=False,  # `answers` inflates no more than an answer may have
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
        with _translated(self._shown_url):
            async with self._session.post(
                f"{self._url}/v1/score", data=body, headers=headers, allow_redirects=False
            ) as response:
                if response.status != 200:
                    raise refusal(response.status, response.headers, await self._refusal(response))
                if response.content_type == _NDJSON:
                    await self._deliver_lines(response, request, deliver)
                else:
                    body = self._secrets.body(await answers.read(response, most_bytes(request)))
                    expected = len(request.entries)
                    deliver_batch(parsed(body, most_values(expected, request.item_bytes)), expected, deliver)

    async def call(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        """Call any other route and return its JSON."""
        headers = {**trace_context.headers(), **headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        with _translated(self._shown_url):
            async with self._session.request(
                method, f"{self._url}{path}", data=body, headers=headers, allow_redirects=False
            ) as response:
                if response.status not in (200, 201):
                    answer = await self._refusal(response)
                    raise refusal(response.status, response.headers, answer, BY_STATUS_OF_STATE)
                return whole_answer(self._secrets.body(await answers.read(response, CALL_BYTES)))

    async def verifiers(self, timeout_s: float) -> list[dict[str, Any]]:
        answer = await self.call("GET", "/v1/verifiers", None, {})
        listed = answer.get("verifiers") if isinstance(answer, dict) else answer
        if not isinstance(listed, list):
            raise UnexpectedAnswer("expected a list of verifiers")
        return listed

    async def close(self) -> None:
        await self._session.close()

    async def _refusal(self, response: aiohttp.ClientResponse) -> bytes:
        return self._secrets.body(await answers.read_refusal(response))

    async def _deliver_lines(self, response: aiohttp.ClientResponse, request: Request, deliver: Deliver) -> None:
        expected, max_values = len(request.entries), most_values(1, request.item_bytes)
        positions: set[int] = set()
        line_pieces: list[bytes] = []
        async for data in answers.pieces(response, most_bytes(request)):
            first, *line_ends = data.split(b"\n")
            line_pieces.append(first)
            for line_end in line_ends:
                self._deliver_line(b"".join(line_pieces), max_values, expected, positions, deliver)
                line_pieces = [line_end]
        self._deliver_line(b"".join(line_pieces), max_values, expected, positions, deliver)
        if len(positions) < expected:
            raise Unavailable("unreachable", f"the stream ended after {len(positions)} of {expected} results")

    def _deliver_line(self, line: bytes, max_values: int, expected: int, positions: set[int], deliver: Deliver) -> None:
        if not line.strip():
            return
        raw = parsed(self._secrets.body(line), max_values)
        if not isinstance(raw, dict):
            raise UnexpectedAnswer("expected an object on each line")
        if "index" not in raw:
            return  # the summary
        position = raw["index"]
        if type(position) is not int or not 0 <= position < expected or position in positions:
            raise UnexpectedAnswer(f"a result for index {position!r:.40}, of {expected} items")
        positions.add(position)
        deliver(position, raw)


def body_of(request: Request) -> bytes:
    """Join the items, which were encoded when the call was cut into requests."""
    options = json_bytes({"deadline_s": request.deadline_s, "cache": request.cache, "explain": request.explain})
    pieces = [b'{"items":[', b",".join(entry.payload.wire for entry in request.entries), b"],"]
    if request.references:
        pieces += [b'"references":{', b",".join(_named(*pair) for pair in request.references.items()), b"},"]
    pieces.append(options[1:])
    return b"".join(pieces)


def _named(name: str, reference: Payload) -> bytes:
    wire: bytes = reference.wire
    return json_bytes(name) + b":" + wire


def deliver_batch(answer: Any, expected: int, deliver: Deliver) -> None:
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list) or len(results) != expected:
        description = f"{len(results)} results" if isinstance(results, list) else "none"
        raise UnexpectedAnswer(f"expected {expected} results, found {description}")
    for position, raw in enumerate(results):
        deliver(position, raw)


def whole_answer(body: bytes) -> Any:
    """The JSON of an answer that scores no items."""
    answer = parsed(body)
    if isinstance(answer, (dict, list)):
        check_depth(answer)
    return answer


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Raise Unavailable for every error of aiohttp: this attempt brought no answer."""
    try:
        yield
    except (aiohttp.ClientError, OSError, asyncio.TimeoutError) as error:
        raise Unavailable("unreachable", f"{url}: {why(error)}") from error


def why(error: BaseException) -> str:
    """Why a connection was not made, in words of the system: aiohttp names its own arguments."""
    errno = error.errno if isinstance(error, aiohttp.ClientConnectorError) else None
    return os.strerror(errno) if errno and errno > 0 else str(error) or type(error).__name__


def refusal(
    status: int, headers: Mapping[str, str], body: bytes, extra_kinds: Mapping[int, type[RequestError]] | None = None
) -> RewardlineError:
    """The error of a response. The statuses in `extra_kinds` count only with a title, which no other kind of server sends."""
    try:
        answer = whole_answer(body)
    except UnexpectedAnswer:
        answer = None
    title = cut(str(answer.get("title") or "")) if isinstance(answer, dict) else ""
    kinds = {**BY_STATUS, **(extra_kinds or {})} if title else BY_STATUS
    if status in kinds:
        details = problem(answer) or {"detail": excerpt(body)}  # a proxy sends text, not problem+json
        return kinds[status](title or kinds[status].__name__, status=status, **details)
    if status in (408, 425, 429) or (status >= 500 and status != _NO_SUCH_METHOD):
        reason = {429: "overloaded", 503: "unavailable"}.get(status, "server_error")
        message = f"{status} {title or excerpt(body)}".strip()
        return Unavailable(reason, message, retry_after_s=_retry_after_s(headers.get("Retry-After")))
    where = f" to {cut(headers['Location'])}" if "Location" in headers else ""
    return UnexpectedAnswer(f"status {status}{where}; is this the address of a Rewardline server? {excerpt(body)}")


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
