"""An engine with verifiers that follow the response, and recipes written in the tests."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.cache.memory_cache import MemoryCache
from service.cache.verdict_cache import VerdictCache
from service.observe.metrics import Metrics
from service.recipes import book as recipes
from service.scoring.engine import Engine
from service.wire import BatchRequest, CacheMode, Result, decode_request, encode
from tests.waiting import PATIENCE_S
from verifiers.base import Example, InvalidItem, Item, Params, Unavailable, Verdict, Verifier
from verifiers.registry import Entry, Registry


class Said(Params):
    reference: Any = None
    factor: float = 1.0


class ScriptedVerifier(Verifier[Said]):
    """A verifier that takes its verdict from the response, a JSON object: it maps its own name to a score or a word."""

    name, version, summary, params = "a", "1", "test", Said

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]  # one class for several verifiers
        self.asked: list[str] = []
        self.references: list[Any] = []
        self.entered = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def score(self, items: Sequence[Item[Said]]) -> Sequence[Verdict]:
        self.entered.set()
        await self.gate.wait()
        return [self._verdict(item) for item in items]

    def _verdict(self, item: Item[Said]) -> Verdict:
        self.asked.append(item.response)
        self.references.append(item.params.reference)
        match json.loads(item.response)[self.name]:
            case "failed":
                raise Unavailable("down", "nobody home")
            case "invalid":
                raise InvalidItem("bad_reference", "mend it")
            case "no_answer":
                return Verdict.wrong("no_answer")
            case 1:
                return Verdict.correct("x")
            case 0:
                return Verdict.wrong()
            case score:
                return Verdict(Verdict.correct().status, score * item.params.factor, "partly")


@dataclass(frozen=True)
class Bench:
    engine: Engine
    verifiers: Mapping[str, ScriptedVerifier]

    async def score(
        self, *items: Mapping[str, Any], cache: CacheMode = "use", within_s: float = PATIENCE_S
    ) -> list[Result]:
        request = await decode_request(encode({"items": list(items)}), 1000)
        deadline = asyncio.get_running_loop().time() + within_s
        return (await self.engine.score(BatchRequest(request.items, {}, cache, False, deadline))).results

    async def one(self, says: Mapping[str, Any], **item: Any) -> Result:
        return (await self.score({"response": json.dumps(says), **item}))[0]


@asynccontextmanager
async def bench(file: Path | None = None, names: str = "abc") -> AsyncIterator[Bench]:
    verifiers = {name: ScriptedVerifier(name) for name in names}
    entries = {name: Entry(each, [Example("", {}, 1.0, "", "")], "test") for name, each in verifiers.items()}
    registry = Registry(entries)
    engine = Engine(
        registry,
        VerdictCache(MemoryCache(10_000_000)),
        Metrics("test"),
        workers=2,
        item_deadline_s=PATIENCE_S,
        max_response_bytes=1000,
        book=recipes.load(registry, file),
    )
    async with engine:
        yield Bench(engine, verifiers)
