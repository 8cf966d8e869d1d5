"""Keeps records in this process, for a service of one process without Redis. They end with the process.

The number of records and their bytes are bounded, and no tenant fills them. A record that is over makes room for new ones
of its tenant, oldest first. An open record is kept for as long as was promised; if a tenant has only open ones left, its new
ones are refused.
"""

from collections.abc import Mapping, Sequence

from memory import exact
from service.errors import Overloaded
from service.storage.memory_table import MemoryTable
from service.storage.record_store import VERSION, Change
from service.tenant import parted

_RECORD_BYTES = 800
_FIELD_BYTES = 120
"""Python's overhead beside the bytes themselves."""
_RETRY_AFTER_S = 10.0


class MemoryRecords:
    """A `RecordStore` of at most `max_records` and `max_bytes`; one event loop."""

    errors = 0

    def __init__(self, max_records: int, max_bytes: int) -> None:
        self._records = MemoryTable[Mapping[str, bytes]](max_records, max_bytes, self._on_gone)
        self._over: dict[str, dict[str, None]] = {}
        """The names of the records that are over, by tenant, in the order in which they ended."""

    @property
    def held(self) -> Mapping[str, int]:
        over = sum(map(len, self._over.values()))
        return {"open": len(self._records) - over, "over": over}

    @property
    def held_bytes(self) -> int:
        return self._records.nbytes

    async def read(self, name: str, fields: Sequence[str]) -> list[bytes | None]:
        record = self._records.get(name) or {}
        return [record.get(field) for field in fields]

    async def swap(self, name: str, version: bytes | None, change: Change) -> bool:
        record = self._records.get(name) or {}
        if record.get(VERSION) != version:
            return False
        fields = {field: exact(value) for field, value in change.fields.items()}
        changed = {field: value for field, value in {**record, **fields}.items() if field not in change.dropped}
        nbytes = _RECORD_BYTES + sum(len(value) + _FIELD_BYTES for value in changed.values())
        self._make_room(name, nbytes)
        self._records.put(name, changed, nbytes, change.ttl_s)
        self._reopen(name)
        if change.is_over:
            self._over.setdefault(parted(name)[0], {})[name] = None
        return True

    async def remove(self, name: str) -> None:
        self._records.drop(name)

    def _make_room(self, name: str, nbytes: int) -> None:
        """Make room for a record of so many bytes that replaces the one of the same name.

        Raises:
            Overloaded
        """
        tenant, records = parted(name)[0], self._records
        while not records.fits(name, nbytes):
            oldest = next((candidate for candidate in self._over.get(tenant, ()) if candidate != name), None)
            if oldest is None:
                raise Overloaded(
                    f"{len(records)} records of {records.nbytes / 1e6:.1f} MB are in memory, "
                    f"{records.values.held(tenant)} of {records.bytes.held(tenant) / 1e6:.1f} MB of them yours, and no more "
                    "of yours fit; finalize those that are done, or set redis_url",
                    retry_after_s=_RETRY_AFTER_S,
                )
            self._records.drop(oldest)

    def _on_gone(self, name: str, record: Mapping[str, bytes]) -> None:
        self._reopen(name)

    def _reopen(self, name: str) -> None:
        tenant = parted(name)[0]
        over = self._over.get(tenant, {})
        over.pop(name, None)
        if not over:
            self._over.pop(tenant, None)

    async def close(self) -> None:
        self._records.clear()
        self._over.clear()
