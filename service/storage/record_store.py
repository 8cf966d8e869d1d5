"""Where state is kept: records of named byte fields, each with a version that every change replaces.

A record is changed only from the version it was read at, in one step with its new time to live. So of two who change the
same record at once one succeeds, and the other reads again.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

VERSION = "version"
"""The field that holds a record's version."""


class RecordStore(Protocol):
    """Records by name."""

    @property
    def held(self) -> Mapping[str, int]:
        """Records in this process, `open` and `over`; none where they are elsewhere."""

    @property
    def errors(self) -> int:
        """Calls that failed."""

    async def read(self, name: str, fields: Sequence[str]) -> list[bytes | None]:
        """Some fields of a record as they are at one moment; all None when there is no such record, or no more.

        Raises:
            StateUnavailable
        """

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
        """Set `fields`, a new version among them, and drop others, if the record is still at `version` (None: if there is
        none); else change nothing and say False. It is gone after `ttl_s` without a change; one that `is_over` may be
        gone sooner, where room is needed.

        Raises:
            StateUnavailable: it may have been done or not; asking for the same again is safe.
            Overloaded: there is no room for it.
        """

    async def close(self) -> None: ...
