"""The verifier over real worker processes."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from sandbox.workers import Workers
from verifiers.base import Item, Resources, Verdict
from verifiers.math import Math, MathParams, create

Judge = Callable[..., Awaitable[Verdict]]


@pytest.fixture
async def verifier() -> AsyncIterator[Math]:
    workers = Workers(1)
    made = create(Resources(workers=workers))
    await workers.start()
    yield made
    await workers.stop()


@pytest.fixture
def judge(verifier: Math) -> Judge:
    """Judges one response: the reference comes first, then the response, then parameters by name."""

    async def ask(reference: Any, response: str, *, explain: bool = False, **params: Any) -> Verdict:
        item = Item(response, MathParams(reference=reference, **params), explain=explain)
        (verdict,) = await verifier.score([item])
        return verdict

    return ask
