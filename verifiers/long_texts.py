"""Long responses are read in workers, so that no response holds up the event loop.

Reading a text takes time linear in its length, but hostile ones take some hundred nanoseconds per character. Up to
`INLINE_CHARS` that is done where we are, which for ordinary responses takes microseconds; what is longer goes to a
worker, which can also be killed.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from sandbox.workers import Exit, Outcome, Task, Workers, WorkersUnavailable
from verifiers.answers import DEFAULT_CHANNELS, Candidate, Channel, Extraction, ExtractionParams, extract
from verifiers.base import Item, Params, Status, Unavailable, Verdict, clip

INLINE_CHARS = 32_000
"""About 10 ms for the most hostile texts tried, 0.2 ms for ordinary ones."""
TIME_LIMIT_S = 10.0
"""Several times what the longest response allowed by default takes."""
MAX_ANSWER_CHARS = 200_000
"""An answer found in a long text is cut to this, which is more than its verifier will read."""

JUDGE = Task("verifiers.long_texts", "judge_in_worker", TIME_LIMIT_S)
EXTRACT = Task("verifiers.long_texts", "extract_in_worker", TIME_LIMIT_S, warm=(["", "{}", []],))

P = TypeVar("P", bound=Params)


async def judge_all(
    workers: Workers, judge: Callable[[str, P, bool], Verdict], items: Sequence[Item[P]]
) -> list[Verdict]:
    """`judge(response, params, explain)` for each item, in order; `judge` is a module's own pure function."""
    verdicts: list[Verdict | None] = [
        None if len(item.response) > INLINE_CHARS else judge(item.response, item.params, item.explain) for item in items
    ]
    long = [position for position, verdict in enumerate(verdicts) if verdict is None]
    if not long:
        return [verdict for verdict in verdicts if verdict is not None]
    payloads = [_judge_payload(judge, items[position]) for position in long]
    for position, outcome in zip(long, await _map(workers, JUDGE, payloads), strict=True):
        verdicts[position] = trouble(outcome) or verdict_of(outcome.value)
    return [verdict for verdict in verdicts if verdict is not None]


async def extract_all(
    workers: Workers, items: Sequence[Item[Any]], auto: Sequence[Channel] = DEFAULT_CHANNELS
) -> list[Extraction | Verdict]:
    """`answers.extract` for each item, in order; where that was not possible, the verdict that says so."""
    found: list[Extraction | Verdict | None] = [
        None if len(item.response) > INLINE_CHARS else extract(item.response, item.params, auto) for item in items
    ]
    long = [position for position, extraction in enumerate(found) if extraction is None]
    if long:
        payloads = [_extract_payload(items[position], auto) for position in long]
        for position, outcome in zip(long, await _map(workers, EXTRACT, payloads), strict=True):
            found[position] = trouble(outcome) or _extraction(outcome.value)
    return [extraction for extraction in found if extraction is not None]


def trouble(outcome: Outcome) -> Verdict | None:
    """The verdict on an item whose worker came to no result; None if it did.

    Reading is linear and its limits are several times what the most hostile response takes, so a limit that breaks
    says that we, or the parameters that travelled with it, are at fault: never that the answer is wrong.
    """
    if outcome.exit is Exit.OK:
        return None
    if outcome.exit is Exit.RAISED:
        return Verdict.failed("verifier_bug", outcome.message.partition("\n")[0])
    return Verdict.failed(f"worker_{outcome.exit}", outcome.message.partition("\n")[0])


async def _map(workers: Workers, task: Task, payloads: Sequence[Any]) -> list[Outcome]:
    try:
        return await workers.map(task, payloads)
    except WorkersUnavailable as error:
        raise Unavailable("workers_unavailable", str(error)) from error


def _judge_payload(judge: Callable[..., Verdict], item: Item[Any]) -> list[Any]:
    kind = type(item.params)
    names = [judge.__module__, judge.__qualname__, kind.__module__, kind.__qualname__]
    return [names, item.response, item.params.model_dump_json(), item.explain]


def judge_in_worker(payload: list[Any]) -> list[Any]:
    """Runs in a worker: the module's own `judge`, on parameters made anew from their JSON."""
    names, response, params, explain = payload
    judge, kind = _named(names[0], names[1]), _named(names[2], names[3])
    verdict: Verdict = judge(response, kind.model_validate_json(params), explain)
    return fields_of(verdict)


def fields_of(verdict: Verdict) -> list[Any]:
    """A verdict as plain data, as it travels from a worker."""
    return [verdict.status.value, verdict.score, verdict.reason, verdict.extracted, dict(verdict.detail)]


def verdict_of(fields: list[Any]) -> Verdict:
    """The verdict that `fields_of` took apart."""
    status, score, reason, extracted, detail = fields
    return Verdict(Status(status), score, reason, extracted, detail)


def _extract_payload(item: Item[Any], auto: Sequence[Channel]) -> list[Any]:
    chosen = item.params.model_dump_json(include=set(ExtractionParams.model_fields))
    return [item.response, chosen, [channel.value for channel in auto]]


def extract_in_worker(payload: list[Any]) -> list[Any]:
    """Runs in a worker: what `answers.extract` finds, as plain data."""
    response, params, auto = payload
    kind = ExtractionParams.model_validate_json(params)
    found = extract(response, kind, [Channel(name) for name in auto])
    candidates = [[clip(each.text), each.channel.value, *each.span] for each in found.candidates]
    answer = found.answer and found.answer[:MAX_ANSWER_CHARS]
    return [answer, found.channel and found.channel.value, found.span, found.reason, candidates]


def _extraction(fields: list[Any]) -> Extraction:
    answer, channel, span, reason, candidates = fields
    return Extraction(
        answer,
        None if channel is None else Channel(channel),
        None if span is None else (span[0], span[1]),
        reason,
        tuple(Candidate(text, Channel(name), (start, end)) for text, name, start, end in candidates),
    )


@cache
def _named(module: str, name: str) -> Any:
    return getattr(import_module(module), name)
