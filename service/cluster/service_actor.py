"""The service as an async actor of a pool: `ray.remote(ServiceActor)`. The client's `ray://` calls it.

This module needs no Ray. Ray sends the class by value (`pool.py`) to whoever asks for the handle of such an actor, and what its
methods take and return are plain values and errors of the client. So a trainer's process needs no server: this module
imports it where an actor begins.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from service.cluster.running import Running


class ServiceActor:
    """The whole service. It begins with the first call, and ends with `drain`."""

    def __init__(self, workers: int | None = None) -> None:
        """
        Args:
            workers: Worker processes, in place of what the settings of the environment say.
        """
        self._workers = workers
        self._beginning: asyncio.Task[Running] | None = None

    async def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes, int]:
        """Answer as the HTTP door does: status, headers, body; and last the items in flight here.

        Raises:
            Unavailable: the service cannot start here.
        """
        running = await self._running()
        answer = await running.request(method, target, headers, body)
        return answer.status, dict(answer.headers), answer.body, answer.items_in_flight

    async def health(self) -> dict[str, Any]:
        """What stops all judging, by the part that has it, and the items in flight. It ends when the service has begun.

        Raises:
            Unavailable: the service cannot start here.
        """
        running = await self._running()
        return {"problems": dict(running.problems()), "items_in_flight": running.service.core.admission.items}

    async def drain(self) -> None:
        """Take nothing more, finish what was admitted, and end the service."""
        await (await self._running()).end()

    async def _running(self) -> "Running":
        if self._beginning is None:
            from service.cluster.running import Running  # noqa: PLC0415 - trainers do not have it

            self._beginning = asyncio.create_task(Running.begin(workers=self._workers))
        return await asyncio.shield(self._beginning)
