"""Records that belong to tenants: every caller finds only those of its own tenant.

The library of Redis takes half a second of a start, so it is loaded only for a Redis.
"""

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import SecretStr

from service.storage.memory_records import MemoryRecords
from service.storage.record_store import Change, RecordStore
from service.tenant import owned

if TYPE_CHECKING:
    from service.storage.redis_records import RedisRecords


class OwnedRecords:
    """A `RecordStore` whose names are those of the current tenant."""

    def __init__(self, common: RecordStore) -> None:
        self.common = common
        """The same store for records that belong to nobody, such as signs of life of a process."""

    @property
    def held(self) -> Mapping[str, int]:
        return self.common.held

    @property
    def held_bytes(self) -> int:
        return self.common.held_bytes

    @property
    def errors(self) -> int:
        return self.common.errors

    async def read(self, name: str, fields: Sequence[str]) -> list[bytes | None]:
        return await self.common.read(owned(name), fields)

    async def swap(self, name: str, version: bytes | None, change: Change) -> bool:
        return await self.common.swap(owned(name), version, change)

    async def remove(self, name: str) -> None:
        await self.common.remove(owned(name))

    async def close(self) -> None:
        await self.common.close()


def open_records(
    redis_url: SecretStr | None, prefix: str, *, kept: str = "interactions", max_records: int, max_bytes: int
) -> OwnedRecords:
    """A store in Redis, whose keys begin with `prefix`. Without Redis it is a store in this process, within the bounds.
    Each tenant has records of its own. `kept` is what they are, in the words of logs and errors.

    Raises:
        ValueError: the URL has an unknown form, or its certificates cannot be used.
    """
    if redis_url is not None:
        kind: type[RedisRecords] = importlib.import_module("service.storage.redis_records").RedisRecords
        return OwnedRecords(kind(redis_url.get_secret_value(), prefix=prefix, kept=kept))
    return OwnedRecords(MemoryRecords(max_records, max_bytes))
