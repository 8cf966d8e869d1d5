"""The second rule as a property: for one task all responses are judged, or none is."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.siege.fresh.items import posted
from tests.verifiers.found import Found
from verifiers.base import InvalidItem, Item, Status, Unavailable, Verdict
from verifiers.registry import Entry

UNDECIDED: Final = ("math", "math_steps")
"""Verifiers for which an answer may be `failed` with `too_complex`: one of ordinary size that may be right, although its
equality can be neither proved nor refuted. No judgement, no score."""


@dataclass(frozen=True, slots=True)
class Task:
    """A reference with its parameters and its prompt."""

    name: str
    params: Any
    prompt: str | None
    is_judged: bool

    def item(self, response: str, explain: bool = False) -> Item[Any]:
        """An item as verifiers get it: the service puts U+FFFD in the place of half a character."""
        return Item(_SURROGATE.sub("\ufffd", response), self.params, self.prompt, explain)


_SURROGATE = re.compile("[\ud800-\udfff]")


def tasks(entry: Entry, fresh: int) -> list[Task]:
    """The tasks of the verifier's examples, each once, and some more like those of real rows."""
    kept: dict[str, Task] = {}
    for number, example in enumerate(entry.examples):
        key = json.dumps([example.params, example.prompt], sort_keys=True, default=str)
        is_judged = example.status is Status.OK
        kept.setdefault(key, Task(f"example {number}", _params(entry, example.params), example.prompt, is_judged))
    for number in range(fresh):
        row = posted(entry.verifier.name, number)
        reference = {} if row.reference is None else {"reference": row.reference}
        params = _params(entry, {**row.params, **reference})
        kept[f"row {number}"] = Task(f"row {number}", params, row.prompt, is_judged=True)
    return list(kept.values())


def _params(entry: Entry, params: Any) -> Any:
    return entry.verifier.params.model_validate_json(json.dumps(params))


def broken(found: Found, entry: Entry, task: Task, responses: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The responses, by their names, that decide whether they are judged."""
    named = list(responses)
    verdicts = scored(found, entry, [task.item(response) for _, response in named])
    for (name, response), verdict in zip(named, verdicts, strict=True):
        if not is_right(entry, task, verdict):
            yield f"{task.name}, {name[:60]!r} of {len(response)}: {verdict.status} {verdict.reason} {verdict.detail}"


def is_right(entry: Entry, task: Task, verdict: Verdict) -> bool:
    """Whether the verdict has the status of the task."""
    name = entry.verifier.name
    if task.is_judged and verdict.status is Status.FAILED:
        return name in UNDECIDED and verdict.reason == "too_complex"
    return (verdict.status is Status.OK) is task.is_judged


def scored(found: Found, entry: Entry, items: Sequence[Item[Any]]) -> list[Verdict]:
    """The verdicts; if the call of them all ends with an error, each item is scored alone, as by the engine."""
    try:
        return found.score(entry, items)
    except (InvalidItem, Unavailable):
        return [_scored_alone(found, entry, item) for item in items]


def _scored_alone(found: Found, entry: Entry, item: Item[Any]) -> Verdict:
    try:
        return found.score(entry, [item])[0]
    except InvalidItem as error:
        return Verdict.invalid(error.reason, str(error))
    except Unavailable as error:
        return Verdict.failed(error.reason, str(error))
