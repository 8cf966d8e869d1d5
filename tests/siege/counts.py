"""How much of each kind the service gets in each half, so that all fits into an hour on two cores.

`SIEGE_SCALE=0.1` takes a tenth of it: it shows whether the lane works, and not what stays, since memories are not full.
"""

import os
from collections.abc import Mapping
from typing import Final

_SCALE: Final = float(os.environ.get("SIEGE_SCALE", "1"))
_LIVES_OF_EACH: Final = 10_000
_FEWER_LIVES: Final[Mapping[str, int]] = {"log_search": 1_000}
"""A search and a summary of the log cost 70 ms of CPU."""
_ITEMS: Final = 20_000
_BATCH_ITEMS: Final = 256
_FEWER: Final[Mapping[str, tuple[int, int]]] = {
    "code": (1_000, 128),
    "code_quality": (500, 128),
    "harbor": (40, 4),
    "lean": (200, 32),
    "reasoning_gym": (2_000, 256),
    "repository": (40, 4),
}
"""Items of each half and of each batch, where 20,000 would take hours.

code, code_quality      two to five tests each, of which each is a process: some 50 programs a second
harbor, repository      a repository is made, and its tests run: two a second
lean                    a proof starts two programs: ten a second
reasoning_gym           a chunk of 16 items is a process in a box, for each task among them
"""


def items_of(verifier: str, most: int = _ITEMS) -> int:
    """The number of items of each half."""
    whole = min(most, _FEWER[verifier][0]) if verifier in _FEWER else most
    return _scaled(whole, batch_items(verifier))


def batch_items(verifier: str) -> int:
    return _FEWER[verifier][1] if verifier in _FEWER else _BATCH_ITEMS


def lives_of(kind: str, least: int = 1) -> int:
    """The number of interactions, jobs and so on of each half, at least so many."""
    return _scaled(_FEWER_LIVES.get(kind, _LIVES_OF_EACH), least)


def _scaled(count: int, least: int) -> int:
    return max(round(count * _SCALE), min(count, least))
