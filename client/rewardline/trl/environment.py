"""An environment whose state is an interaction on the server.

    reset(**row) ─► submit_answer(answer) ─► feedback ─► submit_answer(answer) ─► ... ─► get_reward()
                        │ opens it, and takes a turn

What the model wrote in vain (no answer was submitted) is worth `unanswered`. A turn that could not be judged ends the
rollout without a reward: TRL shows the model that its call failed, and leaves the sample out of its group.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rewardline.errors import InvalidRequest, NotFound, RewardlineError, Unavailable
from rewardline.hook import Hook
from rewardline.interactions import Turn
from rewardline.messages import sendable
from rewardline.trl.rows import REFERENCE, Rows

OVER = "No more answers are taken."
_REOPENINGS = 5
_END_DEADLINE_S = 5.0


@dataclass(frozen=True)
class Play:
    """How the rollouts of an environment go."""

    hook: Hook
    rows: Rows
    interaction: Mapping[str, Any]
    unanswered: float | None

    def fields(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """What opens the interaction of a row."""
        self.rows.check(row)
        fields = self.rows.item(self.hook, row, "", row.get("prompt"))
        del fields["response"]
        return {**fields, **self.interaction}


class Environment:
    """One rollout at a time; made by `environment(...)`. TRL's metrics call it by the name of its class.

    Public methods other than `reset` and `get_reward` are the model's tools; a subclass may add some.
    """

    def __init__(self, play: Play) -> None:
        self._play = play
        self._begin({})

    def _begin(self, row: Mapping[str, Any]) -> None:
        self._row = row
        self._id: str | None = None
        self._answers: list[str] = []
        """Those that were judged."""
        self._turn: Turn | None = None
        self._fault: Exception | None = None

    def reset(self, **row: Any) -> str | None:
        """Begin with another row. Nothing is sent yet: most of the time is the model's, and some rollouts answer nothing."""
        self._begin(row)
        return None

    async def submit_answer(self, answer: str) -> str:
        """Submit an answer to the task and learn whether it is right.

        Args:
            answer: The answer.

        Returns:
            What is to be said of the answer.
        """
        if self._fault is not None:
            raise self._fault
        if self._turn is not None and self._turn.should_terminate:
            return OVER
        try:
            self._turn = await self._take(sendable(str(answer)))
        except (RewardlineError, ValueError, TypeError) as fault:
            self._fault = fault
            raise
        return self._turn.response

    async def _take(self, answer: str) -> Turn:
        """Take the next turn; on a server that has forgotten the interaction, those before it first."""
        for _ in range(_REOPENINGS):
            try:
                if self._id is None:
                    await self._reopen()
                turn = await self._send(answer, len(self._answers) + 1)
            except NotFound:
                self._id = None
                continue
            self._answers.append(answer)
            if turn.should_terminate:
                await self._end()
            return turn
        raise Unavailable("unavailable", f"the server forgot the interaction {_REOPENINGS} times")

    async def _reopen(self) -> None:
        self._id = await self._play.hook.client().open_interaction(self._play.fields(self._row))
        for number, answer in enumerate(self._answers, 1):
            await self._send(answer, number)

    async def _send(self, answer: str, number: int) -> Turn:
        assert self._id is not None, "an interaction is open"
        messages = [{"role": "assistant", "content": answer}]
        return await self._play.hook.client().take_turn(self._id, messages, number)

    async def _end(self) -> None:
        """A courtesy: what is not ended, the server forgets after a while."""
        assert self._id is not None, "an interaction is open"
        with suppress(RewardlineError):
            await self._play.hook.client().end_interaction(self._id, deadline_s=_END_DEADLINE_S)

    def get_reward(self) -> float | None:
        """What the turns come to, as the interaction's `trajectory` says.

        Raises:
            InvalidRequest, Unavailable, and others: there is no reward, and the hook is to raise then.
        """
        if self._fault is not None:
            return self._missing(self._fault)
        return self._play.unanswered if self._turn is None else self._turn.trajectory_score

    def _missing(self, fault: Exception) -> float | None:
        hook = self._play.hook
        policies = ((InvalidRequest, hook.on_invalid), (Unavailable, hook.on_failed))
        policy = next((policy for kind, policy in policies if isinstance(fault, kind)), "raise")
        if policy == "raise":
            raise fault
        return None if isinstance(policy, str) else float(policy)


def environment(
    verifier: str | None = None,
    *,
    recipe: str | None = None,
    checks: Sequence[Mapping[str, Any]] | None = None,
    reference: str | None = REFERENCE,
    columns: Mapping[str, str] | None = None,
    interaction: Mapping[str, Any] | None = None,
    unanswered: float | None = 0.0,
    kind: Callable[[Play], Environment] = Environment,
    **options: Any,
) -> Callable[[], Environment]:
    """What `GRPOTrainer(environment_factory=...)` takes; it can be pickled.

    Args:
        verifier: Who judges.
        recipe: Or the recipe that says so.
        checks: Or a composition written out.
        reference: As `reward_func` has it.
        columns: As `reward_func` has it.
        interaction: How it goes: `max_turns`, `success_threshold`, `trajectory`, `feedback`, `language`, ...
        unanswered: The reward of a rollout that submitted no answer, for which nobody is asked; None is to leave it out.
        kind: A subclass of `Environment`, if need be.
        options: Those of `Hook`; `on_failed` is "abstain" here unless given.
    """
    hook = Hook(verifier=verifier, recipe=recipe, checks=checks, **{"on_failed": "abstain", **options})
    return functools.partial(
        kind, Play(hook, Rows(reference, dict(columns or {})), dict(interaction or {}), unanswered)
    )
