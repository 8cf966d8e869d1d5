"""Judging on a machine that does many other things as well."""

from collections.abc import Sequence

from verifiers.base import Item, P, Verdict, Verifier

STARVED = frozenset(["worker_stalled", "item_deadline"])
"""Reasons of items that a busy machine had no time for; one that hangs is never judged, however often it is asked."""


async def until_judged(verifier: Verifier[P], items: Sequence[Item[P]]) -> list[Verdict]:
    """As a client asks: what a starved machine could not finish is asked again, and nothing else is."""
    verdicts = list(await verifier.score(items))
    for _ in range(10):
        again = [index for index, verdict in enumerate(verdicts) if verdict.reason in STARVED]
        fresh = await verifier.score([items[index] for index in again])
        for index, verdict in zip(again, fresh, strict=True):
            verdicts[index] = verdict
    return verdicts
