"""Keeps records in Redis, one hash each. Every replica finds them.

A record is one hash and not several keys, so that expiry and eviction take it as a whole or not at all. Redis needs
HMGET, and EVAL with HGET, HSET, HDEL and PEXPIRE. Without an answer of Redis, every call raises `StateUnavailable`.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from service.errors import StateUnavailable
from service.storage.record_store import VERSION
from service.storage.redis_client import connect, disconnect, parse_redis_url

log = logging.getLogger("rewardline.interactions")

_CALL_S = 2.0
_CONNECT_S = 1.0
_MAX_CALLS = 64
"""Calls at once, each on its own connection. Further calls wait for their turn within `_CALL_S`."""
_CLIENT_NAME = "rewardline"
# HSET comes first: a server without memory refuses it, and then nothing has been changed.
_SWAP = f"""
if (redis.call('HGET', KEYS[1], '{VERSION}') or '') ~= ARGV[1] then return 0 end
local dropped = tonumber(ARGV[3])
redis.call('HSET', KEYS[1], unpack(ARGV, 4 + dropped))
for i = 4, 3 + dropped do redis.call('HDEL', KEYS[1], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
"""


class RedisRecords:
    """A `RecordStore` in Redis.

    Raises:
        ValueError: the URL has an unknown form, or its certificates cannot be used.
    """

    held: Mapping[str, int] = {}

    def __init__(self, url: str, *, prefix: str = "rl1ix:", call_s: float = _CALL_S) -> None:
        self._address = parse_redis_url(url)
        self._prefix = prefix
        self._call_s = call_s
        self._client = connect(
            self._address,
            timeout_s=call_s,
            connect_timeout_s=_CONNECT_S,
            max_connections=_MAX_CALLS,
            client_name=_CLIENT_NAME,
        )
        self._calls = asyncio.Semaphore(_MAX_CALLS)
        """Guards the connections. Beyond their number the library refuses a call instead of letting it wait."""
        self.errors = 0

    async def read(self, name: str, fields: Sequence[str]) -> list[bytes | None]:
        reply = await self._call("HMGET", self._key(name), *fields)
        if not isinstance(reply, list) or len(reply) != len(fields):
            raise self._unavailable("its answer makes no sense")
        return reply

    async def swap(
        self,
        name: str,
        version: bytes | None,
        fields: Mapping[str, bytes],
        dropped: Sequence[str],
        ttl_s: float,
        *,
        is_over: bool,
    ) -> bool:
        pairs = [part for field in fields.items() for part in field]
        ttl_ms = max(1, round(ttl_s * 1000))
        arguments = (version or b"", ttl_ms, len(dropped), *dropped, *pairs)
        return bool(await self._call("EVAL", _SWAP, 1, self._key(name), *arguments) == 1)

    async def close(self) -> None:
        await disconnect(self._client)

    def _key(self, name: str) -> str:
        return f"{self._prefix}{{{name}}}"

    async def _call(self, *command: Any) -> Any:
        try:
            async with asyncio.timeout(self._call_s), self._calls:
                return await self._client.execute_command(*command)
        except Exception as error:  # whatever a broken server makes the library raise
            log.warning("interactions: Redis at %s: %s %.200r", self._address, type(error).__name__, str(error))
            raise self._unavailable("it does not answer") from error

    def _unavailable(self, why: str) -> StateUnavailable:
        self.errors += 1
        return StateUnavailable(f"interactions are kept in Redis, and {why} now; ask again", retry_after_s=1.0)
