"""Which containers are started ahead, and how long they wait for a task."""

import asyncio
import itertools
from collections.abc import Mapping
from typing import Any

from sandbox.base import SandboxUnavailable
from sandbox.containers.spares import Kind, Spares
from tests.virtual_time import in_virtual_time
from tests.waiting import turns as let_others_run

A, B, C = (Kind(name, {"of": name}) for name in "abc")


class Daemon:
    """Its containers by their names. It starts none while it is down."""

    def __init__(self) -> None:
        self.running: dict[str, str] = {}
        self.is_down = False

    async def start(self, name: str, options: Mapping[str, Any]) -> None:
        if self.is_down:
            raise SandboxUnavailable("the daemon does not answer")
        self.running[name] = options["of"]

    async def is_running(self, name: str) -> bool:
        return name in self.running

    async def remove(self, name: str) -> None:
        self.running.pop(name, None)

    def spares(self, most: int) -> Spares:
        names = (str(number) for number in itertools.count())
        return Spares(most, names, start=self.start, is_running=self.is_running, remove=self.remove)


async def test_a_run_and_its_twin_find_a_container_each_of_their_own_kind() -> None:
    daemon = Daemon()
    spares = daemon.spares(3)
    spares.refill(A)
    await let_others_run()
    assert sorted(daemon.running.values()) == ["a", "a"]
    assert await spares.take(B) is None
    taken = [await spares.take(A) for _ in range(3)]
    assert taken == ["0", "1", None]
    await spares.clear()
    assert list(daemon.running) == ["0", "1"]  # they are those of who took them


async def test_who_waits_comes_before_what_was_used_last() -> None:
    daemon = Daemon()
    spares = daemon.spares(2)
    with spares.waiting(B), spares.waiting(C), spares.waiting(A):
        spares.refill(A)
        await let_others_run()
    assert sorted(daemon.running.values()) == ["b", "c"]
    await spares.clear()
    assert daemon.running == {}


async def test_a_spare_that_is_gone_or_never_started_is_nobodys() -> None:
    daemon = Daemon()
    spares = daemon.spares(2)
    spares.refill(A)
    await let_others_run()
    daemon.running.clear()
    assert await spares.take(A) is None
    daemon.is_down = True
    spares.refill(A)
    assert await spares.take(A) is None
    await spares.clear()


@in_virtual_time
async def test_a_spare_that_nobody_takes_is_removed_and_a_young_one_gives_way_to_no_other_kind() -> None:
    daemon = Daemon()
    spares = daemon.spares(2)
    spares.refill(A)
    spares.refill(B)
    await let_others_run()
    assert sorted(daemon.running.values()) == ["a", "a"]
    await asyncio.sleep(11)
    spares.refill(B)
    await let_others_run()
    assert sorted(daemon.running.values()) == ["b", "b"]
    await asyncio.sleep(61)
    assert daemon.running == {}
