"""An environment for SkyRL: `skyrl_gym.register(id="verifier", entry_point="rewardline.skyrl:VerifierEnv")`.

One turn, or with `max_turns` above 1 several: then the server holds the conversation's state and says what the model is told
after each turn. The rewards of the turns add up to what the trajectory is worth.

SkyRL ends a step by any exception and knows no abstention. What cannot be judged is asked for again until the deadline, half an
hour unless told otherwise, and then is an exception, or the number that `on_failed` names.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from rewardline.always_reward import never_none, waiting_hook
from rewardline.errors import NotFound, RequestError, RewardlineError, Unavailable
from rewardline.hook import is_missing, plain
from rewardline.interactions import Turn
from rewardline.results import Result, Status, unjudged
from rewardline.special_tokens import without_ending

_CLOSE_S = 2.0
_INTERACTION = ("max_turns", "success_threshold", "ttl_s", "language", "feedback", "trajectory", "gamma", "penalty")
"""How an interaction goes, in the server's words."""


class VerifierEnv(BaseTextEnv):
    """Judges what the model says, by the options of a `Hook`, and those of an interaction."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None, **options: Any) -> None:
        """Take the row in `extras`, and the options: those of the configuration over those it was registered with.

        Raises:
            ValueError, TypeError: an option that does not exist, or cannot be.
        """
        super().__init__()
        options = {**options, **configured(env_config)}
        self.row = row_of(extras or {})
        self.plan = {name: options.pop(name) for name in _INTERACTION if name in options}
        self.hook = waiting_hook("SkyRL", **options)
        # In `extras` it is the trainer's own limit, there for every environment.
        self.max_turns = int(self.plan.get("max_turns") or 1)
        self.metrics: dict[str, float] = {}
        self._prompt: Any = None
        self._messages: list[dict[str, Any]] = []
        self._interaction: str | None = None
        self._worth = 0.0

    def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
        """Begin with this prompt."""
        self._prompt = plain(prompt)
        self._messages = list(self._prompt) if isinstance(self._prompt, list) else []
        return prompt, {}

    def step(self, action: str) -> Any:
        """Judge a turn.

        Raises:
            FailedItems, InvalidItems: there is no reward.
        """
        self.turns += 1
        return self._turn(without_ending(action)) if self.max_turns > 1 else self._only_turn(without_ending(action))

    def get_metrics(self) -> dict[str, Any]:
        """Numbers under the same names for every trajectory."""
        return {"turns": float(self.turns), **self.metrics}

    def close(self) -> None:
        """End the interaction; a server that is away forgets it by itself."""
        name, self._interaction = self._interaction, None
        if name is not None:
            with suppress(RewardlineError):
                self.hook.blocking_client().end_interaction(name, deadline_s=_CLOSE_S)

    def _only_turn(self, text: str) -> Any:
        result = self.hook.score_one_blocking(self.hook.item(text, prompt=self._prompt, row=self.row))
        self.metrics = self.hook.numbers(result)
        return _output(self.metrics["score"], self.metrics)

    def _turn(self, text: str) -> Any:
        self._messages.append({"role": "assistant", "content": text})
        try:
            turn = self._taken()
        except Unavailable as error:
            return self._without(unjudged(Status.FAILED, error.reason, error.message, "0", {}))
        except RequestError as error:
            return self._without(unjudged(Status.INVALID, "invalid_request", str(error), "0", {}))
        gained, self._worth = turn.trajectory_score - self._worth, turn.trajectory_score
        self.metrics = {"score": turn.trajectory_score, "acc": turn.score, "failed": 0.0, "invalid": 0.0}
        if turn.should_terminate:
            return _output(gained, self.metrics)
        observation = {"role": "user", "content": turn.response}
        self._messages.append(observation)
        return _output(gained, self.metrics, observation)

    def _taken(self) -> Turn:
        """This turn's judgement; a server that has lost the interaction is told of it from the beginning."""
        if self._interaction is not None:
            with suppress(NotFound):
                return self._take(self.turns)
        fields = self.hook.item("", prompt=self._prompt, row=self.row)
        del fields["response"]
        opened = {**fields, **self.plan, "max_turns": self.max_turns}
        self._interaction = self.hook.blocking_client().open_interaction(opened)
        return [self._take(index) for index in range(1, self.turns + 1)][-1]

    def _take(self, index: int) -> Turn:
        assert self._interaction is not None, "it was opened"
        ends = [place for place, each in enumerate(self._messages) if each["role"] == "assistant"]
        messages = self._messages[: ends[index - 1 - self.turns] + 1]
        return self.hook.blocking_client().take_turn(self._interaction, messages, index)

    def _without(self, result: Result) -> Any:
        """The end of a trajectory that has no judgement: an exception, or the hook's number for all of it.

        Raises:
            FailedItems, InvalidItems
        """
        value = never_none(self.hook.reward(result))
        self.metrics = {
            "score": value,
            "acc": value,
            "failed": float(result.status is Status.FAILED),
            "invalid": float(result.status is Status.INVALID),
        }
        return _output(value - self._worth, self.metrics)


def configured(env_config: Any) -> dict[str, Any]:
    """The options in a configuration, which is a mapping or a dataclass, as SkyRL has it."""
    if is_dataclass(env_config) and not isinstance(env_config, type):
        env_config = {name: value for name, value in asdict(env_config).items() if value is not None}
    return dict(plain(dict(env_config or {})))


def row_of(extras: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a row: SkyRL's `reward_spec` names what to judge against, `extra_info` may hold the rest."""
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
