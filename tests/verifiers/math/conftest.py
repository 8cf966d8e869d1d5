"""The verifier over real worker processes."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from typing import Any

import pytest

from sandbox.workers import Workers
from verifiers.base import Item, Resources, Verdict
from verifiers.math import Math, MathParams, create

Judge = Callable[..., Awaitable[Verdict]]


class PersistentVerifier(Math):
    """A verifier with workers that are started once. They belong to an event loop of their own, because each test
    has another loop.
    """

    def __init__(self) -> None:
        workers = Workers(1)
        create(Resources(workers=workers))
        super().__init__(Resources(workers=workers))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._begin(workers.start()).result()

    def _begin(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def score(self, items: Sequence[Item[MathParams]]) -> Sequence[Verdict]:
        verdicts: Sequence[Verdict] = await asyncio.wrap_future(self._begin(super().score(items)))
        return verdicts

    def close(self) -> None:
        self._begin(self._workers.stop()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(scope="session")
def verifier() -> Iterator[Math]:
    with closing(PersistentVerifier()) as made:
        yield made


@pytest.fixture
def judge(verifier: Math) -> Judge:
    """Judges one response. Give the reference first, then the response, then parameters by name."""

    async def ask(reference: Any, response: str, *, explain: bool = False, **params: Any) -> Verdict:
        item = Item(response, MathParams(reference=reference, **params), explain=explain)
        (verdict,) = await verifier.score([item])
        return verdict

    return ask
