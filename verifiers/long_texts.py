"""Judges long responses in workers, so that no response blocks the event loop.

Reading a text takes time linear in its length, but hostile texts take some hundred nanoseconds per character. A text of
up to `INLINE_CHARS` is read on the event loop, which takes microseconds for ordinary responses. A longer text goes to a
worker, which can also be killed.

The task decides whether it is judged, never the response. `blamed` holds to that if a worker breaks a limit.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from typing import Any, Generic, TypeVar

import msgspec

from sandbox.workers import Exit, Outcome, Task, Workers, WorkersUnavailable, worker_function
from verifiers.base import Example, Item, Params, Status, Unavailable, Verdict
from verifiers.pace import Pace

INLINE_CHARS = 32_000
"""Characters: about 60 ms for the most hostile texts tried, 0.2 ms for ordinary ones."""
TURN_CHARS = 65_536
"""After this many characters judged inline, other tasks of the event loop get their turn, if not earlier."""
TOGETHER_CHARS = 2 * TURN_CHARS
"""The same limit for rules that judge texts together and spend most of their time in shared calls."""
TIME_LIMIT_S = 10.0
"""CPU seconds: several times the need of the longest response allowed by default."""
_LARGE_CHARS = 500_000
"""A longer text is made ready in a thread: with wide characters it takes 3 ms a million."""
JUDGE = Task("verifiers.long_texts", "judge_in_worker", TIME_LIMIT_S)

P = TypeVar("P", bound=Params)


def register(workers: Workers, judge: Callable[[str, P, bool], Verdict], kind: type[P], example: Example) -> None:
    """Make `judge` known to the workers, which run it once on the example to warm up.

    A module that only a worker imports makes its first item slow, and a worker is replaced after a slow item. So each
    worker would judge one item, and the batch would not end before its deadline.
    """
    item = Item(example.response, kind.model_validate(example.params))
    workers.register(replace(JUDGE, warm=(_judge_payload(judge, item),)))


def is_short(item: Item[P]) -> bool:
    return len(item.response) <= INLINE_CHARS


def has_short_params(item: Item[P]) -> bool:
    """Whether reading the parameters takes little time. A reference may be as long as a request."""
    return item.params.chars <= INLINE_CHARS


async def judge_all(
    workers: Workers,
    judge: Callable[[str, P, bool], Verdict],
    items: Sequence[Item[P]],
    is_inline: Callable[[Item[P]], bool] = is_short,
    judge_if_cheap: Callable[[str, P, bool], Verdict | None] | None = None,
) -> list[Verdict]:
    """Call `judge(response, params, explain)` for each item, in order; `judge` is a module's own pure function.

    `is_inline` tells which items are judged inline. A rule that costs more per character than reading has its own. If
    only reading shows how much an item costs, `judge_if_cheap` judges inline. It returns None for costly items.
    """
    judge_inline = judge_if_cheap or judge

    def at_once(item: Item[P]) -> Verdict | None:
        is_cheap = has_short_params(item) and is_inline(item)
        return judge_inline(item.response, item.params, item.explain) if is_cheap else None

    return await inline_or_worker(workers, items, at_once, _in_worker(judge))


@dataclass(frozen=True, slots=True)
class InWorker(Generic[P]):
    """How a worker judges items, and what is tried if an item breaks a limit there."""

    task: Task
    payload: Callable[[Item[P], str | None], list[Any]]
    """Of an item, or of the same item with another response."""
    probes: Sequence[str] = ("",)
    """Responses that cost nothing, unless the parameters make them costly."""
    may_blame_short: bool = False
    """Whether a response of ordinary length may be at fault. If it only is read, the service is (`is_too_complex`)."""
    too_complex_params: Callable[[Outcome], Verdict] | None = None
    """The verdict if a probe breaks a limit; by default `too_complex_params`."""


async def inline_or_worker(
    workers: Workers, items: Sequence[Item[P]], judge_inline: Callable[[Item[P]], Verdict | None], way: InWorker[P]
) -> list[Verdict]:
    """The verdicts on items, in order. `judge_inline` returns None for those that a worker judges."""
    verdicts: list[Verdict | None] = []
    pace, chars = Pace(), 0
    for item in items:
        verdicts.append(judge_inline(item))
        chars += len(item.response)
        if chars > TURN_CHARS or pace.is_over():
            chars = 0
            await pace.rest()
    return await _with_long(workers, items, verdicts, way)


async def judge_turns(
    workers: Workers,
    judge: Callable[[str, P, bool], Verdict],
    judge_together: Callable[[Sequence[Item[P]]], Sequence[Verdict]],
    items: Sequence[Item[P]],
    is_inline: Callable[[Item[P]], bool] = is_short,
) -> list[Verdict]:
    """Judge all items for a rule that needs less work for several items at once than one after another.

    `judge_together` returns the verdicts of `judge` for each item, in order. It judges its items without a pause.
    """
    verdicts: list[Verdict | None] = [None] * len(items)
    turn: list[int] = []
    chars = 0
    for position in [position for position, item in enumerate(items) if has_short_params(item) and is_inline(item)]:
        if chars > TOGETHER_CHARS:
            _take_turn(judge_together, items, turn, verdicts)
            turn, chars = [], 0
            await asyncio.sleep(0)
        turn.append(position)
        chars += len(items[position].response)
    _take_turn(judge_together, items, turn, verdicts)
    return await _with_long(workers, items, verdicts, _in_worker(judge))


def _take_turn(
    judge_together: Callable[[Sequence[Item[P]]], Sequence[Verdict]],
    items: Sequence[Item[P]],
    turn: Sequence[int],
    verdicts: list[Verdict | None],
) -> None:
    for position, verdict in zip(turn, judge_together([items[position] for position in turn]), strict=True):
        verdicts[position] = verdict


async def _with_long(
    workers: Workers, items: Sequence[Item[P]], verdicts: list[Verdict | None], way: InWorker[P]
) -> list[Verdict]:
    """The inline verdicts together with those that were left to workers, in order."""
    long = [position for position, verdict in enumerate(verdicts) if verdict is None]
    payloads: list[list[Any]] = []
    pace = Pace()
    for position in long:
        work = partial(way.payload, items[position], None)
        payloads.append(await asyncio.to_thread(work) if len(items[position].response) > _LARGE_CHARS else work())
        if pace.is_over():
            await pace.rest()
    broken: dict[int, Outcome] = {}
    for position, outcome in zip(long, await ask_workers(workers, way.task, payloads), strict=True):
        response = items[position].response
        if outcome.exit in BROKEN_LIMITS and (way.may_blame_short or is_too_complex(outcome, response)):
            broken[position] = outcome
        else:
            verdicts[position] = verdict_of(outcome.value) if outcome.exit is Exit.OK else trouble(outcome)
    if broken:
        probes = {position: [way.payload(items[position], probe) for probe in way.probes] for position in broken}
        by_fault = await blamed(workers, way.task, broken, probes, way.too_complex_params or too_complex_params)
        for position, verdict in by_fault.items():
            verdicts[position] = verdict
    return [verdict for verdict in verdicts if verdict is not None]


BROKEN_LIMITS = (Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.OUTPUT_LIMIT, Exit.CRASHED)
"""The ends of a worker that its payload causes."""


def is_too_complex(outcome: Outcome, response: str) -> bool:
    """Whether a response is so long that it may be at fault for a broken limit.

    Reading is linear, and its limits are many times what an ordinary response needs. If one of ordinary length breaks
    them, the service is at fault.
    """
    return outcome.exit in BROKEN_LIMITS and len(response) > INLINE_CHARS


def too_complex(outcome: Outcome) -> Verdict:
    """The verdict on a response that is at fault for a broken limit: it is judged, and it is wrong."""
    return Verdict.wrong("too_complex", limit=str(outcome.exit))


def too_complex_params(outcome: Outcome) -> Verdict:
    """The verdict on an item whose parameters break a limit with any response."""
    message = (
        f"the reference and the parameters take more than a worker may spend, whatever the response: {outcome.exit}"
    )
    return Verdict.invalid("params_too_complex", message)


async def blamed(
    workers: Workers,
    task: Task,
    broken: Mapping[int, Outcome],
    probes: Mapping[int, Sequence[Any]],
    too_complex_params: Callable[[Outcome], Verdict] = too_complex_params,
) -> dict[int, Verdict]:
    """The verdicts on items whose workers broke a limit, by their positions.

    `probes` are the same payloads with responses that cost nothing. If a probe breaks a limit, too, the parameters are
    at fault, and the item is invalid. Else the response is at fault, and is wrong.
    """
    keyed = {position: {msgspec.msgpack.encode(probe): probe for probe in group} for position, group in probes.items()}
    payloads = {key: probe for group in keyed.values() for key, probe in group.items()}
    outcomes = dict(zip(payloads, await ask_workers(workers, task, list(payloads.values())), strict=True))

    def verdict(position: int) -> Verdict:
        for outcome in map(outcomes.__getitem__, keyed[position]):
            if outcome.exit in BROKEN_LIMITS:
                return too_complex_params(outcome)
            if outcome.exit is not Exit.OK:
                return trouble(outcome)
            if (judged := verdict_of(outcome.value)).status is not Status.OK:
                return judged
        return too_complex(broken[position])

    return {position: verdict(position) for position in broken}


def trouble(outcome: Outcome) -> Verdict:
    """The verdict on an item whose worker had no result, if the response is not at fault for it."""
    if outcome.exit is Exit.RAISED:
        return Verdict.failed("verifier_bug", outcome.message.partition("\n")[0])
    return Verdict.failed(f"worker_{outcome.exit}", outcome.message.partition("\n")[0])


async def ask_workers(
    workers: Workers, task: Task, payloads: Sequence[Any], take: Callable[[int, Outcome], None] | None = None
) -> list[Outcome]:
    """Run a task on each payload in a worker: one outcome per payload, in order. `take` also gets each as it comes.

    Raises:
        Unavailable: the workers cannot work now; says nothing about any item.
    """
    if not payloads:
        return []
    try:
        return await workers.map(task, payloads, take)
    except WorkersUnavailable as error:
        raise Unavailable("workers_unavailable", str(error)) from error


def _in_worker(judge: Callable[[str, P, bool], Verdict]) -> InWorker[P]:
    return InWorker(JUDGE, partial(_judge_payload, judge))


def _judge_payload(judge: Callable[..., Verdict], item: Item[Any], response: str | None = None) -> list[Any]:
    kind = type(item.params)
    names = [judge.__module__, judge.__qualname__, kind.__module__, kind.__qualname__]
    text = sendable(item.response if response is None else response)
    return [names, text, item.params.model_dump_json(), item.explain]


def sendable(text: str) -> str:
    """A text that can be sent to a worker, with U+FFFD for lone surrogates, which no encoding has."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@worker_function
def judge_in_worker(payload: list[Any]) -> list[Any]:
    """Run the module's own `judge` in a worker, on parameters rebuilt from their JSON."""
    names, response, params, explain = payload
    judge, kind = named(names[0], names[1]), named(names[2], names[3])
    verdict: Verdict = judge(response, kind.model_validate_json(params), explain)
    return fields_of(verdict)


def fields_of(verdict: Verdict) -> list[Any]:
    """A verdict as plain data, for the way back from a worker."""
    return [verdict.status.value, verdict.score, verdict.reason, verdict.extracted, dict(verdict.detail)]


def verdict_of(fields: list[Any]) -> Verdict:
    """The verdict that `fields_of` took apart."""
    status, score, reason, extracted, detail = fields
    return Verdict(Status(status), score, reason, extracted, detail)


@cache
def named(module: str, name: str) -> Any:
    """What a module calls so."""
    return getattr(import_module(module), name)
