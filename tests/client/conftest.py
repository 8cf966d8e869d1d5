"""A small server with the HTTP contract. It keeps state, causes faults on demand, and runs in a thread."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from aiohttp import web
from rewardline.hook import close_clients
from rewardline.trl import functions

from tests.waiting import PATIENCE_S

Body = dict[str, Any]
Fault = Callable[[web.Request, Body], Awaitable[web.StreamResponse | None]]

_FIELDS = {"id", "verifier", "recipe", "response", "reference", "reference_id", "params", "metadata", "tag"}


class FakeServer:
    """Judges by equality of response and reference. Each request uses up one of `faults`, before judging."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.url = ""
        self.bodies: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.arrived_at: list[float] = []
        self.connections: set[Any] = set()
        self.in_flight = 0
        self.most_in_flight = 0
        self.faults: deque[Fault] = deque()
        self.fails: Counter[str] = Counter()
        """For each response, how often its items still get `failed`."""
        self.failure: dict[str, Any] = {"reason": "worker_lost"}
        self.max_items = 4096
        self.max_bytes = 64 * 1024 * 1024
        self.api_key: str | None = None
        self.extra_fields: dict[str, Any] = {}
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._up = threading.Event()
        self._down: asyncio.Event | None = None

    def start(self) -> None:
        self._thread.start()
        assert self._up.wait(20)

    def stop(self) -> None:
        assert self._down is not None
        self.release(self._down)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def release(self, event: asyncio.Event) -> None:
        self.loop.call_soon_threadsafe(event.set)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._main())

    async def _main(self) -> None:
        self._down = asyncio.Event()
        app = web.Application(client_max_size=1 << 30)
        app.router.add_post("/v1/score", self._score)
        app.router.add_get("/v1/verifiers", self._verifiers)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        self._up.set()
        await self._down.wait()
        assert runner.server is not None
        transports = [connection.transport for connection in runner.server.connections]
        await runner.cleanup()
        for transport in transports:
            if transport is not None:  # a client that reads no more leaves it with something to write
                transport.abort()
        await asyncio.sleep(0)  # the transports close

    async def _verifiers(self, request: web.Request) -> web.StreamResponse:
        if self.faults:
            answer = await self.faults.popleft()(request, {})
            if answer is not None:
                return answer
        return web.json_response({"verifiers": [{"name": "math", "version": "1"}]})

    async def _score(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        self.connections.add(request.transport.get_extra_info("peername"))
        raw = await request.read()
        body: Body = json.loads(raw)
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self.arrived_at.append(self.loop.time())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.faults:
                answer = await self.faults.popleft()(request, body)
                if answer is not None:
                    return answer
            return await self._answer(request, body, len(raw))
        finally:
            self.in_flight -= 1

    async def _answer(self, request: web.Request, body: Body, size: int) -> web.StreamResponse:
        if self.api_key is not None and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            return problem(401, "Unauthorized", "this key is not known")
        if len(body["items"]) > self.max_items or size > self.max_bytes:
            return problem(413, "Too large", f"at most {self.max_items} items")
        errors = [
            {"loc": ["items", position, name], "msg": "unknown field"}
            for position, item in enumerate(body["items"])
            for name in item
            if name not in _FIELDS
        ]
        if errors:
            return problem(422, "Invalid request", "unknown fields", errors[:1])
        results = [self._judge(item, position, body) for position, item in enumerate(body["items"])]
        if "application/x-ndjson" not in request.headers.get("Accept", ""):
            return web.json_response({"results": results, "summary": {"items": len(results)}})
        lines = [{"index": position, **result} for position, result in reversed(list(enumerate(results)))]
        text = "".join(json.dumps(line) + "\n" for line in [*lines, {"summary": {"items": len(results)}}])
        return web.Response(text=text, content_type="application/x-ndjson")

    def _judge(self, item: Body, position: int, body: Body) -> Body:
        response = item["response"]
        answer: Body = {
            "id": item.get("id", str(position)),
            "verifier": item.get("verifier", ""),
            "version": "1",
            "extracted": None,
            "detail": {},
            "checks": None,
            "cached": False,
            "elapsed_ms": 0.1,
            **self.extra_fields,
        }
        if any("\ud800" <= letter <= "\udfff" for letter in response):
            return {**answer, "status": "invalid", "score": None, "reward": None, "reason": "bad_text"}
        if self.fails[response] > 0:
            self.fails[response] -= 1
            return {**answer, "status": "failed", "score": None, "reward": None, **self.failure}
        reference = body.get("references", {}).get(item.get("reference_id"), item.get("reference"))
        if reference is None:
            return {**answer, "status": "invalid", "score": None, "reward": None, "reason": "no_reference"}
        score = 1 if response == reference else 0
        return {**answer, "status": "ok", "score": score, "reward": score, "reason": "correct" if score else "wrong"}


def problem(status: int, title: str, detail: str = "", errors: list[Body] | None = None) -> web.Response:
    return web.json_response(
        {"type": "about:blank", "title": title, "detail": detail, "errors": errors or []},
        status=status,
        content_type="application/problem+json",
    )


@pytest.fixture
def server() -> Iterator[FakeServer]:
    running = FakeServer()
    running.start()
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def own_clients() -> Iterator[None]:
    """Gives each test its own clients and names, so that no test sees what another one's hooks have."""
    functions._NAMED.clear()
    yield
    close_clients()
