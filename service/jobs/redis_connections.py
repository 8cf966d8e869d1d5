"""The connections of the job store to Redis. One listens for events; the others serve one call at a time.

If the listening connection is silent, Redis cannot be reached. Until Redis is heard again, all calls are refused at
once. Then it connects anew, with a client that knows of no dead master.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from service.errors import StateUnavailable
from service.jobs.job import JobCounters
from service.storage.redis_client import Client, connect, disconnect, parse_redis_url
from service.system_random import SYSTEM_RANDOM

log = logging.getLogger("rewardline.jobs")

_CLIENT_NAME = "rewardline"
_CONNECT_S = 2.0
_CALL_S = 5.0
"""The time limit of a call. The longest calls carry the body of a request."""
_MAX_CALLS = 16
"""Calls at once. Further calls wait for their turn within `_CALL_S`."""
_BLOCK_S = 1.0
_SILENCE_S = 3.0
"""Redis gives a sign each `_BLOCK_S`. After this many seconds of silence it counts as gone."""
_AGAIN_S = (0.2, 2.0)
"""The shortest and the longest pause before Redis is tried again."""
_EVENTS_AT_ONCE = 1000


class RedisConnections:
    """Calls to one Redis, and the events of its stream `events`.

    `on_event(what, job_id)` is called for each event, and `on_reached` when some events may have been missed.

    Raises:
        ValueError: the URL has an unknown form, or its certificates cannot be used.
    """

    def __init__(
        self,
        url: str,
        counters: JobCounters,
        *,
        events: str,
        on_event: Callable[[bytes, str], None],
        on_reached: Callable[[], None],
    ) -> None:
        self._address = parse_redis_url(url)
        self._counters = counters
        self._events = events
        self._on_event = on_event
        self._on_reached = on_reached
        self._client = self._connect()
        self._calls = asyncio.Semaphore(_MAX_CALLS)
        """Guards the connections. Beyond their number the library refuses a call instead of letting it wait."""
        self.is_reached = False
        """Whether Redis can be reached."""
        self._tried = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Try Redis for a moment."""
        self._listening = asyncio.create_task(self._listen())
        with suppress(TimeoutError):
            async with asyncio.timeout(_CONNECT_S):
                await self._tried.wait()

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait([self._listening])
        await self._hang_up(self._client)

    async def ask(self, *command: Any) -> Any:
        """Send a command. Returns the answer of Redis.

        Raises:
            StateUnavailable: Redis did not answer; the command may have been carried out or not.
        """
        if not self.is_reached:
            raise _unavailable("it cannot be reached")
        try:
            async with asyncio.timeout(_CALL_S), self._calls:
                return await self._execute(*command)
        except Exception as error:  # whatever a broken server makes the library raise
            self._counters.store_errors += 1
            log.warning("jobs: Redis at %s: %s", self._address, _described(error))
            raise _unavailable("it does not answer") from error

    def nonsense(self) -> StateUnavailable:
        """The error for an answer that makes no sense."""
        self._counters.store_errors += 1
        log.error("jobs: Redis at %s gave an answer that makes no sense", self._address)
        return _unavailable("its answer makes no sense")

    async def _listen(self) -> None:
        shortest_s, longest_s = _AGAIN_S
        pause_s = shortest_s
        while True:
            try:
                async with asyncio.timeout(_SILENCE_S):
                    last = await self._latest_event()
                log.info("jobs: using Redis at %s", self._address)
                self.is_reached, pause_s = True, shortest_s
                self._tried.set()
                self._on_reached()
                while True:
                    async with asyncio.timeout(_SILENCE_S):
                        last = await self._next_events(last)
            except Exception as error:  # noqa: BLE001  # as in `ask`
                self._counters.store_errors += 1
                if self.is_reached or not self._tried.is_set():
                    log.warning("jobs: no Redis at %s: %s", self._address, _described(error))
            self.is_reached = False
            self._tried.set()
            await asyncio.sleep(pause_s * SYSTEM_RANDOM.uniform(0.8, 1.2))
            pause_s = min(2 * pause_s, longest_s)
            old, self._client = self._client, self._connect()
            await self._hang_up(old)

    async def _latest_event(self) -> bytes:
        found = await self._execute("XREVRANGE", self._events, "+", "-", "COUNT", 1)
        return bytes(found[0][0]) if found else b"0-0"

    async def _next_events(self, last: bytes) -> bytes:
        """Pass on the events after `last`, or wait a moment for some. Returns the id of the latest one."""
        options = ("COUNT", _EVENTS_AT_ONCE, "BLOCK", round(_BLOCK_S * 1000), "STREAMS", self._events, last)
        found = await self._execute("XREAD", *options)
        for _, events in found or []:
            for event_id, event in events:
                last = bytes(event_id)
                for what, job_id in event.items():
                    self._on_event(what, job_id.decode("ascii", "replace"))
        return last

    async def _execute(self, *command: Any) -> Any:
        """Run a command like the client does, but without losing a cancellation that comes while the library sends.
        Python 3.11's `wait_for`, by which the library sends, may lose it.
        """
        task = asyncio.current_task()
        assert task is not None
        before = task.cancelling()
        try:
            return await self._client.execute_command(*command)
        finally:
            if task.cancelling() > before:
                raise asyncio.CancelledError

    def _connect(self) -> Client:
        return connect(
            self._address,
            timeout_s=_CALL_S,
            connect_timeout_s=_CONNECT_S,
            # Room for the listener, and for connections that are being given back.
            max_connections=_MAX_CALLS + 4,
            client_name=_CLIENT_NAME,
        )

    async def _hang_up(self, client: Client) -> None:
        with suppress(Exception):
            async with asyncio.timeout(_CONNECT_S):
                await disconnect(client)


def _unavailable(why: str) -> StateUnavailable:
    return StateUnavailable(f"jobs are kept in Redis, and {why} now; ask again", retry_after_s=1.0)


def _described(error: BaseException) -> str:
    """The kind of the error and the start of its message, on one line. Some of it may come from a broken server."""
    return f"{type(error).__name__} {str(error)[:200]!r}"
