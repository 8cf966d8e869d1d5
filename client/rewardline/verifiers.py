"""Rewards for Prime Intellect's `verifiers`, and so for prime-rl.

    class MyTask(Rewarded, vf.Task[MyData]):
        rewardline = Hook(recipe="think_math")

or, without code, a plugged function: `[env.taskset.task.rewards.rewardline] fn = "rewardline.verifiers:reward"`. A trace without a
reward raises: it then has an error, and prime-rl leaves it out of its group.

`rubric_function` is for the older `Rubric`, which turns every exception into 0.0.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Callable, ClassVar

from rewardline.always_reward import Unjudged, never_abstaining, never_none, waiting_hook
from rewardline.columns import REFERENCES, first_value
from rewardline.errors import RewardlineError
from rewardline.hook import Hook, plain
from rewardline.messages import sendable

vf: Any = importlib.import_module("verifiers.v1")

_INFO = ("status", "reason", "verifier", "version", "extracted", "recipe")
"""The fields of a result that `trace.info` gets."""


class Rewarded:
    """A mixin for a `vf.Task`: a Rewardline server judges its traces.

    The numbers of the verdict become metrics of the trace, named `rewardline_...`. Its reason is in `trace.info`.
    """

    rewardline: ClassVar[Hook] = Hook()
    """How to judge. Without verifier or recipe, the server routes a task by the labels in its data."""
    data: Any

    @vf.reward
    async def verified(self, trace: Any) -> float:
        """The reward of the trace.

        Raises:
            FailedItems, InvalidItems, ValueError: There is no reward.
        """
        return await reward_of(self.rewardline, self.data, trace)


async def reward(task: Any, trace: Any) -> float:
    """A function for `rewards` of a task's configuration. The server of REWARDLINE_URL routes each task by its labels."""
    return await reward_of(Hook(), task, trace)


def plugged(**options: Any) -> Callable[..., Any]:
    """Make a function like `reward` by the options of a `Hook`, for a module of yours."""
    hook = never_abstaining("verifiers", Hook.of(options))

    async def reward(task: Any, trace: Any) -> float:
        return await reward_of(hook, task, trace)

    return reward


async def reward_of(hook: Hook, data: Any, trace: Any) -> float:
    """The reward of a trace. Also fills the metrics and the info of the trace."""
    row = data.model_dump(mode="json")
    item = hook.item(
        response_of(trace), reference=first_value(row, REFERENCES), prompt=data.prompt_text or None, row=row
    )
    result = await hook.score_one(item)
    trace.info["rewardline"] = {name: plain(getattr(result, name)) for name in _INFO}
    value = never_none(never_abstaining("verifiers", hook).reward(result))
    trace.record_metrics({f"rewardline_{name}": number for name, number in hook.numbers(result).items()})
    return value


def response_of(trace: Any) -> Any:
    """The model's messages on the final branch, with the results of its calls. If a root agent has a reply apart from its
    messages, the reply comes last.
    """
    branches = trace.branches
    nodes = branches[-1].nodes if branches else []
    first = next((position for position, node in enumerate(nodes) if node.sampled), len(nodes))
    messages = [sendable(node.message) for node in nodes[first:]]
    if trace.root_reply is not None and trace.root_reply.strip():
        last = messages[-1] if messages else {}
        if last.get("role") != "assistant" or last.get("content") != trace.root_reply:
            messages.append({"role": "assistant", "content": trace.root_reply})
    return messages or ""


def rubric_function(*, name: str = "rewardline", **options: Any) -> Callable[..., Any]:
    """Make a function for the older `Rubric(funcs=[...])` by the options of a `Hook`, which waits (`always_reward`).

    Raises (the function):
        Unjudged: There is no reward, and `on_failed` or `on_invalid` is not a number.
    """
    hook = waiting_hook("a Rubric", **options)

    async def score(completion: Any, answer: Any = None, prompt: Any = None, info: Any = None, **_: Any) -> float:
        row = info if isinstance(info, Mapping) else {}
        reference = None if answer in (None, "") else answer
        try:
            result = await hook.score_one(hook.item(sendable(completion), reference=reference, prompt=prompt, row=row))
            return never_none(hook.reward(result))
        except (RewardlineError, ValueError, TypeError) as error:
            raise Unjudged(str(error)) from error

    score.__name__ = name
    return score
