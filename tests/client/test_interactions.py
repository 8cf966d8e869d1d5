"""Interactions through the client, against the real server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from rewardline import AsyncClient, Client, Conflict, InvalidRequest, NotFound, Turn, Unavailable, UnexpectedAnswer
from rewardline.interactions import parse_turn
from rewardline.rollout import Rollout

if TYPE_CHECKING:
    from tests.client.conftest import FakeServer
    from tests.conftest import Served

FIELDS = {"verifier": "math", "query": "7 times 8?", "ground_truth": "56", "max_turns": 2}
TURN = {
    "should_terminate": True,
    "response": "Right.",
    "reward": 1.0,
    "score": 1.0,
    "status": "ok",
    "reason": "correct",
    "turn": 1,
    "trajectory_score": 1.0,
    "info": {"state": "solved"},
}


def said(answer: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": "7 times 8?"}, {"role": "assistant", "content": answer}]


@pytest.mark.contract
def test_two_turns_and_an_end(served: Served) -> None:
    with Client(served.url) as client:
        name = client.open_interaction(FIELDS)
        first = client.take_turn(name, said("\\boxed{54}"), 1)
        assert (first.score, first.should_terminate, first.turn) == (0.0, False, 1)
        assert first.response
        assert client.take_turn(name, said("\\boxed{54}"), 1) == first
        second = client.take_turn(name, [*said("\\boxed{54}"), *said("\\boxed{56}")], 2)
        assert (second.reward, second.should_terminate, second.info["state"]) == (1.0, True, "solved")
        assert client.show_interaction(name)["turn"] == 2
        assert client.end_interaction(name)["trajectory_score"] == 1.0


def test_what_is_wrong_with_a_call_is_told_apart(served: Served) -> None:
    with Client(served.url) as client:
        with pytest.raises(NotFound):
            client.take_turn("no-such", said("1"), 1)
        with pytest.raises(NotFound):
            client.show_interaction("a/b?c")
        name = client.open_interaction({**FIELDS, "instance_id": "client-1"})
        assert client.open_interaction({**FIELDS, "instance_id": "client-1"}) == name == "client-1"
        with pytest.raises(Conflict):
            client.open_interaction({**FIELDS, "instance_id": "client-1", "ground_truth": "57"})
        with pytest.raises(Conflict):
            client.take_turn(name, said("1"), 2)
        with pytest.raises(InvalidRequest, match="unknown_verifier"):
            client.open_interaction({"verifier": "maths"})
        client.end_interaction(name)


def test_interactions_do_not_travel_by_grpc(served: Served) -> None:
    with Client(f"grpc://{served.grpc}") as client, pytest.raises(InvalidRequest, match="HTTP"):
        client.open_interaction(FIELDS)


def test_an_opening_that_was_lost_on_the_way_is_the_same_when_sent_again(served: Served, server: FakeServer) -> None:
    """The id is made here, before the first try, so that a second try finds what the first one opened."""

    async def both() -> tuple[list[str], list[Any]]:
        names = []

        class Losing(AsyncClient):
            async def call(self, method: str, path: str, body: Any = None, **options: Any) -> dict[str, Any]:
                first = await super().call(method, path, body, **options)
                again = await super().call(method, path, body, **options)
                names.extend([first["id"], again["id"]])
                return again

        async with Losing(served.url) as client:
            name = await client.open_interaction(FIELDS)
            return names, [name]

    names, opened = asyncio.run(both())
    assert set(names) == set(opened)


def test_a_server_that_is_away_is_no_turn() -> None:
    with Client("http://127.0.0.1:9", timeout_s=0.5, max_retries=1) as client, pytest.raises(Unavailable):
        client.take_turn("a", said("1"), 1)


@pytest.mark.parametrize(
    "broken", [{"reward": None}, {"reward": float("nan")}, {"turn": "x"}, {"info": 5}, {"should_terminate": ...}]
)
def test_an_answer_that_is_no_turn_is_refused(broken: dict[str, Any]) -> None:
    raw = {name: value for name, value in {**TURN, **broken}.items() if value is not ...}
    with pytest.raises(UnexpectedAnswer):
        parse_turn(raw)
    assert parse_turn(TURN).should_terminate


@pytest.mark.parametrize("blocking", [True, False])
async def test_a_rollout_that_the_server_forgot_is_played_again_from_its_first_turn(
    served: Served, blocking: bool
) -> None:
    rollout = Rollout({**FIELDS, "max_turns": 3, "trajectory": "sum"})
    async with AsyncClient(served.url) as client:
        with Client(served.url) as blocking_client:

            async def turn(answer: str) -> Turn:
                if blocking:
                    return blocking_client._run(rollout.take_turn, said(answer))
                return await rollout.take_turn(client, said(answer))

            assert (await turn("\\boxed{54}")).turn == 1
            await client.end_interaction(str(rollout._id))
            rollout._id = "forgotten"
            second = await turn("\\boxed{55}")
            assert (second.turn, second.should_terminate) == (2, False)
            rollout._id = "forgotten"
            third = await turn("\\boxed{56}")
            assert (third.turn, third.trajectory_score, third.should_terminate) == (3, 1.0, True)
            await rollout.end(client)
            await rollout.end(client)


async def test_a_server_that_forgets_every_interaction_is_unavailable() -> None:
    class Forgetful:
        opened = 0

        async def open_interaction(self, fields: Any) -> str:
            self.opened += 1
            return str(self.opened)

        async def take_turn(self, instance_id: str, messages: Any, number: int) -> Turn:
            raise NotFound("no such interaction")

    client: Any = Forgetful()
    with pytest.raises(Unavailable, match="forgot"):
        await Rollout(FIELDS).take_turn(client, said("1"))
    assert client.opened == 5
