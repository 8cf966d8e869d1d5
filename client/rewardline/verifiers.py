"""Rewards for Prime Intellect's `verifiers`, and so for prime-rl.

    class MyTask(Rewarded, vf.Task[MyData]):
        rewardline = Hook(recipe="think_math")

or, without a line of code, a plugged function: `[env.taskset.task.rewards.rewardline] fn = "rewardline.verifiers:reward"`.
What has no reward raises: the trace then has an error, and prime-rl leaves it out of its group.

`rubric_function` is for the older `Rubric`, which makes 0.0 of every exception; see there.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Callable, ClassVar

from rewardline.always_reward import Unjudged, never_abstaining, never_none, waiting_hook
from rewardline.errors import RewardlineError
from rewardline.hook import Hook, is_missing, plain
from rewardline.messages import sendable

vf: Any = importlib.import_module("verifiers.v1")

_TOLD = ("status", "reason", "verifier", "version", "extracted", "recipe")
_REFERENCES = ("reference", "ground_truth", "answer")
"""Where the reference of a task's data is looked for."""


class Rewarded:
    """What a `vf.Task` inherits beside it to be rewarded by a Rewardline server.

    The numbers of the verdict become metrics of the trace, named `rewardline_...`, and its reasons are in `trace.info`.
    """

    rewardline: ClassVar[Hook] = Hook()
    """By what is judged; without verifier or recipe, the labels in the task's data route it."""
    data: Any

    @vf.reward
    async def verified(self, trace: Any) -> float:
        """The reward of the trace.

        Raises:
            FailedItems, InvalidItems, ValueError: there is none.
        """
        return await judged(self.rewardline, self.data, trace)


async def reward(task: Any, trace: Any) -> float:
    """A function for `rewards` of a task's configuration; routed by labels, at the server that REWARDLINE_URL names."""
    return await judged(Hook(), task, trace)


def plugged(**options: Any) -> Callable[..., Any]:
    """A function like `reward`, by the options of a `Hook`, for a module of the user's own."""
    hook = never_abstaining("verifiers", Hook(**options))

    async def reward(task: Any, trace: Any) -> float:
        return await judged(hook, task, trace)

    return reward


async def judged(hook: Hook, data: Any, trace: Any) -> float:
    """The reward of a trace, whose metrics and info are filled on the way."""
    row = data.model_dump(mode="json")
    item = hook.item(said(trace), reference=_reference(row), prompt=data.prompt_text or None, row=row)
    result = await hook.score_one(item)
    trace.info["rewardline"] = {name: plain(getattr(result, name)) for name in _TOLD}
    value = never_none(never_abstaining("verifiers", hook).reward(result))
    trace.record_metrics({f"rewardline_{name}": number for name, number in hook.numbers(result).items()})
    return value


def said(trace: Any) -> Any:
    """What the model said and did on the final branch, with the results of its calls; a root agent's reply, where it has one
    beside its messages, comes last.
    """
    branches = trace.branches
    nodes = branches[-1].nodes if branches else []
    first = next((place for place, node in enumerate(nodes) if node.sampled), len(nodes))
    messages = [sendable(node.message) for node in nodes[first:]]
    if trace.root_reply is not None and trace.root_reply.strip():
        last = messages[-1] if messages else {}
        if last.get("role") != "assistant" or last.get("content") != trace.root_reply:
            messages.append({"role": "assistant", "content": trace.root_reply})
    return messages or ""


def rubric_function(*, name: str = "rewardline", **options: Any) -> Callable[..., Any]:
    """A function for the older `Rubric(funcs=[...])`, by the options of a `Hook`.

    What cannot be judged is asked for again until the deadline, half an hour unless told otherwise.

    Raises (the function):
        Unjudged: there is no reward, and `on_failed` or `on_invalid` is no number.
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


def _reference(row: Mapping[str, Any]) -> Any:
    return next((row[name] for name in _REFERENCES if not is_missing(row.get(name))), None)
