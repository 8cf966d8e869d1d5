"""Tenants in turn."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest

from fairness import TENANT, WEIGHTS, FairLock, Turns
from tests.waiting import PATIENCE_S


@pytest.fixture(autouse=True)
def weights() -> Iterator[None]:
    before = dict(WEIGHTS)
    yield
    WEIGHTS.clear()
    WEIGHTS.update(before)


def served(turns: Turns, waiting: str, times: int, cost: float = 1.0) -> Counter[str]:
    """How often each of the tenants that wait is served."""
    found: Counter[str] = Counter()
    for _ in range(times):
        tenant = turns.next(waiting)
        turns.charge(tenant, cost)
        found[tenant] += 1
    return found


def test_equal_tenants_are_served_equally() -> None:
    assert served(Turns(), "abc", 30) == {"a": 10, "b": 10, "c": 10}


def test_weights_divide_what_is_served() -> None:
    WEIGHTS.update(a=3, b=2)
    assert served(Turns(), "abc", 60) == {"a": 30, "b": 20, "c": 10}


def test_who_costs_more_is_served_less_often() -> None:
    turns, found = Turns(), Counter[str]()
    for _ in range(110):
        tenant = turns.next("ab")
        turns.charge(tenant, 10.0 if tenant == "a" else 1.0)
        found[tenant] += 1
    assert found == {"a": 10, "b": 100}


def test_an_estimate_is_made_good() -> None:
    turns, found = Turns(), Counter[str]()
    for _ in range(110):
        tenant = turns.next("ab")
        turns.charge(tenant, 2.0)
        turns.correct(tenant, 8.0 if tenant == "a" else -1.0)
        found[tenant] += 1
    assert found == {"a": 10, "b": 100}


def test_nobody_saves_up_turns_and_nobody_pays_for_a_time_alone() -> None:
    turns = Turns()
    assert served(turns, "a", 1000) == {"a": 1000}
    assert abs(served(turns, "ab", 20)["a"] - 10) <= 1
    assert served(turns, "b", 1000) == {"b": 1000}
    assert abs(served(turns, "ab", 20)["a"] - 10) <= 1


def test_many_tenants_leave_no_trace() -> None:
    turns = Turns()
    for n in range(10_000):
        turns.charge(f"tenant {n}", 1.0)
    assert len(turns._due) <= 1024


async def test_a_lock_is_given_to_tenants_in_turn_and_to_none_that_has_gone() -> None:
    lock, order = FairLock(), []

    async def one(tenant: str, number: int) -> None:
        TENANT.set(tenant)
        async with lock:
            order.append(f"{tenant}{number}")
            await asyncio.sleep(0)

    async with lock:
        tasks = {f"{tenant}{n}": asyncio.create_task(one(tenant, n)) for tenant in "ab" for n in range(4)}
        await asyncio.sleep(0)
        tasks["a1"].cancel()
    await asyncio.wait(tasks.values())
    assert order == ["a0", "b0", "a2", "b1", "a3", "b2", "b3"]
    async with asyncio.timeout(PATIENCE_S), lock:
        pass


async def test_who_is_cancelled_with_its_turn_passes_it_on() -> None:
    lock = FairLock()

    async def one() -> None:
        async with lock:
            pass

    await lock.__aenter__()
    first, second = asyncio.create_task(one()), asyncio.create_task(one())
    await asyncio.sleep(0)
    await lock.__aexit__(None, None, None)
    first.cancel()
    async with asyncio.timeout(PATIENCE_S):
        await second
    assert first.cancelled() or first.done()


async def test_a_lock_of_several_places_has_no_more_and_keeps_none() -> None:
    lock, inside, most = FairLock(3), 0, 0

    async def one(tenant: str) -> None:
        nonlocal inside, most
        TENANT.set(tenant)
        async with lock:
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    for _ in range(2):
        await asyncio.gather(*(one(tenant) for tenant in "aaaaab"))
        assert (most, inside) == (3, 0)
        most = 0
