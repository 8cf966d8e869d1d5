"""An environment for SkyRL: `skyrl_gym.register(id="verifier", entry_point="rewardline.skyrl:VerifierEnv")`.

It judges one turn, or several if `max_turns` is above 1. Then the server keeps the state of the conversation and gives the
model feedback after each turn. The rewards of the turns add up to the reward of the trajectory.

SkyRL knows no abstention, and any exception ends its step. The hook waits (`rewardline.always_reward`); a sample that cannot
be judged even so raises, or gets the number of `on_failed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from rewardline.always_reward import never_none, waiting_hook
from rewardline.errors import RequestError, Unavailable
from rewardline.hook import is_missing, plain
from rewardline.interactions import OPTIONS, opening_fields
from rewardline.results import Result, Status, unjudged
from rewardline.rollout import Rollout
from rewardline.special_tokens import without_ending


class VerifierEnv(BaseTextEnv):
    """Judges a model's turns. Its options are those of a `Hook` and those of an interaction."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None, **options: Any) -> None:
        """Take the row in `extras`, and the options. Those of the configuration override those of `register`.

        Raises:
            ValueError, TypeError: An option does not exist, or can never work.
        """
        super().__init__()
        options = {**options, **configured(env_config)}
        self.row = row_of(extras or {})
        self.plan = {name: options.pop(name) for name in OPTIONS if name in options}
        self.hook = waiting_hook("SkyRL", **options)
        # `extras` holds a `max_turns`, too: the trainer's limit for every environment.
        self.max_turns = int(self.plan.get("max_turns") or 1)
        self.metrics: dict[str, float] = {}
        self._prompt: Any = None
        self._messages: list[dict[str, Any]] = []
        self._interaction: Rollout | None = None
        self._paid = 0.0
        """The rewards of the turns so far."""

    def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
        """Begin with this prompt."""
        self._prompt = plain(prompt)
        self._messages = list(self._prompt) if isinstance(self._prompt, list) else []
        return prompt, {}

    def step(self, action: str) -> Any:
        """Judge a turn.

        Raises:
            FailedItems, InvalidItems: There is no reward.
        """
        self.turns += 1
        return self._turn(without_ending(action)) if self.max_turns > 1 else self._only_turn(without_ending(action))

    def get_metrics(self) -> dict[str, Any]:
        """The numbers of the trajectory. Every trajectory has the same names."""
        return {"turns": float(self.turns), **self.metrics}

    def close(self) -> None:
        """End the interaction."""
        if self._interaction is not None:
            self.hook.blocking_client()._run(self._interaction.end)

    def _only_turn(self, text: str) -> Any:
        result = self.hook.score_one_blocking(self.hook.item(text, prompt=self._prompt, row=self.row))
        self.metrics = self.hook.numbers(result)
        return _output(self.metrics["score"], self.metrics)

    def _turn(self, text: str) -> Any:
        self._messages.append({"role": "assistant", "content": text})
        if self._interaction is None:
            fields = opening_fields(self.hook.item("", prompt=self._prompt, row=self.row))
            self._interaction = Rollout({**fields, **self.plan, "max_turns": self.max_turns})
        try:
            turn = self.hook.blocking_client()._run(self._interaction.take_turn, list(self._messages))
        except Unavailable as error:
            return self._without(unjudged(Status.FAILED, error.reason, error.message, "0", {}))
        except RequestError as error:
            return self._without(unjudged(Status.INVALID, "invalid_request", str(error), "0", {}))
        gained, self._paid = turn.trajectory_score - self._paid, turn.trajectory_score
        self.metrics = {"score": turn.trajectory_score, "acc": turn.score, **Status.OK.flags}
        if turn.should_terminate:
            return _output(gained, self.metrics)
        observation = {"role": "user", "content": turn.response}
        self._messages.append(observation)
        return _output(gained, self.metrics, observation)

    def _without(self, result: Result) -> Any:
        """End a trajectory that could not be judged, with the hook's number for all of it.

        Raises:
            FailedItems, InvalidItems: The hook raises in this case.
        """
        value = never_none(self.hook.reward(result))
        self.metrics = {"score": value, "acc": value, **result.status.flags}
        return _output(value - self._paid, self.metrics)


def configured(env_config: Any) -> dict[str, Any]:
    """The options in SkyRL's configuration, which is a mapping or a dataclass."""
    if is_dataclass(env_config) and not isinstance(env_config, type):
        env_config = {name: value for name, value in asdict(env_config).items() if value is not None}
    return dict(plain(dict(env_config or {})))


def row_of(extras: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a row. SkyRL keeps the reference in `reward_spec`, and other columns in `extra_info`."""
    extra_info = extras.get("extra_info")
    row = {**(extra_info if isinstance(extra_info, Mapping) else {}), **extras}
    reward_spec = extras.get("reward_spec")
    truth = reward_spec.get("ground_truth") if isinstance(reward_spec, Mapping) else None
    return row if is_missing(truth) else {**row, "ground_truth": truth}


def _output(reward: float, numbers: Mapping[str, float], observation: Mapping[str, str] | None = None) -> Any:
    return BaseTextEnvStepOutput(
        observations=[] if observation is None else [dict(observation)],
        reward=float(reward),
        done=observation is None,
        metadata=dict(numbers),
    )
