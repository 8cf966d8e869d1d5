"""Chooses where records are kept."""

from pydantic import SecretStr

from service.storage.memory_records import MemoryRecords
from service.storage.owned_records import OwnedRecords
from service.storage.redis_records import RedisRecords


def open_records(redis_url: SecretStr | None, prefix: str, *, max_records: int, max_bytes: int) -> OwnedRecords:
    """A store in Redis, whose keys begin with `prefix`. Without Redis it is a store in this process, within the bounds.
    Each tenant has records of its own.

    Raises:
        ValueError: the URL has an unknown form, or its certificates cannot be used.
    """
    if redis_url is not None:
        return OwnedRecords(RedisRecords(redis_url.get_secret_value(), prefix=prefix))
    return OwnedRecords(MemoryRecords(max_records, max_bytes))
