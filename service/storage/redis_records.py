"""Keeps records in Redis, one hash each. Every replica finds them.

A record is one hash and not several keys, so that expiry and eviction take it as a whole or not at all. Redis needs
HMGET, DEL, and EVAL with HGET, HSET, HDEL, DEL and PEXPIRE. Without an answer of Redis, every call raises `StateUnavailable`.
"""

from collections.abc import Mapping, Sequence

from service.errors import Gone
from service.storage.record_store import VERSION, Change
from service.storage.redis_link import OtherType, RedisLink

_CALL_S = 2.0
_CONNECT_S = 1.0
_MAX_CALLS = 64
# A record without a version is what is left of a damaged one. HSET comes first: a server without memory refuses it, and then nothing has been changed.
_SWAP = f"""
if (redis.call('HGET', KEYS[1], '{VERSION}') or '') ~= ARGV[1] then return 0 end
if ARGV[1] == '' then redis.call('DEL', KEYS[1]) end
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
    held_bytes = 0

    def __init__(self, url: str, *, prefix: str, kept: str = "interactions", call_s: float = _CALL_S) -> None:
        self._prefix = prefix
        self._link = RedisLink(url, kept, call_s=call_s, connect_s=_CONNECT_S, max_calls=_MAX_CALLS)

    @property
    def errors(self) -> int:
        return self._link.errors

    async def read(self, name: str, fields: Sequence[str]) -> list[bytes | None]:
        try:
            reply = await self._link.ask("HMGET", self._key(name), *fields)
        except OtherType as error:
            raise Gone("another kind of value is in place of the record") from error
        if not isinstance(reply, list) or len(reply) != len(fields):
            raise self._link.nonsense()
        return reply

    async def swap(self, name: str, version: bytes | None, change: Change) -> bool:
        pairs = [part for field in change.fields.items() for part in field]
        ttl_ms = max(1, round(change.ttl_s * 1000))
        arguments = (version or b"", ttl_ms, len(change.dropped), *change.dropped, *pairs)
        command = ("EVAL", _SWAP, 1, self._key(name), *arguments)
        try:
            return bool(await self._link.ask(*command) == 1)
        except OtherType:
            if version is not None:
                return False
            await self.remove(name)
            return bool(await self._link.ask(*command) == 1)

    async def remove(self, name: str) -> None:
        await self._link.ask("DEL", self._key(name))

    async def close(self) -> None:
        await self._link.close()

    def _key(self, name: str) -> str:
        return f"{self._prefix}{{{name}}}"
