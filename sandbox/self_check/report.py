"""What is tried, and what it came to."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from sandbox.base import Isolation


class Extent(Enum):
    """How much is tried."""

    SHORT = "short"
    LONG = "long"


SHORT: Final = Extent.SHORT
LONG: Final = Extent.LONG


@dataclass(frozen=True, slots=True)
class Finding:
    """What one attack came to."""

    name: str
    held: bool
    detail: str
    """What the attack tried; after it, when the sandbox did not hold, what got through."""


@dataclass(frozen=True, slots=True)
class Report:
    """What all attacks came to."""

    isolation: Isolation
    findings: Sequence[Finding]
    not_promised: Sequence[str]
    """Attacks left out, as this kind of sandbox makes no promise about them: its caveats say so."""

    @property
    def held(self) -> bool:
        return all(finding.held for finding in self.findings)
