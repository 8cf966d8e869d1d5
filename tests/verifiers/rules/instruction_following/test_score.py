"""Where an item is judged depends on what it costs; what is decided does not."""

import json
from typing import Any

from sandbox.workers import Workers
from verifiers.base import Item, Resources
from verifiers.rules.instruction_following import InstructionFollowingParams, create, judge


def asked(*names: str, **arguments: Any) -> dict[str, Any]:
    return {"instruction_id_list": list(names), "kwargs": [arguments or None for _ in names]}


CASES: list[tuple[str, Any, dict[str, Any]]] = [
    ("Boats sail", asked("punctuation:no_comma"), {}),
    ("GO HOME NOW", asked("change_case:english_capital"), {}),
    ("We sail. " * 2_000, asked("punctuation:no_comma"), {}),
    ("Sure:\n" + "We sail. " * 200, asked("punctuation:no_comma"), {"mode": "loose"}),
    ("Boats sail", json.dumps(asked("copy:copy", prompt_to_repeat="Boats sail " * 2_500)), {}),
    ("Boats sail", "[" * 50_000, {}),
    ("Boats sail", asked("punctuation:no_comma", "no:such"), {}),
    ("c++ here", asked("keywords:existence", keywords=["c++("]), {"profile": "official"}),
]


async def test_a_worker_says_what_would_be_said_here() -> None:
    workers = Workers(1)
    verifier = create(Resources(workers))
    items = [
        Item(response, InstructionFollowingParams(reference=reference, **options))
        for response, reference, options in CASES
    ]
    await workers.start()
    try:
        verdicts = await verifier.score(items)
        backwards = await verifier.score(items[::-1])
    finally:
        await workers.stop()
    assert list(verdicts) == [judge(item.response, item.params) for item in items]
    assert list(backwards) == list(verdicts)[::-1]
