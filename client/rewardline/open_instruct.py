"""Verifiers for open-instruct, which finds them as subclasses of its `VerifierFunction`.

    import rewardline.open_instruct as remote
    remote.define("math")                              # open-instruct's own "math", judged by the recipe open_instruct.math
    remote.define("my_task", recipe="think_math")      # a new one: rows whose `dataset` is "my_task"

before open-instruct builds its verifiers. An exception ends the run, and there is no abstention; so what cannot be judged is
asked for again until the deadline, half an hour unless told otherwise.
"""

from __future__ import annotations

from typing import Any

from open_instruct.ground_truth_utils import VerificationResult, VerifierFunction

from rewardline.always_reward import never_none, waiting_hook
from rewardline.hook import Hook
from rewardline.results import Result
from rewardline.special_tokens import without_ending

_LENGTHS = ("open_instruct.max_length", "open_instruct.up_to_max_length")
"""Recipes whose label is a number of tokens."""

_DEFINED: list[type[Any]] = []
"""A class does not keep its subclasses alive, and open-instruct looks for them later."""


class RemoteVerifier:
    """What the verifiers made by `define` do.

    It is no `VerifierFunction` itself, since each of those is built, and subclasses of subclasses are not found.
    """

    name: str
    hook: Hook
    weight: float

    def __call__(
        self,
        tokenized_prediction: list[int],
        prediction: str,
        label: Any,
        query: str | None = None,
        rollout_state: dict[str, Any] | None = None,
    ) -> Any:
        """As `async_call`, for code without an event loop."""
        return self._told(self.hook.score_one_blocking(self._item(tokenized_prediction, prediction, label, query)))

    async def async_call(
        self,
        tokenized_prediction: list[int],
        prediction: str,
        label: Any,
        query: str | None = None,
        rollout_state: dict[str, Any] | None = None,
    ) -> Any:
        """Judge one prediction; those of a few milliseconds travel together.

        Raises:
            FailedItems, InvalidItems: there is no reward.
        """
        return self._told(await self.hook.score_one(self._item(tokenized_prediction, prediction, label, query)))

    def _item(self, tokens: list[int], prediction: str, label: Any, query: str | None) -> dict[str, Any]:
        if self.hook.recipe not in _LENGTHS:
            return self.hook.item(without_ending(prediction), reference=label, prompt=query)
        measured = {"target": int(label), "completion_tokens": len(tokens)}
        return {**self.hook.item(prediction), "params": {**(self.hook.params or {}), **measured}}

    def _told(self, result: Result) -> Any:
        return VerificationResult(score=never_none(self.hook.reward(result)), reasoning=result.reason)


def define(name: str, *, weight: float = 1.0, **options: Any) -> type[Any]:
    """Have rows whose `dataset` is this name judged by the options of a `Hook`.

    Args:
        name: One of open-instruct's takes its place.
        weight: What the reward is multiplied by.
        options: Without verifier, recipe or checks, the recipe is `open_instruct.<name>`.

    Raises:
        ValueError: it is to abstain.
    """
    if not {"verifier", "recipe", "checks"} & set(options):
        options["recipe"] = f"open_instruct.{name}"
    hook = waiting_hook("open-instruct", **options)

    def __init__(self: Any, verifier_config: Any = None) -> None:  # noqa: N807 - of the class made below
        VerifierFunction.__init__(self, name, weight=weight, verifier_config=verifier_config)
        self.hook = hook

    members = {"__init__": __init__, "__module__": __name__, "__doc__": f"`{name}`, judged by a Rewardline server."}
    made = type(f"Remote_{name}", (RemoteVerifier, VerifierFunction), members)
    _DEFINED.append(made)
    return made
