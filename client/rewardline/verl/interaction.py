"""`RewardInteraction` for verl up to 0.7. The server judges each answer of the model, which may then try again.

    verl ──start_interaction──► the server opens it
         ──generate_response──► a turn: feedback for the model, and the turn's reward
         ──calculate_score────► the reward of all turns

The server keeps all state (in Redis, if it has one), so any process can take the next turn. verl does not end interactions;
the server forgets one `ttl_s` seconds after its last turn.
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
    """An interaction. Its `config` holds the options of `rewardline.hook.Hook` and those of an interaction
    (`rewardline.interactions.OPTIONS`). The latter may also stand in a row's `interaction_kwargs`, which override them.

    If `on_failed` is a number, a turn that could not be judged has this reward; if it is "abstain", the turn has none.
    Both end the conversation. An invalid row raises.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        options = dict(plain(config))
        options.pop("name", None)
        self._options = {name: options.pop(name) for name in OPTIONS if name in options}
        self._hook = Hook.of(options)
        if self._hook.on_invalid != "raise":
            raise ValueError("set on_invalid to 'raise': the server does not open an interaction that it cannot judge")
        if self._hook.components:
            raise ValueError("remove components: a turn has none")

    async def start_interaction(self, instance_id: str | None = None, **kwargs: Any) -> str:
        """Open the interaction. `kwargs` are the row's `interaction_kwargs`: `query`, `ground_truth`, or other fields of an item.

        Raises:
            InvalidRequest: The server cannot judge this row until it is mended.
            Unavailable: The server did not answer in time.
        """
        fields = {**self._options, **self._item(kwargs)}
        fields.update({name: plain(kwargs[name]) for name in OPTIONS if not is_missing(kwargs.get(name))})
        if instance_id is not None:
            fields["instance_id"] = instance_id
        return await self._hook.client().open_interaction(fields)

    async def generate_response(
        self, instance_id: str, messages: Sequence[Mapping[str, Any]], **kwargs: Any
    ) -> tuple[bool, str, float | None, dict[str, Any]]:
        """Judge the last turn with its calls. Returns whether it ends the conversation, the feedback, the reward, and details.

        Raises:
            NotFound: The server has no such interaction, or forgot it.
            Unavailable: The turn could not be judged in time. verl drops the sample, or stops.
        """
        client = self._hook.client()
        try:
            turns_so_far = (await client.show_interaction(instance_id))["turn"]
            turn = await client.take_turn(instance_id, last_turn(messages), turns_so_far + 1)
        except Unavailable as error:
            if self._hook.on_failed == "raise":
                raise
            reward = None if isinstance(self._hook.on_failed, str) else float(self._hook.on_failed)
            return True, "", reward, {"failed": 1.0, "reason": error.reason}
        details = {"score": turn.score, "reason": turn.reason, "turn": turn.turn, "failed": 0.0}
        return turn.should_terminate, turn.response, turn.reward, {**turn.info, **details}

    async def calculate_score(self, instance_id: str, **kwargs: Any) -> float:
        """The reward of the turns so far, by the option `trajectory`.

        Raises:
            LookupError: No turn was judged yet.
        """
        score = (await self._hook.client().show_interaction(instance_id))["trajectory_score"]
        if score is None:
            raise LookupError(f"no turn of the interaction {instance_id!r} was judged yet")
        return float(score)

    async def finalize_interaction(self, instance_id: str, **kwargs: Any) -> None:
        """End the interaction: the server keeps only its outcome."""
        await self._hook.client().end_interaction(instance_id)

    def _item(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of an item without its response."""
        prompt = prompt_of(row.get("query", row.get("prompt")))
        fields = {name: row.get(name) for name in (*ROW_FIELDS, *LABELS)}
        return opening_fields(self._hook.item("", prompt=prompt, row=fields))
