"""Finds rows of a data set that cannot be judged, or that get another verdict than the author can have meant.

    row ──► item ──► checks of its recipe ──► each judged on the reference's own answer ──► findings

The verifier must accept the reference, and the reference must equal itself. Tests must be present; the row's own
solution must pass them if it has one, and a program that does nothing must not pass them. A row without a route is a
finding too. Rows that could not be judged are counted separately, because they say nothing about the data.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Final

import msgspec

from service.cli.dataset_audit.rows import Row
from service.recipes.rows import READS_TESTS
from service.scoring.engine import Engine
from service.scoring.planning import Filled, Planner
from service.scoring.prepared_item import configure
from service.wire import ABSENT, BatchRequest, Result, ScoreItem
from verifiers.base import InvalidItem
from verifiers.math.params import MathParams
from verifiers.math.solutions import ReferenceKind, kind_of

SEGMENT_ROWS: Final = 256
_DEADLINE_S: Final = 3600.0
_MAX_SHOWN_CHARS: Final = 300
_NOTHING: Final = "```python\npass\n```"
"""A program that does nothing, for tests without a solution."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake in a row."""

    row: int
    id: str | None
    check: str | None
    """The check of the recipe that the finding concerns. None: the row has no recipe."""
    verifier: str | None
    reason: str
    """A short stable word: a verifier's reason for `invalid`, or one of ours: `not_itself`, `solution_fails`,
    `accepts_nothing`, `bad_row`."""
    message: str
    told: dict[str, Any]
    """The labels and the reference of the row. It is a field of the report, so its name stays."""


@dataclass(slots=True)
class Report:
    """The result of the audit of a data set."""

    rows: int = 0
    checks: int = 0
    """References that were checked. A recipe may have several for each row."""
    own_answers: int = 0
    """Those of them for which a right response was at hand."""
    unjudged: int = 0
    findings: list[Finding] = field(default_factory=list)
    recipes: Counter[str] = field(default_factory=Counter)
    references: Counter[str] = field(default_factory=Counter)
    """References of mathematics, by their kind (`verifiers.math.solutions.ReferenceKind`)."""

    def by_reason(self) -> Counter[tuple[str, str]]:
        """Findings by verifier and reason."""
        return Counter((finding.verifier or "", finding.reason) for finding in self.findings)

    def plain(self) -> dict[str, Any]:
        """The report as JSON."""
        reasons = [{"verifier": v, "reason": r, "rows": n} for (v, r), n in self.by_reason().most_common()]
        return {
            "rows": self.rows,
            "bad_rows": len({finding.row for finding in self.findings}),
            "checks": self.checks,
            "own_answers": self.own_answers,
            "unjudged": self.unjudged,
            "recipes": dict(self.recipes.most_common()),
            "references": dict(self.references.most_common()),
            "by_reason": reasons,
            "findings": [asdict(finding) for finding in self.findings],
        }


@dataclass(frozen=True, slots=True)
class _Probe:
    """One check of a row, with a response that makes the verdict informative."""

    row: Row
    filled: Filled
    response: str
    expects: float | None
    """The expected score. None: the check only shows whether the reference can be judged against."""
    kind: ReferenceKind | None = None

    def item(self) -> ScoreItem:
        fields = dict(self.filled.fields)
        reference = _raw(fields.pop("reference")) if "reference" in fields else ABSENT
        name = self.filled.check.entry.verifier.name
        return ScoreItem(self.response, name, reference, params=_raw(fields), prompt=self.row.item.prompt)  # type: ignore[union-attr]  # of rows that are items


async def audit(engine: Engine, rows: Iterable[Row], on_progress: Callable[[Report], None]) -> Report:
    """Audit every row. `on_progress` gets the report as it grows."""
    report = Report()
    planner = Planner(engine.registry, engine.book)
    for segment in _segments(rows):
        probes: list[_Probe] = []
        for row in segment:
            report.rows += 1
            probes += _probes(planner, row, report)
        report.checks += len(probes)
        report.own_answers += sum(probe.expects == 1.0 for probe in probes)
        if probes:
            deadline = asyncio.get_running_loop().time() + _DEADLINE_S
            batch = BatchRequest([probe.item() for probe in probes], {}, "use", False, deadline)
            for probe, result in zip(probes, (await engine.score(batch)).results, strict=True):
                _note(report, probe, result)
        on_progress(report)
    return report


def _segments(rows: Iterable[Row]) -> Iterator[Sequence[Row]]:
    source = iter(rows)
    while segment := list(islice(source, SEGMENT_ROWS)):
        yield segment


def _probes(planner: Planner, row: Row, report: Report) -> list[_Probe]:
    if row.item is None:
        report.findings.append(Finding(row.number, row.id, None, None, "bad_row", row.problem, row.shown))
        return []
    try:
        recipe, filled = planner.fill(row.item, bytes(row.item.reference))
    except InvalidItem as error:
        report.findings.append(Finding(row.number, row.id, None, None, error.reason, str(error), _cut(row.shown)))
        return []
    report.recipes[recipe.name or row.item.verifier or "checks"] += 1
    probes = []
    for each in filled:
        if "reference" not in each.check.entry.verifier.params.model_fields:
            continue
        try:
            probe = _probe(row, each)
            probes.append(probe)
            report.references.update([] if probe.kind is None else [probe.kind])
        except InvalidItem as error:
            report.checks += 1
            report.findings.append(_finding(row, each, error.reason, str(error)))
    return probes


def _probe(row: Row, filled: Filled) -> _Probe:
    """The probe of one check of a row.

    Raises:
        InvalidItem: the verifier does not take the reference or a parameter.
    """
    verifier = filled.check.entry.verifier
    params = configure(filled.check.entry, filled.fields).params
    if verifier.name in READS_TESTS:
        if row.solution is None:
            return _Probe(row, filled, _NOTHING, None)
        return _Probe(row, filled, _fenced(row.solution), 1.0)
    answer = verifier.own_answer(params)
    kind = kind_of(params.references) if isinstance(params, MathParams) else None
    return _Probe(row, filled, answer or "", None if answer is None else 1.0, kind)


def _fenced(solution: str) -> str:
    return solution if "```" in solution else f"```python\n{solution}\n```"


def _note(report: Report, probe: _Probe, result: Result) -> None:
    verifier = probe.filled.check.entry.verifier.name
    reads_tests = verifier in READS_TESTS
    if result.status == "invalid":
        message = str(result.detail.get("message", ""))
        report.findings.append(_finding(probe.row, probe.filled, result.reason, message))
    elif result.status == "failed":
        report.unjudged += 1
    elif probe.expects == 1.0 and result.score != 1.0:
        reason = "solution_fails" if reads_tests else "not_itself"
        message = f"scores {result.score:g} ({result.reason}): {json.dumps(probe.response, ensure_ascii=False)}"
        report.findings.append(_finding(probe.row, probe.filled, reason, _clip(message)))
    elif probe.expects is None and result.score == 1.0:
        message = "a program that does nothing passes the tests"
        report.findings.append(_finding(probe.row, probe.filled, "accepts_nothing", message))


def _finding(row: Row, filled: Filled, reason: str, message: str) -> Finding:
    check = filled.check
    return Finding(row.number, row.id, check.name, check.entry.verifier.name, reason, message, _cut(row.shown))


def _cut(shown: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, int | float) else _clip(value if isinstance(value, str) else json.dumps(value))
        for name, value in shown.items()
    }


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 1] + "…"


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
