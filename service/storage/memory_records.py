"""Keeps records in this process, for a service of one process without Redis. They end with the process.

The number of records and their bytes are bounded. A record that is over makes room for new ones, oldest first. An open
record is kept for as long as was promised; if only open ones are left, new ones are refused.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.errors import Overloaded
from service.storage.record_store import VERSION

_RECORD_BYTES = 800
_FIELD_BYTES = 120
"""Python's overhead beside the bytes themselves."""
_RETRY_AFTER_S = 10.0


@dataclass(slots=True)
class _Record:
    fields: dict[str, bytes]
    nbytes: int
    expiry: asyncio.TimerHandle


class MemoryRecords:
    """A `RecordStore` of at most `max_records` and `max_bytes`; one event loop."""

    errors = 0

    def __init__(self, max_records: int, max_bytes: int) -> None:
        self._max_records = max_records
        self._max_bytes = max_bytes
        self._records: dict[str, _Record] = {}
        self._over: dict[str, None] = {}
        """The names of the records that are over, in the order in which they ended."""
        self._bytes = 0

    @property
    def held(self) -> Mapping[str, int]:
        return {"open": len(self._records) - len(self._over), "over": len(self._over)}

    async def read(self, name: str, fields: Sequence[str]) -> list[bytes | None]:
        record = self._records.get(name)
        return [record.fields.get(field) if record is not None else None for field in fields]

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
        held = self._records.get(name)
        before = held.fields if held is not None else {}
        if before.get(VERSION) != version:
            return False
        after = {field: value for field, value in {**before, **fields}.items() if field not in dropped}
        nbytes = _RECORD_BYTES + sum(len(value) + _FIELD_BYTES for value in after.values())
        self._make_room(name, nbytes)
        self._forget(name)
        expiry = asyncio.get_running_loop().call_later(ttl_s, self._forget, name)
        self._records[name] = _Record(after, nbytes, expiry)
        self._bytes += nbytes
        if is_over:
            self._over[name] = None
        return True

    def _make_room(self, name: str, nbytes: int) -> None:
        """Make room for a record of so many bytes that replaces the one of the same name.

        Raises:
            Overloaded
        """
        held = self._records.get(name)
        more = 0 if held is not None else 1
        growth = nbytes - (held.nbytes if held is not None else 0)
        endable = [other for other in self._over if other != name] if self._is_full(more, growth) else []
        for other in endable:
            if not self._is_full(more, growth):
                break
            self._forget(other)
        if self._is_full(more, growth):
            raise Overloaded(
                f"{len(self._records)} interactions of {self._bytes / 1e6:.1f} MB are in memory, which is the limit; "
                "finalize those that are done, or set redis_url",
                retry_after_s=_RETRY_AFTER_S,
            )

    def _is_full(self, more: int, growth: int) -> bool:
        return len(self._records) + more > self._max_records or self._bytes + growth > self._max_bytes

    def _forget(self, name: str) -> None:
        record = self._records.pop(name, None)
        if record is not None:
            record.expiry.cancel()
            self._bytes -= record.nbytes
            self._over.pop(name, None)

    async def close(self) -> None:
        for name in list(self._records):
            self._forget(name)
