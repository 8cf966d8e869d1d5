"""Several turns for OpenRLHF, `--train.agent_func_path agent.py`, with the conversation's state on the server.

    # agent.py
    from rewardline.openrlhf_agent import agent_executor
    AgentExecutor = agent_executor(recipe="think_math", max_turns=3)

The rewards of the turns add up to what the trajectory is worth. An exception ends the run; so what cannot be judged is asked for
again until the deadline, half an hour unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import torch
from openrlhf.utils.agent import AgentInstanceBase, MultiTurnAgentExecutor

from rewardline.always_reward import never_none, waiting_hook
from rewardline.errors import NotFound, RequestError, RewardlineError, Unavailable
from rewardline.hook import Hook
from rewardline.interactions import Turn
from rewardline.openrlhf import item_of
from rewardline.results import Result, Status, unjudged
from rewardline.special_tokens import without_ending

CHATML = "\n<|im_start|>user\n{feedback}<|im_end|>\n<|im_start|>assistant\n"
"""What stands between two turns of the model, for Qwen and its relatives."""
_CLOSE_S = 2.0


def agent_executor(
    *, max_turns: int = 3, template: str = CHATML, interaction: Mapping[str, Any] | None = None, **options: Any
) -> type[Any]:
    """The class that OpenRLHF looks for, by the options of a `Hook`.

    Args:
        max_turns: Of the model, at most.
        template: What comes after a turn, with `{feedback}` for what the server tells the model.
        interaction: How it goes beside that, in the server's words: `feedback`, `trajectory`, `success_threshold`, ...
        options: As of `rewardline.openrlhf.reward`; what a label is, too.
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
        self._fields: dict[str, Any] = {}
        self._messages: list[dict[str, str]] = []
        self._turns: list[int] = []
        """Where the model's own messages stand."""
        self._name: str | None = None
        self._worth = 0.0

    async def reset(self, states: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Begin with a prompt and its label."""
        prompt = states["observation"]
        self._fields = item_of(self._hook, prompt, prompt, states["label"])
        del self._fields["response"]
        self._messages = [{"role": "user", "content": prompt}]
        return states

    async def step(self, state_dict: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Judge a turn.

        Raises:
            FailedItems, InvalidItems: there is no reward.
        """
        self._turns.append(len(self._messages))
        self._messages.append({"role": "assistant", "content": without_ending(state_dict["action_text"])})
        try:
            turn = await self._taken()
        except Unavailable as error:
            return self._without(unjudged(Status.FAILED, error.reason, error.message, "0", {}))
        except RequestError as error:
            return self._without(unjudged(Status.INVALID, "invalid_request", str(error), "0", {}))
        gained, self._worth = turn.trajectory_score - self._worth, turn.trajectory_score
        if turn.should_terminate:
            await self._end()
            return _told(gained, turn.score, "", done=True, status=Status.OK)
        self._messages.append({"role": "user", "content": turn.response})
        feedback = self._template.replace("{feedback}", turn.response)
        return _told(gained, turn.score, feedback, done=False, status=Status.OK)

    async def _taken(self) -> Turn:
        """This turn's judgement; a server that has lost the conversation is told of it from the beginning."""
        if self._name is not None:
            with suppress(NotFound):
                return await self._take(len(self._turns))
        self._name = await self._hook.client().open_interaction({**self._fields, **self._plan})
        return [await self._take(index) for index in range(1, len(self._turns) + 1)][-1]

    async def _take(self, index: int) -> Turn:
        assert self._name is not None, "it was opened"
        return await self._hook.client().take_turn(self._name, self._messages[: self._turns[index - 1] + 1], index)

    async def _end(self) -> None:
        assert self._name is not None, "it was opened"
        with suppress(RewardlineError):
            await self._hook.client().end_interaction(self._name, deadline_s=_CLOSE_S)

    def _without(self, result: Result) -> dict[str, Any]:
        value = never_none(self._hook.reward(result))
        return _told(value - self._worth, min(max(value, 0.0), 1.0), "", done=True, status=result.status)


def _told(reward: float, score: float, feedback: str, *, done: bool, status: Status) -> dict[str, Any]:
    logs = {"failed": float(status is Status.FAILED), "invalid": float(status is Status.INVALID), "acc": score}
    return {
        "rewards": torch.tensor(reward, dtype=torch.float32),
        "scores": torch.tensor(score, dtype=torch.float32),
        "environment_feedback": feedback,
        "done": done,
        "extra_logs": {name: torch.tensor(value, dtype=torch.float32) for name, value in logs.items()},
    }
