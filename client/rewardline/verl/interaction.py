"""`RewardInteraction` for verl up to 0.7: each answer of the model is judged, and it may try again.

    verl ──start_interaction──► opened on the server
         ──generate_response──► a turn: feedback for the model, and the turn's reward
         ──calculate_score────► what the turns come to

All state is on the server (in Redis, where it has one), so that any process can take the next turn. verl ends no
interaction; the server forgets it `ttl_s` after its last turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verl.interactions.base import BaseInteraction

from rewardline.errors import Unavailable
from rewardline.hook import LABELS, ROW_FIELDS, Hook, is_missing, plain
from rewardline.interactions import OPTIONS, opening_fields
from rewardline.messages import last_turn
from rewardline.verl.samples import prompt_of


class RewardInteraction(BaseInteraction):
    """Its `config` holds the options of `rewardline.hook.Hook`, and `OPTIONS`; a row's `interaction_kwargs` may have the
    latter, too, over those of the `config`.

    With a number for `on_failed`, a turn that nobody could judge has this reward, and with "abstain" none; either ends
    the conversation. What cannot be judged until the data set is mended raises.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        given = dict(plain(config))
        given.pop("name", None)
        self._options = {name: given.pop(name) for name in OPTIONS if name in given}
        self._hook = Hook(**given)
        if self._hook.on_invalid != "raise":
            raise ValueError("on_invalid is 'raise': what cannot be judged is not opened")
        if self._hook.components:
            raise ValueError("components are not told of turns")

    async def start_interaction(self, instance_id: str | None = None, **kwargs: Any) -> str:
        """Open it; `kwargs` are the row's `interaction_kwargs`: `query` and `ground_truth`, or whatever an item may have.

        Raises:
            InvalidRequest: it could not be judged until the row is mended.
            Unavailable: the server did not answer in time.
        """
        fields = {**self._options, **self._item(kwargs)}
        fields.update({name: plain(kwargs[name]) for name in OPTIONS if not is_missing(kwargs.get(name))})
        if instance_id is not None:
            fields["instance_id"] = instance_id
        return await self._hook.client().open_interaction(fields)

    async def generate_response(
        self, instance_id: str, messages: Sequence[Mapping[str, Any]], **kwargs: Any
    ) -> tuple[bool, str, float | None, dict[str, Any]]:
        """Have the last turn judged, calls and all: whether that was the last turn, the feedback, the reward, and details.

        Raises:
            NotFound: there is no such interaction, or no longer.
            Unavailable: nobody could judge it in time; verl drops the sample, or stops.
        """
        client = self._hook.client()
        try:
            taken = (await client.show_interaction(instance_id))["turn"]
            turn = await client.take_turn(instance_id, last_turn(messages), taken + 1)
        except Unavailable as error:
            if self._hook.on_failed == "raise":
                raise
            reward = None if isinstance(self._hook.on_failed, str) else float(self._hook.on_failed)
            return True, "", reward, {"failed": 1.0, "reason": error.reason}
        details = {"score": turn.score, "reason": turn.reason, "turn": turn.turn, "failed": 0.0}
        return turn.should_terminate, turn.response, turn.reward, {**turn.info, **details}

    async def calculate_score(self, instance_id: str, **kwargs: Any) -> float:
        """What the turns so far come to, by the option `trajectory`.

        Raises:
            LookupError: none was judged yet.
        """
        score = (await self._hook.client().show_interaction(instance_id))["trajectory_score"]
        if score is None:
            raise LookupError(f"no turn of the interaction {instance_id!r} was judged yet")
        return float(score)

    async def finalize_interaction(self, instance_id: str, **kwargs: Any) -> None:
        """Have the server forget all but the outcome."""
        await self._hook.client().end_interaction(instance_id)

    def _item(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of an item without its response."""
        prompt = prompt_of(row.get("query", row.get("prompt")))
        known = {name: row.get(name) for name in (*ROW_FIELDS, *LABELS)}
        return opening_fields(self._hook.item("", prompt=prompt, row=known))
