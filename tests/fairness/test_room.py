"""Rooms that tenants share."""

from collections.abc import Iterator

import pytest

from fairness import DEFAULT, UNNAMED, WEIGHTS, Room, share_of


@pytest.fixture(autouse=True)
def weights() -> Iterator[None]:
    before = dict(WEIGHTS)
    WEIGHTS.clear()
    yield
    WEIGHTS.clear()
    WEIGHTS.update(before)


def filled(room: Room, *tenants: str) -> dict[str, int]:
    """What each tenant holds when all have taken as much as they can, the first ones first."""
    while wanting := [tenant for tenant in tenants if room.fits(tenant, 1)]:
        room.take(wanting[0], 1)
    return {tenant: room.held(tenant) for tenant in tenants}


def test_a_greedy_tenant_leaves_a_quarter_and_a_modest_one_gets_what_it_wants() -> None:
    room = Room(100)
    assert filled(room, "greedy") == {"greedy": 75}
    assert room.fits("modest", 25)
    room.take("modest", 10)
    assert not room.fits("greedy", 1)
    assert room.kept_out() == ["greedy"]
    assert filled(room, "modest")["modest"] == 18
    assert room.fits("third", 7)


def test_who_wants_all_of_it_comes_to_have_it_by_weight() -> None:
    WEIGHTS.update(a=2, b=1)
    room = Room(1000)
    assert filled(room, "a") == {"a": 857}
    for _ in range(3000):  # what is held is given back over and over
        for tenant in ("a", "b"):
            room.take(tenant, -min(1, room.held(tenant)))
        filled(room, "b", "a")
    held = filled(room, "a", "b")
    assert held["a"] == pytest.approx(2 * held["b"], rel=0.05)
    assert room.all < 920, "there is room for others"


def test_whoever_holds_nothing_gets_whatever_fits() -> None:
    room = Room(100)
    assert not room.fits("a", 101)
    assert room.fits("a", 100)
    room.take("a", 100)
    assert not room.fits("b", 1)
    assert (room.fits("a", 0), room.fits("a", -1)) == (True, True)


def test_the_only_tenant_that_there_can_be_fills_the_room() -> None:
    assert filled(Room(10), DEFAULT) == {DEFAULT: 10}
    WEIGHTS.update(maths=5)
    assert filled(Room(10), "maths") == {"maths": 10}
    WEIGHTS[UNNAMED] = 1
    assert filled(Room(10), "maths")["maths"] < 10
    assert share_of("oidc:somebody") == 3


def test_what_is_given_back_is_forgotten() -> None:
    room = Room(10)
    for number in range(1000):
        room.take(f"tenant {number}", 1)
        room.take(f"tenant {number}", -1)
    assert (room.all, room.kept_out(), room._held) == (0, [], {})
