"""`rewardline score FILE.jsonl`, or `FILE.parquet`, scores a file of rollouts.

Line k of the output is the verdict on line k of the input, so the two can be pasted together, and an interrupted run
goes on where the output ends. A response is text or messages; messages are a list, or its JSON text, as tables hold it.
The file is read in segments of some hundred lines, and a few segments are judged at once. So memory does not grow with
the file. The oldest segment is always written next.
"""

import asyncio
import json
import os
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from rewardline import AsyncClient

from service.dataset_audit.files import BadData, parquet_rows
from service.errors import RequestError
from service.run.core import open_core
from service.settings import Settings
from service.tenant import RUN
from service.wire import BatchRequest, Result, RowFields, decode_request, encode
from verifiers.base import InvalidItem
from verifiers.conversation import dialects

SEGMENT_LINES = 512
SEGMENT_BYTES = 2_000_000
SEGMENTS_UNDER_WAY = 8
SEGMENT_DEADLINE_S = 3600.0

_REFERENCES = ("reference", "ground_truth", "gold", "answer", "solution")
_RESPONSES = ("response", "completion", "output")
_LABELS = ("expected", "label", "is_correct")
_KEPT = (
    *("id", "verifier", "params", "prompt", "metadata", "recipe", "checks", "domain", "data_source", "tag"),
    *(name for name in RowFields.__struct_fields__ if name not in ("ground_truth", "source")),
)

Json = dict[str, Any]
Scorer = Callable[[Sequence[Json]], Awaitable[Sequence[Json]]]
"""A function from items to results, in order."""


class BadInput(Exception):
    """The file cannot be scored as it is. The message says what to change."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The fields of a line for each purpose. None: the first of the usual names that exists."""

    verifier: str | None = None
    """A verifier that judges all lines, whatever they name themselves."""
    recipe: str | None = None
    """A recipe that judges all lines, whatever they name themselves."""
    response: str | None = None
    reference: str | None = None
    label: str | None = None


@dataclass(slots=True)
class Tally:
    """The counts of a run."""

    done_before: int = 0
    """Lines of the output that existed before this run."""
    lines: int = 0
    by_outcome: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """The number of results by verifier, status and reason."""
    agreement: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    """The number of labelled and judged lines by label and verdict."""
    score_sum: float = 0.0

    def count(self, result: Json, label: bool | None) -> None:
        self.lines += 1
        self.by_outcome[(result.get("verifier") or "", result["status"], result["reason"])] += 1
        if result["status"] == "ok":
            self.score_sum += result["score"]
            if label is not None:
                self.agreement[(label, result["score"] >= 1.0)] += 1

    def with_status(self, status: str) -> int:
        return sum(count for (_, found, _), count in self.by_outcome.items() if found == status)


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
    response = _pick(fields, columns.response, _RESPONSES)
    if response is None:
        wanted = columns.response or f"one of {list(_RESPONSES)}"
        raise BadInput(f"line {number + 1} has no field {wanted}; it has {sorted(fields)[:20]}")
    item = {name: fields[name] for name in _KEPT if fields.get(name) is not None}
    whole = fields.get("response_messages")  # from an audit log: the whole response, if it was not cut
    item["response"] = whole if isinstance(whole, list) else _response(fields[response])
    reference = _pick(fields, columns.reference, _REFERENCES)
    if reference is not None:
        item["reference"] = fields[reference]
    chosen = {name: value for name in ("verifier", "recipe") if (value := getattr(columns, name)) is not None}
    if chosen:
        item = {name: value for name, value in item.items() if name not in ("verifier", "recipe", "checks")} | chosen
    label = _pick(fields, columns.label, _LABELS)
    value = fields[label] if label is not None else None
    return _Row(number, item, value if isinstance(value, bool) else None, end)


def _response(value: Any) -> Any:
    """The response as messages if it is a list of them or the JSON text of one. Otherwise it stays as it is."""
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        with suppress(ValueError, RecursionError, InvalidItem):
            messages = json.loads(value)
            return messages if dialects.read(messages).turns else value
    return value


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
        yield (encode(_without_nulls(fields)) + b"\n" for _, fields in parquet_rows(source))
    except BadData as error:
        raise BadInput(str(error)) from error


def _without_nulls(value: Any) -> Any:
    """The row without the nulls that a table adds to give all its structs the same fields."""
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _pick(fields: Mapping[str, Any], chosen: str | None, usual: Sequence[str]) -> str | None:
    names = usual if chosen is None else (chosen,)
    return next((name for name in names if fields.get(name) is not None), None)


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
