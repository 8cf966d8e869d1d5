"""Judges items on a machine that is busy with other work."""

from collections.abc import Sequence

from verifiers.base import Item, P, Verdict, Verifier

STARVED = frozenset(["worker_stalled", "item_deadline"])
"""Reasons of items for which a busy machine had no time. An item that hangs is never judged, however often it is
asked."""


async def until_judged(verifier: Verifier[P], items: Sequence[Item[P]]) -> list[Verdict]:
    """Ask again for items that a busy machine could not finish, as a client does, and for no others."""
    verdicts = list(await verifier.score(items))
    for _ in range(10):
        again = [index for index, verdict in enumerate(verdicts) if verdict.reason in STARVED]
        fresh = await verifier.score([items[index] for index in again])
        for index, verdict in zip(again, fresh, strict=True):
            verdicts[index] = verdict
    return verdicts
