"""A link to Redis that also listens for events: one connection listens, the others serve one call at a time.

If the listening connection is silent, Redis cannot be reached. Until Redis is heard again, all calls are refused at
once. Then it connects anew, with a client that knows of no dead master.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from service.cancellation import cancel
from service.storage.redis_client import described, disconnect
from service.storage.redis_link import RedisLink
from service.system_random import SYSTEM_RANDOM

_CONNECT_S = 2.0
_CALL_S = 5.0
"""The longest calls carry the body of a request."""
_MAX_CALLS = 16
_BLOCK_S = 1.0
_SILENCE_S = 3.0
"""Redis gives a sign each `_BLOCK_S`. After this many seconds of silence it counts as gone."""
_AGAIN_S = (0.2, 2.0)
"""The shortest and the longest pause before Redis is tried again."""
_EVENTS_AT_ONCE = 1000


class ListeningLink(RedisLink):
    """Calls to one Redis, and the events of its stream `events`.

    `on_event(what, name)` is called for each event, and `on_reached` when some events may have been missed.
    """

    def __init__(
        self,
        url: str,
        kept: str,
        *,
        events: str,
        on_event: Callable[[bytes, str], None],
        on_reached: Callable[[], None],
    ) -> None:
        super().__init__(url, kept, call_s=_CALL_S, connect_s=_CONNECT_S, max_calls=_MAX_CALLS)
        self._events = events
        self._on_event = on_event
        self._on_reached = on_reached
        self.is_reached = False
        """Whether Redis can be reached."""
        self._tried = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Try Redis for a moment."""
        self._listening = asyncio.create_task(self._listen())
        await self._first_try()

    async def close(self) -> None:
        await cancel(self._listening)
        await super().close()

    async def ask(self, *command: Any) -> Any:
        if not self._tried.is_set():
            await self._first_try()
        if not self.is_reached:
            raise self._unavailable("it cannot be reached")
        return await super().ask(*command)

    async def _first_try(self) -> None:
        """Wait a moment for the first connection: a call that comes with the start is not refused for that."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._connect_s):
                await self._tried.wait()

    async def _listen(self) -> None:
        shortest_s, longest_s = _AGAIN_S
        pause_s = shortest_s
        while True:
            try:
                async with asyncio.timeout(_SILENCE_S):
                    last = await self._latest_event()
                self._log.info("%s: using Redis at %s", self._kept, self._address)
                self.is_reached, pause_s = True, shortest_s
                self._tried.set()
                self._on_reached()
                while True:
                    async with asyncio.timeout(_SILENCE_S):
                        last = await self._next_events(last)
            except Exception as error:  # noqa: BLE001  # as in `ask`
                self.errors += 1
                if self.is_reached or not self._tried.is_set():
                    self._log.warning("%s: no Redis at %s: %s", self._kept, self._address, described(error))
            self.is_reached = False
            self._tried.set()
            await asyncio.sleep(pause_s * SYSTEM_RANDOM.uniform(0.8, 1.2))
            pause_s = min(2 * pause_s, longest_s)
            old, self._client = self._client, self._connect()
            await disconnect(old, self._connect_s)

    async def _latest_event(self) -> bytes:
        events = await self._execute("XREVRANGE", self._events, "+", "-", "COUNT", 1)
        return bytes(events[0][0]) if events else b"0-0"

    async def _next_events(self, last: bytes) -> bytes:
        """Pass on the events after `last`, or wait a moment for some. Returns the id of the latest one."""
        options = ("COUNT", _EVENTS_AT_ONCE, "BLOCK", round(_BLOCK_S * 1000), "STREAMS", self._events, last)
        streams = await self._execute("XREAD", *options)
        for _, events in streams or []:
            for event_id, event in events:
                last = bytes(event_id)
                for kind, name in event.items():
                    self._on_event(kind, name.decode("ascii", "replace"))
        return last
