"""Exchanges one HTTP request with one endpoint, within limits of time and bytes, and only at its configured address.

Redirects are not followed, because the key would go along; cookies and proxies of the environment are not used. Bodies
are requested uncompressed; a body that comes compressed all the same is inflated up to the limit and no further.
"""

import asyncio
import os
import socket
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp

from tracing import spans
from verifiers.judge.endpoints.config import BadKey, EndpointConfig
from verifiers.judge.endpoints.faults import Fault, Retry, quoted
from verifiers.judge.endpoints.reward_servers import SERVERS

_PATHS = {"chat": "/chat/completions", "decisions": "/decisions"}
"""Below the address of an endpoint. Those of reward models' servers begin at the server's root."""
_IDENTITY = ("", "identity")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, inflated."""

    status: int
    headers: Mapping[str, str]
    """The names of headers match in any case."""
    body: bytes


class Wire:
    """The session with one endpoint, which is opened at its first use."""

    def __init__(self, config: EndpointConfig, keys: Mapping[str, str]) -> None:
        self._config = config
        self._headers = _headers(config, keys)
        self.secrets = tuple(sorted((keys[name] for name in config.env_names), key=len, reverse=True))
        version = f"?api-version={quote(config.api_version, safe='')}" if config.api_version else ""
        self._url = _address(config) + version
        root = urlsplit(config.base_url)
        self._health_url = f"{root.scheme}://{root.netloc}{config.health_path or ''}"
        # `connect` also covers the name's look-up and TLS.
        self._timeout = aiohttp.ClientTimeout(total=None, connect=config.timeout.connect_s)
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"Wire({self._config.base_url})"

    async def close(self) -> None:
        """Close for good: calls under way fail, and no new call begins."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def post(self, body: bytes, within_s: float) -> Answer:
        """Send a body; the answer.

        Raises:
            Fault: `connect`, `timeout`, `bad_upstream_body`.
        """
        with _translated(self._config, within_s):
            async with asyncio.timeout(within_s):
                return await self._whole(await self._request("POST", self._url, body))

    async def ask_health(self, within_s: float) -> int:
        """The status of the endpoint's health path.

        Raises:
            Fault: as `post`.
        """
        with _translated(self._config, within_s):
            async with asyncio.timeout(within_s):
                response = await self._request("GET", self._health_url, None)
                response.close()
                return response.status

    async def begin(self, body: bytes, within_s: float) -> aiohttp.ClientResponse:
        """Begin an exchange; the head of the answer. `read` or `pieces` take the rest, and `end` must follow.

        Raises:
            Fault: as `post`.
        """
        with _translated(self._config, within_s):
            async with asyncio.timeout(within_s):
                return await self._request("POST", self._url, body)

    async def read(self, response: aiohttp.ClientResponse, within_s: float) -> Answer:
        """Read the whole body of an answer that `begin` has begun and that is not a stream."""
        with _translated(self._config, within_s):
            async with asyncio.timeout(within_s):
                return await self._whole(response)

    async def piece(self, response: aiohttp.ClientResponse, within_s: float) -> bytes:
        """The next piece of a stream; empty at its end.

        Raises:
            Fault: as `post`.
        """
        with _translated(self._config, within_s):
            async with asyncio.timeout(within_s):
                piece: bytes = await response.content.readany()
                return piece

    def end(self, response: aiohttp.ClientResponse) -> None:
        """Keep the connection if all was read; otherwise close it, which tells the server to stop."""
        if response.content.is_eof() and response.content.exception() is None:
            response.release()
        else:
            response.close()

    async def _whole(self, response: aiohttp.ClientResponse) -> Answer:
        try:
            return Answer(response.status, response.headers, await self._read(response))
        finally:
            self.end(response)

    async def _request(self, method: str, url: str, body: bytes | None) -> aiohttp.ClientResponse:
        session = self._session or self._open()
        return await session.request(method, url, data=body, headers=spans.headers(), allow_redirects=False)

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            raise Fault("connect", "the service is stopping", Retry.NEVER, reached=False)
        self._session = aiohttp.ClientSession(
            # Our own limits decide how many connections there are.
            connector=aiohttp.TCPConnector(limit=0, limit_per_host=0),
            headers=self._headers,
            timeout=self._timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )
        return self._session

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        limit = self._config.max_response_bytes
        if response.content_length is not None and response.content_length > limit:
            raise _too_long(limit)
        pieces: list[bytes] = []
        size = 0
        while piece := await response.content.readany():
            size += len(piece)
            if size > limit:
                raise _too_long(limit)
            pieces.append(piece)
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        encoding = response.headers.get("Content-Encoding", "").casefold()
        return body if encoding in _IDENTITY else await asyncio.to_thread(_inflate, body, encoding, limit)


