"""A small judge that knows how sure it is, and a large one: scripted servers, and the file and the rows for both."""

import json
import math
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.judge_upstream.behaviours import completion
from tests.judge_upstream.scripted import Behaviour, Exchange, Scripted

_ROW = re.compile(r"It is (\d+)\.")
_OPENING, _CLOSING = '{"verdict": "', '"}'


class Pair:
    """Verdicts for rows by number. The large judge says A with the small one's probability, so that this is honest."""

    def __init__(self, rows: int, *, easy: float = 0.9, seed: int = 0) -> None:
        """`easy`: the share of rows of which the small judge is almost sure."""
        chance = np.random.default_rng(seed)
        sure = np.where(chance.random(rows) < easy, chance.uniform(0.9985, 1.0, rows), chance.uniform(0.5, 0.99, rows))
        self.right = np.where(chance.random(rows) < 0.5, sure, 1.0 - sure)
        self.large = chance.random(rows) < self.right

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"prompt": "Which?", "response": f"It is {at}.", "reference": "the right one", "label": bool(label)}
            for at, label in enumerate(self.large)
        ]

    def says_probability(self, *, logprobs: bool = True) -> Behaviour:
        def answer(row: int) -> dict[str, Any]:
            right = float(self.right[row])
            label = "A" if right > 0.5 else "B"
            body = completion(_OPENING + label + _CLOSING)
            if logprobs:
                body["choices"][0]["logprobs"] = {"content": _tokens(label, right)}
            return body

        return _by_row(answer)

    def says_verdict(self) -> Behaviour:
        return _by_row(lambda row: completion(_OPENING + "BA"[int(self.large[row])] + _CLOSING))


def _by_row(answer: Callable[[int], dict[str, Any]]) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        (row,) = _ROW.findall(exchange.request.json["messages"][-1]["content"])
        await exchange.send(200, json.dumps(answer(int(row))).encode())

    return behave


def _tokens(label: str, right: float) -> list[dict[str, Any]]:
    choices = [{"token": token, "logprob": math.log(max(p, 1e-9))} for token, p in (("A", right), ("B", 1.0 - right))]
    chosen = next(choice for choice in choices if choice["token"] == label)
    around = [{"token": token, "logprob": 0.0, "top_logprobs": []} for token in (_OPENING, _CLOSING)]
    return [around[0], {**chosen, "top_logprobs": choices}, around[1]]


@asynccontextmanager
async def serving(small: Behaviour, large: Behaviour) -> AsyncIterator[Sequence[Scripted]]:
    async with Scripted(small) as first, Scripted(large) as second:
        yield first, second


def file(folder: Path, servers: Sequence[Scripted], **large: Any) -> Path:
    """The file of both: `quick` asks the small judge, `careful` the large one. `large`: further fields of `careful`."""
    health, concurrency = {"probe": False}, {"start": 64}
    content = {
        "endpoints": {
            name: {
                "base_url": server.url,
                "model": name,
                "health": health,
                "concurrency": concurrency,
                "logprobs": True,
            }
            for name, server in zip(("small", "large"), servers, strict=True)
        },
        "pools": {name: {"members": [name], "retry": {"base_s": 0.001, "cap_s": 0.002}} for name in ("small", "large")},
        "profiles": {
            "careful": {"mode": "reference", "pool": "large", **large},
            "quick": {"mode": "reference", "pool": "small", "score_source": "expected"},
        },
    }
    path = folder / "judges.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
