"""The service as an actor, and the client's calls of a pool of such actors, here with an own stand-in for Ray's calls.

Real clusters are in tests/ray. What they cannot show in each order is here: which actor gets a request, and what happens
when one is lost, refuses or comes back.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio
import rewardline
from rewardline import AsyncClient, InvalidRequest, Unavailable
from rewardline.ray import Rewards

from service.cluster.running import Running
from service.cluster.service_actor import ServiceActor
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

RIGHT = {"verifier": "numeric", "response": "\\boxed{4}", "reference": "4"}
WRONG = RIGHT | {"response": "\\boxed{5}"}


class RayError(Exception):
    pass


class Handle:
    """The handle of an actor: it counts calls, and loses its actor when a test says so."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self.items: list[int] = []
        self.is_lost = False
        self.says: int | None = None
        """The status that it answers in place of its actor's."""
        self.gate = asyncio.Event()
        self.gate.set()
        self.request = SimpleNamespace(remote=lambda *arguments: asyncio.ensure_future(self._request(*arguments)))
        self.health = SimpleNamespace(remote=lambda: asyncio.ensure_future(self._health()))

    async def _request(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Any:
        self.items.append(int(headers.get("x-item-count", "0")))
        await self.gate.wait()
        if self.is_lost:
            raise RayError("The actor died unexpectedly before finishing this task.\nmore")
        if self.says is not None:
            return self.says, {}, b"{}", 0
        return await self._actor.request(method, target, headers, body)

    async def _health(self) -> Any:
        if self.is_lost:
            raise RayError("The actor is dead")
        return await self._actor.health()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def actor() -> AsyncIterator[ServiceActor]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REWARDLINE_SANDBOX", "none")
        made = ServiceActor(workers=1)
        await made.health()
    yield made
    await made.drain()


@pytest.fixture
def pool(actor: ServiceActor, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Handle]]:
    """The actors of a pool of two, by name, in a stand-in for the module `ray`."""
    handles = {name: Handle(actor) for name in ("judges:a", "judges:b")}
    stand_in, exceptions = ModuleType("ray"), ModuleType("ray.exceptions")
    vars(exceptions)["RayError"] = RayError
    vars(stand_in).update(
        is_initialized=lambda: True,
        cancel=lambda call: call.cancel(),
        get_actor=lambda name, namespace: handles[name],
        util=SimpleNamespace(
            list_named_actors=lambda all_namespaces: [
                *({"name": name, "namespace": "rewardline"} for name in handles),
                {"name": "judges:c", "namespace": "another"},
                {"name": "judges2:d", "namespace": "rewardline"},
            ]
        ),
    )
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    monkeypatch.setitem(sys.modules, "ray.exceptions", exceptions)
    yield handles
    sys.modules.pop("rewardline.ray_transport")
    del vars(rewardline)["ray_transport"]


@pytest_asyncio.fixture(loop_scope="module")
async def rewards(pool: dict[str, Handle]) -> AsyncIterator[Rewards]:
    async with Rewards("judges", batch_items=10, timeout_s=PATIENCE_S, max_retries=1_000) as made:
        yield made


def scores(results: Any) -> list[Any]:
    return [each.score for each in results]


async def test_the_answers_are_those_of_http(rewards: Rewards) -> None:
    results = await rewards.score([RIGHT, WRONG, RIGHT | {"verifier": "numberic"}], explain=True)
    assert [(each.status.value, each.score) for each in results] == [("ok", 1.0), ("ok", 0.0), ("invalid", None)]
    with pytest.raises(InvalidRequest) as caught:
        await rewards.score([RIGHT, RIGHT | {"refrence": "4"}])
    assert caught.value.errors[0].loc == ("items", 1, "refrence")
    assert "numeric" in {each["name"] for each in await rewards.verifiers()}
    opened = await rewards.open_interaction({"verifier": "numeric", "reference": "4"})
    turn = await rewards.take_turn(opened, [{"role": "assistant", "content": "\\boxed{4}"}], 1)
    assert turn.reward == 1.0
    with pytest.raises(rewardline.NotFound):
        await rewards.show_interaction("nobody's")
    assert (await rewards.score_one(RIGHT, run_id="step-7")).score == 1.0
    assert "step-7" in str(await rewards.usage())


