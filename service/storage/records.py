"""Chooses where records are kept. The library of Redis takes half a second of a start, so it is loaded only for a Redis."""

import importlib
from typing import TYPE_CHECKING

from pydantic import SecretStr

from service.storage.memory_records import MemoryRecords
from service.storage.owned_records import OwnedRecords

if TYPE_CHECKING:
    from service.storage.redis_records import RedisRecords


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
