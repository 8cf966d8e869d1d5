"""The running server while what it stands on breaks: Redis, its workers, its callers, the bytes it is sent."""

import asyncio
import json
import os
import random
import signal
import socket
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit
from zlib import crc32

import grpc
import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from rewardline.pb import rewardline_pb2 as pb

from tests.conftest import serving
from tests.ports import free_port
from tests.processes import children
from tests.service.fault_proxy import Fault, fault_proxy
from tests.service.redis_server import RedisServer
from tests.service.slow_verifier import held, serving_slowly
from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]
FIELDS = ("id", "status", "score", "reward", "reason", "verifier", "version", "extracted", "detail")
NDJSON = {"Accept": "application/x-ndjson"}
TESTS = Path(__file__).parents[2]


def items(count: int, salt: str = "") -> list[JSON]:
    """Cheap items of several kinds: right, wrong, and one in ten that is invalid."""

    def item(n: int) -> JSON:
        if n % 10 == 9:
            return {"verifier": "numeric", "response": f"{salt}{n}", "reference": {"no": "number"}}
        if n % 2:
            return {"verifier": "exact_match", "response": f"{salt}{n}", "reference": f"{salt}{n if n % 3 else 0}"}
        return {"verifier": "numeric", "response": f"{salt} \\boxed{{{n}}}", "reference": str(n if n % 3 else 0)}

    return [item(n) for n in range(count)]


def math_items(count: int, first: int = 0) -> list[JSON]:
    """Each takes a worker some milliseconds of computer algebra; one in three is wrong."""
    return [
        {"verifier": "math", "response": f"\\boxed{{x^2+{n}}}", "reference": f"x^2+{n if n % 3 else n + 1}+0"}
        for n in range(first, first + count)
    ]


def lookaround_items(count: int) -> list[JSON]:
    """Patterns that RE2 does not take, so that a worker matches them; one in three does not match."""
    return [
        {"verifier": "regex", "response": f"{n} abc " * 40, "reference": f"(?!x)({n if n % 3 else 'no'} abc )\\1*"}
        for n in range(count)
    ]


def score(served: Any, batch: Sequence[JSON], **more: Any) -> JSON:
    reply = httpx.post(f"{served.url}/v1/score", json={"items": batch, **more}, timeout=PATIENCE_S)
    assert reply.status_code == 200, reply.text[:500]
    body: JSON = reply.json()
    assert len(body["results"]) == len(batch)
    return body


def verdicts(results: Sequence[JSON]) -> list[JSON]:
    return [{name: result[name] for name in FIELDS} for result in results]


def streamed(served: Any, batch: Sequence[JSON], **more: Any) -> Iterator[JSON]:
    """The lines as they come, the summary left out."""
    with httpx.stream(
        "POST", f"{served.url}/v1/score", json={"items": batch, **more}, headers=NDJSON, timeout=60
    ) as reply:
        assert reply.status_code == 200
        for line in reply.iter_lines():
            result = json.loads(line)
            if "index" in result:
                yield result


def in_order(lines: Sequence[JSON]) -> list[JSON]:
    assert sorted(line["index"] for line in lines) == list(range(len(lines)))
    return sorted(lines, key=lambda line: int(line["index"]))


def samples(served: Any, name: str) -> Iterator[Any]:
    for family in text_string_to_metric_families(httpx.get(f"{served.url}/metrics").text):
        for sample in family.samples:
            if sample.name == f"rewardline_{name}":
                yield sample


def metric(served: Any, name: str, **labels: str) -> float:
    """The sum of all samples of this name with these labels."""
    return float(sum(sample.value for sample in samples(served, name) if labels.items() <= sample.labels.items()))


def redis_state(served: Any) -> str:
    (state,) = [sample.labels["state"] for sample in samples(served, "cache_redis_state") if sample.value]
    return str(state)


def is_ready(served: Any) -> bool:
    return httpx.get(f"{served.url}/readyz").status_code == 200


def is_written(served: Any, count: int) -> bool:
    return metric(served, "cache_written_total") >= count


def ok_count(batch: Sequence[JSON]) -> int:
    return sum(1 for item in batch if not isinstance(item["reference"], dict))


# Redis


