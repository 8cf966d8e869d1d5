"""An environment for NeMo-RL: `register()` before the data are set up, then `env: {verifier: {...}}`, `data: {env_name: verifier}`.

A sample that could not be judged raises ConnectionError, which NeMo-RL takes for a fault of the infrastructure and retries. An
invalid sample raises another exception, which ends the run after a few retries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import ray
import torch
from nemo_rl.distributed.ray_actor_environment_registry import ACTOR_ENVIRONMENT_REGISTRY
from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn
from nemo_rl.environments.utils import ENV_REGISTRY, register_env

from rewardline.always_reward import never_abstaining
from rewardline.errors import FailedItems
from rewardline.hook import Hook, plain
from rewardline.results import Result, Status

NAME = "verifier"
ACTOR = "rewardline.nemo_rl.VerifierEnvironment"
_MATH = "nemo_rl.environments.math_environment.MathEnvironment"
_TOGETHER = 64
"""A step of at least so many samples is a request of its own, and waits for no others."""
_OWN = ("num_workers", "stop_strings", "env_name")
"""The options in the configuration of an environment that are NeMo-RL's own."""


def register(name: str = NAME) -> None:
    """Register the environment by this name, to run where NeMo-RL's environment for math runs. May be called twice."""
    ACTOR_ENVIRONMENT_REGISTRY.setdefault(ACTOR, ACTOR_ENVIRONMENT_REGISTRY[_MATH])
    if name not in ENV_REGISTRY:
        register_env(name, ACTOR)


class Environment(EnvironmentInterface):
    """Judges the last assistant message of each sample. `VerifierEnvironment` is its actor.

    Its step is a coroutine, so that the actor may have many calls at once: async rollouts send samples one by one.
    """

    def __init__(self, cfg: Mapping[str, Any] | None = None) -> None:
        """Take the options of a `Hook`.

        Raises:
            ValueError: The hook would abstain.
        """
        options = {name: value for name, value in plain(dict(cfg or {})).items() if name not in _OWN}
        self.hook = never_abstaining("NeMo-RL", Hook.of(options))

    async def step(
        self, message_log_batch: Sequence[Sequence[Mapping[str, Any]]], metadata: Sequence[Mapping[str, Any] | None]
    ) -> Any:
        """Judge a batch. Each field of the answer has one entry per sample, in order.

        Raises:
            ConnectionError: Samples could not be judged.
            InvalidItems: Samples cannot be judged until the data set is mended.
        """
        items = [item_of(self.hook, *sample) for sample in zip(message_log_batch, metadata)]
        results = await self._judged(items)
        try:
            rewards = rewards_of(self.hook, results)
        except FailedItems as error:
            raise ConnectionError(f"rewardline could not judge: {error}") from error
        return EnvironmentReturn(
            observations=[_observation(result) for result in results],
            metadata=list(metadata),
            next_stop_strings=[None] * len(results),
            rewards=rewards,
            terminateds=torch.ones(len(results)),
            answers=[result.extracted for result in results],
        )

    def global_post_process_and_metrics(self, batch: Any) -> tuple[Any, dict[str, float]]:
        """Return the batch unchanged, with metrics. A response that was cut off keeps its reward."""
        rewards = torch.as_tensor(batch["total_reward"] if "rewards" not in batch else batch["rewards"]).float()
        metrics = {"mean_reward": rewards.mean().item() if rewards.numel() else 0.0, "samples": float(rewards.shape[0])}
        if "is_end" in batch:
            metrics["fraction_of_samples_properly_ended"] = torch.as_tensor(batch["is_end"]).float().mean().item()
        return batch, metrics

    def shutdown(self) -> None:
        """Do nothing: the end of the process closes the connections."""

    async def _judged(self, items: Sequence[Mapping[str, Any]]) -> list[Result]:
        if len(items) >= _TOGETHER:
            return await self.hook.score(items)
        return list(await asyncio.gather(*map(self.hook.score_one, items)))


VerifierEnvironment = ray.remote(max_restarts=-1, max_task_retries=-1)(Environment)


def item_of(hook: Hook, log: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Make the item of one sample. A message log holds tensors of tokens, too; the item leaves them out."""
    messages = [{"role": str(message["role"]), "content": plain(message["content"])} for message in log]
    last = max((position for position, message in enumerate(messages) if message["role"] == "assistant"), default=None)
    if last is None:
        return hook.item("", prompt=messages or None, row=metadata)
    return hook.item(messages[last]["content"], prompt=messages[:last] or None, row=metadata)


def rewards_of(hook: Hook, results: Sequence[Result]) -> Any:
    """The rewards as a tensor; with `components`, one tensor for each of them.

    Raises:
        FailedItems, InvalidItems: There is no reward.
    """
    rewards = torch.tensor(hook.rewards(results), dtype=torch.float32)
    if not hook.components:
        return rewards
    values = [hook.component_values(result) for result in results]
    return {str(name): torch.tensor([row[name] for row in values]) for name in hook.components}


def _observation(result: Result) -> dict[str, str]:
    verdict = "not judged" if result.status is not Status.OK else "correct" if result.score == 1.0 else "incorrect"
    return {"role": "environment", "content": f"Environment: {verdict}"}
