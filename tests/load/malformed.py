"""Malformed requests to every route of both doors. They must be refused or judged, and never cause a 500, a crash or
a leak.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import grpc
import httpx
from rewardline.pb import rewardline_pb2 as pb

from tests.chaos.servers import Server
from tests.load.footprint import Footprint, footprint

JSON = Any
_CALLERS = 8
_GRPC_METHODS = (
    *("/rewardline.v1.Verifier/Score", "/rewardline.v1.Verifier/ScoreStream", "/rewardline.v1.Verifier/ListVerifiers"),
    *("/grpc.health.v1.Health/Check", "/rewardline.v1.Verifier/Nothing", "/", "/rewardline.v1.Verifier"),
)
_BROKEN = (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL, grpc.StatusCode.DATA_LOSS)
_WILD: Sequence[str] = (
    *("null", "true", "-1", "1e999", "NaN", "-Infinity", "9" * 400, "1e-400", '""', '"\\ud800"', '"\\u0000"', "[]", "{}"),
    *('"' + "x" * 20_000 + '"', "[" * 2000 + "]" * 2000, '{"a":' * 1000 + "1" + "}" * 1000, '[null,1,"a",{}]', "0.1", '"é"'),
    *('"../../etc/passwd"', '"\\\\boxed{"', '"math"', '"code"', '{"$ref":"#"}', "18446744073709551616"),
)  # fmt: skip
_HEADERS: Sequence[dict[str, str]] = (
    {}, {}, {}, {}, {"Content-Encoding": "gzip"}, {"Content-Encoding": "zstd"}, {"Content-Encoding": "br"},
    {"Content-Type": "application/xml"}, {"Content-Type": "application/json; charset=utf-7"}, {"Accept": "text/html"},
    {"Accept": "application/x-ndjson"}, {"X-Item-Count": "-5"}, {"X-Item-Count": "99999999"}, {"X-Item-Count": "x"},
    {"Authorization": "Bearer \x7f"}, {"traceparent": "00-zz-zz-zz"}, {"Idempotency-Key": "x" * 3000}, {"Expect": "?"},
)  # fmt: skip
_RAW: Sequence[bytes] = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET\r\n\r\n",
    b"POST /v1/score HTTP/9.9\r\n\r\n",
    b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}",
    b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{",
    b"GET /%ff%fe%00 HTTP/1.1\r\nHost: \xff\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 2000 + b"\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x04\x08\x00\x00\x00\x00\x00\x7f\xff\xff\xff",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 100,
)


@dataclass
class Malformed:
    """The counts of answers."""

    sent: int = 0
    http: Counter[int] = field(default_factory=Counter)
    grpc: Counter[str] = field(default_factory=Counter)
    hung_up: int = 0
    """Cases in which bytes that are not requests ended the connection."""
    broken: list[str] = field(default_factory=list)
    """Wrong answers."""
    before: Footprint | None = None
    """The footprint after a tenth of the requests."""
    after: Footprint | None = None


async def malformed(server: Server, requests: int, seed: int = 1) -> Malformed:
    """Send this many requests."""
    found = Malformed()
    random = Random(seed)
    seeds = await asyncio.to_thread(_seeds, server.url)
    async with (
        httpx.AsyncClient(base_url=server.url, timeout=90) as caller,
        grpc.aio.insecure_channel(server.grpc_url.removeprefix("grpc://")) as channel,
    ):

        async def call() -> None:
            while found.sent < requests:
                found.sent += 1
                if found.sent == requests // 10:
                    found.before = await asyncio.to_thread(footprint, server.pid)
                kind = random.random()
                if kind < 0.1:
                    await _send_bytes(server, random, found)
                elif kind < 0.4:
                    await _call_grpc(channel, random, found)
                else:
                    await _call_http(caller, *random.choice(seeds), random, found)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(_CALLERS):
                tasks.create_task(call())
    found.after = await asyncio.to_thread(footprint, server.pid)
    return found


def _seeds(url: str) -> list[tuple[str, str, JSON]]:
    """Every method of every path. The body is right if the document shows one."""
    paths = httpx.get(f"{url}/openapi.json").json()["paths"]
    found = []
    for path, operations in paths.items():
        for method, about in operations.items():
            content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
            found.append((method.upper(), path, content.get("example", {"items": [{"response": "1"}]})))
    return found


async def _call_http(
    caller: httpx.AsyncClient, method: str, path: str, example: JSON, random: Random, found: Malformed
) -> None:
    body = _spoiled(json.dumps(example), random)
    path = path.replace("{", random.choice(("", "%00", "x/../", "%ff"))).replace("}", random.choice(("", "x" * 3000)))
    if random.random() < 0.1:
        method = random.choice(("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "BREW"))
    try:
        answer = await caller.request(method, path, content=body, headers=random.choice(_HEADERS))
    except httpx.RemoteProtocolError:
        found.hung_up += 1
        return
    found.http[answer.status_code] += 1
    if answer.status_code >= 500 and answer.status_code != 503:
        found.broken.append(f"{answer.status_code} {method} {path} {body[:300]!r}: {answer.text[:300]}")


def _spoiled(text: str, random: Random) -> bytes:
    kind = random.randrange(5)
    if kind == 0:
        return random.randbytes(random.randrange(300))
    if kind == 1:
        return text.encode()[: random.randrange(len(text) + 1)]
    if kind == 2:
        return _flipped(text.encode(), random)
    return _replaced(json.loads(text), random).encode()


def _flipped(body: bytes, random: Random) -> bytes:
    spoiled = bytearray(body)
    for _ in range(random.randrange(1, 5) if spoiled else 0):
        spoiled[random.randrange(len(spoiled))] = random.randrange(256)
    return bytes(spoiled)


def _replaced(value: JSON, random: Random) -> str:
    """The JSON with some of its values replaced by wild ones. Names stay the same."""
    if random.random() < 0.15:
        return random.choice(_WILD)
    if isinstance(value, dict):
        inner = (f"{json.dumps(name)}:{_replaced(held, random)}" for name, held in value.items())
        return "{" + ",".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_replaced(held, random) for held in value) + "]"
    return json.dumps(value)


async def _call_grpc(channel: grpc.aio.Channel, random: Random, found: Malformed) -> None:
    method = random.choice(_GRPC_METHODS)
    item = pb.Item(verifier="math", response="\\boxed{1}", reference_json=random.choice(("1", '"1"', *_WILD)))
    right = (pb.ScoreRequest(items=[item, item]) if method.endswith("Score") else item).SerializeToString()
    body = random.choice((right, _flipped(right, random), right[: random.randrange(len(right))], random.randbytes(200)))
    try:
        if method.endswith("ScoreStream"):
            async for _ in channel.stream_stream(method, None, None)(_sent(body, random.choice((1, 2, 5))), timeout=60):
                pass
        else:
            await channel.unary_unary(method, None, None)(body, timeout=60)
    except grpc.aio.AioRpcError as error:
        found.grpc[error.code().name] += 1
        # gRPC's own health servicer answers UNKNOWN to a message that it cannot parse.
        if error.code() in _BROKEN:
            found.broken.append(f"{error.code().name} {method} {body[:300]!r}: {error.details()}")
    else:
        found.grpc["OK"] += 1


async def _sent(body: bytes, times: int) -> AsyncIterator[bytes]:
    for _ in range(times):
        yield body


async def _send_bytes(server: Server, random: Random, found: Malformed) -> None:
    """Send bytes that are not HTTP to both doors. Half of the callers disconnect first."""
    url = random.choice((server.url, server.grpc_url))
    host, _, port = url.partition("://")[2].rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(random.choice((*_RAW, random.randbytes(500))))
    try:
        if random.random() < 0.5:
            writer.write_eof()
        async with asyncio.timeout(0.2):
            head = await reader.read(64)
            if head.startswith(b"HTTP/1.1 5"):
                found.broken.append(f"{head!r}")
    except (TimeoutError, OSError):
        pass  # the server waits for the rest, as it may for a while, or it has disconnected
    found.hung_up += 1
    writer.close()
