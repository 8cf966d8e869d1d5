"""Containers that are started before a task asks for them, so that no task waits for its start.

    others wait for their turn ──► one for each of the next, as far as there is room
    nobody waits, nothing runs ──► two of the kind that was used last: a run and its twin
                                       │
                                       └──► taken by one task, and removed after it │ removed if nobody takes it in time

No file of a task is in a spare, and no command has run in it. It is never used twice.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.base import SandboxUnavailable
from sandbox.containers.base import BadTask

_LONGEST_S: Final = 60.0
"""How long a spare waits for a task."""
_LEAST_S: Final = 10.0
"""A younger one gives way to no other kind, so that tasks of many kinds in turn do not start what nobody uses."""
_OF_A_VERDICT: Final = 2


@dataclass(frozen=True, slots=True)
class Kind:
    """What containers must have in common to stand for each other: all that the daemon is told of them."""

    key: str
    options: Mapping[str, Any] = field(compare=False)


@dataclass(slots=True, eq=False)
class _Spare:
    name: str
    kind: Kind
    starting: asyncio.Task[None]
    since_s: float
    expiry: asyncio.TimerHandle | None = None


class Spares:
    """`most` spares at once.

    Args:
        start: Starts a container with a name and options.
        is_running: Whether a container runs.
        remove: Removes one, or sees to it that it is removed later.
    """

    def __init__(
        self,
        most: int,
        names: Iterator[str],
        *,
        start: Callable[[str, Mapping[str, Any]], Coroutine[Any, Any, None]],
        is_running: Callable[[str], Coroutine[Any, Any, bool]],
        remove: Callable[[str], Coroutine[Any, Any, None]],
    ) -> None:
        self._most = most
        self._names = names
        self._start = start
        self._is_running = is_running
        self._remove = remove
        self._spares: list[_Spare] = []
        """The oldest one first."""
        self._waiting: list[Kind] = []
        self._removals: set[asyncio.Task[None]] = set()

    @contextmanager
    def waiting(self, kind: Kind) -> Iterator[None]:
        """Who waits for the turn of a task of this kind."""
        self._waiting.append(kind)
        try:
            yield
        finally:
            self._waiting.remove(kind)

    async def take(self, kind: Kind) -> str | None:
        """The name of a spare that runs, which is the caller's now; None if there is none."""
        while (spare := next((spare for spare in self._spares if spare.kind == kind), None)) is not None:
            self._withdraw(spare)
            is_good = False
            try:
                with suppress(SandboxUnavailable, BadTask):
                    await asyncio.shield(spare.starting)
                    is_good = await self._is_running(spare.name)
            finally:
                if not is_good:
                    self._drop(spare)
            if is_good:
                return spare.name
        return None

    def refill(self, used: Kind | None = None) -> None:
        """Start spares for those who wait, or else of the kind that was used."""
        kinds: Sequence[Kind] = self._waiting[: self._most]
        if not kinds and used is not None:
            kinds = [used] * min(self._most, _OF_A_VERDICT)
        there = Counter(spare.kind for spare in self._spares)
        for kind in kinds:
            if there[kind]:
                there[kind] -= 1
            elif self._has_room():
                self._add(kind)

    async def clear(self) -> None:
        """Remove all spares."""
        for spare in tuple(self._spares):
            self._expire(spare)
        while self._removals:
            await asyncio.wait(self._removals)

    def _has_room(self) -> bool:
        if len(self._spares) < self._most:
            return True
        oldest = next((spare for spare in self._spares if spare.kind not in self._waiting), None)
        if oldest is None or asyncio.get_running_loop().time() - oldest.since_s < _LEAST_S:
            return False
        self._expire(oldest)
        return True

    def _add(self, kind: Kind) -> None:
        loop, name = asyncio.get_running_loop(), next(self._names)
        starting = asyncio.create_task(self._start(name, kind.options))
        spare = _Spare(name, kind, starting, loop.time())
        spare.expiry = loop.call_later(_LONGEST_S, self._expire, spare)
        self._spares.append(spare)

    def _expire(self, spare: _Spare) -> None:
        self._withdraw(spare)
        self._drop(spare)

    def _withdraw(self, spare: _Spare) -> None:
        """Let nobody else take a spare."""
        self._spares.remove(spare)
        if spare.expiry is not None:
            spare.expiry.cancel()

    def _drop(self, spare: _Spare) -> None:
        removal = asyncio.create_task(self._removed(spare))
        self._removals.add(removal)
        removal.add_done_callback(self._removals.discard)

    async def _removed(self, spare: _Spare) -> None:
        """Remove a spare once the request that starts it is over: a removal before that would miss it."""
        await asyncio.wait([spare.starting])
        spare.starting.exception()  # whoever takes a spare starts another one then
        await self._remove(spare.name)
