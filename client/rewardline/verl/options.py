"""The options of the managers: those of a hook, and which numbers of tokens their verifiers are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewardline.hook import Hook, plain
from rewardline.verl.samples import hook_of

_TOKEN_PARAMS = ("completion_tokens", "completion_ids")


@dataclass(frozen=True)
class TokenParams:
    """Parameters made of a response's tokens, for verifiers of length and repetition."""

    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.names:
            if name not in _TOKEN_PARAMS:
                raise ValueError(f"token_params are of {_TOKEN_PARAMS}, not {name!r}")

    def add(self, item: dict[str, Any], token_ids: Sequence[int]) -> dict[str, Any]:
        """The item with these parameters beside its own."""
        if not self.names:
            return item
        values = {"completion_tokens": len(token_ids), "completion_ids": plain(token_ids)}
        return {**item, "params": {**item.get("params", {}), **{name: values[name] for name in self.names}}}


def manager_options(options: Mapping[str, Any]) -> tuple[Hook, TokenParams]:
    """What a manager is made of.

    Raises:
        TypeError, ValueError: these options cannot work.
    """
    given = plain(options)
    names = given.pop("token_params", ())
    if isinstance(names, str):
        raise TypeError(f"token_params is a list, not the string {names!r}")
    return hook_of(given), TokenParams(tuple(names))
