"""The states of tests, and how a report comes to be."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    ERROR = "error"
    XFAILED = "xfailed"
    """It failed, and its mark says that it does."""
    GAVE_UP = "gave up"
    """It ended with a call that says that it is expected to fail, and has no mark. So may code under test."""


@dataclass(frozen=True, slots=True)
class Report:
    """The states of tests, and what vouches for them."""

    states: Mapping[str, State]
    is_whole: bool = True
    """Whether the runner has come to its end, as far as the format says it."""
    is_sound: bool = False
    """Whether a test that must fail was run, and failed."""
    codes: Mapping[str, str] = field(default_factory=dict)
    """A digest of the code of each test that is known, or `signed.CHANGED`."""
    inspections: frozenset[str] = frozenset()
    """Which code, that is no test's, looks at tests and how: `calc.py: open`. The other word is an audit event of Python."""


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
    """The path of the report file below the working directory, which the command writes by itself, or a glob of several."""


def merged(results: Iterable[tuple[str, State]]) -> dict[str, State]:
    """The state of each test. One that has two different ones has failed."""
    states: dict[str, State] = {}
    for name, state in results:
        states[name] = state if states.setdefault(name, state) is state else State.FAILED
    return states
