"""Judges items in a worker under limits, if judging may take long or crash its process.

Items that the verifier calls quick are judged inline. The rest goes to a worker. A broken limit there is due to the
item, because its size and nesting were bounded before: `stopped` turns it into a verdict.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

import msgspec

from memory import remember
from sandbox.workers import Exit, Outcome, Task, Workers, worker_function
from verifiers import long_texts
from verifiers.base import Item, Params, Verdict
from verifiers.conversation import Conversation
from verifiers.long_texts import TURN_CHARS, ask_workers, has_short_params, sendable
from verifiers.pace import Pace

TIME_LIMIT_S = 4.0
"""CPU seconds: many times the need of the largest document that is not built to be slow."""
JUDGE = Task("verifiers.rules.bounded", "judge_in_worker", TIME_LIMIT_S)

P = TypeVar("P", bound=Params)


def register(workers: Workers, judge: Callable[[Item[P]], Verdict], warm: Item[P]) -> None:
    """Make `judge` known to the workers, which run it once on an item to warm up."""
    workers.register(replace(JUDGE, warm=(_payload(judge, warm),)))


async def judge_all(
    workers: Workers,
    judge: Callable[[Item[P]], Verdict],
    items: Sequence[Item[P]],
    is_quick: Callable[[Item[P]], bool],
    stopped: Callable[[Exit], Verdict] | None = None,
) -> list[Verdict]:
    """Call `judge(item)` for each item, in order; `judge` is a module's own pure function.

    Without `stopped`, an item that breaks a limit counts as a fault of the service.
    """
    verdicts: dict[int, Verdict] = {}
    slow: list[int] = []
    payloads: list[list[Any]] = []
    pace, chars = Pace(), 0
    for position, item in enumerate(items):
        if has_short_params(item) and is_quick(item):
            verdicts[position] = judge(item)
            chars += len(item.response)
        else:
            slow.append(position)
            payloads.append(_payload(judge, item))
        if chars > TURN_CHARS or pace.is_over():
            chars = 0
            await pace.rest()
    if slow:
        for position, outcome in zip(slow, await ask_workers(workers, JUDGE, payloads), strict=True):
            verdicts[position] = _verdict(outcome, stopped)
    return [verdicts[position] for position in range(len(items))]


def _verdict(outcome: Outcome, stopped: Callable[[Exit], Verdict] | None) -> Verdict:
    if outcome.exit is Exit.OK:
        return long_texts.verdict_of(outcome.value)
    if stopped is not None and outcome.exit in _BROKEN_LIMITS:
        return stopped(outcome.exit)
    return long_texts.trouble(outcome)


_BROKEN_LIMITS = (Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.CRASHED)


def _payload(judge: Callable[[Item[Any]], Verdict], item: Item[Any]) -> list[Any]:
    kind = type(item.params)
    names = [judge.__module__, judge.__qualname__, kind.__module__, kind.__qualname__]
    prompt = None if item.prompt is None else sendable(item.prompt)
    conversation = item.conversation and sendable(msgspec.json.encode(item.conversation).decode())
    return [names, sendable(item.response), item.params.model_dump_json(), prompt, item.explain, conversation]


@worker_function
def judge_in_worker(payload: list[Any]) -> list[Any]:
    """Run the module's own `judge` in a worker, on an item rebuilt from plain data."""
    names, response, params, prompt, explain, conversation = payload
    judge, kind = _named(names[0], names[1]), _named(names[2], names[3])
    steps = None if conversation is None else _conversations.decode(conversation)
    verdict: Verdict = judge(Item(response, _params(kind, params), prompt, explain, conversation=steps))
    return long_texts.fields_of(verdict)


_conversations = msgspec.json.Decoder(Conversation)


@remember(64)
def _params(kind: type[Params], text: str) -> Params:
    """The parameters from their JSON, cached: items of one prompt share them, and everything compiled from them."""
    return kind.model_validate_json(text)


@cache
def _named(module: str, name: str) -> Any:
    return getattr(import_module(module), name)
