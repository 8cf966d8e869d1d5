"""Calls to one Redis that keeps something for callers. Without an answer, a call raises `StateUnavailable`."""

import asyncio
import logging
from typing import Any

from redis.exceptions import ResponseError

from fairness import FairLock
from service.errors import StateUnavailable
from service.storage.redis_client import Client, connect, described, disconnect, parse_redis_url

_SPARE_CONNECTIONS = 4
"""Connections beside those of the calls: for one that listens, and for those that are being given back."""


class OtherType(StateUnavailable):
    """A key holds another type of value than we put there."""


class RedisLink:
    """Calls to one Redis, `max_calls` at once. Further calls wait for their turn within `call_s`.

    `kept` is what is kept there, in the words of logs and errors.

    Raises:
        ValueError: the URL has an unknown form, or its certificates cannot be used.
    """

    def __init__(self, url: str, kept: str, *, call_s: float, connect_s: float, max_calls: int) -> None:
        self.errors = 0
        """The number of calls that failed."""
        self._address = parse_redis_url(url)
        self._kept = kept
        self._call_s = call_s
        self._connect_s = connect_s
        self._max_calls = max_calls
        self._log = logging.getLogger(f"rewardline.{kept}")
        self._client = self._connect()
        self._calls = FairLock(max_calls)
        """Guards the connections; tenants get them in turn. Beyond their number the library refuses a call instead of letting it wait."""

    async def close(self) -> None:
        await disconnect(self._client, self._connect_s)

    async def ask(self, *command: Any) -> Any:
        """Send a command. Returns the answer of Redis.

        Raises:
            StateUnavailable: Redis did not answer; the command may have been carried out or not.
            OtherType
        """
        try:
            async with asyncio.timeout(self._call_s), self._calls:
                return await self._execute(*command)
        except Exception as error:  # whatever a broken server makes the library raise
            self.errors += 1
            self._log.warning("%s: Redis at %s: %s", self._kept, self._address, described(error))
            if isinstance(error, ResponseError) and "WRONGTYPE" in str(error):
                raise OtherType(f"{self._kept} are kept in Redis, and something else is in their place") from error
            raise self._unavailable("it does not answer") from error

    def nonsense(self) -> StateUnavailable:
        """The error for an answer that makes no sense."""
        self.errors += 1
        self._log.error("%s: Redis at %s gave an answer that makes no sense", self._kept, self._address)
        return self._unavailable("its answer makes no sense")

    async def _execute(self, *command: Any) -> Any:
        """Run a command like the client does, but without losing a cancellation that comes while the library sends.
        Python 3.11's `wait_for`, by which the library sends, may lose it.
        """
        task = asyncio.current_task()
        assert task is not None
        cancellations = task.cancelling()
        try:
            return await self._client.execute_command(*command)
        finally:
            if task.cancelling() > cancellations:
                raise asyncio.CancelledError

    def _connect(self) -> Client:
        return connect(
            self._address,
            timeout_s=self._call_s,
            connect_timeout_s=self._connect_s,
            max_connections=self._max_calls + _SPARE_CONNECTIONS,
        )

    def _unavailable(self, why: str) -> StateUnavailable:
        return StateUnavailable(f"{self._kept} are kept in Redis, and {why} now; ask again", retry_after_s=1.0)
