"""Interactions over the real engine, with a scripted verifier, on either store."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeAlias

import pytest

from service.cache.memory_cache import MemoryCache
from service.cache.verdict_cache import VerdictCache
from service.interactions.lifecycle import Bounds, Interactions
from service.observe.metrics import Metrics
from service.recipes import book as recipes
from service.scoring.engine import Engine
from service.storage.record_store import RecordStore
from tests.waiting import PATIENCE_S
from verifiers.base import Example, InvalidItem, Item, Params, Unavailable, Verdict, Verifier
from verifiers.registry import Entry, Registry


class Reference(Params):
    reference: str = ""
    worth: float = 1.0


class ScriptedVerifier(Verifier[Reference]):
    """A verifier that accepts a response if it holds the reference. `down` and `mend` cause errors. It waits while
    its gate is shut.
    """

    name, version, summary, params = "obedient", "1", "test", Reference
    concurrency, chunk_items, deterministic = 8, 1, False

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.opens_at = 0
        """The gate opens as soon as this many items were asked."""
        self.entered = asyncio.Event()

    async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
        [item] = items
        self.asked.append(item.response)
        self.entered.set()
        if len(self.asked) == self.opens_at:
            self.gate.set()
        await self.gate.wait()
        if "down" in item.response:
            raise Unavailable("judge_down", f"no judge answers to {item.params.reference}")
        if "mend" in item.response:
            raise InvalidItem("bad_reference", f"{item.params.reference} is none")
        if item.params.reference not in item.response:
            return [Verdict.wrong(detail=item.params.reference)]
        verdict = Verdict.correct(reference=item.params.reference)
        return [Verdict(verdict.status, item.params.worth, verdict.reason, verdict.extracted, verdict.detail)]


Desk: TypeAlias = Callable[..., Interactions]


@pytest.fixture
async def engine() -> AsyncIterator[tuple[Engine, ScriptedVerifier]]:
    obedient = ScriptedVerifier()
    registry = Registry({obedient.name: Entry(obedient, [Example("", {}, 1.0, "", "")], "test")})
    async with Engine(
        registry,
        VerdictCache(MemoryCache(1_000_000)),
        Metrics("test"),
        workers=1,
        item_deadline_s=PATIENCE_S,
        max_response_bytes=1000,
        book=recipes.load(registry),
    ) as engine:
        yield engine, obedient


@pytest.fixture
def obedient(engine: tuple[Engine, ScriptedVerifier]) -> ScriptedVerifier:
    return engine[1]


@pytest.fixture
def desk(engine: tuple[Engine, ScriptedVerifier], store: RecordStore) -> Interactions:
    return Interactions(engine[0], store, Bounds(3600, 7200, 100_000))
