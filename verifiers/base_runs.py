"""Runs of tasks without a response. Each is made once for all who ask, and remembered."""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, TypeVar

from sandbox.containers.single_flight import SingleFlight
from verifiers.base import InvalidItem

Run = TypeVar("Run")

REFUSED_S: Final = 600.0
"""How long a task that could not be judged is not tried again. What it lacked, a server that its tests ask, may come back."""
_MAX_KNOWN: Final = 4096


class BaseRuns(Generic[Run]):
    """Base runs by key."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, tuple[Run | InvalidItem, float]] = OrderedDict()
        """What a run said, and until when that holds."""
        self._flights: SingleFlight[bytes, Run | InvalidItem] = SingleFlight()

    async def get(self, key: bytes, make: Callable[[], Coroutine[Any, Any, Run]]) -> Run:
        """The run of this key. `make` makes it if it is not known.

        Raises:
            InvalidItem: `make` raised it, now or lately. What else it raises is not remembered.
        """
        clock = asyncio.get_running_loop().time
        if key not in self._known or self._known[key][1] <= clock():
            run = await self._flights.do(key, lambda: _tried(make))
            self._known[key] = run, clock() + REFUSED_S if isinstance(run, InvalidItem) else math.inf
            if len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        found, _ = self._known[key]
        if isinstance(found, InvalidItem):
            raise InvalidItem(found.reason, str(found))
        return found


async def _tried(make: Callable[[], Coroutine[Any, Any, Run]]) -> Run | InvalidItem:
    try:
        return await make()
    except InvalidItem as error:
        return error