def test_two_servers_share_their_verdicts(serve: Any, redis_server: RedisServer) -> None:
    first, second = (serve(redis_url=redis_server.url) for _ in range(2))
    batch = items(300) + math_items(5)
    cold = score(first, batch)
    assert not any(result["cached"] for result in cold["results"])
    eventually(lambda: is_written(first, ok_count(batch)))
    from_redis = score(second, batch)
    from_memory = score(second, batch)
    for warm, layer in ((from_redis, "redis"), (from_memory, "memory")):
        assert [result["cached"] for result in warm["results"]] == [
            result["status"] == "ok" for result in cold["results"]
        ]
        assert warm["summary"]["cached"] == ok_count(batch)
        assert metric(second, "items_cached_total", layer=layer) == ok_count(batch)
    anew = score(second, batch, cache="off")
    assert not any(result["cached"] for result in anew["results"])
    assert verdicts(cold["results"]) == verdicts(from_redis["results"])
    assert verdicts(cold["results"]) == verdicts(from_memory["results"])
    assert verdicts(cold["results"]) == verdicts(anew["results"])


@pytest.mark.chaos
def test_redis_may_be_absent_and_killed_and_come_back(serve: Any, start_redis: Any, tmp_path: Path) -> None:
    redis = RedisServer(tmp_path, port=free_port())
    served = serve(redis_url=redis.url)
    assert is_ready(served)
    assert redis_state(served) == "open"
    batch = math_items(120)
    expected = verdicts(score(served, batch)["results"])
    with redis:
        eventually(lambda: redis_state(served) == "closed")
        before = metric(served, "cache_written_total")
        score(served, items(50, "first"))
        eventually(lambda: is_written(served, int(before) + ok_count(items(50))))
        lines = []
        for line in streamed(served, batch, cache="refresh"):
            lines.append(line)
            if len(lines) == 20:
                redis.kill()
        assert verdicts(in_order(lines)) == with_ids(expected)
        assert is_ready(served)
        for n in range(20):
            score(served, items(20, f"without {n}"))
        assert redis_state(served) == "open"
        redis.start()
        eventually(lambda: redis_state(served) == "closed")
        before = metric(served, "cache_written_total")
        score(served, items(50, "again"))
        eventually(lambda: is_written(served, int(before) + ok_count(items(50))))


def with_ids(results: Sequence[JSON]) -> list[JSON]:
    return [{**result, "id": index} for index, result in enumerate(results)]


@pytest.mark.chaos
def test_a_frozen_redis_costs_a_moment_and_no_verdict(serve: Any, redis_server: RedisServer) -> None:
    """As one that answers after ten seconds: its connections stay open, and nothing comes."""
    served = serve(redis_url=redis_server.url, cache_memory_mb="0")
    batch = items(2000)
    expected = verdicts(score(served, batch)["results"])
    eventually(lambda: is_written(served, ok_count(batch)))
    assert score(served, batch)["summary"]["cached"] == ok_count(batch)
    redis_server.freeze()
    try:
        for _ in range(8):
            reply = score(served, batch)
            assert verdicts(reply["results"]) == expected
            assert is_ready(served)
        assert redis_state(served) in ("open", "half_open")
        assert metric(served, "cache_breaker_opened_total") >= 1
        assert metric(served, "cache_errors_total") >= 5
    finally:
        redis_server.thaw()
    eventually(lambda: redis_state(served) == "closed")
    eventually(lambda: score(served, batch)["summary"]["cached"] == ok_count(batch))


@pytest.mark.chaos
async def test_a_redis_that_lies_changes_no_verdict(serve: Any, redis_server: RedisServer) -> None:
    batch = items(400)
    async with fault_proxy(redis_server.port) as proxy:
        served = await asyncio.to_thread(serve, redis_url=proxy.url, cache_memory_mb="0")
        expected = verdicts((await asyncio.to_thread(score, served, batch))["results"])
        for fault in get_args(Fault):
            proxy.fault = fault
            for _ in range(8):
                reply = await asyncio.to_thread(score, served, batch)
                assert verdicts(reply["results"]) == expected, fault
                assert await asyncio.to_thread(is_ready, served)
        assert await asyncio.to_thread(metric, served, "cache_errors_total") > 0
        proxy.fault = "none"
        await asyncio.to_thread(eventually, lambda: score(served, batch)["summary"]["cached"] == ok_count(batch))


