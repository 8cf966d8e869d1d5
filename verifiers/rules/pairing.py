"""Pairs things with places one to one, each with a place that fits."""

from collections.abc import Sequence

MAX_THINGS = 300
"""The largest number of things. The search recurses as deep as there are things."""


def can_be_paired(fitting: Sequence[Sequence[int]]) -> bool:
    """Whether each thing can have its own place; `fitting[thing]` lists the places that fit the thing.

    It uses augmenting paths: a thing takes a place from another thing that finds a different one. There may be at most
    `MAX_THINGS` things.
    """
    assert len(fitting) <= MAX_THINGS
    owners: dict[int, int] = {}
    return all(_gets_a_place(item, fitting, owners, set()) for item in range(len(fitting)))


def _gets_a_place(item: int, fitting: Sequence[Sequence[int]], owners: dict[int, int], tried: set[int]) -> bool:
    for partner in fitting[item]:
        if partner in tried:
            continue
        tried.add(partner)
        if partner not in owners or _gets_a_place(owners[partner], fitting, owners, tried):
            owners[partner] = item
            return True
    return False
