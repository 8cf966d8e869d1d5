"""Traces as a collector gets them: real services, a real OTLP/HTTP receiver, and a judge that writes down its headers."""

import asyncio
import gzip
import json
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from rewardline.pb import rewardline_pb2 as pb

from service.observe.otlp import QUEUE_SPANS, Exporter, url_of
from service.settings import Settings, SettingsError, read
from tests.conftest import ROOT, Serve, Served, serving
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S, eventually
from tracing import spans

KEY = "0123456789abcdef-boxes"
JSON = dict[str, Any]


@dataclass(frozen=True)
class RecordedSpan:
    """One span as it was received."""

    service: str
    trace: str
    id: str
    parent: str
    name: str
    attributes: dict[str, Any]
    links: frozenset[str]
    """Their trace ids."""
    failed: str | None


class HttpThread:
    """A server on loopback that hands each POST to `answer(headers, body)`; `with` starts and stops it."""

    def __init__(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = outer.answer({name.lower(): value for name, value in self.headers.items()}, body)
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, headers: dict[str, str], body: bytes) -> bytes:
        raise NotImplementedError

    def __enter__(self) -> Any:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Collector(HttpThread):
    """Takes spans."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[RecordedSpan] = []
        self.raw = b""

    def answer(self, headers: dict[str, str], body: bytes) -> bytes:
        body = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        self.raw += body
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = _plain(group.resource.attributes)["service.name"]
            for scope in group.scope_spans:
                self.spans += [_recorded_span(service, span) for span in scope.spans]
        return b""

    def of(self, trace: str) -> list[RecordedSpan]:
        return [span for span in list(self.spans) if span.trace == trace]

    def one(self, trace: str, name: str) -> RecordedSpan:
        (found,) = [span for span in self.of(trace) if span.name == name]
        return found

    def await_door(self, trace: str, name: str = "POST /v1/score") -> None:
        eventually(lambda: any(span.name == name for span in self.of(trace)))


def _recorded_span(service: str, span: Any) -> RecordedSpan:
    return RecordedSpan(
        service,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.name,
        _plain(span.attributes),
        frozenset(link.trace_id.hex() for link in span.links),
        span.status.message if span.status.code == 2 else None,
    )


def _plain(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


class Judge(HttpThread):
    """A judge model that says yes to everything, as soon as `open` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.headers: list[dict[str, str]] = []
        self.open = threading.Event()
        self.open.set()

    def answer(self, headers: dict[str, str], body: bytes) -> bytes:
        self.headers.append(headers)
        self.open.wait(20)
        message = {"role": "assistant", "content": '{"reasoning": "", "verdict": "A"}'}
        return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()

    def file(self, folder: Path) -> Path:
        endpoint = {"base_url": f"{self.url}/v1", "model": "yes", "health": {"probe": False}}
        content = {
            "endpoints": {"yes": endpoint},
            "pools": {"judges": {"members": ["yes"]}},
            "profiles": {"reference": {"mode": "reference", "pool": "judges"}},
        }
        (folder / "judges.yaml").write_text(json.dumps(content))
        return folder / "judges.yaml"


@dataclass(frozen=True)
class System:
    """A service with everything behind it, and where its spans go."""

    front: Served
    collector: Collector
    judge: Judge

    def score(self, *items: JSON, traceparent: str = "", **more: str) -> list[JSON]:
        headers = {"traceparent": traceparent, **more} if traceparent else more
        answer = httpx.post(f"{self.front.url}/v1/score", json={"items": items}, headers=headers, timeout=PATIENCE_S)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["results"])


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    folder = tmp_path_factory.mktemp("tracing")
    with (
        Collector() as collector,
        Judge() as judge,
        RedisServer(folder) as redis,
        serving(
            folder / "host.jsonl",
            sandbox="local",
            box_slots="1",
            workers="1",
            api_keys=f"front={KEY}",
            otlp_endpoint=collector.url,
        ) as host,
        serving(
            folder / "front.jsonl",
            box_hosts=host.url,
            box_hosts_key=KEY,
            workers="1",
            judge_file=str(judge.file(folder)),
            redis_url=redis.url,
            otlp_endpoint=f"{collector.url}/v1/traces",
            trace_share="0",
        ) as front,
    ):
        yield System(front, collector, judge)


def math(response: str) -> JSON:
    return {"verifier": "math", "response": f"\\boxed{{{response}}}", "reference": "(x+1)^2/2"}


def code(number: int) -> JSON:
    reference = {"test_cases": [{"input": "", "expected_output": str(number)}]}
    return {"verifier": "code", "response": f"```python\nprint({number})\n```", "reference": reference}


def judged(response: str) -> JSON:
    return {"verifier": "judge", "response": response, "reference": "Paris", "prompt": "The capital of France?"}


