"""Remembers which sessions of NeMo-Gym's episodes are over. A closed session cannot be seeded again.

It keeps nothing else of a session, because verifying has no state. With Redis every replica knows the sessions,
otherwise only this process does.
"""

import contextlib
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Final

from service.errors import Conflict, Gone, StateUnavailable
from service.settings import Settings
from service.storage.record_store import VERSION, Change, RecordStore
from service.storage.records import open_records

_PREFIX: Final = "rl1ng:"
_MAX_CLOSED, _MAX_BYTES = 100_000, 100_000_000
"""Sessions that this process remembers without Redis. Beyond this, the oldest are forgotten."""
_KEPT_S: Final = 86_400.0
_CLOSED: Final = b"closed"


class Sessions:
    """The sessions, by the id that the caller assigned."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    async def seed(self, session: str) -> None:
        """Begin a session. May be repeated.

        Raises:
            Conflict: the session is over.
        """
        # If the store cannot be read, go on: there is no state that a late seed could bring back.
        with contextlib.suppress(StateUnavailable, Gone):
            if (await self._store.read(_named(session), [VERSION]))[0] == _CLOSED:
                raise Conflict("this session is closed; seed another")

    async def close(self, session: str) -> None:
        """End a session. May be repeated, and may come before the session was seeded.

        Raises:
            StateUnavailable: the session may still be open; close it again.
        """
        await self._store.swap(_named(session), None, Change({VERSION: _CLOSED}, _KEPT_S, is_over=True))


@contextlib.asynccontextmanager
async def open_sessions(settings: Settings) -> AsyncIterator[Sessions]:
    store = open_records(settings.redis_url, _PREFIX, max_records=_MAX_CLOSED, max_bytes=_MAX_BYTES)
    try:
        yield Sessions(store)
    finally:
        with contextlib.suppress(StateUnavailable):
            await store.close()


def _named(session: str) -> str:
    return sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
