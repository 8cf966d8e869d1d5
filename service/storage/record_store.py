"""The contract of a record store. A record has named byte fields and a version that every change replaces.

A record is changed only from the version at which it was read, in one step together with its new time to live. If two
callers change the same record at once, one succeeds and the other reads again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

VERSION = "version"
"""The field that holds a record's version."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a record becomes, in one step."""

    fields: Mapping[str, bytes]
    """The fields to set, a new version among them."""
    ttl_s: float
    """The record is gone after so many seconds without a change."""
    dropped: Sequence[str] = ()
    """The fields to remove."""
    is_over: bool = False
    """Whether the record may be gone sooner if room is needed."""


class RecordStore(Protocol):
    """Records by name."""

    @property
    def held(self) -> Mapping[str, int]:
        """The number of records in this process, `open` and `over`. Empty if the records are elsewhere."""

    @property
    def held_bytes(self) -> int:
        """Their bytes."""

    @property
    def errors(self) -> int:
        """The number of calls that failed."""

    async def read(self, name: str, fields: Sequence[str]) -> list[bytes | None]:
        """Some fields of a record, all from the same moment. All are None if there is no such record any more.

        Raises:
            StateUnavailable
            Gone: the record is damaged.
        """

    async def swap(self, name: str, version: bytes | None, change: Change) -> bool:
        """Change the record if it is still at `version` (None: there is no record). Otherwise change nothing and return
        False.

        Raises:
            StateUnavailable: the change may have been made or not. A repetition is safe.
            Overloaded: there is no room for the record.
        """

    async def remove(self, name: str) -> None:
        """Remove a record, whatever it holds.

        Raises:
            StateUnavailable
        """

    async def close(self) -> None: ...
