"""Says in the log that a server gives no results: within `FIRST_S`, each minute, and once when it is over.

A trainer waits for minutes before a call gives up. Without these lines nobody sees what it waits for.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from rewardline.errors import Unavailable

FIRST_S = 4.0
"""A shorter outage is not worth a line: the server restarts, or a connection was lost."""
AGAIN_S = 60.0
_LOGGER = logging.getLogger("rewardline")


class Outage:
    """The time in which a server gave no answer, to any call of one client. Threads may share it."""

    def __init__(self, server: str, now: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            server: Its URL, as logs may show it.
            now: A monotonic clock, in seconds.
        """
        self._server = server
        self._now = now
        self._lock = threading.Lock()
        self._calls = 0
        self._began_at: float | None = None
        self._warned_at: float | None = None
        self._attempts = 0
        self._unjudged = 0
        self._fault: Unavailable | None = None

    def call_began(self) -> None:
        with self._lock:
            self._calls += 1

    def call_ended(self) -> None:
        """With the last call under way, one line counts the items that got no verdict."""
        with self._lock:
            self._calls -= 1
            line = self._summary() if self._calls == 0 and self._unjudged else None
            if line:
                self._unjudged = 0
        _warn(line)

    def attempt_failed(self, fault: Unavailable, began_at: float, pause_s: float) -> None:
        """An attempt brought no answer.

        Args:
            fault: Why.
            began_at: When the attempt began, on this object's clock.
            pause_s: The seconds until the next one.
        """
        with self._lock:
            now = self._now()
            self._fault = fault
            self._attempts += 1
            if self._began_at is None:
                self._began_at = max(
                    began_at, now - FIRST_S
                )  # a call may have waited long for its turn, or its verdicts
            quiet_s = FIRST_S if self._warned_at is None else AGAIN_S
            since = self._began_at if self._warned_at is None else self._warned_at
            line = None
            if now + pause_s - since >= quiet_s:
                self._warned_at = now
                line = (
                    f"no result from {self._server} for {now - self._began_at:.0f} s, {self._attempts} attempts: {fault}. "
                    "Calls try again until their deadline. Is the service up, and is this its URL?"
                )
        _warn(line)

    def attempt_succeeded(self) -> None:
        """The server answered, whatever it said."""
        if self._began_at is None:
            return
        with self._lock:
            line = None
            if self._began_at is not None and self._warned_at is not None:
                line = f"{self._server} answers again, after {self._now() - self._began_at:.0f} s"
            self._began_at = self._warned_at = None
            self._attempts = 0
        _warn(line)

    def gave_up(self, items: int) -> None:
        """A call ended with so many items that no attempt brought an answer for."""
        with self._lock:
            self._unjudged += items

    def _summary(self) -> str:
        counted = "1 item has" if self._unjudged == 1 else f"{self._unjudged} items have"
        return f"{counted} no verdict: no result from {self._server} before the deadline: {self._fault}"

    def now(self) -> float:
        """The time on this object's clock, in seconds."""
        return self._now()


def _warn(line: str | None) -> None:
    if line:
        _LOGGER.warning("%s", line)
