"""One piece of work for all who want the same at the same time. It stops when none of them waits any more."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


@dataclass(slots=True)
class _Flight(Generic[Result]):
    work: asyncio.Task[Result]
    waiting: int = 0


class SingleFlight(Generic[Key, Result]):
    """Work by its key."""

    def __init__(self) -> None:
        self._flights: dict[Key, _Flight[Result]] = {}

    def __len__(self) -> int:
        return len(self._flights)

    async def do(self, key: Key, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """The result of the work of this key that is under way, or else of `work`. Errors go to all who wait."""
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(work()))
            flight.work.add_done_callback(lambda _: self._land(key, flight))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.work)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.work.done():
                self._land(key, flight)
                flight.work.cancel()

    def _land(self, key: Key, flight: "_Flight[Result] | None") -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
        if flight is not None and flight.work.done() and not flight.work.cancelled():
            flight.work.exception()  # those who wait have it; if all have gone, nobody needs it
