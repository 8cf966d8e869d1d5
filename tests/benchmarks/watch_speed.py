"""What the watch on rewards costs: the same batches to a service with it and to one without, in turns, by their CPU time."""

import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import aiohttp

from tests.benchmarks import servers
from tests.benchmarks.report import Effort, Report
from tests.processes import family

_ROWS = Path(__file__).parents[1] / "data" / "watch" / "rollouts.jsonl.gz"
_SIZE = 8
"""Responses to one prompt."""
_PROMPTS = 32
"""Prompts of a batch."""
_FIRST = 10_240
"""Items before the measurement: the first samples of a run are read at once, and each kind of impostor has its turn."""
_KINDS: Mapping[str, tuple[str, str]] = {
    "math, new": ("math", "off"),
    "math, kept": ("math", "use"),
    "exact_match, new": ("exact_match", "off"),
}


async def run(effort: Effort) -> Sequence[Report]:
    first, batches = effort.of((_FIRST, 400), (_FIRST, 100), (0, 1))
    with (
        servers.ours(servers.cores()[:1], sandbox="none", workers="1") as without,
        servers.ours(servers.cores()[:1], sandbox="none", workers="1", watch="true") as watched,
    ):
        async with aiohttp.ClientSession() as session:
            rows = [await _compared(session, name, (without, watched), first, batches) for name in _KINDS]
    note = (
        f"{_PROMPTS} prompts of GSM8K with {_SIZE} responses in a batch, over HTTP; CPU time. The watch reads texts by the clock "
        "(six a second of a run), so a busy machine makes it look dearer."
    )
    return [Report("The watch beside the same service without it", note, rows)]


async def _compared(
    session: aiohttp.ClientSession, name: str, pair: tuple[servers.Server, servers.Server], first: int, batches: int
) -> dict[str, Any]:
    verifier, cache = _KINDS[name]
    bodies, spent, size = _bodies(verifier, cache, count()), [0.0, 0.0], _PROMPTS * _SIZE
    for body in islice(bodies, first // size):
        for server in pair:
            await _post(session, server, body)
    for number, body in enumerate(islice(bodies, batches)):
        for at in (0, 1) if number % 2 else (1, 0):
            before = servers.cpu_s(family(pair[at].pid))
            await _post(session, pair[at], body)
            spent[at] += servers.cpu_s(family(pair[at].pid)) - before
    without_us, watched_us = (seconds / (batches * size) * 1e6 for seconds in spent)
    cost = (watched_us / without_us - 1) * 100
    return {"items": name, "without, us/item": without_us, "watched, us/item": watched_us, "cost, %": cost, "most": 3}


def _bodies(verifier: str, cache: str, numbers: Iterator[int]) -> Iterator[bytes]:
    """Batches of groups of real responses; each batch is another step. Those that are kept repeat themselves."""
    with gzip.open(_ROWS, "rt") as file:
        rows = [row for line in file if (row := json.loads(line))["domain"] == "math"]
    for number in numbers:
        chance = random.Random(number if cache == "off" else 55)
        items: list[dict[str, Any]] = []
        for row in chance.sample(rows, _PROMPTS):
            lead, mark, answer = row["response"].rpartition("####")
            for member in range(_SIZE):
                text = (
                    f"{lead}Draft {chance.randrange(10**9)}.\n{mark}{answer if member % 2 else ' ' + row['reference']}"
                )
                items.append(
                    {
                        "id": f"{number}-{len(items)}",
                        "verifier": verifier,
                        "prompt": row["prompt"],
                        "response": text,
                        "reference": row["reference"],
                        "metadata": {"step": number},
                    }
                )
        yield json.dumps({"items": items, "cache": cache, "run_id": "bench"}).encode()


async def _post(session: aiohttp.ClientSession, server: servers.Server, body: bytes) -> None:
    url = f"http://{server.http}{servers.PATH}"
    async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as reply:
        assert reply.status == 200, await reply.text()
        results = (await reply.json())["results"]
        assert all(result["status"] == "ok" for result in results), results[0]