def parent(flags: str = "01") -> tuple[str, str, str]:
    """A caller's header, with the ids of trace and span in it."""
    trace, span = secrets.token_hex(16), secrets.token_hex(8)
    return f"00-{trace}-{span}-{flags}", trace, span


def test_one_trace_goes_from_the_caller_to_workers_boxes_and_judges(system: System) -> None:
    header, trace, caller = parent()
    system.judge.headers.clear()
    results = system.score(
        math("x^2/2 + x + 1/2"), code(7), judged("It is Paris"), traceparent=header, tracestate="trainer=step12"
    )
    assert [result["score"] for result in results] == [1.0] * 3
    system.collector.await_door(trace)
    eventually(lambda: any(span.name == "program in a box" for span in system.collector.of(trace)))
    eventually(lambda: any(span.name == "POST /v1/boxes/runs" for span in system.collector.of(trace)))
    received = system.collector.of(trace)
    by_id = {span.id: span for span in received}

    def path(span: RecordedSpan) -> list[str]:
        above = by_id.get(span.parent)
        return [span.name] if above is None else [*path(above), span.name]

    paths = sorted(path(span) for span in received if path(span)[1:] != ["judge", "redis MGET"])
    door = ["POST /v1/score"]
    on_host = [*door, "judge", "program on a box host", "POST /v1/boxes/runs", "program in a box"]
    assert paths == sorted(
        [
            door,
            [*door, "prepare"],
            [*door, "look up in caches"],
            [*door, "look up in caches", "redis MGET"],
            *[[*door, "judge"]] * 3,
            [*door, "judge", "worker"],
            [*door, "judge", "call a judge"],
            *[on_host[:length] for length in (3, 4, 5)],
            [*on_host, "wait for a box"],
        ]
    )
    assert system.collector.one(trace, "POST /v1/score").parent == caller
    assert system.collector.one(trace, "POST /v1/score").attributes == {
        "http.route": "/v1/score",
        "http.response.status_code": 200,
        "rewardline.tenant": "default",
        **{f"rewardline.{name}": 0 for name in ("invalid", "failed", "cached", "deduplicated")},
        **{f"rewardline.{name}": 3 for name in ("items", "ok")},
    }
    (asked,) = system.judge.headers
    assert asked["traceparent"].split("-")[1:3] == [trace, system.collector.one(trace, "call a judge").id]
    assert asked["tracestate"] == "trainer=step12"
    for text in (b"boxed", b"Paris", b"France", b"print(", KEY.encode()):
        assert text not in system.collector.raw


@pytest.mark.contract
def test_requests_that_share_a_verdict_are_both_linked_to_its_work(system: System) -> None:
    first, first_trace, _ = parent()
    second, second_trace, _ = parent()
    system.judge.headers.clear()
    system.judge.open.clear()
    with ThreadPoolExecutor(2) as threads:
        asking = threads.submit(system.score, judged("Paris, for both"), traceparent=first)
        eventually(lambda: len(system.judge.headers) == 1)
        sharing = threads.submit(system.score, judged("Paris, for both"), traceparent=second)
        eventually(lambda: _metric(system.front, "rewardline_in_flight_requests") == 2)
        eventually(lambda: any(span.name == "prepare" for span in system.collector.of(second_trace)))
        system.judge.open.set()
        assert asking.result()[0]["score"] == sharing.result()[0]["score"] == 1.0
    for trace in (first_trace, second_trace):
        system.collector.await_door(trace)
    assert len(system.judge.headers) == 1
    assert system.collector.one(first_trace, "judge").links == {first_trace, second_trace}
    assert {span.name for span in system.collector.of(second_trace)} == {"POST /v1/score", "prepare"}
    assert system.collector.one(second_trace, "POST /v1/score").links == {first_trace}


def test_who_is_not_traced_stays_so_and_the_next_service_is_told(system: System) -> None:
    header, trace, _ = parent("00")
    system.judge.headers.clear()
    system.score(judged("Paris, untraced"), traceparent=header)
    system.score(judged("Paris, by chance"))  # trace_share is 0
    asked, by_chance = (headers["traceparent"].split("-") for headers in system.judge.headers)
    assert (asked[1], int(asked[3], 16) & 1) == (trace, 0)
    assert int(by_chance[3], 16) & 1 == 0
    later, later_trace, _ = parent()
    system.score(math("x"), traceparent=later)
    system.collector.await_door(later_trace)
    assert not system.collector.of(trace)
    assert not system.collector.of(by_chance[1])


def test_a_damaged_traceparent_costs_nothing(system: System) -> None:
    for header in ("00-" + "0" * 32 + "-" + "0" * 16 + "-01", "nonsense", "00-" + "f" * 4000):
        assert system.score(math("x^2/2 + x + 1/2"), traceparent=header)[0]["score"] == 1.0


