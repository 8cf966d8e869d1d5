"""Judges items in a worker under limits, if judging may take long or crash its process.

Items that the verifier calls quick are judged inline. The rest goes to a worker. If one breaks a limit there, its
parameters are tried with responses that cost nothing: whichever breaks the limit is at fault (`long_texts.blamed`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import msgspec

from memory import remember
from sandbox.workers import Outcome, Task, Workers, worker_function
from verifiers import long_texts
from verifiers.base import Item, Params, Verdict
from verifiers.conversation import Conversation
from verifiers.long_texts import InWorker, has_short_params, inline_or_worker, named, sendable

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
    probes: Sequence[str] = ("",),
    too_complex_params: Callable[[Outcome], Verdict] = long_texts.too_complex_params,
) -> list[Verdict]:
    """Call `judge(item)` for each item, in order; `judge` is a module's own pure function.

    `probes` are responses that cost nothing, unless the parameters make them costly.
    """

    def at_once(item: Item[P]) -> Verdict | None:
        return judge(item) if has_short_params(item) and is_quick(item) else None

    way: InWorker[P] = InWorker(JUDGE, partial(_payload, judge), probes, True, too_complex_params)
    return await inline_or_worker(workers, items, at_once, way)


def _payload(judge: Callable[[Item[Any]], Verdict], item: Item[Any], response: str | None = None) -> list[Any]:
    if response is not None:
        item = msgspec.structs.replace(item, response=response, conversation=None)
    kind = type(item.params)
    names = [judge.__module__, judge.__qualname__, kind.__module__, kind.__qualname__]
    prompt = None if item.prompt is None else sendable(item.prompt)
    conversation = item.conversation and sendable(msgspec.json.encode(item.conversation).decode())
    return [names, sendable(item.response), item.params.model_dump_json(), prompt, item.explain, conversation]


@worker_function
def judge_in_worker(payload: list[Any]) -> list[Any]:
    """Run the module's own `judge` in a worker, on an item rebuilt from plain data."""
    names, response, params, prompt, explain, conversation = payload
    judge, kind = named(names[0], names[1]), named(names[2], names[3])
    steps = None if conversation is None else _conversations.decode(conversation)
    verdict: Verdict = judge(Item(response, _params(kind, params), prompt, explain, conversation=steps))
    return long_texts.fields_of(verdict)


_conversations = msgspec.json.Decoder(Conversation)


@remember(64)
def _params(kind: type[Params], text: str) -> Params:
    """The parameters from their JSON, cached: items of one prompt share them, and everything compiled from them."""
    return kind.model_validate_json(text)
