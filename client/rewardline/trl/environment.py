"""An environment with its state in an interaction on the server.

    reset(**row) ─► submit_answer(answer) ─► feedback ─► submit_answer(answer) ─► ... ─► get_reward()
                        │ the first one opens the interaction; each takes a turn

A rollout that submits no answer gets the reward `unanswered`. A turn that the server cannot judge ends the rollout without a
reward: TRL shows the model that its call failed, and leaves the sample out of its group.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rewardline.errors import InvalidRequest, RewardlineError, Unavailable
from rewardline.hook import Hook, Options
from rewardline.interactions import Turn, opening_fields
from rewardline.messages import sendable
from rewardline.rollout import Rollout
from rewardline.trl.rows import REFERENCE, Rows

if TYPE_CHECKING:
    from typing_extensions import Unpack  # annotations are not run

OVER = "No more answers are taken."


@dataclass(frozen=True)
class Play:
    """The settings of an environment's rollouts."""

    hook: Hook
    rows: Rows
    interaction: Mapping[str, Any]
    unanswered: float | None

    def fields(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that open the interaction of a row."""
        self.rows.check(row)
        return {**opening_fields(self.rows.item(self.hook, row, "", row.get("prompt"))), **self.interaction}


class Environment:
    """Plays one rollout at a time. `environment(...)` makes it; TRL's metrics use the name of its class.

    All public methods but `reset` and `get_reward` are tools for the model. A subclass may add some.
    """

    def __init__(self, play: Play) -> None:
        self._play = play
        self._begin({})

    def _begin(self, row: Mapping[str, Any]) -> None:
        self._row = row
        self._interaction: Rollout | None = None
        self._turn: Turn | None = None
        self._fault: Exception | None = None

    def reset(self, **row: Any) -> str | None:
        """Begin with another row. This sends nothing yet, since some rollouts submit no answer."""
        self._begin(row)
        return None

    async def submit_answer(self, answer: str) -> str:
        """Submit an answer to the task and learn whether it is right.

        Args:
            answer: The answer.

        Returns:
            The feedback on the answer.
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
        client = self._play.hook.client()
        if self._interaction is None:
            self._interaction = Rollout(self._play.fields(self._row))
        turn = await self._interaction.take_turn(client, [{"role": "assistant", "content": answer}])
        if turn.should_terminate:
            await self._interaction.end(client)
        return turn

    def get_reward(self) -> float | None:
        """The reward of all turns, by the option `trajectory` of the interaction.

        Raises:
            InvalidRequest, Unavailable, and others: There is no reward, and the hook raises in this case.
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
    **options: Unpack[Options],
) -> Callable[[], Environment]:
    """Make what `GRPOTrainer(environment_factory=...)` takes. It can be pickled.

    Args:
        verifier: The verifier that judges;
        recipe: or the recipe;
        checks: or a composition, written out.
        reference: As in `reward_func`.
        columns: As in `reward_func`.
        interaction: The rules of its turns: `max_turns`, `success_threshold`, `trajectory`, `feedback`, `language`, ...
        unanswered: The reward of a rollout that submits no answer; None leaves the rollout out.
        kind: `Environment`, or a subclass of it.
        options: The options of a `Hook`. Here `on_failed` is "abstain" unless given.
    """
    hook = Hook.of({"verifier": verifier, "recipe": recipe, "checks": checks, "on_failed": "abstain", **options})
    return functools.partial(
        kind, Play(hook, Rows(reference, dict(columns or {})), dict(interaction or {}), unanswered)
    )