def test_a_refused_request_has_a_span_with_its_code(system: System) -> None:
    header, trace, _ = parent()
    answer = httpx.post(f"{system.front.url}/v1/score", content=b"{", headers={"traceparent": header})
    assert answer.status_code == 400
    system.collector.await_door(trace)
    door = system.collector.one(trace, "POST /v1/score")
    assert (door.attributes["http.response.status_code"], door.failed) == (400, None)
    httpx.get(f"{system.front.url}/healthz", headers={"traceparent": parent()[0]})
    assert "GET /healthz" not in {span.name for span in system.collector.spans}


def test_the_access_log_names_the_trace(system: System) -> None:
    header, trace, _ = parent()
    system.score(math("x^2/2 + x + 1/2"), traceparent=header, **{"x-request-id": trace[:5]})
    lines: list[dict[str, Any]] = []

    def has_logged() -> bool:
        lines[:] = [line for line in system.front.logged() if line.get("request_id") == trace[:5]]
        return len(lines) > 0

    eventually(has_logged)
    assert [(line["event"], line["trace_id"]) for line in lines] == [("request", trace)]


def test_grpc_calls_are_traced_and_of_a_long_stream_only_the_beginning(system: System) -> None:
    batch, batch_trace, caller = parent()
    stream, stream_trace, _ = parent()
    item = pb.Item(response="12", verifier="numeric", reference_json='"12"')
    path = "/rewardline.v1.Verifier"
    with grpc.insecure_channel(system.front.grpc) as channel:
        score = channel.unary_unary(f"{path}/Score", pb.ScoreRequest.SerializeToString, pb.ScoreResponse.FromString)
        assert score(pb.ScoreRequest(items=[item]), metadata=(("traceparent", batch),)).results[0].score == 1.0
        send = channel.stream_stream(f"{path}/ScoreStream", pb.Item.SerializeToString, pb.Result.FromString)
        results = list(send(iter([item] * 150), metadata=(("traceparent", stream),)))
        assert [result.score for result in results] == [1.0] * 150
    system.collector.await_door(batch_trace, "rewardline.v1.Verifier/Score")
    system.collector.await_door(stream_trace, "rewardline.v1.Verifier/ScoreStream")
    door = system.collector.one(batch_trace, "rewardline.v1.Verifier/Score")
    assert door.parent == caller
    assert (door.attributes["rpc.response.status_code"], door.attributes["rewardline.items"]) == ("OK", 1)
    names = [span.name for span in system.collector.of(stream_trace)]
    assert names.count("item") == names.count("prepare") == 100


@pytest.mark.contract
def test_a_collector_that_is_away_or_hangs_costs_no_request(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # connections are made, and nobody reads
        away = serve(otlp_endpoint="http://127.0.0.1:9", sandbox="none", workers="1")
        hangs = serve(otlp_endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}", sandbox="none", workers="1")
        for server in (away, hangs):
            with httpx.Client(timeout=PATIENCE_S) as client:
                for number in range(40):
                    item = {"verifier": "numeric", "response": str(number), "reference": str(number)}
                    answer = client.post(f"{server.url}/v1/score", json={"items": [item] * 20})
                    assert answer.json()["summary"]["ok"] == 20
        eventually(lambda: _metric(away, "rewardline_spans_lost_total") > 0)
        assert _metric(away, "rewardline_spans_sent_total") == 0
        assert "the collector of traces changed" in away.log.read_text()
        assert away.log.read_text().count("traces") < 5
        assert away.stop() == hangs.stop() == 0


@pytest.mark.contract
def test_what_a_hanging_collector_makes_wait_is_bounded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        exporter = Exporter(f"http://127.0.0.1:{silent.getsockname()[1]}", 1.0, "0")
        try:
            for _ in range(QUEUE_SPANS + 5000):
                exporter.tracer.begin_request("request", {}).end()
            assert exporter.sent == 0
            assert exporter.lost >= 1000
        finally:
            exporter.close()


def test_what_waits_when_a_service_stops_is_sent(serve: Serve) -> None:
    with Collector() as collector:
        server = serve(otlp_endpoint=collector.url, sandbox="none", workers="1")
        httpx.post(f"{server.url}/v1/score", json={"items": [math("x^2/2 + x + 1/2")]}, timeout=PATIENCE_S)
        assert server.stop() == 0
        assert "POST /v1/score" in {span.name for span in collector.spans}
        assert {span.service for span in collector.spans} == {"rewardline"}


@pytest.mark.trainers
def test_without_the_extra_the_service_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['opentelemetry.sdk.trace'] = None; sys.argv = ['rewardline', 'serve'];"
        "from service.__main__ import main; main()"
    )
    environment = {"REWARDLINE_OTLP_ENDPOINT": "http://127.0.0.1:9", "REWARDLINE_HTTP_PORT": "0"}
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, cwd=ROOT, timeout=60
    )
    assert ended.returncode != 0
    assert "pip install 'rewardline-server[otel]'" in " ".join((ended.stderr + ended.stdout).split())


