"""Whether new batches should be sent here."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Readiness:
    """Each problem or lack by the part that has it, with the reason."""

    problems: Mapping[str, str]
    """As long as there is one, none should."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """What cannot judge, while all else can."""

    def told(self) -> dict[str, Any]:
        """As the probes' routes tell it."""
        body: dict[str, Any] = {"status": "not ready" if self.problems else "ready"}
        return body | {name: told for name, told in asdict(self).items() if told}
