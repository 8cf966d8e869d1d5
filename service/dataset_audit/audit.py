"""Finds rows of a data set that cannot be judged, or that get another verdict than the author can have meant.

    row ──► item ──► checks of its recipe ──► each judged on right responses ──► findings

The verifier must accept the reference, and the reference must equal itself. Tests must be present; the row's own
solution must pass them if it has one, and a program that does nothing must not pass them. A row without a route is a
finding too. Rows that could not be judged are counted separately, because they say nothing about the data.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

import msgspec

from service.dataset_audit import fixes
from service.dataset_audit.report import Example, Finding, Fix, Reading, Report, bin_of, clip, cut, short_item
from service.dataset_audit.rows import Row
from service.recipes.rows import READS_TESTS
from service.scoring.engine import Engine
from service.scoring.planning import Filled, Planner
from service.scoring.prepared_item import configure
from service.wire import ABSENT, BatchRequest, Result, ScoreItem
from verifiers.base import InvalidItem
from verifiers.math.params import MathParams
from verifiers.math.solutions import final_answer, kind_of

SEGMENT_ROWS: Final = 256
_SEGMENT_BYTES: Final = 8_000_000
_SLICE_S: Final = 0.001
_THREAD_BYTES: Final = 64_000
_DEADLINE_S: Final = 3600.0
_NOTHING: Final = "```python\npass\n```"
"""A program that does nothing, for tests without a solution."""
_ANY: Final = "any response"
"""Stands for a response in an item that no response can be judged by."""
_WEAKNESSES: Final = {"nothing_guards": "unguarded", "inspects_tests": "inspects_tests"}
"""Hints on rows whose right response is judged, by the field of the verdict's detail that says how weakly."""

Admit = Callable[[int], contextlib.AbstractAsyncContextManager[object]]
"""Waits until so many items may be judged, and holds their place."""


@dataclass(frozen=True, slots=True)
class _Probe:
    """One check of a row, with a response that makes the verdict informative."""

    row: Row
    filled: Filled
    response: str
    expects: float | None
    """The expected score. None: the check only shows whether the reference can be judged against."""
    is_solution: bool = False
    """Whether the response is the row's own solution, not made from its reference."""
    reading: Reading | None = None
    """How a reference of mathematics is read, unless the verdict says that it is invalid; of a row's first probe."""

    def fields(self) -> dict[str, Any]:
        """The item as JSON."""
        params = dict(self.filled.fields)
        name = self.filled.check.entry.verifier.name
        reference = {"reference": params.pop("reference")} if "reference" in params else {}
        prompt = self.row.item.prompt if self.row.item else None
        item = {"verifier": name, "response": self.response or _ANY, **reference}
        return item | ({"params": params} if params else {}) | ({} if prompt is None else {"prompt": prompt})

    def item(self) -> ScoreItem:
        fields = dict(self.filled.fields)
        reference = _raw(fields.pop("reference")) if "reference" in fields else ABSENT
        name = self.filled.check.entry.verifier.name
        return ScoreItem(self.response, name, reference, params=_raw(fields), prompt=self.row.item.prompt)  # type: ignore[union-attr]  # of rows that are items


@dataclass(slots=True)
class _Segment:
    """Some rows, with all that can be said of them before they are judged."""

    rows: int = 0
    checks: int = 0
    own_answers: int = 0
    """Checks for which a right response is at hand."""
    probes: list[_Probe] = field(default_factory=list)
    found: list[Example] = field(default_factory=list)
    recipes: list[str] = field(default_factory=list)


async def audit(engine: Engine, rows: Iterable[Row], on_progress: Callable[[Report], None]) -> Report:
    """Audit every row, and keep all findings. `on_progress` gets the report as it grows."""
    report = Report()
    async for _ in audited(engine, rows, report):
        on_progress(report)
    return report


async def audited(
    engine: Engine, rows: Iterable[Row], report: Report, *, batch_items: int = SEGMENT_ROWS, admit: Admit | None = None
) -> AsyncIterator[None]:
    """Audit every row. The report grows with each step of the iteration; it never changes in between.

    Rows are read, and long ones prepared, in a thread.

    Args:
        engine: Judges.
        rows: They are read as they are needed.
        report: Where findings go.
        batch_items: The most rows of a step, and the most items that are judged at once.
        admit: Called before items are judged.

    Raises:
        BadData: the file of the rows cannot be read.
    """
    planner = Planner(engine.registry, engine.book)
    source = iter(rows)
    while rows_read := await asyncio.to_thread(_next_rows, source, batch_items):
        segment = await _prepared(planner, rows_read)
        _count(report, segment)
        for start in range(0, len(segment.probes), batch_items):
            probes = segment.probes[start : start + batch_items]
            async with admit(len(probes)) if admit else contextlib.nullcontext():
                deadline = asyncio.get_running_loop().time() + _DEADLINE_S
                batch = BatchRequest([probe.item() for probe in probes], {}, "use", False, deadline, is_recorded=False)
                results = (await engine.score(batch)).results
            for probe, result in zip(probes, results, strict=True):
                _note(report, probe, result)
        report.end_segment()
        yield


