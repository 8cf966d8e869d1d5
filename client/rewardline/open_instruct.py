"""Verifiers for open-instruct, which finds them as subclasses of its `VerifierFunction`.

Define them before open-instruct builds its verifiers:

    import rewardline.open_instruct as remote
    remote.define("math")                              # open-instruct's own "math", judged by the recipe open_instruct.math
    remote.define("my_task", recipe="think_math")      # a new one, for rows with the `dataset` "my_task"

open-instruct knows no abstention, and ends the run at an exception. So the hook waits (`rewardline.always_reward`).
"""

from __future__ import annotations

from typing import Any

from open_instruct.ground_truth_utils import VerificationResult, VerifierFunction

from rewardline.always_reward import never_none, waiting_hook
from rewardline.hook import Hook
from rewardline.results import Result
from rewardline.special_tokens import without_ending

_LENGTHS = ("open_instruct.max_length", "open_instruct.up_to_max_length")
"""The label of these recipes is a number of tokens."""

_DEFINED: list[type[Any]] = []
"""Keeps the classes alive until open-instruct looks for them: a class does not keep its subclasses alive."""


class RemoteVerifier:
    """The base of the verifiers that `define` makes.

    It is not subclass of `VerifierFunction`: open-instruct builds each of those, and does not find their subclasses.
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
        return self._verification(
            self.hook.score_one_blocking(self._item(tokenized_prediction, prediction, label, query))
        )

    async def async_call(
        self,
        tokenized_prediction: list[int],
        prediction: str,
        label: Any,
        query: str | None = None,
        rollout_state: dict[str, Any] | None = None,
    ) -> Any:
        """Judge one prediction. Calls within a few milliseconds share a request.

        Raises:
            FailedItems, InvalidItems: There is no reward.
        """
        return self._verification(await self.hook.score_one(self._item(tokenized_prediction, prediction, label, query)))

    def _item(self, tokens: list[int], prediction: str, label: Any, query: str | None) -> dict[str, Any]:
        if self.hook.recipe not in _LENGTHS:
            return self.hook.item(without_ending(prediction), reference=label, prompt=query)
        measured = {"target": int(label), "completion_tokens": len(tokens)}
        return {**self.hook.item(prediction), "params": {**(self.hook.params or {}), **measured}}

    def _verification(self, result: Result) -> Any:
        return VerificationResult(score=never_none(self.hook.reward(result)), reasoning=result.reason)


def define(name: str, *, weight: float = 1.0, **options: Any) -> type[Any]:
    """Define a verifier for the rows with this name as their `dataset`.

    Args:
        name: A name of open-instruct's own replaces its verifier.
        weight: A factor of the reward.
        options: The options of a `Hook`. Without verifier, recipe and checks, the recipe is `open_instruct.<name>`.

    Raises:
        ValueError: The hook would abstain.
    """
    if not {"verifier", "recipe", "checks"} & set(options):
        options["recipe"] = f"open_instruct.{name}"
    hook = waiting_hook("open-instruct", **options)

    def __init__(self: Any, verifier_config: Any = None) -> None:  # noqa: N807 - a method of the class below
        VerifierFunction.__init__(self, name, weight=weight, verifier_config=verifier_config)
        self.hook = hook

    members = {"__init__": __init__, "__module__": __name__, "__doc__": f"`{name}`, judged by a Rewardline server."}
    verifier_class = type(f"Remote_{name}", (RemoteVerifier, VerifierFunction), members)
    _DEFINED.append(verifier_class)
    return verifier_class