@contextmanager
def _translated(config: EndpointConfig, within_s: float) -> Iterator[None]:
    """Raise errors of the client library as faults, which hold neither headers nor keys."""
    try:
        yield
    except aiohttp.ConnectionTimeoutError as error:
        message = f"no connection within {config.timeout.connect_s} s"
        raise Fault("connect", message, reached=False, ill=True) from error
    except aiohttp.ClientConnectorError as error:
        message = f"no connection: {_os_error_text(error.os_error)}"
        raise Fault("connect", message, reached=False, ill=True) from error
    except aiohttp.ClientPayloadError as error:
        raise Fault("bad_upstream_body", "the body broke off", ill=True) from error
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError, ConnectionError) as error:
        raise Fault("connect", f"the connection broke: {type(error).__name__}", ill=True) from error
    except TimeoutError as error:
        raise Fault("timeout", f"no answer within {within_s:.3g} s", refused=True, ill=True) from error
    except aiohttp.ClientError as error:
        raise Fault("bad_upstream_body", f"no HTTP: {type(error).__name__}", ill=True) from error


def _address(config: EndpointConfig) -> str:
    if config.protocol in SERVERS:
        return config.base_url.removesuffix("/v1") + SERVERS[config.protocol].path
    return config.base_url + _PATHS[config.protocol]


def _headers(config: EndpointConfig, keys: Mapping[str, str]) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": "rewardline"}
    for name in config.env_names:
        if name not in keys:
            raise BadKey(f"no value for {name}")
        if not keys[name] or not keys[name].isascii() or not keys[name].isprintable():
            raise BadKey(f"the value of {name} is empty or holds characters that no header can")
    headers |= {header: keys[name] for header, name in config.headers_env.items()}
    if config.api_key_env is not None:
        key = keys[config.api_key_env]
        headers |= {"api-key": key} if config.api_version else {"Authorization": f"Bearer {key}"}
    return headers


def _inflate(body: bytes, encoding: str, max_bytes: int) -> bytes:
    if encoding not in ("gzip", "deflate"):
        raise Fault("bad_upstream_body", f"Content-Encoding {quoted(encoding)!r}", Retry.ELSEWHERE, ill=True)
    # gzip or zlib, by the first bytes; some servers mean raw deflate.
    raw = encoding == "deflate" and body[:1] != b"\x78"
    stream: Any = zlib.decompressobj(wbits=-15 if raw else 47)
    try:
        inflated: bytes = stream.decompress(body, max_bytes + 1)
    except zlib.error as error:
        raise Fault("bad_upstream_body", f"not {encoding}", ill=True) from error
    if len(inflated) > max_bytes:
        raise _too_long(max_bytes)
    if not stream.eof:
        raise Fault("bad_upstream_body", f"{encoding} that ends too early", ill=True)
    return inflated


def _too_long(max_bytes: int) -> Fault:
    return Fault("bad_upstream_body", f"a body of more than {max_bytes} bytes", Retry.ELSEWHERE, ill=True)


def _os_error_text(error: OSError) -> str:
    """What went wrong, without the address, because callers see this text."""
    if isinstance(error, socket.gaierror) or error.errno is None or error.errno < 0:
        return type(error).__name__
    return os.strerror(error.errno)
