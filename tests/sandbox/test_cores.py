"""Boxes at work are spread over the processors, where there are as many."""

import os

from sandbox.pool.cores import Cores


def test_each_processor_is_given_out_as_often_as_any_other() -> None:
    cores = Cores(3)
    taken = [cores.take() for _ in range(7)]
    assert sorted(taken) == [0, 0, 0, 1, 1, 2, 2]  # type: ignore[type-var]  # there are some
    for core in (1, 1, 0):
        cores.give_back(core)
    assert {cores.take(), cores.take()} == {1}


def test_where_boxes_do_not_fill_the_machine_they_may_be_anywhere() -> None:
    there = len(os.sched_getaffinity(0))
    assert Cores.for_slots(there - 1).take() is None
    assert Cores.for_slots(there).take() == 0
    cores = Cores(0)
    cores.give_back(cores.take())
    assert cores.take() is None
