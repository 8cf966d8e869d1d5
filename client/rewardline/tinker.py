"""Rewards for tinker-cookbook: an environment of one question, and a reward function for agents with tools.

    env = VerifierEnv(renderer, "2+2=", reference="4", hook=Hook(verifier="math"))
    builder = ProblemGroupBuilder(partial(VerifierEnv, renderer, "2+2=", reference="4", hook=hook), num_envs=8)
    agent = build_agent_tool_env(renderer, tools, messages, conversation_reward(hook=hook, prompt=messages), max_turns=5)

The server judges messages as the renderer parsed them, with their thoughts, calls and results. A sample that cannot be judged
raises; the cookbook's rollout strategies count that as a failed rollout.
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
    """An environment of one turn. Its metrics are the hook's numbers."""

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
        """Take a question, and how to judge its answer.

        Args:
            renderer: The cookbook's, for the model.
            question: The user's message.
            hook: Says how to judge, and on which server.
            reference: The right answer.
            row: Columns of a data set; the server may route or judge by them.
            convo_prefix: Messages before the question.

        Raises:
            ValueError: The hook would abstain.
        """
        self.renderer = renderer
        self._hook = never_abstaining("tinker-cookbook", hook)
        self._prompt = [*convo_prefix, {"role": "user", "content": question}]
        self._reference = reference
        self._row = row

    @property
    def stop_condition(self) -> Any:
        """The stop sequences of the renderer."""
        return self.renderer.get_stop_sequences()

    async def initial_observation(self) -> tuple[Any, Any]:
        """The prompt, as tokens."""
        return self.renderer.build_generation_prompt(self._prompt), self.stop_condition

    async def step(self, action: Any, *, extra: Any = None) -> Any:
        """Judge the message that the tokens hold.

        Raises:
            FailedItems, InvalidItems: There is no reward.
        """
        message, _ = self.renderer.parse_response(action)
        item = self._hook.item(
            [message_json(message)], reference=self._reference, prompt=sendable(self._prompt), row=self._row
        )
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
    """Make a `reward_fn` for `build_agent_tool_env`. It judges the whole conversation at its end.

    If the cookbook cannot read a turn's calls, it rewards the turn itself (`failed_parse_reward`), and by default ends.

    Args:
        hook: Says how to judge, and on which server.
        reference: The right answer.
        row: Columns of a data set; the server may route or judge by them.
        prompt: The environment's `initial_messages`. They are not judged. The cookbook may pass them to the reward
            function or not; that depends on its termination policy.

    Raises:
        ValueError: The hook would abstain.
    """
    hook = never_abstaining("tinker-cookbook", hook)
    opening = [message_json(message) for message in prompt]

    async def score(messages: Sequence[Mapping[str, Any]]) -> tuple[float, dict[str, float]]:
        conversation = [message_json(message) for message in messages]
        if conversation[: len(opening)] == opening:
            conversation = conversation[len(opening) :]
        result = await hook.score_one(hook.item(conversation, reference=reference, prompt=opening or None, row=row))
        return never_none(hook.reward(result)), hook.numbers(result)

    return score


def message_json(message: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON form of a message. Calls that the renderer could not read become text, as the model wrote them."""
    content_fields = dict(sendable(message))
    unread = [str(call.get("raw_text", "")) for call in content_fields.pop("unparsed_tool_calls", None) or ()]
    if unread:
        content = content_fields.get("content") or ""
        content_parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        content_fields["content"] = [*content_parts, *({"type": "text", "text": text} for text in unread)]
    return content_fields
