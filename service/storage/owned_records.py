"""Records that belong to tenants: every caller finds only those of its own tenant."""

from collections.abc import Mapping, Sequence

from service.storage.record_store import Change, RecordStore
from service.tenant import owned


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
