"""The turns of one rollout. If the server forgets their interaction, it gets all of them again.

take_turn ──► opened ──► earlier turns again ──► this turn judged
                ▲                                   │ NotFound: the server restarted, or the interaction expired
                └───────────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from rewardline.async_client import AsyncClient
from rewardline.errors import NotFound, RewardlineError, Unavailable
from rewardline.interactions import Turn

_OPENINGS = 5
_END_DEADLINE_S = 2.0

Messages = Sequence[Mapping[str, Any]]


class Rollout:
    """One interaction, opened by its first turn. `fields` are those of `AsyncClient.open_interaction`."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields
        self._id: str | None = None
        self._judged: list[Messages] = []
        """The messages of each turn that the server judged."""

    async def take_turn(self, client: AsyncClient, messages: Messages) -> Turn:
        """Judge the last assistant message of `messages` as the next turn.

        Raises:
            InvalidRequest: The server cannot judge this rollout until the data set is mended.
            Unavailable: The server could not judge the turn in time.
        """
        for _ in range(_OPENINGS):
            try:
                self._id = self._id or await self._open(client)
                turn = await client.take_turn(self._id, messages, len(self._judged) + 1)
            except NotFound:
                self._id = None
                continue
            self._judged.append(messages)
            return turn
        raise Unavailable("unavailable", f"the server forgot the interaction {_OPENINGS} times")

    async def end(self, client: AsyncClient) -> None:
        """End the interaction, if one is open. A server that gets no such call forgets it later."""
        instance_id, self._id = self._id, None
        if instance_id is not None:
            with suppress(RewardlineError):
                await client.end_interaction(instance_id, deadline_s=_END_DEADLINE_S)

    async def _open(self, client: AsyncClient) -> str:
        instance_id = await client.open_interaction(self._fields)
        for number, messages in enumerate(self._judged, 1):
            await client.take_turn(instance_id, messages, number)
        return instance_id
