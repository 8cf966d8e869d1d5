"""`rewardline score FILE.jsonl`, or `FILE.parquet`, scores a file of rollouts.

Line k of the output is the verdict on line k of the input, so the two can be pasted together, and an interrupted run
goes on where the output ends. A response is text or messages; messages are a list, or its JSON text, as tables hold it.
The file is read in segments of some hundred lines, and a few segments are judged at once. So memory does not grow with
the file. The oldest segment is always written next.
"""

import asyncio
import json
import os
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from rewardline import AsyncClient

from service.dataset_audit.files import BadData, parquet_rows
from service.errors import RequestError
from service.rollouts.columns import BadInput, Columns, Json, without_nulls
from service.rollouts.tally import Tally
from service.run.core import open_core
from service.settings import Settings
from service.tenant import RUN
from service.wire import BatchRequest, Result, decode_request, encode

SEGMENT_LINES = 512
SEGMENT_BYTES = 2_000_000
SEGMENTS_UNDER_WAY = 8
SEGMENT_DEADLINE_S = 3600.0

Scorer = Callable[[Sequence[Json]], Awaitable[Sequence[Json]]]
"""A function from items to results, in order."""


@asynccontextmanager
async def scorer_at(
    url: str, api_key: str | None, *, explain: bool = False, run_id: str | None = None
) -> AsyncIterator[Scorer]:
    """A scorer that asks a running service."""
    async with AsyncClient(url, api_key=api_key, timeout_s=SEGMENT_DEADLINE_S, run_id=run_id) as client:

        async def score(items: Sequence[Json]) -> Sequence[Json]:
            return [_plain(result) for result in await client.score(items, explain=explain)]

        yield score


@asynccontextmanager
async def scorer_here(settings: Settings, *, explain: bool = False, run_id: str | None = None) -> AsyncIterator[Scorer]:
    """A scorer with an engine in this process. It needs no server."""
    RUN.set(run_id or "")
    async with open_core(settings) as core:

        async def score(items: Sequence[Json]) -> Sequence[Json]:
            try:
                request = await decode_request(encode({"items": items}), len(items))
            except RequestError as error:
                shown = "; ".join(f"{'.'.join(map(str, each.loc))}: {each.msg}" for each in error.errors)
                raise BadInput(shown or error.detail) from error
            deadline = asyncio.get_running_loop().time() + SEGMENT_DEADLINE_S
            scored = await core.engine.score(BatchRequest(request.items, {}, "use", explain, deadline))
            return [msgspec.structs.asdict(result) for result in scored.results]

        yield score


def total_of(source: Path) -> int | None:
    """The end value of the progress through a file. None if its rows are compressed."""
    return None if source.suffix == ".parquet" else source.stat().st_size


async def rescore(
    source: Path, target: Path, columns: Columns, score: Scorer, on_progress: Callable[[int, Tally], None]
) -> Tally:
    """Score the lines of `source` that are not in `target` yet. After each segment `on_progress` gets the bytes read
    and the counts.

    Raises:
        BadInput: a line has no response.
    """
    with _lines_of(source) as lines, target.open("a+b") as out:
        tally = Tally(done_before=_whole_lines(out))
        position = sum(len(line) for line in islice(lines, tally.done_before))
        under_way: deque[tuple[asyncio.Task[list[Json]], list[bool | None], int]] = deque()
        segments = _segments(enumerate(lines, tally.done_before), position, columns)
        try:
            while True:
                while len(under_way) < SEGMENTS_UNDER_WAY and (rows := next(segments, None)):
                    task = asyncio.create_task(_judge(rows, score))
                    under_way.append((task, [row.label for row in rows], rows[-1].end))
                if not under_way:
                    return tally
                task, labels, end = under_way[0]
                results = await task
                under_way.popleft()
                out.write(b"".join(encode(result) + b"\n" for result in results))
                out.flush()
                for result, label in zip(results, labels, strict=True):
                    tally.count(result, label)
                on_progress(end, tally)
        finally:
            for task, _, _ in under_way:
                task.cancel()
            await asyncio.gather(*(task for task, _, _ in under_way), return_exceptions=True)


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    item: Json | None
    """None: the line is not a JSON object."""
    label: bool | None
    end: int
    """The position in the file after this line."""


def _segments(numbered: Iterator[tuple[int, bytes]], position: int, columns: Columns) -> Iterator[list[_Row]]:
    rows: list[_Row] = []
    start = position
    for number, line in numbered:
        position += len(line)
        rows.append(_row(number, line, columns, position))
        if len(rows) == SEGMENT_LINES or position - start > SEGMENT_BYTES:
            yield rows
            rows, start = [], position
    if rows:
        yield rows


def _row(number: int, line: bytes, columns: Columns, end: int) -> _Row:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        return _Row(number, None, None, end)
    item = columns.item_of(fields)
    if item is None:
        columns.need_response([name for name, value in fields.items() if value is not None], f"line {number + 1}")
    return _Row(number, item, columns.label_of(fields), end)


@contextmanager
def _lines_of(source: Path) -> Iterator[Iterator[bytes]]:
    """The lines of the file. In a Parquet file each row is a line.

    Raises:
        BadInput: the file cannot be read.
    """
    if source.suffix != ".parquet":
        with source.open("rb") as lines:
            yield lines
        return
    try:
        yield (encode(without_nulls(fields)) + b"\n" for _, fields in parquet_rows(source))
    except BadData as error:
        raise BadInput(str(error)) from error


async def _judge(rows: Sequence[_Row], score: Scorer) -> list[Json]:
    """One result per row. A line that is not a JSON object is invalid, like any item that must be mended."""
    results = iter(await score([row.item for row in rows if row.item is not None]))
    judged = []
    for row in rows:
        result = _unreadable() if row.item is None else dict(next(results))
        if row.item is None or "id" not in row.item:
            result["id"] = row.number
        judged.append({"line": row.number, **result})
    return judged


def _unreadable() -> Json:
    detail = {"message": "the line is not a JSON object"}
    result = Result(0, "invalid", None, None, "bad_json", None, None, None, detail, False, 0.0)
    return msgspec.structs.asdict(result)


def _plain(result: Any) -> Json:
    names = ("id", "status", "score", "reward", "reason", "verifier", "version", "extracted", "detail", "cached")
    plain = {name: getattr(result, name) for name in names}
    checks = None if result.checks is None else list(result.checks)
    return {
        **plain,
        "status": str(result.status),
        "elapsed_ms": result.elapsed_ms,
        "checks": checks,
        "recipe": result.recipe,
    }


def _whole_lines(out: BinaryIO) -> int:
    """The number of complete lines in the output. The part of a line that an interruption left is cut off."""
    out.seek(0)
    count = end = 0
    for line in out:
        if line.endswith(b"\n"):
            count += 1
            end += len(line)
    out.truncate(end)
    out.seek(0, os.SEEK_END)
    return count