@pytest.mark.contract
def test_what_others_left_under_our_keys_is_a_miss(serve: Any, redis_server: RedisServer) -> None:
    """Another type, bytes of another program, a layout of old, a score out of range, an empty value."""
    served = serve(redis_url=redis_server.url, cache_memory_mb="0")
    batch = items(300)
    cold = score(served, batch)
    eventually(lambda: is_written(served, ok_count(batch)))
    foreign = [
        lambda key: redis_server.call("RPUSH", key, "a", "b"),
        lambda key: redis_server.call("HSET", key, "score", "1"),
        lambda key: redis_server.call("SET", key, b"\x80not ours"),
        lambda key: redis_server.call("SET", key, b""),
        lambda key: redis_server.call("SET", key, framed(key, {"score": 1.0, "reason": "correct"})),
        lambda key: redis_server.call("SET", key, framed(key, [1.0, "correct"])),
        lambda key: redis_server.call("SET", key, framed(key, [7.0, "correct", None, {}])),
        lambda key: redis_server.call("SET", key, framed(b"rl1:" + b"x" * 20, [1.0, "correct", None, {}])),
    ]
    keys = sorted(redis_server.call("KEYS", "rl1:*"))
    assert len(keys) == ok_count(batch)
    for n, key in enumerate(keys):
        redis_server.call("DEL", key)
        foreign[n % len(foreign)](key)
    after = score(served, batch)
    assert verdicts(after["results"]) == verdicts(cold["results"])
    assert after["summary"]["cached"] == 0
    assert redis_state(served) == "closed"
    eventually(lambda: score(served, batch)["summary"]["cached"] == ok_count(batch))


def framed(key: bytes, value: object) -> bytes:
    """As the service frames what it stores, so that only the content is wrong."""
    body = msgspec.msgpack.encode(value)
    return crc32(key.removeprefix(b"rl1:") + body).to_bytes(4, "big") + body


# Workers


