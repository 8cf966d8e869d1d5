"""The engine as an actor, here without Ray: what a handle gets from it."""

import asyncio
import pickle
from collections.abc import AsyncIterator

import pytest
from rewardline import InvalidRequest, Unavailable

from service.cluster.engine_actor import EngineActor
from service.settings import Settings
from tests.waiting import turns

RIGHT = {"verifier": "numeric", "response": "\\boxed{4}", "reference": "4"}
WRONG = RIGHT | {"response": "\\boxed{5}"}
MISTAKEN = RIGHT | {"verifier": "numberic"}


@pytest.fixture
async def actor() -> AsyncIterator[EngineActor]:
    actor = EngineActor(Settings(sandbox="none"), workers=1)
    yield actor
    await actor.drain()


async def test_a_batch_gets_one_result_per_item_in_order(actor: EngineActor) -> None:
    results = await actor.score([RIGHT, WRONG, MISTAKEN], run_id="r1")
    assert [(each["status"], each["score"]) for each in results] == [("ok", 1.0), ("ok", 0.0), ("invalid", None)]
    health = await actor.health()
    assert (health["problems"], health["under_way"]) == ({}, 0)


async def test_a_batch_that_breaks_the_contract_is_refused_with_its_place(actor: EngineActor) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await actor.score([RIGHT, RIGHT | {"refrence": "4"}])
    crossed = pickle.loads(pickle.dumps(caught.value))
    assert (crossed.status, crossed.errors[0].loc) == (422, ("items", 1, "refrence"))


async def test_a_drained_engine_finishes_what_it_has_and_takes_nothing_more() -> None:
    actor = EngineActor(Settings(sandbox="none"), workers=1)
    await actor.start()
    under_way = asyncio.create_task(actor.score([RIGHT] * 8))
    await turns(1)
    assert (await actor.health())["under_way"] == 1
    await actor.drain()
    assert [each["score"] for each in await under_way] == [1.0] * 8
    with pytest.raises(Unavailable):
        await actor.score([RIGHT])


async def test_settings_that_cannot_be_met_are_a_message() -> None:
    actor = EngineActor(Settings(sandbox="none", recipes_file="/nowhere/recipes.yaml"), workers=1)
    with pytest.raises(Unavailable, match=r"cannot start: .*recipes"):
        await actor.score([RIGHT])
    await actor.drain()
