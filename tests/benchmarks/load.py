"""The load generators: bodies made beforehand, and clients that cost little beside the server they measure.

Nothing is encoded while the clock runs. A body is cut at every place with the batch's number. Joining the pieces with
the next number makes a batch of new items.
"""

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import count
from time import perf_counter

import grpc
from rewardline.pb import rewardline_pb2 as pb

from tests.benchmarks.servers import METHOD, PATH, Server
from tests.conftest import ROOT

RESPONSE_CHARS = 4096
ITEMS_PER_PROMPT = 16
MARK = "@@@@@@@@"
_HEAD = (
    "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    "answer-bytes: {answer}\r\ncontent-length: {length}\r\n\r\n"
)


_numbers = count()
"""The numbers of all batches of this run, so that no benchmark's items are another's cache hits."""


class Batches:
    """The body of one batch, and any number of fresh ones of the same size."""

    def __init__(self, body: bytes, items: int) -> None:
        self._pieces = body.split(MARK.encode())
        self.items = items
        self.same = self.fresh()
        """Always this body. After the first time it is answered from the cache."""

    def fresh(self) -> bytes:
        return (b"%08d" % next(_numbers)).join(self._pieces)


@dataclass(frozen=True, slots=True)
class Sample:
    """One item as it is sent, without its verifier."""

    response: str
    reference: str
    prompt: str = ""
    params: dict[str, str] = field(default_factory=dict)


def batches(door: str, verifier: str, samples: Sequence[Sample]) -> Batches:
    """The body of a request with these items, for "http" or "grpc"."""
    if door == "http":
        items = [
            {
                "verifier": verifier,
                "response": sample.response,
                "reference": sample.reference,
                **({"prompt": sample.prompt} if sample.prompt else {}),
                **({"params": sample.params} if sample.params else {}),
            }
            for sample in samples
        ]
        return Batches(json.dumps({"items": items}, separators=(",", ":")).encode(), len(items))
    messages = [
        pb.Item(
            verifier=verifier,
            response=sample.response,
            reference_json=json.dumps(sample.reference),
            prompt=sample.prompt or None,
            params_json=json.dumps(sample.params) if sample.params else "",
        )
        for sample in samples
    ]
    return Batches(pb.ScoreRequest(items=messages).SerializeToString(), len(messages))