@pytest.fixture(scope="module")
def battered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One server for all the tests below, which it has to survive in a row."""
    with serving(tmp_path_factory.mktemp("battered") / "log.jsonl", sandbox="none", workers="2") as server:
        yield server
        assert server.process.poll() is None


def zygote(served: Any) -> int:
    """Of the workers; the service has other children, which keep its boxes."""

    def zygotes() -> list[int]:
        return [pid for pid in children(served.process.pid) if b"sandbox.workers" in command_line(pid)]

    eventually(lambda: len(zygotes()) == 1)
    return zygotes()[0]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


def kill(pids: Collection[int]) -> int:
    killed = 0
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
            killed += 1
        except ProcessLookupError:
            pass  # it has just ended by itself
    return killed


@pytest.mark.chaos
@pytest.mark.parametrize("batch", [math_items(200), lookaround_items(2000)], ids=["math", "regex"])
def test_killed_workers_cost_no_item(battered: Any, batch: list[JSON]) -> None:
    """An item may be called `failed` or `invalid` only if it was there when a second worker died; tried again it is ok."""
    undisturbed = verdicts(score(battered, batch, cache="off")["results"])
    assert {result["status"] for result in undisturbed} == {"ok"}
    lines: list[JSON] = []
    parent, kills = zygote(battered), 0
    for line in streamed(battered, batch, cache="off"):
        if len(lines) % (len(batch) // 8) == 0:
            kills += kill(children(parent))
        lines.append(line)
    assert kills >= 8
    disturbed = verdicts(in_order(lines))
    again = [index for index, result in enumerate(disturbed) if result["status"] != "ok"]
    assert len(again) <= kills
    assert {disturbed[index]["score"] for index in again} <= {None}
    retried = verdicts(score(battered, [batch[index] for index in again], cache="off")["results"])
    for index, result in zip(again, retried, strict=True):
        disturbed[index] = {**result, "id": index}
    assert disturbed == undisturbed
    assert metric(battered, "worker_restarts_total", reason="crashed") > 0
    eventually(lambda: is_ready(battered))


@pytest.mark.chaos
def test_a_killed_zygote_costs_no_item(battered: Any) -> None:
    batch = math_items(200)
    undisturbed = verdicts(score(battered, batch, cache="off")["results"])
    before = zygote(battered)
    lines: list[JSON] = []
    for line in streamed(battered, batch, cache="off"):
        if len(lines) == 30:
            kill([before])
        lines.append(line)
    assert verdicts(in_order(lines)) == undisturbed
    assert zygote(battered) != before
    assert metric(battered, "worker_restarts_total", reason="zygote") >= 1
    eventually(lambda: is_ready(battered))


def bombs() -> list[JSON]:
    """Responses (and patterns) made to hang, exhaust or break whoever reads them."""
    responses = [
        "\\boxed{9^{9^{9^{9}}}}", "\\boxed{" + "{" * 20_000 + "}" * 20_000 + "}", "\\boxed{" + "9" * 100_000 + "}",
        "\\boxed{(10^{10})!}", "\\boxed{" + "\\sqrt{" * 500 + "2" + "}" * 500 + "}", "\\boxed{\\int " * 200,
        "\\boxed{" + "+".join(f"\\sqrt{{x^{n}+{n}}}" for n in range(2, 60)) + "}", "\\boxed{__import__('os')}",
        "\\boxed{\x00\ufffe\u202e}", "<think>" * 10_000,
    ]  # fmt: skip
    found = [{"verifier": "math", "response": text, "reference": "\\sqrt{x}"} for text in responses]
    found += [{"verifier": "regex", "response": "a" * 40 + "!", "reference": "(?=a)(a+)+\\1$"} for _ in range(2)]
    killers = TESTS / "data" / "math" / "killers.jsonl"
    if killers.exists():
        for line in killers.read_text().splitlines():
            case = json.loads(line)
            reference = case.get("reference", case.get("gold"))
            found.append({"verifier": "math", "response": case["response"], "reference": reference})
    return found


@pytest.mark.chaos
def test_bombs_harm_nobody_else(battered: Any) -> None:
    neighbours = math_items(60, first=10_000) + items(60)
    expected = verdicts(score(battered, neighbours, cache="off")["results"])
    assert "failed" not in {result["status"] for result in expected}
    mixed = list(neighbours)
    bad = bombs()
    for n, bomb in enumerate(bad):
        mixed.insert(n * len(mixed) // len(bad), bomb)
    results = verdicts(score(battered, mixed, cache="off")["results"])
    beside = [result for result, item in zip(results, mixed, strict=True) if item not in bad]
    assert [{**result, "id": 0} for result in beside] == [{**result, "id": 0} for result in expected]
    for result, item in zip(results, mixed, strict=True):
        if item in bad:
            assert result["status"] in ("ok", "invalid"), item
            assert not result["score"], item
    assert is_ready(battered)


# Callers


def test_a_caller_gone_in_mid_stream_stops_the_work(battered: Any) -> None:
    batch = math_items(4000, first=20_000)
    for count, _ in enumerate(streamed(battered, batch), 1):
        if count == 10:
            break
    eventually(lambda: metric(battered, "in_flight_items") == 0)
    eventually(lambda: metric(battered, "queue_items", verifier="math") == 0)
    eventually(lambda: metric(battered, "workers_busy") == 0)
    assert metric(battered, "requests_total", code="499", method="/v1/score") >= 1
    judged = score(battered, batch, deadline_s=0.05)["summary"]["cached"]
    assert 10 <= judged < 2000


@pytest.mark.chaos
def test_three_hundred_callers_who_hang_up_leave_nothing_behind(battered: Any) -> None:
    """In the middle of the body, right after it, or at the first results, with a megabyte each."""
    batch = math_items(20, first=40_000)
    for item in batch:
        item["prompt"] = "x" * 50_000
    body = json.dumps({"items": batch, "cache": "off"}).encode()
    head = f"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n"
    sent = head.encode() + body
    after_warm_up_mb = 0.0
    for n in range(300):
        with connect(battered) as caller:
            caller.sendall(sent[: len(sent) // 2] if n % 3 == 0 else sent)
            if n % 3 == 2:
                assert caller.recv(1000).startswith(b"HTTP/1.1 200")
        if n == 50:
            after_warm_up_mb = rss_mb(battered)
    for gauge in ("in_flight_items", "in_flight_bytes", "in_flight_requests", "queue_items", "workers_busy"):
        eventually(lambda gauge=gauge: metric(battered, gauge) == 0)  # type: ignore[misc]
    assert rss_mb(battered) - after_warm_up_mb < 80
    assert score(battered, items(10))["summary"]["items"] == 10


def connect(served: Any) -> socket.socket:
    address = urlsplit(served.url)
    return socket.create_connection((address.hostname, address.port), timeout=60)


def rss_mb(served: Any) -> float:
    pages = int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# Bytes


def refused(reply: httpx.Response) -> None:
    assert 400 <= reply.status_code < 500, (reply.status_code, reply.text[:300])
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["title"]


@pytest.mark.parametrize("encoding", ["identity", "gzip", "zstd"])
def test_a_megabyte_of_noise(served: Any, encoding: str) -> None:
    noise = random.Random(encoding).randbytes(1_000_000)
    refused(
        httpx.post(f"{served.url}/v1/score", content=noise, headers={"Content-Encoding": encoding}, timeout=PATIENCE_S)
    )


@pytest.fixture(scope="module")
def caller() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=PATIENCE_S) as client:
        yield client


header_names = st.sampled_from(["content-encoding", "content-type", "accept", "authorization", "traceparent"])
header_values = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30) | st.sampled_from(
    ["gzip", "zstd", "identity", "application/json", "application/x-ndjson"]
)


@pytest.mark.contract
@given(st.binary(max_size=2000), st.dictionaries(header_names, header_values, max_size=2))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_refused_politely(
    served: Any, caller: httpx.Client, body: bytes, headers: dict[str, str]
) -> None:
    assume(body.translate(None, b" \t\r\n") != b"[]")  # a batch without items is answered
    refused(caller.post(f"{served.url}/v1/score", content=body, headers=headers))


VALID = json.dumps(
    {"items": [*items(12), *lookaround_items(2)], "references": {"p": [1, "é"]}, "deadline_s": 5}
).encode()


@given(st.lists(st.tuples(st.integers(0, len(VALID) - 1), st.integers(0, 255)), min_size=1, max_size=4))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_request_is_judged_or_refused(
    served: Any, caller: httpx.Client, damage: list[tuple[int, int]]
) -> None:
    body = bytearray(VALID)
    for place, byte in damage:
        body[place] = byte
    reply = caller.post(f"{served.url}/v1/score", content=bytes(body))
    if reply.status_code != 200:
        refused(reply)
        return
    for result in reply.json()["results"]:
        assert result["status"] in ("ok", "invalid")
        assert (result["score"] is None) == (result["status"] == "invalid")


# The end


@pytest.mark.chaos
def test_sigterm_while_streams_are_open(tmp_path: Path) -> None:
    """What was admitted is answered, an idle stream holds up nothing, and the exit is clean."""
    go_on = tmp_path / "go on"
    batch = held(200, go_on)
    with (
        serving_slowly(tmp_path, drain_timeout_s=f"{PATIENCE_S}") as served,
        grpc.insecure_channel(served.grpc) as channel,
    ):
        raw: Any = channel
        stub = raw.stream_stream("/rewardline.v1.Verifier/ScoreStream", pb.Item.SerializeToString, pb.Result.FromString)
        ends: list[Callable[[], None]] = []
        idle, busy = (stub(sent_and_held(part, ends)) for part in (items(1), batch))
        assert next(idle).status == pb.STATUS_OK
        eventually(lambda: metric(served, "in_flight_items") > 100)
        served.process.send_signal(signal.SIGTERM)
        go_on.touch()
        answered: list[Any] = []
        for call in (busy, idle):
            with pytest.raises(grpc.RpcError) as caught:
                answered += call
            assert caught.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
        assert served.process.wait(timeout=PATIENCE_S) == 0
        for end in ends:
            end()
    # Every item that was read has its answer; what the server had not read yet, the caller sends to another.
    assert len(answered) > 100
    assert sorted(result.index for result in answered) == list(range(len(answered)))
    assert [result.score for result in sorted(answered, key=lambda result: result.index)] == [
        float(n % 3 != 0) for n in range(len(answered))
    ]


def sent_and_held(batch: Sequence[JSON], ends: list[Callable[[], None]]) -> Iterator[Any]:
    """The items, after which the stream stays open until the last of `ends` is called."""
    messages: list[Any] = [
        pb.Item(
            response=item["response"],
            verifier=item["verifier"],
            reference_json=json.dumps(item["reference"]) if "reference" in item else "",
            params_json=json.dumps(item.get("params", {})),
        )
        for item in batch
    ]
    return held_open(messages, ends)


def held_open(messages: Sequence[Any], ends: list[Callable[[], None]]) -> Iterator[Any]:
    reading, writing = os.pipe()
    ends.append(lambda: os.close(writing))

    def send() -> Iterator[Any]:
        yield from messages
        os.read(reading, 1)
        os.close(reading)

    return send()
