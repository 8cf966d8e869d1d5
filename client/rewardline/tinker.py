"""Rewards for tinker-cookbook: an environment of one question, and a reward function for agents with tools.

    env = VerifierEnv(renderer, "2+2=", reference="4", hook=Hook(verifier="math"))
    builder = ProblemGroupBuilder(partial(VerifierEnv, renderer, "2+2=", reference="4", hook=hook), num_envs=8)
    agent = build_agent_tool_env(renderer, tools, messages, conversation_reward(hook=hook, prompt=messages), max_turns=5)

Messages are judged as the renderer parsed them, with their thoughts, calls and results. What cannot be judged raises, which the
cookbook's rollout strategies count as a rollout that failed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import tinker
from tinker_cookbook.rl.types import Env, StepResult

from rewardline.always_reward import never_abstaining, never_none
from rewardline.hook import Hook
from rewardline.messages import sendable


class VerifierEnv(Env):
    """One turn; its metrics are the hook's numbers."""

    def __init__(
        self,
        renderer: Any,
        question: str,
        *,
        hook: Hook,
        reference: Any = None,
        row: Mapping[str, Any] | None = None,
        convo_prefix: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Take a question and what to judge its answer by.

        Args:
            renderer: The cookbook's, for the model.
            question: The user's message.
            hook: By what is judged, and where.
            reference: What is right.
            row: Columns of a data set, by which a row is routed or judged.
            convo_prefix: Messages before the question.

        Raises:
            ValueError: the hook is to abstain.
        """
        self.renderer = renderer
        self._hook = never_abstaining("tinker-cookbook", hook)
        self._prompt = [*convo_prefix, {"role": "user", "content": question}]
        self._reference = reference
        self._row = row

    @property
    def stop_condition(self) -> Any:
        """The renderer's."""
        return self.renderer.get_stop_sequences()

    async def initial_observation(self) -> tuple[Any, Any]:
        """The prompt, as tokens."""
        return self.renderer.build_generation_prompt(self._prompt), self.stop_condition

    async def step(self, action: Any, *, extra: Any = None) -> Any:
        """Judge what the tokens say.

        Raises:
            FailedItems, InvalidItems: there is no reward.
        """
        message, _ = self.renderer.parse_response(action)
        item = self._hook.item([said(message)], reference=self._reference, prompt=sendable(self._prompt), row=self._row)
        result = await self._hook.score_one(item)
        return StepResult(
            reward=never_none(self._hook.reward(result)),
            episode_done=True,
            next_observation=tinker.ModelInput.empty(),
            next_stop_condition=self.stop_condition,
            metrics=self._hook.numbers(result),
            logs={"reason": result.reason, "extracted": result.extracted or ""},
        )


def conversation_reward(
    *,
    hook: Hook,
    reference: Any = None,
    row: Mapping[str, Any] | None = None,
    prompt: Sequence[Mapping[str, Any]] = (),
) -> Callable[[Sequence[Mapping[str, Any]]], Awaitable[tuple[float, dict[str, float]]]]:
    """A `reward_fn` for `build_agent_tool_env`, which judges the whole conversation once it has ended.

    The cookbook itself gives turns whose calls it cannot read their reward (`failed_parse_reward`), and ends there by default.

    Args:
        hook: By what is judged, and where.
        reference: What is right.
        row: Columns of a data set, by which a row is routed or judged.
        prompt: The environment's `initial_messages`. They are not judged, whether the cookbook hands the reward function
            all messages or, by its termination policy, the model's alone.

    Raises:
        ValueError: the hook is to abstain.
    """
    hook = never_abstaining("tinker-cookbook", hook)
    before = [said(message) for message in prompt]

    async def score(messages: Sequence[Mapping[str, Any]]) -> tuple[float, dict[str, float]]:
        conversation = [said(message) for message in messages]
        if conversation[: len(before)] == before:
            conversation = conversation[len(before) :]
        result = await hook.score_one(hook.item(conversation, reference=reference, prompt=before or None, row=row))
        return never_none(hook.reward(result)), hook.numbers(result)

    return score


def said(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message as it is sent; calls that the renderer could not read stand in its text, as the model wrote them."""
    whole = dict(sendable(message))
    unread = [str(each.get("raw_text", "")) for each in whole.pop("unparsed_tool_calls", None) or ()]
    if unread:
        content = whole.get("content") or ""
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        whole["content"] = [*parts, *({"type": "text", "text": text} for text in unread)]
    return whole
