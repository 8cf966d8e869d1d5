"""Scores the rows of a file, and goes on where an earlier run of the same has ended.

The file is read in segments of some hundred rows, and a few segments are judged at once. So memory does not grow with
the file. The oldest segment is always written next. First the verdicts of the earlier run are gone through: those that
`failed` are judged again. Then the rest is judged, and appended.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from service.rollouts.bad_input import BadInput, Json
from service.rollouts.columns import JUDGES, Columns, without_nulls
from service.rollouts.judging import Judge, all_judged, invalid, judge_fields, lacks_reference, message_of
from service.rollouts.tally import Tally
from service.rollouts.verdict_file import Kept, header, verdicts
from service.row_files.reading import MAX_OWN_LINE_BYTES, BadData, DataFile, Unread, drawn
from service.wire import encode

SEGMENT_ROWS = 512
SEGMENT_BYTES = 2_000_000
SEGMENTS_UNDER_WAY = 8
_FIRST_ROWS = 64

OnProgress = Callable[[DataFile, Tally], None]


@dataclass(frozen=True, slots=True)
class Run:
    """What is scored."""

    source: Path
    target: Path
    columns: Columns
    made: Json
    """What decides the verdicts; see `verdict_file.made_by`."""
    chosen: Callable[[int], bool] = lambda _: True
    """Whether the row with this position, from 0, is judged."""
    limit: int | None = None
    """The first rows alone."""


class NoRows(BadInput):
    """A file has no row that can be judged."""


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    fields: Json | Unread
    nbytes: int
    kept: Kept | None = None
    """Its verdict of an earlier run, which stays."""


def check_first_row(source: Path, columns: Columns, *, needs_judge: bool) -> None:
    """Check that the first row has what the columns name.

    Args:
        source: The file.
        columns: What was named.
        needs_judge: Whether the rows must say themselves how they are judged.

    Raises:
        BadInput: it has not.
        NoRows
    """
    number, fields = _first_row(source)
    try:
        columns.check(fields, f"{source}, line {number},")
    except BadInput as error:
        if columns.response is None and _is_one_object(source):
            raise NoRows(f"{error}. The file is one object, not a list of rows") from error
        raise
    if needs_judge and not columns.says_judge(fields):
        raise BadInput(
            f"{source}, line {number}, does not say how it is judged (none of {', '.join(JUDGES)}); "
            "name a --verifier or a --recipe"
        )


def _is_one_object(source: Path) -> bool:
    """Whether a file of JSON holds a single row, such as the figures that evaluations write beside their rows."""
    file = DataFile(source, max_line_bytes=MAX_OWN_LINE_BYTES)
    return ".json" in source.suffixes and len([*islice(_rows(source, file), 2)]) == 1


async def check_task(run: Run, judge: Judge) -> None:
    """Check the parameters of all lines by the first one, and whether the first ones lack a reference. A task says whether
    it takes them, so the response is left out.

    Raises:
        BadInput: the verifier or recipe of all lines does not take them.
    """
    columns = run.columns
    if columns.verifier is None and columns.recipe is None:
        return
    number, fields = _first_row(run.source)
    item = columns.item_of(fields)
    lacks_column = _has_no_reference(run)
    if item is None or not (columns.params or lacks_column):
        return
    params = {"params": dict(columns.params)} if columns.params else {}
    (result,) = await all_judged([{**item, **params, "response": ""}], judge)
    if columns.params and result["reason"] == "bad_params":
        raise BadInput(f"--params: {message_of(result)}")
    if lacks_column and lacks_reference(result, item):
        raise BadInput(f"{run.source}, line {number}: {message_of(result)}{columns.lack_of_reference(fields)}")


def _has_no_reference(run: Run) -> bool:
    """Whether no one of the first rows has a field for a reference: it is the column that is missing."""
    file = DataFile(run.source, max_line_bytes=MAX_OWN_LINE_BYTES)
    first_rows = islice(_rows(run.source, file), _FIRST_ROWS)
    return all(isinstance(row.fields, Unread) or run.columns.has_no_reference(row.fields) for row in first_rows)


def _first_row(source: Path) -> tuple[int, Json]:
    why = ""
    for row in _rows(source, DataFile(source, max_line_bytes=MAX_OWN_LINE_BYTES)):
        if not isinstance(row.fields, Unread):
            return row.number, row.fields
        why = why or f" (line {row.number}: {row.fields.problem})"
    raise NoRows(f"{source} has no row that is a JSON object{why}")


async def rescore(run: Run, judge: Judge, on_progress: OnProgress) -> Tally:
    """Score the rows that have no verdict yet, and those whose verdict `failed`.

    Returns:
        The counts of all rows, also of those that have been judged before.

    Raises:
        BadInput: the file cannot be read, or something else has made the output.
    """
    tally = Tally()
    reach = 0
    if run.target.exists() and run.target.stat().st_size:
        missed = 0
        for stored in verdicts(run.target, run.made):
            reach = stored.number
            tally.done_before += 1
            missed += stored.result["status"] == "failed"
        tally.done_before -= missed
        target = run.target.resolve()  # a link goes on to name its file
        part = target.with_name(target.name + ".part")
        with part.open("wb") as out:  # also without a missed one: it drops half a line
            out.write(header(run.made))
            await _write(run, _with_kept(run, reach), out, judge, tally, on_progress)
        part.replace(target)
    else:
        run.target.write_bytes(header(run.made))
    with run.target.open("ab") as out:
        await _write(run, (row for row in _chosen(run) if row[1].number > reach), out, judge, tally, on_progress)
    return tally


def _with_kept(run: Run, reach: int) -> Iterator[tuple[DataFile, _Row]]:
    """The rows that have a verdict, with those that stay."""
    stored = verdicts(run.target, run.made)
    for file, row in _chosen(run):
        verdict = next(stored, None)
        if row.number > reach or verdict is None:
            return
        if verdict.number != row.number:
            raise BadInput(
                f"{run.target} has the verdict on line {verdict.number} where that on line {row.number} belongs"
            )
        yield file, row if verdict.result["status"] == "failed" else _Row(row.number, row.fields, row.nbytes, verdict)


def _chosen(run: Run) -> Iterator[tuple[DataFile, _Row]]:
    file = DataFile(run.source, max_line_bytes=MAX_OWN_LINE_BYTES)
    for position, row in enumerate(islice(_rows(run.source, file), run.limit)):
        if run.chosen(position):
            yield file, row


def _rows(source: Path, file: DataFile) -> Iterator[_Row]:
    """
    Raises:
        BadInput: the file cannot be read.
    """
    try:
        for number, value, nbytes in file.lines():
            if isinstance(value, dict):
                value = without_nulls(value) if file.pads_rows else value
            elif not isinstance(value, Unread):
                value = Unread("the line is not a JSON object")
            yield _Row(number, value, nbytes)
    except BadData as error:
        raise BadInput(f"{source}: {error}") from error


async def _write(
    run: Run,
    rows: Iterable[tuple[DataFile, _Row]],
    out: BinaryIO,
    judge: Judge,
    tally: Tally,
    on_progress: OnProgress,
) -> None:
    """Judge rows, and write their verdicts in order."""
    segments = _segments(rows)
    under_way: deque[tuple[DataFile, list[_Row], asyncio.Task[list[Json]]]] = deque()
    try:
        while True:
            while len(under_way) < SEGMENTS_UNDER_WAY and (segment := next(segments, None)):
                file, members = segment
                under_way.append((file, members, asyncio.create_task(_judged(members, run.columns, judge))))
            if not under_way:
                return
            file, members, task = under_way[0]
            results = await task
            under_way.popleft()
            out.write(b"".join(_line(row, result) for row, result in zip(members, results, strict=True)))
            out.flush()
            for row, result in zip(members, results, strict=True):
                label = None if isinstance(row.fields, Unread) else run.columns.label_of(row.fields)
                tally.count(result, label, row.number)
            on_progress(file, tally)
    finally:
        for _, _, task in under_way:
            task.cancel()
        await asyncio.gather(*(task for _, _, task in under_way), return_exceptions=True)


def _segments(rows: Iterable[tuple[DataFile, _Row]]) -> Iterator[tuple[DataFile, list[_Row]]]:
    iterator = iter(rows)
    for file, first in iterator:
        segment, nbytes = [first], first.nbytes
        while len(segment) < SEGMENT_ROWS and nbytes < SEGMENT_BYTES and (following := next(iterator, None)):
            segment.append(following[1])
            nbytes += following[1].nbytes
        yield file, segment


async def _judged(rows: Sequence[_Row], columns: Columns, judge: Judge) -> list[Json]:
    """One result per row: a kept one, or a new one."""
    new = [row for row in rows if row.kept is None and not isinstance(row.fields, Unread)]
    judged = iter(await judge_fields([row.fields for row in new if not isinstance(row.fields, Unread)], columns, judge))
    results = []
    for row in rows:
        if row.kept is not None:
            result = row.kept.result
        elif isinstance(row.fields, Unread):
            result = {**invalid("bad_json", row.fields.problem), "id": row.number}
        else:
            result = next(judged)
            if row.fields.get("id") is None:
                result["id"] = row.number
        results.append(result)
    return results


def _line(row: _Row, result: Json) -> bytes:
    return row.kept.text if row.kept is not None else encode({"line": row.number, **result}) + b"\n"


def sampled(source: Path, size: int, seed: int, limit: int | None) -> frozenset[int]:
    """The positions, from 0, of some rows of a file, the same for the same seed.

    Raises:
        BadInput: the file cannot be read.
    """
    count = sum(1 for _ in islice(_rows(source, DataFile(source, max_line_bytes=MAX_OWN_LINE_BYTES)), limit))
    return drawn(count, size, seed)
