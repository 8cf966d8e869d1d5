"""The table that jobs and records in memory share."""

import asyncio

from service.storage.memory_table import MemoryTable
from tests.virtual_time import in_virtual_time


def made(max_values: int = 10, max_bytes: int = 100) -> tuple[MemoryTable[str], list[tuple[str, str]]]:
    """A table, and what it says has gone."""
    gone: list[tuple[str, str]] = []
    return MemoryTable[str](max_values, max_bytes, lambda name, value: gone.append((name, value))), gone


@in_virtual_time
async def test_each_value_goes_when_its_time_is_over_and_a_new_value_begins_it_anew() -> None:
    table, gone = made()
    table.put("a", "1", 1, ttl_s=10)
    table.put("b", "2", 1, ttl_s=11)
    await asyncio.sleep(9)
    assert table.first_goes_in_s == 1
    table.put("a", "3", 1, ttl_s=10)
    await asyncio.sleep(3)
    assert gone == [("b", "2")]
    assert (table.get("a"), table.get("b")) == ("3", None)
    await asyncio.sleep(8)
    assert gone == [("b", "2"), ("a", "3")]
    assert (len(table), table.nbytes) == (0, 0)


@in_virtual_time
async def test_what_there_is_is_counted_by_number_and_bytes() -> None:
    table, gone = made(max_values=2, max_bytes=100)
    assert table.fits("a", 100)
    assert not table.fits("a", 101)
    table.put("a", "1", 60, ttl_s=10)
    assert (table.fits("b", 40), table.fits("b", 41)) == (True, False)
    assert (table.fits("a", 100), table.fits("a", 101)) == (True, False), "in place of the one of the same name"
    table.grow("a", 30)
    assert (table.nbytes, table.fits("b", 11)) == (90, False)
    table.put("a", "1", 50, ttl_s=10)
    table.put("b", "2", 0, ttl_s=10)
    assert (table.nbytes, list(table)) == (50, ["1", "2"])
    assert (table.fits("c", 0), table.fits("b", 0)) == (False, True), "no third one"
    table.drop("a")
    table.drop("a")
    assert (gone, len(table), table.nbytes) == ([("a", "1")], 1, 0)


@in_virtual_time
async def test_after_it_is_cleared_nothing_goes_any_more() -> None:
    table, gone = made()
    table.put("a", "1", 1, ttl_s=1)
    table.clear()
    await asyncio.sleep(2)
    assert (gone, len(table), table.nbytes) == ([], 0, 0)
