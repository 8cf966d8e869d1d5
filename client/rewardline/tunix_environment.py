"""An environment for tunix's agents: `VerifierToolEnvironment(task, tool_map, verifier="trajectory", params={...})`.

It executes tools as tunix's own environment does. At the end the server judges the whole episode, with its calls and results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tunix.rl.agentic.agents import agent_types
from tunix.rl.agentic.environments.tool_environment import ToolEnvironment

from rewardline.always_reward import waiting_hook
from rewardline.tunix import REFERENCE, reward_of

_FINISH = "finish"
"""An agent of tunix ends an episode by this call; its `response` is the answer."""
_OWN = ("tool_map", "max_steps", "group_id", "pair_index")
"""The arguments of an environment that are tunix's own."""


class VerifierToolEnvironment(ToolEnvironment):
    """Judges an episode by the options of a `Hook`.

    An episode that cannot be judged raises, which ends the step.
    """

    def __init__(
        self, task: Mapping[str, Any], tool_map: Any = None, *, reference: str | None = REFERENCE, **options: Any
    ) -> None:
        own_options = {name: options.pop(name) for name in _OWN if name in options}
        self._hook = waiting_hook("tunix", **options)
        self._reference = reference
        self._messages: list[dict[str, Any]] = []
        super().__init__(task=dict(task), tool_map=tool_map or {}, reward_fn=_no_reward_yet, **own_options)

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        """Take a step of tunix's. The last step, also that at the limit, has the reward of the episode.

        Raises:
            FailedItems, InvalidItems: There is no reward.
        """
        observation, reward, is_done, info = super().step(action)
        if is_done:
            reward = reward_of(self._hook, self._messages, self.task, self._reference)
        return observation, reward, is_done, info

    def _initial_observation(self) -> Any:
        self._messages = []
        return super()._initial_observation()

    def _step_impl(self, action: Any) -> Any:
        message = action.action if isinstance(action, agent_types.Action) else action
        calls = [message] if isinstance(message, dict) else message if isinstance(message, list) else []
        tool_calls = [call for call in calls if call.get("function", {}).get("name") != _FINISH]
        if tool_calls:
            self._messages.append({"role": "assistant", "content": None, "tool_calls": tool_calls})
        result = super()._step_impl(action)
        if result.done:
            self._messages.append({"role": "assistant", "content": self._extract_llm_answer(message)})
        outputs = (result.observation or {}).get("tool_outputs") or {}
        self._messages += [
            {"role": "tool", "tool_call_id": name, "content": output if isinstance(output, str) else json.dumps(output)}
            for name, output in outputs.items()
        ]
        return result


def _no_reward_yet(task: Mapping[str, Any], action: Any) -> float:
    """The reward before the end of the episode."""
    return 0.0
