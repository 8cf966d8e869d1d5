"""The client says which trace of the trainer's a request is part of, and needs nothing for it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opentelemetry import baggage, context, trace
from opentelemetry.trace.span import TraceState
from rewardline import AsyncClient, Client

from tests.client.conftest import FakeServer
from tests.conftest import Served
from tests.waiting import eventually

TRACE, SPAN = "0123456789abcdef0123456789abcdef", "0123456789abcdef"
HEADER = f"00-{TRACE}-{SPAN}-01"
ITEM = {"verifier": "numeric", "response": "12", "reference": "12"}


@contextmanager
def span() -> Iterator[None]:
    """An active span, and baggage that is nobody else's business."""
    state = TraceState([("trainer", "step12")])
    known = trace.SpanContext(int(TRACE, 16), int(SPAN, 16), False, trace.TraceFlags(1), state)
    token = context.attach(baggage.set_baggage("secret", "of the trainer"))
    try:
        with trace.use_span(trace.NonRecordingSpan(known)):
            yield
    finally:
        context.detach(token)


def traced(headers: dict[str, str]) -> dict[str, str]:
    names = ("traceparent", "tracestate", "baggage")
    return {name.lower(): value for name, value in headers.items() if name.lower() in names}


def test_a_blocking_client_says_of_which_span_its_requests_are_part(server: FakeServer) -> None:
    with Client(server.url) as client:
        with span():
            client.score([ITEM])
        client.score([{**ITEM, "response": "13"}])
    assert [traced(headers) for headers in server.headers] == [
        {"traceparent": HEADER, "tracestate": "trainer=step12"},
        {},
    ]


async def test_tasks_of_one_loop_each_say_their_own(server: FakeServer) -> None:
    async def score(number: int, client: AsyncClient) -> None:
        await client.score([{**ITEM, "response": str(number)}])

    async with AsyncClient(server.url) as client:
        with span():
            inside = asyncio.create_task(score(1, client))
        await asyncio.gather(inside, score(2, client))
    assert sorted(traced(headers).get("traceparent", "") for headers in server.headers) == ["", HEADER]


def test_over_grpc_too(served: Served) -> None:
    with Client(f"grpc://{served.grpc}") as client, span():
        assert client.score([ITEM])[0].score == 1.0
    eventually(lambda: f'"request_id":"{TRACE}"' in served.log.read_text())


def test_opentelemetry_is_not_imported_by_the_client() -> None:
    program = (
        "import sys, rewardline; from rewardline import trace_context\n"
        "assert trace_context.headers() == {}\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]\n"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program], check=True, cwd=root / "client", timeout=60)
