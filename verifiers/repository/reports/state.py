"""The states of tests, and how a report comes to be."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    ERROR = "error"


class UnreadableReport(Exception):
    """The report is missing, or is not one of this format."""


class ForgedReport(UnreadableReport):
    """Something else than the test runner wrote in the report, or made its tests pass."""


@dataclass(frozen=True, slots=True)
class ReportPlan:
    """What the test command needs so that it reports."""

    arguments: tuple[str, ...] = ()
    """They go behind the test command."""
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Content by path below `sandbox.containers.base.EXCHANGE`."""
    report: str | None = None
    """The name of the report file in `sandbox.containers.base.MADE`; None: the output is the report."""
    workspace_report: str | None = None
    """The path of the report file below the working directory, which the command writes by itself."""


def merged(found: Iterable[tuple[str, State]]) -> dict[str, State]:
    """The state of each test. One that has two different ones has failed."""
    states: dict[str, State] = {}
    for name, state in found:
        states[name] = state if states.setdefault(name, state) is state else State.FAILED
    return states
