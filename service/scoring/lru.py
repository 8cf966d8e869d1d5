"""A cache of decoded values, bounded in bytes. Training batches repeat their references and parameters."""

from collections import OrderedDict
from typing import Generic, TypeVar

V = TypeVar("V")
_ENTRY_OVERHEAD_BYTES = 1_500


class LruCache(Generic[V]):
    """A cache that drops the least recently used values first. It counts the bytes of keys."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[tuple[object, ...], V] = OrderedDict()
        self._used_bytes = 0

    def get(self, key: tuple[object, ...]) -> V | None:
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: tuple[object, ...], value: V) -> None:
        """Remember a value; the key must be new."""
        self._values[key] = value
        self._used_bytes += _cost(key)
        while self._used_bytes > self._max_bytes:
            oldest, _ = self._values.popitem(last=False)
            self._used_bytes -= _cost(oldest)

    def clear(self) -> None:
        self._values.clear()
        self._used_bytes = 0


def _cost(key: tuple[object, ...]) -> int:
    # The decoded value holds the same texts again.
    return _ENTRY_OVERHEAD_BYTES + 2 * sum(len(part) for part in key if isinstance(part, (bytes, str)))
