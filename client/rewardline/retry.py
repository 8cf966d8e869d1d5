"""When to retry, and until when."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

_SYSTEM_RANDOM = random.SystemRandom()
"""The source of jitter. The module's own generator belongs to the trainer: retries must not change its state."""
MAX_RETRY_AFTER_S = 60.0
"""The client waits at most this long, even if the server asks for more."""


class Deadline:
    """A point on the monotonic clock, given in seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def remaining_s(self) -> float:
        return self._at - time.monotonic()


@dataclass
class Backoff:
    """Exponential backoff with jitter: clients that failed together do not come back together. Half of each pause is certain,
    so that a number of tries outlasts a restart of the server.
    """

    base_s: float = 0.1
    cap_s: float = 5.0
    tries: int = 0

    def next_s(self, retry_after_s: float | None = None) -> float:
        """The next pause. It is no shorter than the server asked for, up to `MAX_RETRY_AFTER_S`."""
        pause_s: float = _SYSTEM_RANDOM.uniform(0.5, 1.0) * min(self.cap_s, self.base_s * 2.0**self.tries)
        self.tries = min(self.tries + 1, 30)
        if retry_after_s is None:
            return pause_s
        return min(max(retry_after_s, 0.0), MAX_RETRY_AFTER_S) + pause_s
