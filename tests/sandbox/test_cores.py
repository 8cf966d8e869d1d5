"""Boxes at work are spread over the processors, where there are as many."""

import os
from collections import Counter

from sandbox.boxes.pool.cores import Cores


def test_each_processor_is_given_out_as_often_as_any_other() -> None:
    cores = Cores(3)
    taken = [cores.acquire() for _ in range(7)]
    assert sorted(Counter(taken).values()) == [2, 2, 3]
    assert set(taken) == {0, 1, 2}
    first = taken[0]
    for _ in range(3):
        cores.release(first)
    assert [cores.acquire(), cores.acquire()] == [first, first]


def test_where_boxes_do_not_fill_the_machine_they_may_be_anywhere() -> None:
    there = len(os.sched_getaffinity(0))
    assert Cores.for_slots(there - 1).acquire() is None
    assert Cores.for_slots(there).acquire() is not None
    cores = Cores(0)
    cores.release(cores.acquire())
    assert cores.acquire() is None
