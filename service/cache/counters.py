"""What the verdict cache counts, and the states of its shared layer."""

from dataclasses import dataclass
from typing import Literal

State = Literal["closed", "open", "half_open"]


@dataclass(slots=True)
class CacheCounters:
    """Events since the start. Each count only grows."""

    hits_memory: int = 0
    hits_redis: int = 0
    misses: int = 0
    """Keys that neither layer had in time."""
    rejected: int = 0
    """Values in Redis that were too long, or not what was stored."""
    errors: int = 0
    """Calls to Redis that failed or were late. One MGET counts once, however many keys and callers it had."""
    mgets: int = 0
    mget_s: float = 0.0
    """The total time of the successful ones of `mgets`, in seconds."""
    written: int = 0
    dropped_writes: int = 0
    """Entries that did not reach Redis: queue full, value too long, refused, or lost with a connection."""
    breaker_opened: int = 0
