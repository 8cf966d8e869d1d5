"""Large items are made ready beside the event loop, and what many items share is made once for all of them."""

import asyncio
import json
import threading
from collections import Counter
from typing import Any

import msgspec
import pytest

from service.scoring import preparation
from service.scoring.preparation import LARGE_BYTES, Preparation
from service.wire import BatchRequest, ScoreItem
from tests.service.scoring.test_engine import Counting, engine_of

ITEMS = 200
LONG = json.dumps("a" * 200_000).encode()


def batch(items: list[ScoreItem], **references: bytes) -> BatchRequest:
    deadline = asyncio.get_running_loop().time() + 60
    shared = {name: msgspec.Raw(text) for name, text in references.items()}
    return BatchRequest(items, shared, "use", False, deadline)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often parameters were read, by the kind of thread."""
    counts = Counter[str]()
    read = Preparation._found

    def counted(self: Preparation, *named: Any) -> Any:
        counts["loop" if threading.current_thread() is threading.main_thread() else "thread"] += 1
        return read(self, *named)

    monkeypatch.setattr(Preparation, "_found", counted)
    return counts


@pytest.mark.parametrize("memo_bytes", [preparation.MEMO_BYTES, 1000], ids=["kept", "too large to be kept"])
async def test_a_shared_reference_is_read_once(
    memo_bytes: int, readings: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "MEMO_BYTES", memo_bytes)
    items = [ScoreItem(str(number), "counting", reference_id="long") for number in range(ITEMS)]
    async with engine_of(Counting()) as engine:
        scored = await engine.score(batch(items, long=LONG))
    assert {result.status for result in scored.results} == {"ok"}
    assert readings == {"thread": 1}


async def test_only_large_items_are_read_in_a_thread(readings: Counter[str]) -> None:
    large, small = msgspec.Raw(LONG), msgspec.Raw(b'"a"')
    items = [
        ScoreItem(str(number), "counting", reference=large if number % 50 == 0 else small) for number in range(ITEMS)
    ]
    assert len(large) > LARGE_BYTES
    async with engine_of(Counting()) as engine:
        scored = await engine.score(batch(items))
    assert {result.status for result in scored.results} == {"ok"}
    assert readings == {"thread": 1, "loop": 1}


async def test_a_large_item_without_a_verifier_is_invalid_alone() -> None:
    items = [
        ScoreItem("a", "counting", reference=msgspec.Raw(LONG)),
        ScoreItem("a", "no such", reference=msgspec.Raw(LONG)),
    ]
    async with engine_of(Counting()) as engine:
        scored = await engine.score(batch(items))
    assert [(result.status, result.reason) for result in scored.results] == [
        ("ok", "wrong_answer"),
        ("invalid", "unknown_verifier"),
    ]
