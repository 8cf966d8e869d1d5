"""Parameters that come from a response's tokens, for verifiers of length and repetition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rewardline.hook import plain

NAMES = ("completion_tokens", "completion_ids")


@dataclass(frozen=True)
class TokenParams:
    """Which of `NAMES` to add to an item's parameters."""

    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if unknown := set(self.names) - set(NAMES):
            raise ValueError(f"token_params must be some of {NAMES}, found {sorted(unknown)}")

    def add(self, item: dict[str, Any], token_ids: Sequence[int]) -> dict[str, Any]:
        """The item with these parameters added to its own."""
        if not self.names:
            return item
        values = {"completion_tokens": len(token_ids), "completion_ids": plain(token_ids)}
        return {**item, "params": {**item.get("params", {}), **{name: values[name] for name in self.names}}}
