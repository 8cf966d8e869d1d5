"""What the engine knows of pins and receipts, whose rooms are above it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from service.recipes.recipe import Recipe
from service.scoring.prepared_item import ConfiguredVerifier
from service.wire import BatchRequest, Result, ScoreItem
from verifiers.base import Verdict

_TEXT_SHARE = 32
"""Text is hashed so many times faster than JSON is put in order."""


class Pinned(Protocol):
    """The versions that a batch is pinned to."""

    @property
    def serves(self) -> bool:
        """Whether `judge` judges items of other versions, which else are refused."""

    def difference(self, verifiers: Sequence[ConfiguredVerifier], recipe: Recipe | None) -> Verdict | None:
        """The verdict of an item that is judged so, if its pin has other versions."""

    async def judge(self, request: BatchRequest) -> Sequence[Result]:
        """One result for each item, by the pinned release."""


def receipt_bytes(item: ScoreItem, references: Mapping[str, msgspec.Raw]) -> int:
    """About how much JSON is put in order for the receipt of an item."""
    shared = references.get(item.reference_id) if item.reference_id is not None else None
    raws = [item.reference, item.params, item.ground_truth, item.test_cases, *([] if shared is None else [shared])]
    size = sum(len(raw) for raw in raws)
    for text in (item.response, item.prompt, item.messages):
        if isinstance(text, str):
            size += len(text) // _TEXT_SHARE
        elif text is not None:
            size += sum(len(str(message)) for message in text)
    return size
