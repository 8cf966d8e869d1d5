"""Pairing things one to one, each with one of those that fit it."""

from collections.abc import Sequence

MAX_THINGS = 300
"""Pairing goes as deep as there are things."""


def can_be_paired(fitting: Sequence[Sequence[int]]) -> bool:
    """Whether each thing can be given a place of its own; `fitting[thing]` are the places that fit it.

    Augmenting paths: a thing takes a place from another that finds a further one. At most `MAX_THINGS` things.
    """
    assert len(fitting) <= MAX_THINGS
    owners: dict[int, int] = {}
    return all(_gets_a_place(thing, fitting, owners, set()) for thing in range(len(fitting)))


def _gets_a_place(thing: int, fitting: Sequence[Sequence[int]], owners: dict[int, int], tried: set[int]) -> bool:
    for place in fitting[thing]:
        if place in tried:
            continue
        tried.add(place)
        if place not in owners or _gets_a_place(owners[place], fitting, owners, tried):
            owners[place] = thing
            return True
    return False
