"""Runs of tasks without a response. Each is made once for all who ask, and remembered."""

import asyncio
import math
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, TypeVar

from memory import Store
from sandbox.containers.single_flight import SingleFlight
from verifiers.base import InvalidItem

Run = TypeVar("Run")

REFUSED_S: Final = 600.0
"""How long a task that could not be judged is not tried again. What it lacked, a server that its tests ask, may come back."""
_MAX_KNOWN: Final = 4096
_MAX_BYTES: Final = 32_000_000


class BaseRuns(Generic[Run]):
    """Base runs by key."""

    def __init__(self) -> None:
        self._known: Store[bytes, tuple[Run | InvalidItem, float]] = Store(
            "base_runs", _MAX_BYTES, max_entries=_MAX_KNOWN
        )
        """What a run said, and until when that holds."""
        self._flights: SingleFlight[bytes, Run | InvalidItem] = SingleFlight()

    async def get(self, key: bytes, make: Callable[[], Coroutine[Any, Any, Run]]) -> Run:
        """The run of this key. `make` makes it if it is not known.

        Raises:
            InvalidItem: `make` raised it, now or lately. What else it raises is not remembered.
        """
        clock = asyncio.get_running_loop().time
        entry = self._known.get(key)
        if entry is None or entry[1] <= clock():
            run = await self._flights.do(key, lambda: _tried(make))
            entry = run, clock() + REFUSED_S if isinstance(run, InvalidItem) else math.inf
            self._known.put(key, entry)
        run, _ = entry
        if isinstance(run, InvalidItem):
            raise InvalidItem(run.reason, str(run))
        return run


async def _tried(make: Callable[[], Coroutine[Any, Any, Run]]) -> Run | InvalidItem:
    try:
        return await make()
    except InvalidItem as error:
        return InvalidItem(error.reason, str(error))  # without the traceback, which would keep the frames of the run
