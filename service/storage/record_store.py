"""The contract of a record store. A record has named byte fields and a version that every change replaces.

A record is changed only from the version at which it was read, in one step together with its new time to live. If two
callers change the same record at once, one succeeds and the other reads again.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

VERSION = "version"
"""The field that holds a record's version."""


class RecordStore(Protocol):
    """Records by name."""

    @property
    def held(self) -> Mapping[str, int]:
        """The number of records in this process, `open` and `over`. Empty if the records are elsewhere."""

    @property
    def errors(self) -> int:
        """The number of calls that failed."""

    async def read(self, name: str, fields: Sequence[str]) -> list[bytes | None]:
        """Some fields of a record, all from the same moment. All are None if there is no such record any more.

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
        """Set `fields`, a new version among them, and drop others, if the record is still at `version` (None: there is
        no record). Otherwise change nothing and return False.

        The record is gone after `ttl_s` without a change. A record that `is_over` may be gone sooner if room is needed.

        Raises:
            StateUnavailable: the change may have been made or not. A repetition is safe.
            Overloaded: there is no room for the record.
        """

    async def close(self) -> None: ...
