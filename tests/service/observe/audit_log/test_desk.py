"""Searches beside a service: few at once, and none longer than anybody waits for it."""

import asyncio
import os
import threading
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from service.errors import NotInTime, Overloaded, TooLarge
from service.observe.audit_log import desk as desk_module
from service.observe.audit_log import reader, search
from service.observe.audit_log.desk import Desk
from service.observe.audit_log.search import Filters
from tests.service.observe.audit_log.test_search import file
from tests.waiting import until

if TYPE_CHECKING:
    from service.observe.audit_log.tables import Tables


def endless(tables: "Tables") -> None:
    tables.sql("SELECT count(*) FROM range(1000000000000000)")


def quick(tables: "Tables") -> int:
    return len(tables.tables)


def every(path: Path) -> bool:
    return True


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    file(tmp_path, range(2000))
    return Desk(lambda: reader.find([tmp_path]))


async def test_what_takes_too_long_is_ended_and_makes_room(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk_module, "_SEARCH_S", 0.05)
    for _ in range(3):
        with pytest.raises(NotInTime, match="narrow it"):
            await desk.ask("me", endless, every)
    monkeypatch.undo()
    assert await desk.ask("me", quick, every) == 1


async def test_what_nobody_waits_for_is_ended(desk: Desk) -> None:
    began = threading.Event()

    def work(tables: "Tables") -> None:
        began.set()
        endless(tables)

    for _ in range(3):
        asking = asyncio.create_task(desk.ask("me", work, every))
        await until(began.is_set)
        began.clear()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert await desk.ask("me", quick, every) == 1


async def test_a_caller_has_one_search_at_a_time_and_all_have_two(desk: Desk) -> None:
    go = threading.Event()
    under_way: list[str] = []
    most: list[tuple[str, ...]] = []

    def work(name: str, _: "Tables") -> None:
        under_way.append(name)
        most.append(tuple(under_way))
        go.wait()
        under_way.remove(name)

    names = ["a", "a", "a", "b", "c"]
    asking = [asyncio.create_task(desk.ask(name, partial(work, name), every)) for name in names]
    await until(lambda: len(under_way) == 2)
    assert sorted(under_way) == ["a", "b"]
    go.set()
    await asyncio.gather(*asking)
    assert max(map(len, most)) == 2
    assert not [seen for seen in most if len(set(seen)) < len(seen)]


async def test_a_queue_has_an_end_and_nobody_fills_it(desk: Desk) -> None:
    go = threading.Event()
    asking = [asyncio.create_task(desk.ask("me", lambda _: go.wait(), every)) for _ in range(13)]
    await asyncio.sleep(0)
    with pytest.raises(Overloaded) as refused:
        await desk.ask("me", quick, every)
    assert refused.value.retry_after_s == 1
    asking += [asyncio.create_task(desk.ask("other", lambda _: go.wait(), every)) for _ in range(3)]
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(*asking)
    assert await desk.ask("other", quick, every) == 1


async def test_too_much_is_said_to_be_too_much(desk: Desk) -> None:
    def work(_: "Tables") -> None:
        raise MemoryError

    with pytest.raises(TooLarge, match="narrow it"):
        await desk.ask("me", work, every)


async def test_searches_give_way_to_scoring(desk: Desk) -> None:
    assert await desk.ask(
        "me", lambda _: os.getpriority(os.PRIO_PROCESS, threading.get_native_id()), every
    ) > os.getpriority(os.PRIO_PROCESS, os.getpid())


@pytest.mark.contract
async def test_an_export_whose_reader_hangs_up_is_ended(tmp_path: Path) -> None:
    for first in range(0, 40_000, 10_000):
        file(tmp_path, range(first, first + 10_000))
    desk = Desk(lambda: reader.find([tmp_path]))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        parts = desk.stream("me", lambda tables, output: search.export(tables, Filters(), "jsonl", output), every)
        async with aclosing(parts):
            assert await anext(parts)
    assert await desk.ask("me", quick, every) == 4
    assert len(os.listdir("/proc/self/fd")) == before


async def test_an_export_that_cannot_be_made_says_so(desk: Desk) -> None:
    def work(tables: "Tables", output: int) -> None:
        raise MemoryError

    with pytest.raises(TooLarge):
        await anext(desk.stream("me", work, every))
