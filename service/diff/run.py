"""Judges the rows of files by two sides, and compares the verdicts row by row.

A few segments are judged at once, so memory does not grow with the files. Both sides judge a segment one after the
other: what they share (a verifier with the same parameters) is then judged once, by the cache.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from service.diff import stored
from service.diff.flips import Comparison, Flip, kind_of
from service.rollouts.bad_input import BadInput, Json
from service.rollouts.columns import Columns, without_nulls
from service.rollouts.judging import Judge, judge_fields
from service.row_files.reading import MAX_OWN_LINE_BYTES, BadData, DataFile, Unread

SEGMENT_ROWS: Final = 512
SEGMENT_BYTES: Final = 2_000_000
SEGMENTS_UNDER_WAY: Final = 6


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that are compared."""

    name: str
    columns: Columns
    judge: Judge | None = None
    """None: the verdicts are stored."""
    verdicts: Path | None = None
    """A file of stored verdicts. None: they are in the rows, or beside them."""


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    fields: Json
    held: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]
    """The stored verdict of each side that has stored ones."""
    nbytes: int


async def compare(
    files: Sequence[Path],
    sides: tuple[Side, Side],
    comparison: Comparison,
    on_flip: Callable[[Flip], None] = lambda flip: None,
    on_progress: Callable[[Comparison], None] = lambda comparison: None,
) -> None:
    """Compare all rows of the files.

    Raises:
        BadInput: a file cannot be read, or has no stored verdicts where they are asked for.
    """
    for file in files:
        under_way: deque[tuple[list[_Row], asyncio.Task[list[tuple[Mapping[str, Any], Mapping[str, Any]]]]]] = deque()
        with ExitStack() as stack:
            segments = _segments(_rows(file, sides, stack, comparison))
            try:
                while True:
                    while len(under_way) < SEGMENTS_UNDER_WAY and (segment := next(segments, None)):
                        under_way.append((segment, asyncio.create_task(_judged(segment, sides))))
                    if not under_way:
                        break
                    rows, task = under_way[0]
                    pairs = await task
                    under_way.popleft()
                    for row, (old, new) in zip(rows, pairs, strict=True):
                        _count(file, row, old, new, sides, comparison, on_flip)
                    on_progress(comparison)
            finally:
                for _, task in under_way:
                    task.cancel()
                await asyncio.gather(*(task for _, task in under_way), return_exceptions=True)


def _count(
    file: Path,
    row: _Row,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    sides: tuple[Side, Side],
    comparison: Comparison,
    on_flip: Callable[[Flip], None],
) -> None:
    kind = kind_of(old, new)
    flip = None
    if kind is not None:
        item = (sides[1] if sides[1].judge else sides[0]).columns.item_of(row.fields) or row.fields
        flip = Flip(kind, file.name, row.line, item, old, new)
        on_flip(flip)
    comparison.take(flip, old, new)


def _rows(file: Path, sides: tuple[Side, Side], stack: ExitStack, comparison: Comparison) -> Iterator[_Row]:
    """The rows that both sides have, or may have, verdicts on.

    Raises:
        BadInput
    """
    lookups: dict[int, stored.Lines] = {}
    data = DataFile(file, max_line_bytes=MAX_OWN_LINE_BYTES)
    try:
        for line, value, nbytes in data.lines():
            if isinstance(value, Unread) or not isinstance(value, dict):
                comparison.skip("no JSON object")
                continue
            fields = without_nulls(value) if data.pads_rows else value
            if not lookups:
                lookups = {
                    at: _lookup(file, side, fields, stack) for at, side in enumerate(sides) if side.judge is None
                }
                if not lookups:
                    lookups = {-1: stored.InRows()}
            stored_pair = tuple(lookups[at].of(line, fields) if at in lookups else None for at in (0, 1))
            if any(at in lookups and stored_pair[at] is None for at in (0, 1)):
                comparison.skip("no stored verdict")
                continue
            if stored.is_record(fields):
                if any(side.judge for side in sides) and (lack := stored.lack_of(fields)):
                    comparison.skip(lack)
                    continue
                fields = stored.fields_of(fields)
            yield _Row(line, fields, (stored_pair[0], stored_pair[1]), nbytes)
    except BadData as error:
        raise BadInput(f"{file}: {error}") from error
    finally:
        data.stop()


def _lookup(file: Path, side: Side, first: Mapping[str, Any], stack: ExitStack) -> stored.Lines:
    """Where the stored verdicts of a side are.

    Raises:
        BadInput: nowhere.
    """
    if side.verdicts is not None:
        return stored.Beside(side.verdicts, file, stack)
    in_rows = stored.InRows()
    if in_rows.of(1, first) is not None:
        return in_rows
    sidecar = stored.beside(file)
    if sidecar is None:
        raise BadInput(
            f"{file} holds no stored verdicts (it is not an audit log, has no column verdict_status), and there is no "
            f"file of verdicts beside it; make one with `rewardline score`"
        )
    return stored.Beside(sidecar, file, stack)


def _segments(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    segment: list[_Row] = []
    nbytes = 0
    for row in rows:
        segment.append(row)
        nbytes += row.nbytes
        if len(segment) >= SEGMENT_ROWS or nbytes > SEGMENT_BYTES:
            yield segment
            segment, nbytes = [], 0
    if segment:
        yield segment


async def _judged(rows: Sequence[_Row], sides: tuple[Side, Side]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    columns = [await _verdicts(rows, at, side) for at, side in enumerate(sides)]
    return list(zip(*columns, strict=True))


async def _verdicts(rows: Sequence[_Row], at: int, side: Side) -> list[Mapping[str, Any]]:
    if side.judge is not None:
        return list(await judge_fields([row.fields for row in rows], side.columns, side.judge))
    return [stored_verdict for row in rows if (stored_verdict := row.held[at]) is not None]
