"""Has rows judged: one result for each, whatever it holds."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from rewardline import InvalidRequest, TooLarge

from service.rollouts.bad_input import Json
from service.rollouts.columns import Columns
from service.shape_mistakes import where
from service.wire import Result

Judge = Callable[[Sequence[Json]], Awaitable[Sequence[Json]]]
"""A function from items to results, in order. It raises if they cannot be judged here."""


async def judge_fields(rows: Sequence[Mapping[str, Any] | None], columns: Columns, judge: Judge) -> list[Json]:
    """One result per row. None stands for a row that is not an object. Without a response there is nothing to judge."""
    items = [None if fields is None else columns.item_of(fields) for fields in rows]
    results = iter(await all_judged([item for item in items if item is not None and not _samples(item)], judge))
    judged = []
    for fields, item in zip(rows, items, strict=True):
        if item is not None and (count := _samples(item)):
            judged.append(invalid("bad_item", f"the row has {count} responses; write each in a row of its own"))
        elif item is not None and fields is not None:
            judged.append(_told(dict(next(results)), item, fields, columns))
        elif fields is None:
            judged.append(invalid("bad_json", "the line is not a JSON object"))
        else:
            judged.append(invalid("no_response", f"the row has no response; it has {sorted(fields)[:20]}"))
    return judged


def _told(result: Json, item: Json, fields: Mapping[str, Any], columns: Columns) -> Json:
    """The result, which says the fields of a row that has no reference and needs one."""
    if lacks_reference(result, item):
        result["detail"] = {**result["detail"], "message": message_of(result) + columns.lack_of_reference(fields)}
    return result


def lacks_reference(result: Json, item: Json) -> bool:
    """Whether the item of this result has no reference, and needs one."""
    return result["reason"] == "bad_reference" and "reference" not in item


def message_of(result: Json) -> str:
    """The sentence of a result without a score."""
    return str(result["detail"].get("message", ""))


def _samples(item: Json) -> int:
    """How many responses a row has that should have one. 0: it has one."""
    response = item["response"]
    return len(response) if isinstance(response, list) and response and isinstance(response[0], str) else 0


async def all_judged(items: Sequence[Json], judge: Judge) -> Sequence[Json]:
    """One result per item. Items that break the contract are invalid, and do not cost the others."""
    if not items:
        return []
    try:
        return await judge(items)
    except (InvalidRequest, TooLarge) as error:
        if len(items) == 1:
            mistakes = "; ".join(f"{where(mistake.loc[2:])}: {mistake.msg}" for mistake in error.errors)
            return [invalid("bad_item", mistakes or str(error))]
    half = len(items) // 2
    return [*await all_judged(items[:half], judge), *await all_judged(items[half:], judge)]


def invalid(reason: str, message: str) -> Json:
    """The result of a row that makes no item."""
    return _without_score("invalid", reason, message)


def failed(reason: str, message: str) -> Json:
    """The result of an item that could not be judged."""
    return _without_score("failed", reason, message)


def _without_score(status: str, reason: str, message: str) -> Json:
    result = Result(0, status, None, None, reason, None, None, None, {"message": message}, False, 0.0)
    return msgspec.structs.asdict(result)
