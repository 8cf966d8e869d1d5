"""The report of a self-check: what was tried, and the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from sandbox.base import Isolation


class Extent(Enum):
    """How many attacks are run."""

    SHORT = "short"
    LONG = "long"


SHORT: Final = Extent.SHORT
LONG: Final = Extent.LONG


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one attack."""

    name: str
    held: bool
    detail: str
    """What the attack tried. If the sandbox did not hold, what got through follows."""


@dataclass(frozen=True, slots=True)
class Report:
    """The results of all attacks."""

    isolation: Isolation
    findings: Sequence[Finding]
    not_promised: Sequence[str]
    """Attacks left out because this kind of sandbox makes no promise about them: its caveats say so."""

    @property
    def held(self) -> bool:
        return all(finding.held for finding in self.findings)