@pytest.mark.contract
def test_without_the_setting_nothing_of_opentelemetry_is_imported_for_it() -> None:
    """FastAPI and redis-py import what they find of it by themselves; what sends traces is not there."""
    program = (
        "import sys, sandbox.workers, sandbox.boxes.pool, sandbox.boxes.remote.remote, verifiers.judge\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]\n"
        "from service.run import server; from service.observe import tracing; from service.settings import Settings\n"
        "with tracing.open_tracing(Settings(), '0') as nothing: assert nothing is None\n"
        "ours = ('opentelemetry.exporter', 'opentelemetry.proto', 'service.observe.otlp')\n"
        "assert not [name for name in sys.modules if name.startswith(ours)]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, timeout=60)


def test_collectors_are_named_with_or_without_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    assert url_of("http://c:4318") == url_of("http://c:4318/") == url_of("http://c:4318/v1/traces")
    assert url_of("https://c/otlp/") == "https://c/otlp/v1/traces"
    monkeypatch.setenv("REWARDLINE_OTLP_ENDPOINT", "c:4318")
    with pytest.raises(SettingsError, match="otlp_endpoint"):
        read()
    assert Settings(otlp_endpoint="http://c:4318").trace_share == 1


class Made:
    """A span of no library."""

    def __init__(self, name: str, *, is_recorded: bool = True) -> None:
        self.name, self.is_recorded = name, is_recorded
        self.trace_id = name
        self.headers = {"traceparent": name}
        self.attributes: dict[str, Any] = {}
        self.links: list[spans.Span] = []
        self.failed = ""
        self.ended = 0

    def set(self, attributes: Any) -> None:
        self.attributes.update(attributes)

    def link(self, other: spans.Span) -> None:
        self.links.append(other)

    def fail(self, why: str) -> None:
        self.failed = why

    def end(self) -> None:
        self.ended += 1


class Maker:
    """A tracer of no library."""

    def __init__(self) -> None:
        self.made: list[Made] = []

    def begin_request(self, name: str, carrier: Any) -> Made:
        self.made.append(Made(name, is_recorded=carrier.get("traceparent") != "no"))
        return self.made[-1]

    def begin(self, name: str, kind: str, parent: spans.Span, links: Any) -> Made:
        self.made.append(Made(f"{parent.trace_id}/{name}"))
        self.made[-1].links += links
        return self.made[-1]


@pytest.fixture
def maker() -> Iterator[Maker]:
    made = Maker()
    spans.use(made)
    yield made
    spans.leave()
    spans.use(None)


def test_a_block_that_raises_fails_by_the_name_of_its_error_alone(maker: Maker) -> None:
    spans.enter("request", {})
    with pytest.raises(ValueError), spans.span("part", number=1):
        raise ValueError("a text of the caller's")
    part = maker.made[1]
    assert (part.name, part.failed, part.ended, part.attributes) == (
        "request/part",
        "ValueError",
        1,
        {"rewardline.number": 1},
    )
    assert spans.current() is maker.made[0]


async def test_one_that_is_cancelled_has_not_failed(maker: Maker) -> None:
    @spans.traced("part")
    async def wait() -> None:
        raise asyncio.CancelledError

    spans.enter("request", {})
    with pytest.raises(asyncio.CancelledError):
        await wait()
    assert (maker.made[1].failed, maker.made[1].attributes) == ("", {"rewardline.cancelled": True})


def test_shared_work_is_part_of_the_first_that_is_recorded(maker: Maker) -> None:
    unseen = spans.enter("unseen", {"traceparent": "no"})
    one, two = Made("one"), Made("two")
    with spans.shared("work", [None, unseen, one, two, one]) as work:
        assert work is maker.made[1]
        assert (maker.made[1].name, maker.made[1].links) == ("one/work", [one, two])
    with spans.shared("work", [None, unseen]), spans.span("below"):
        assert spans.headers() == {"traceparent": "unseen"}
    with spans.shared("work", [None]):
        assert spans.current() is None
    assert len(maker.made) == 2


def test_without_a_tracer_nothing_is_made() -> None:
    assert spans.enter("request", {}) is None
    with spans.span("part") as part, spans.shared("work", [Made("one")]) as work:
        assert part is work is None
        assert not spans.headers()


def _metric(server: Served, name: str) -> float:
    lines = httpx.get(f"{server.url}/metrics").text.splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(f"{name} ")))
