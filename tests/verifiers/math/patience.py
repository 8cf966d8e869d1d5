"""Judging on a machine that does many other things as well."""

from collections.abc import Sequence

from verifiers.base import Item, Verdict
from verifiers.math import Math, MathParams


async def until_judged(verifier: Math, items: Sequence[Item[MathParams]]) -> list[Verdict]:
    """As a client asks: what a starved machine could not finish is asked again, and nothing else is."""
    verdicts = list(await verifier.score(items))
    for _ in range(10):
        again = [index for index, verdict in enumerate(verdicts) if verdict.reason == "worker_stalled"]
        fresh = await verifier.score([items[index] for index in again])
        for index, verdict in zip(again, fresh, strict=True):
            verdicts[index] = verdict
    return verdicts
