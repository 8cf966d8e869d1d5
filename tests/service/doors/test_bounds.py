"""A greedy team and a modest one at the bounds of what all share: the greedy one is refused, and leaves room."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairness import TENANT
from service.doors.compat import roll_tasks
from service.doors.compat.openenv import OpenEnv
from service.doors.http.gate import Gate
from service.doors.http.page_guard import PageGuard
from service.errors import Overloaded
from service.limits import keys
from service.limits.admission import Admission
from service.limits.keys import Caller, Keys
from service.observe.metrics import Metrics
from service.settings import Settings
from service.usage.ledger import Ledger
from service.wire import CacheMode, Result, ScoreItem
from tests.conftest import serving
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S, turns, until

ITEM = {"verifier": "exact_match", "response": "a", "reference": "a"}
MOST = 20
GREEDY, MODEST = "greedy", "modest"

Post = Callable[[str], httpx.Response]


@contextmanager
def two_teams(folder: Path, **settings: str) -> Iterator[Any]:
    """Sends a request as one of two teams."""
    made = {name: keys.new_key() for name in (GREEDY, MODEST)}
    path = folder / "keys.yaml"
    path.write_text(yaml.safe_dump({"keys": {name: {"sha256": digest} for name, (_, digest) in made.items()}}))
    with ExitStack() as stack:
        served = stack.enter_context(
            serving(folder / "log.jsonl", (), None, keys_file=str(path), sandbox="none", workers="1", **settings)
        )
        client = stack.enter_context(httpx.Client(base_url=served.url, timeout=PATIENCE_S))

        def send(team: str, path: str, body: Any) -> httpx.Response:
            return client.post(path, json=body, headers={"Authorization": f"Bearer {made[team][0]}"})

        yield send


def accepted(send: Post) -> int:
    """How much the greedy team gets before it is refused, in the way of a full service."""
    for number in count():
        reply = send(GREEDY)
        if reply.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            assert int(reply.headers["retry-after"]) >= 1
            assert reply.json()["type"] == "urn:rewardline:error:overloaded"
            assert "yours" in reply.json()["detail"]
            return number
        assert reply.is_success, reply.text
    raise AssertionError("never refused")


def check(send: Post) -> None:
    assert accepted(send) == MOST * 3 // 4
    assert all(send(MODEST).is_success for _ in range(3))
    assert send(GREEDY).status_code == HTTPStatus.TOO_MANY_REQUESTS


def test_jobs_in_redis(tmp_path: Path, redis_server: RedisServer) -> None:
    with two_teams(tmp_path, max_jobs=f"{MOST}", redis_url=redis_server.url) as post:
        check(lambda team: post(team, "/v1/jobs", {"items": [ITEM]}))


def test_jobs_and_interactions_in_memory(tmp_path: Path) -> None:
    with two_teams(tmp_path, max_jobs=f"{MOST}", max_interactions_in_memory=f"{MOST}") as post:
        check(lambda team: post(team, "/v1/jobs", {"items": [ITEM]}))
        check(lambda team: post(team, "/v1/interactions", {"verifier": "exact_match", "reference": "a"}))


class Never:
    """A scorer that is never done."""

    async def results(self, items: Sequence[ScoreItem], *, deadline: float, cache: CacheMode) -> Sequence[Result]:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")


async def test_tasks_of_roll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll_tasks, "_MAX_TASKS", MOST)
    item = ScoreItem(response="a")
    scorer: Any = Never()
    async with roll_tasks.Tasks(Settings(), scorer, Admission(1000, 1000), lambda body, query: (item, "use")) as tasks:

        async def submit(team: str) -> None:
            TENANT.set(team)
            await tasks.submit(roll_tasks.Task(b"body", b"", 60.0))

        for _ in range(MOST * 3 // 4):
            await submit(GREEDY)
        with pytest.raises(Overloaded, match="15 of them yours") as refused:
            await submit(GREEDY)
        assert refused.value.retry_after_s
        for _ in range(3):
            await submit(MODEST)
        with pytest.raises(Overloaded):
            await submit(GREEDY)


class Talk:
    """One call to an ASGI application, which goes on until `end`."""

    def __init__(self, app: ASGIApp, kind: str, path: str, team: str) -> None:
        self.sent: list[Message] = []
        self._end = asyncio.Event()
        self._is_first = True
        headers = [(b"authorization", f"Bearer {team}".encode())]
        scope = {"type": kind, "path": path, "method": "GET", "headers": headers, "query_string": b""}
        self._task: asyncio.Task[None] = asyncio.create_task(self._go(app, scope))

    async def _go(self, app: ASGIApp, scope: Scope) -> None:
        await app(scope, self._receive, self._send)

    async def end(self) -> None:
        self._end.set()
        await self._task

    async def _receive(self) -> Message:
        if self._is_first:
            self._is_first = False
            return {"type": "websocket.connect"}
        await self._end.wait()
        return {"type": "websocket.disconnect"}

    async def _send(self, message: Message) -> None:
        self.sent.append(message)


def known() -> Keys:
    return Keys({sha256(team.encode()).digest(): Caller(team) for team in (GREEDY, MODEST)})


async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
    """A route that answers when its caller has gone."""
    await receive()
    await receive()


async def test_open_websockets() -> None:
    interactions: Any = None
    env = OpenEnv(Settings(), known(), Admission(10, 10, MOST), Metrics("test"), interactions)

    async def opened(team: str, count: int) -> list[Talk]:
        talks = [Talk(env, "websocket", "/compat/openenv/ws", team) for _ in range(count)]
        await until(lambda: all(talk.sent for talk in talks))
        return talks

    large = await opened(GREEDY, 15)
    assert {talk.sent[0]["type"] for talk in large} == {"websocket.accept"}
    [refused] = await opened(GREEDY, 1)
    assert refused.sent == [{"type": "websocket.close", "code": 1008, "reason": "Overloaded"}]
    small = await opened(MODEST, 3)
    assert {talk.sent[0]["type"] for talk in small} == {"websocket.accept"}
    for talk in large:
        await talk.end()
    [again] = await opened(GREEDY, 1)
    assert again.sent[0]["type"] == "websocket.accept"
    for talk in (*small, again):
        await talk.end()


async def test_open_calls() -> None:
    gate = Gate(
        waiting, {}, lambda path: path, known(), Admission(10, 10, MOST), Metrics("test"), Ledger(), PageGuard()
    )
    large = [Talk(gate, "http", "/v1/jobs/1", GREEDY) for _ in range(15)]
    await turns()
    refused = Talk(gate, "http", "/v1/jobs/1", GREEDY)
    await until(lambda: bool(refused.sent))
    assert refused.sent[0]["status"] == HTTPStatus.TOO_MANY_REQUESTS
    assert b"retry-after" in dict(refused.sent[0]["headers"])
    small = Talk(gate, "http", "/v1/jobs/1", MODEST)
    probe = Talk(gate, "http", "/healthz", GREEDY)
    await turns()
    assert not small.sent
    assert not probe.sent
    for talk in (*large, small, probe):
        await talk.end()