async def test_a_request_goes_to_the_actor_with_the_fewest_items(rewards: Rewards, pool: dict[str, Handle]) -> None:
    a, b = pool.values()
    await rewards.verifiers()
    for handle in (a, b):
        handle.items.clear()
        handle.gate.clear()
    sent = asyncio.create_task(rewards.score([RIGHT] * 34))
    await until(lambda: len(a.items) + len(b.items) == 4)
    assert sorted([sum(a.items), sum(b.items)]) == [14, 20]
    small = asyncio.create_task(rewards.score([WRONG]))
    await until(lambda: len(a.items) + len(b.items) == 5)
    assert sorted([sum(a.items), sum(b.items)]) == [15, 20]
    for handle in (a, b):
        handle.gate.set()
    assert scores(await sent) == [1.0] * 34
    assert scores(await small) == [0.0]


@pytest.mark.parametrize("trouble", ["is lost", 503, 429])
async def test_another_actor_judges_what_one_cannot(
    rewards: Rewards, pool: dict[str, Handle], trouble: str | int
) -> None:
    a, b = pool.values()
    await rewards.verifiers()
    if trouble == "is lost":
        a.is_lost = True
    else:
        a.says = int(trouble)
    a.items.clear()
    assert scores(await rewards.score([RIGHT] * 40 + [WRONG])) == [1.0] * 40 + [0.0]
    assert a.items, "it was never asked"
    a.is_lost, a.says = False, None
    a.items.clear()
    while not a.items:
        assert scores(await rewards.score([RIGHT] * 40)) == [1.0] * 40
    assert b.items


async def test_without_an_actor_that_can_judge_there_is_no_score(pool: dict[str, Handle]) -> None:
    for handle in pool.values():
        handle.says = 429
    async with Rewards("judges", max_retries=0, timeout_s=2.0) as rewards:
        result = await rewards.score_one(RIGHT)
    assert (result.status.value, result.reason, result.score) == ("failed", "overloaded", None)
    pool.clear()
    async with Rewards("judges", max_retries=0) as rewards:
        result = await rewards.score_one(RIGHT)
        assert (result.status.value, result.reason, result.score) == ("failed", "unreachable", None)
        assert "rewardline.ray.start()" in result.detail["message"]
        with pytest.raises(Unavailable, match="no actor of the pool 'judges'"):
            await rewards.verifiers()


async def test_a_cancelled_call_stops_its_work(rewards: Rewards, pool: dict[str, Handle], actor: ServiceActor) -> None:
    await rewards.verifiers()
    for handle in pool.values():
        handle.gate.clear()
    sent = asyncio.create_task(rewards.score([RIGHT] * 3))
    await until(lambda: any(3 in handle.items for handle in pool.values()))
    sent.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sent
    for handle in pool.values():
        handle.gate.set()
    assert (await actor.health())["items_in_flight"] == 0
    assert scores(await rewards.score([RIGHT])) == [1.0]


async def test_a_service_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDLINE_RECIPES_FILE", "/nowhere/recipes.yaml")
    with pytest.raises(Unavailable, match=r"the service cannot start here: .*nowhere"):
        await Running.begin(workers=1)
    monkeypatch.setenv("REWARDLINE_RECIPES_FILE", "")
    monkeypatch.setenv("REWARDLINE_CACHE_TTL_S", "soon")
    with pytest.raises(Unavailable, match="cache_ttl_s"):
        await ServiceActor(workers=1).health()


async def test_a_drained_service_finishes_what_it_has_and_takes_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDLINE_SANDBOX", "none")
    running = await Running.begin(workers=1)
    body = b'{"items":[{"verifier":"numeric","response":"4","reference":"4"}]}'
    answered = await running.request("POST", "/v1/score", {"content-type": "application/json"}, body)
    assert (answered.status, answered.headers["content-type"]) == (200, "application/json")
    assert running.problems() == {}
    await running.end()
    assert running.problems() == {"service": "it has ended"}
    with pytest.raises(ValueError, match="ray://rewardline"):
        AsyncClient("ray://head:10001")