def long_samples(count_: int, params: dict[str, str] | None = None) -> list[Sample]:
    """Items with real solutions of 4 kB, each different, and prompts of 400 B. Each prompt has 16 of them."""
    text = _solutions()
    samples = []
    for index in range(count_):
        start = index * 977 % (len(text) - RESPONSE_CHARS)
        head, answer = f"Attempt {index:06d} of {MARK}.\n", f"\n#### {index // ITEMS_PER_PROMPT}"
        body = text[start : start + RESPONSE_CHARS - len(head) - len(answer)]
        prompt = text[index // ITEMS_PER_PROMPT * 401 % 100_000 :][:400]
        samples.append(Sample(head + body + answer, answer.strip(), prompt, params or {}))
    return samples


@lru_cache(maxsize=1)
def _solutions() -> str:
    lines = (ROOT / "tests/data/math/gsm8k_model_solutions.jsonl").read_text(encoding="utf-8").splitlines()
    texts = (json.loads(line)["response"].partition("####")[0] for line in lines[:1500])
    return "\n".join(texts).encode("ascii", "ignore").decode()


@dataclass(slots=True)
class Run:
    """The results of one generator."""

    until: float = math.inf
    """The time of the last possible start of a request, on `perf_counter`'s clock."""
    requests: float = math.inf
    """The number of requests that may still begin."""
    items: int = 0
    seconds: float = 0.0
    latencies_s: list[float] = field(default_factory=list)

    def begins(self) -> bool:
        """Whether one more request may begin. It counts the request."""
        self.requests -= 1
        return self.requests >= 0 and perf_counter() < self.until

    def finish(self, started: float, batch: Batches) -> None:
        self.seconds = perf_counter() - started
        self.items = len(self.latencies_s) * batch.items

    @property
    def items_per_s(self) -> float:
        return self.items / self.seconds


async def http_load(
    server: Server,
    batch: Batches,
    body: Callable[[], bytes],
    *,
    connections: int,
    seconds: float,
    answer_bytes: int,
    requests: float = math.inf,
) -> Run:
    """Post `body()` over keep-alive connections, one request in flight on each, until the time or the requests are
    used up.
    """
    loop = asyncio.get_running_loop()
    host, _, port = server.http.rpartition(":")
    head = _HEAD.format(path=PATH, answer=answer_bytes, length=len(body())).encode()
    run = Run()
    make_client = partial(_HttpClient, lambda: head + body(), run)
    clients = [(await loop.create_connection(make_client, host, int(port)))[1] for _ in range(connections)]
    started = perf_counter()
    run.until, run.requests = started + seconds, requests
    for client in clients:
        client.begin()
    await asyncio.gather(*(client.done for client in clients))
    run.finish(started, batch)
    for client in clients:
        client.close()
    return run


class _HttpClient(asyncio.Protocol):
    """Sends the next request from the callback that got the last answer."""

    def __init__(self, request: Callable[[], bytes], run: Run) -> None:
        self._request = request
        self._run = run
        self.done = asyncio.get_running_loop().create_future()
        self._sent = 0.0
        self._missing = -1
        self._head = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # what TCP gives
        self._transport = transport

    def begin(self) -> None:
        """Send the next request, or finish."""
        if self._run.begins():
            request = self._request()
            self._sent = perf_counter()
            self._transport.write(request)
        else:
            self.done.set_result(None)

    def close(self) -> None:
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        if self._missing < 0:
            self._head += data
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return
            if not self._head.startswith(b"HTTP/1.1 200"):
                self.done.set_exception(RuntimeError(f"the server answered {self._head[:500]!r}"))
                return
            at = self._head.lower().index(b"content-length:") + len(b"content-length:")
            length = int(self._head[at : self._head.index(b"\r\n", at)])
            self._missing = end + 4 + length - len(self._head)
            self._head = b""
        else:
            self._missing -= len(data)
        if self._missing == 0:
            self._missing = -1
            self._run.latencies_s.append(perf_counter() - self._sent)
            self.begin()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or RuntimeError("the server hung up"))


async def grpc_load(
    server: Server, batch: Batches, body: Callable[[], bytes], *, connections: int, seconds: float, answer_bytes: int
) -> Run:
    """Call `Score` with serialized requests, this many at a time over one channel, until the time is over."""
    run = Run()
    metadata = (("answer-bytes", str(answer_bytes)),)
    async with _channel(server) as channel:
        call = channel.unary_unary(METHOD, None, None)
        await channel.channel_ready()
        started = perf_counter()
        run.until = started + seconds

        async def work() -> None:
            while run.begins():
                request = body()
                sent = perf_counter()
                await call(request, metadata=metadata)
                run.latencies_s.append(perf_counter() - sent)

        await asyncio.gather(*(work() for _ in range(connections)))
        run.finish(started, batch)
    return run


async def answer(server: Server, door: str, body: bytes) -> bytes:
    """The answer to one request. It also tells the bare servers how much to answer."""
    if door == "grpc":
        async with _channel(server) as channel:
            return bytes(await channel.unary_unary(METHOD, None, None)(body))
    host, _, port = server.http.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 20)
    writer.write(_HEAD.format(path=PATH, answer=0, length=len(body)).encode() + body)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))[15:])
    content = await reader.readexactly(length)
    writer.close()
    assert b" 200 " in head, content[:500]
    return content


def check(door: str, content: bytes, batch: Batches) -> int:
    """The length of the service's answer. It first checks that the service judged every item."""
    ok = pb.ScoreResponse.FromString(content).summary.ok if door == "grpc" else json.loads(content)["summary"]["ok"]
    assert ok == batch.items, f"{ok} of {batch.items} items were judged: {content[:500]!r}"
    return len(content)


def _channel(server: Server) -> grpc.aio.Channel:
    limit = 100_000_000
    options = [("grpc.max_receive_message_length", limit), ("grpc.max_send_message_length", limit)]
    return grpc.aio.insecure_channel(server.grpc, options=options)
