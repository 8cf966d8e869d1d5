"""Rows whose prompts are nearly the same: MinHash, with bands that bring likely pairs together (Leskovec, Rajaraman and
Ullman, "Mining of Massive Datasets", chapter 3).
"""

from collections.abc import Sequence
from typing import Final

from service.watch import texts

_ROWS_OF_BAND: Final = 4
ALIKE: Final = 0.8
"""The share of phrases that near duplicates have in common."""


def near_duplicates(prompts: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of positions, each later one with the first that it is nearly the same as. Numbers count: two prompts that
    differ in numbers are two problems.
    """
    numbers = [tuple(texts.numbers(prompt)) for prompt in prompts]
    signatures = [texts.signature(texts.phrases(texts.words(prompt))) for prompt in prompts]
    buckets: dict[tuple[int, bytes], list[int]] = {}
    pairs: list[tuple[int, int]] = []
    for at, mark in enumerate(signatures):
        if not prompts[at]:
            continue
        bands = [(band, mark[band : band + _ROWS_OF_BAND].tobytes()) for band in range(0, texts.PLACES, _ROWS_OF_BAND)]
        near = sorted({index for band in bands for index in buckets.get(band, ())})
        twin = next((o for o in near if numbers[o] == numbers[at] and (signatures[o] == mark).mean() >= ALIKE), None)
        if twin is not None:
            pairs.append((twin, at))
            continue
        for band in bands:
            buckets.setdefault(band, []).append(at)
    return pairs
