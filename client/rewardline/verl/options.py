"""The options of verl's managers: those of a hook, and `token_params`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewardline.hook import Hook, plain
from rewardline.token_params import TokenParams
from rewardline.verl.samples import hook_of


def manager_options(options: Mapping[str, Any]) -> tuple[Hook, TokenParams]:
    """The hook of a manager, and its token parameters.

    Raises:
        TypeError, ValueError: An option does not exist, or can never work.
    """
    hook_options = plain(options)
    names = hook_options.pop("token_params", ())
    if isinstance(names, str):
        raise TypeError(f"token_params must be a list, found the string {names!r}")
    return hook_of(hook_options), TokenParams(tuple(names))
