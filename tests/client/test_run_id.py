"""A client names the run of its calls, and the server counts what each run uses."""

from __future__ import annotations

import asyncio
import pickle
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from rewardline import AsyncClient, Client
from rewardline.hook import Hook
from rewardline.trl import reward_func
from rewardline.verl import compute_score

if TYPE_CHECKING:
    from tests.conftest import Served

ITEM = {"verifier": "exact_match", "response": "a", "reference": "a"}


@pytest.fixture
def run() -> str:
    return f"grpo-7/{uuid.uuid4().hex}"


def used(served: Served, *runs: str) -> list[float]:
    """The items that each run has used."""
    with Client(served.url) as client:
        [tenant] = client.usage()["tenants"]
    items = {run["run_id"]: run["total"]["items"] for run in tenant["runs"]}
    return [items.get(run, 0) for run in runs]


def url_of(served: Served, door: str) -> str:
    return served.url if door == "http" else f"grpc://{served.grpc}"


@pytest.mark.parametrize("door", ["http", "grpc"])
def test_calls_belong_to_the_run_of_the_client_or_to_their_own(served: Served, door: str, run: str) -> None:
    own = f"{run}-own"
    with Client(url_of(served, door), run_id=run) as client:
        client.score([ITEM] * 2)
        client.score_one(ITEM)
        assert len(list(client.stream([ITEM] * 4))) == 4
        assert used(served, run, own) == [7, 0]
        client.score([ITEM] * 2, run_id=own)
        client.score_one(ITEM, run_id=own)
        assert len(list(client.stream([ITEM] * 4, run_id=own))) == 4
        assert used(served, run, own) == [7, 7]
        with pickle.loads(pickle.dumps(client)) as copy:
            copy.score([ITEM])
        assert used(served, run) == [8]


@pytest.mark.parametrize("door", ["http", "grpc"])
async def test_calls_of_two_runs_share_no_request(served: Served, door: str, run: str) -> None:
    async with AsyncClient(url_of(served, door), gather_ms=50) as client:
        results = await asyncio.gather(*(client.score_one(ITEM, run_id=f"{run}-{n % 2}") for n in range(6)))
    assert [result.score for result in results] == [1.0] * 6
    assert used(served, f"{run}-0", f"{run}-1") == [3, 3]


def test_interactions_belong_to_a_run(served: Served, run: str) -> None:
    fields = {"verifier": "exact_match", "reference": "a", "max_turns": 3}
    with Client(served.url, run_id=run) as client:
        name = client.open_interaction(fields, run_id=f"{run}-own")
        turn = [{"role": "assistant", "content": "b"}]
        client.take_turn(name, turn, 1)
        client.take_turn(name, turn, 2, run_id=f"{run}-own")
    assert used(served, run, f"{run}-own") == [1, 1]


@pytest.mark.parametrize("name", ["", "a b", "-a", "a" * 129, "a\n", "a\r\nX-Tenant: b", "é"])
def test_a_name_that_no_server_takes_is_refused_here(name: str) -> None:
    with pytest.raises(ValueError, match="run_id"):
        Client("http://127.0.0.1:1", run_id=name)
    with Client("http://127.0.0.1:1") as client, pytest.raises(ValueError, match="run_id"):
        client.score([ITEM], run_id=name)
    with pytest.raises(ValueError, match="run_id"):
        Hook("math", run_id=name or " ")


async def test_a_hook_names_its_run_by_option_or_variable(
    served: Served, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWARDLINE_RUN_ID", run)
    options: dict[str, Any] = {"url": served.url}
    assert await Hook("exact_match", **options).score([ITEM])
    assert used(served, run) == [1]
    named = reward_func("exact_match", run_id=f"{run}-trl", **options)
    rewards: Any = named(prompts=["q"] * 2, completions=["a", "b"], solution=["a", "a"])
    assert await rewards == [1.0, 0.0]
    numbers = await compute_score("d", "a", "a", {}, verifier="exact_match", run_id=f"{run}-verl", **options)
    assert numbers["score"] == 1.0
    assert used(served, run, f"{run}-trl", f"{run}-verl") == [1, 2, 1]
