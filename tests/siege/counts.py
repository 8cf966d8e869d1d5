"""How much of each kind the service gets in each half, so that all fits into an hour on two cores."""

from collections.abc import Mapping
from typing import Final

LIVES_OF_EACH: Final = 10_000
_ITEMS: Final = 20_000
_BATCH_ITEMS: Final = 256
_FEWER: Final[Mapping[str, tuple[int, int]]] = {
    "code": (2_000, 128),
    "code_quality": (1_000, 128),
    "harbor": (40, 4),
    "judge": (5_000, 256),
    "lean": (400, 32),
    "reasoning_gym": (4_000, 256),
    "repository": (40, 4),
}
"""Items of each half and of each batch, where 20,000 would take hours.

code, code_quality      two to five tests each, of which each is a process: some 50 programs a second
harbor, repository      a repository is made, and its tests run: two a second
judge                   a call of a model over HTTP: some hundreds a second
lean                    a proof starts two programs: ten a second
reasoning_gym           a chunk of 16 items is a process in a box, for each task among them
"""


def items_of(verifier: str, most: int = _ITEMS) -> int:
    """The number of items of each half."""
    return min(most, _FEWER[verifier][0]) if verifier in _FEWER else most


def batch_items(verifier: str) -> int:
    return _FEWER[verifier][1] if verifier in _FEWER else _BATCH_ITEMS