def _next_rows(source: Iterator[Row], limit: int) -> list[Row]:
    rows: list[Row] = []
    nbytes = 0
    while len(rows) < limit and nbytes < _SEGMENT_BYTES and (row := next(source, None)) is not None:
        rows.append(row)
        nbytes += row.nbytes
    return rows


async def _prepared(planner: Planner, rows: Sequence[Row]) -> _Segment:
    """All that can be said of rows before they are judged.

    Short rows are prepared here, in slices: beside a thread that computes, each step of the event loop waits for
    Python's lock, which takes longer than a slice.
    """
    segment = _Segment(len(rows))
    until = perf_counter() + _SLICE_S
    for row in rows:
        if row.nbytes > _THREAD_BYTES:
            await asyncio.to_thread(_add, segment, planner, row)
        else:
            _add(segment, planner, row)
        if perf_counter() > until:
            await asyncio.sleep(0)
            until = perf_counter() + _SLICE_S
    return segment


def _count(report: Report, segment: _Segment) -> None:
    report.rows += segment.rows
    report.checks += segment.checks
    report.own_answers += segment.own_answers
    report.recipes.update(segment.recipes)
    for example in segment.found:
        report.add(example)


def _add(segment: _Segment, planner: Planner, row: Row) -> None:
    if row.item is None:
        segment.found.append(_of_row(row, "bad_row", row.problem))
        return
    try:
        recipe, filled = planner.fill(row.item, bytes(row.item.reference))
    except InvalidItem as error:
        segment.found.append(_of_row(row, error.reason, str(error)))
        return
    segment.recipes.append(recipe.name or row.item.verifier or "checks")
    for check in filled:
        if "reference" in check.check.entry.verifier.params.model_fields:
            segment.checks += 1
            _add_check(segment, row, check)


def _add_check(segment: _Segment, row: Row, filled: Filled) -> None:
    verifier = filled.check.entry.verifier
    try:
        params = configure(filled.check.entry, filled.fields).params
        answer = None if verifier.name in READS_TESTS else verifier.own_answer(params)
    except InvalidItem as error:
        segment.found.append(_example(_Probe(row, filled, "", None), error.reason, str(error)))
        return
    reading = _reading(row, params) if isinstance(params, MathParams) else None
    reads_tests = verifier.name in READS_TESTS
    solution = row.solution if reads_tests or row.names_solution else None
    segment.own_answers += solution is not None or answer is not None
    if not reads_tests or solution is None:
        empty_response = _NOTHING if reads_tests else answer or ""
        segment.probes.append(_Probe(row, filled, empty_response, None if answer is None else 1.0, reading=reading))
    if solution is not None:
        response = _fenced(solution) if reads_tests else solution
        segment.probes.append(_Probe(row, filled, response, 1.0, is_solution=True))
    plainer = fixes.hint(row, params)
    if plainer is not None:
        reason, message, fix = plainer
        segment.found.append(_example(segment.probes[-1], reason, message, fix))


def _reading(row: Row, params: MathParams) -> Reading:
    answers = [*map(final_answer, params.references)]
    return Reading(
        row.number, kind_of(params.references), clip(answers[0] if len(answers) == 1 else json.dumps(answers))
    )


def _fenced(solution: str) -> str:
    return solution if "```" in solution else f"```python\n{solution}\n```"


def _note(report: Report, probe: _Probe, result: Result) -> None:
    if (reading := probe.reading) is not None:
        is_read = result.status != "invalid"
        report.add_reading(
            reading if is_read else Reading(reading.row, "invalid", clip(str(result.detail.get("message", ""))))
        )
    if result.status == "invalid":
        report.add(_example(probe, result.reason, str(result.detail.get("message", ""))))
    elif result.status == "failed":
        report.unjudged += 1
        report.unjudged_reasons[result.reason] += 1
    elif probe.expects is None:
        if result.score == 1.0:
            does = "a program that does nothing passes the tests" if probe.response else "an empty response is right"
            report.add(_example(probe, "accepts_nothing", does))
    elif result.score is not None:
        report.earned[bin_of(result.score)] += 1
        for reason, detail in _WEAKNESSES.items():
            if detail in result.detail:
                report.add(_example(probe, reason, f"{detail}: {result.detail[detail]}"))
        if result.score != 1.0:
            reason = "solution_fails" if probe.is_solution else "not_itself"
            answer = json.dumps(clip(probe.response), ensure_ascii=False)
            report.add(_example(probe, reason, f"scores {result.score:g} ({result.reason}): {answer}"))


def _of_row(row: Row, reason: str, message: str) -> Example:
    return Example(Finding(row.number, _name(row), None, None, reason, clip(message), cut(row.shown)))


def _example(probe: _Probe, reason: str, message: str, fix: Fix | None = None) -> Example:
    row, check = probe.row, probe.filled.check
    finding = Finding(
        row.number, _name(row), check.name, check.entry.verifier.name, reason, clip(message), cut(row.shown)
    )
    return Example(finding, short_item(probe.fields()), fix)


def _name(row: Row) -> str | None:
    return None if row.id is None else clip(row.id)


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
