"""An agent of several turns for OpenRLHF, `--train.agent_func_path agent.py`. The server keeps the conversation's state.

    # agent.py
    from rewardline.openrlhf_agent import agent_executor
    AgentExecutor = agent_executor(recipe="think_math", max_turns=3)

The rewards of the turns add up to the reward of the trajectory. OpenRLHF ends the run at an exception; so the hook waits
(`rewardline.always_reward`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from openrlhf.utils.agent import AgentInstanceBase, MultiTurnAgentExecutor

from rewardline.always_reward import never_none, waiting_hook
from rewardline.errors import RequestError, Unavailable
from rewardline.hook import Hook
from rewardline.interactions import opening_fields
from rewardline.openrlhf import item_of
from rewardline.results import Result, Status, unjudged
from rewardline.rollout import Rollout
from rewardline.special_tokens import without_ending

CHATML = "\n<|im_start|>user\n{feedback}<|im_end|>\n<|im_start|>assistant\n"
"""The text between two turns of the model, for Qwen and its relatives."""


def agent_executor(
    *, max_turns: int = 3, template: str = CHATML, interaction: Mapping[str, Any] | None = None, **options: Any
) -> type[Any]:
    """Make the class that OpenRLHF looks for.

    Args:
        max_turns: The model takes at most so many turns.
        template: The text after a turn; `{feedback}` stands for the server's feedback.
        interaction: The other rules of the turns: `feedback`, `trajectory`, `success_threshold`, ...
        options: Those of `rewardline.openrlhf.reward`, which also says what a label is.
    """
    hook = waiting_hook("OpenRLHF", **options)
    plan = {**(interaction or {}), "max_turns": max_turns}

    class Instance(Agent):
        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__(hook, plan, template)

    class AgentExecutor(MultiTurnAgentExecutor):
        def __init__(self) -> None:
            super().__init__(Instance)

    return AgentExecutor


class Agent(AgentInstanceBase):
    """One trajectory."""

    def __init__(self, hook: Hook, plan: Mapping[str, Any], template: str) -> None:
        self._hook = hook
        self._plan = plan
        self._template = template
        self._messages: list[dict[str, str]] = []
        self._rollout = Rollout({})
        self._paid = 0.0
        """The rewards of the turns so far."""

    async def reset(self, states: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Begin with a prompt and its label."""
        prompt = states["observation"]
        fields = opening_fields(item_of(self._hook, prompt, prompt, states["label"]))
        self._rollout = Rollout({**fields, **self._plan})
        self._messages = [{"role": "user", "content": prompt}]
        return states

    async def step(self, state_dict: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Judge a turn.

        Raises:
            FailedItems, InvalidItems: There is no reward.
        """
        self._messages.append({"role": "assistant", "content": without_ending(state_dict["action_text"])})
        try:
            turn = await self._rollout.take_turn(self._hook.client(), list(self._messages))
        except Unavailable as error:
            return self._without(unjudged(Status.FAILED, error.reason, error.message, "0", {}))
        except RequestError as error:
            return self._without(unjudged(Status.INVALID, "invalid_request", str(error), "0", {}))
        gained, self._paid = turn.trajectory_score - self._paid, turn.trajectory_score
        if turn.should_terminate:
            await self._rollout.end(self._hook.client())
            return _step_output(gained, turn.score, "", is_done=True, status=Status.OK)
        self._messages.append({"role": "user", "content": turn.response})
        feedback = self._template.replace("{feedback}", turn.response)
        return _step_output(gained, turn.score, feedback, is_done=False, status=Status.OK)

    def _without(self, result: Result) -> dict[str, Any]:
        value = never_none(self._hook.reward(result))
        return _step_output(value - self._paid, min(max(value, 0.0), 1.0), "", is_done=True, status=result.status)


def _step_output(reward: float, score: float, feedback: str, *, is_done: bool, status: Status) -> dict[str, Any]:
    logs = {**status.flags, "acc": score}
    return {
        "rewards": torch.tensor(reward, dtype=torch.float32),
        "scores": torch.tensor(score, dtype=torch.float32),
        "environment_feedback": feedback,
        "done": is_done,
        "extra_logs": {name: torch.tensor(value, dtype=torch.float32) for name, value in logs.items()},
    }
