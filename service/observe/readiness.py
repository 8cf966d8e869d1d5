"""Whether new batches should be sent here."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Readiness:
    """The problems and lacks of the service: the reason of each, by the part that has it."""

    problems: Mapping[str, str]
    """If there is a problem, no new batches should come."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Parts that cannot judge while everything else can."""
    starting: Mapping[str, str] = field(default_factory=dict)
    """Parts that are not there yet. What needs them waits, and nothing fails for it."""

    def as_json(self) -> dict[str, Any]:
        """The answer of the routes for probes."""
        body: dict[str, Any] = {"status": "not ready" if self.problems else "ready"}
        return body | {name: as_json for name, as_json in asdict(self).items() if as_json}
