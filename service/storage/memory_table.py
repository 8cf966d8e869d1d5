"""Keeps values in this process, each until its time is over, and knows how many there are and how large they are."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from fairness import Room
from service.tenant import parted

T = TypeVar("T")


@dataclass(slots=True)
class _Entry(Generic[T]):
    value: T
    nbytes: int
    expiry: asyncio.TimerHandle


class MemoryTable(Generic[T]):
    """Values by `owned` name, for one event loop. Whoever puts a value asks first whether it `fits`. No tenant fills the
    table (`fairness.Room`).

    `on_gone(name, value)` is called for each value that is dropped, or whose time is over.
    """

    def __init__(self, max_values: int, max_bytes: int, on_gone: Callable[[str, T], None]) -> None:
        self.values = Room(max_values)
        self.bytes = Room(max_bytes)
        self._on_gone = on_gone
        self._entries: dict[str, _Entry[T]] = {}

    @property
    def nbytes(self) -> int:
        return self.bytes.all

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[T]:
        return (entry.value for entry in self._entries.values())

    @property
    def first_goes_in_s(self) -> float:
        """Seconds until the time of a value is over; not more than 0 if there is none."""
        first = min((entry.expiry.when() for entry in self._entries.values()), default=0.0)
        return first - asyncio.get_running_loop().time()

    def get(self, name: str) -> T | None:
        entry = self._entries.get(name)
        return None if entry is None else entry.value

    def fits(self, name: str, nbytes: int) -> bool:
        """Whether its tenant may have a value of so many bytes, in place of the one of the same name."""
        tenant, entry = parted(name)[0], self._entries.get(name)
        values, size = (1, 0) if entry is None else (0, entry.nbytes)
        return self.values.fits(tenant, values) and self.bytes.fits(tenant, nbytes - size)

    def put(self, name: str, value: T, nbytes: int, ttl_s: float) -> None:
        """Keep a value for `ttl_s`, in place of the one of the same name."""
        self._take(name)
        expiry = asyncio.get_running_loop().call_later(ttl_s, self.drop, name)
        self._entries[name] = _Entry(value, nbytes, expiry)
        self._count(name, 1, nbytes)

    def grow(self, name: str, nbytes: int) -> None:
        """Note that a value has become larger."""
        self._entries[name].nbytes += nbytes
        self._count(name, 0, nbytes)

    def drop(self, name: str) -> None:
        entry = self._take(name)
        if entry is not None:
            self._on_gone(name, entry.value)

    def clear(self) -> None:
        """Drop everything, and tell nobody."""
        for name in list(self._entries):
            self._take(name)

    def _take(self, name: str) -> _Entry[T] | None:
        entry = self._entries.pop(name, None)
        if entry is not None:
            entry.expiry.cancel()
            self._count(name, -1, -entry.nbytes)
        return entry

    def _count(self, name: str, values: int, nbytes: int) -> None:
        tenant = parted(name)[0]
        self.values.take(tenant, values)
        self.bytes.take(tenant, nbytes)
