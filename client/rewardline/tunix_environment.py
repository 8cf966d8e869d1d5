"""An environment for tunix's agents: `VerifierToolEnvironment(task, tool_map, verifier="trajectory", params={...})`.

It executes tools as tunix's own does, and at the end has the whole episode judged, calls and results as messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tunix.rl.agentic.agents import agent_types
from tunix.rl.agentic.environments.tool_environment import ToolEnvironment

from rewardline.always_reward import waiting_hook
from rewardline.tunix import REFERENCE, judged

_FINISH = "finish"
"""The call by which tunix's agents end an episode; its `response` is the answer."""
_OWN = ("tool_map", "max_steps", "group_id", "pair_index")
"""Of an environment's arguments, those that are tunix's."""


class VerifierToolEnvironment(ToolEnvironment):
    """Judges an episode by the options of a `Hook`.

    What cannot be judged is an exception, which ends the step.
    """

    def __init__(
        self, task: Mapping[str, Any], tool_map: Any = None, *, reference: str | None = REFERENCE, **options: Any
    ) -> None:
        own = {name: options.pop(name) for name in _OWN if name in options}
        self._hook = waiting_hook("tunix", **options)
        self._reference = reference
        self._messages: list[dict[str, Any]] = []
        super().__init__(task=dict(task), tool_map=tool_map or {}, reward_fn=_none_yet, **own)

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        """One of tunix's; the last one, be it the most that there may be, has the episode's reward.

        Raises:
            FailedItems, InvalidItems: there is none.
        """
        observation, reward, done, info = super().step(action)
        if done:
            reward = judged(self._hook, self._messages, self.task, self._reference)
        return observation, reward, done, info

    def _initial_observation(self) -> Any:
        self._messages = []
        return super()._initial_observation()

    def _step_impl(self, action: Any) -> Any:
        said = action.action if isinstance(action, agent_types.Action) else action
        calls = [said] if isinstance(said, dict) else said if isinstance(said, list) else []
        made = [call for call in calls if call.get("function", {}).get("name") != _FINISH]
        if made:
            self._messages.append({"role": "assistant", "content": None, "tool_calls": made})
        result = super()._step_impl(action)
        if result.done:
            self._messages.append({"role": "assistant", "content": self._extract_llm_answer(said)})
        outputs = (result.observation or {}).get("tool_outputs") or {}
        self._messages += [
            {"role": "tool", "tool_call_id": name, "content": output if isinstance(output, str) else json.dumps(output)}
            for name, output in outputs.items()
        ]
        return result


def _none_yet(task: Mapping[str, Any], action: Any) -> float:
    """Until the episode is over."""
    return 0.0
