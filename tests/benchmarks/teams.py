"""Two teams, one service: how long a batch of 64 takes one of them while the other has 49,152 items under way.

`python -m tests.benchmarks.teams URL KEY KIND ITEMS` is the other team. It keeps twelve batches of so many items under way until it is killed.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import aiohttp
import yaml

from service.limits import keys
from tests.benchmarks import servers
from tests.benchmarks.report import Cell, Effort, Report
from tests.conftest import ROOT
from tests.judge_upstream.behaviours import after, says
from tests.judge_upstream.scripted import Scripted

BATCH: Final = 4096
BATCHES: Final = 12
SMALL: Final = 64
GOAL: Final = 3.0
_IN_FLIGHT: Final = "rewardline_in_flight_items "
_FILLER: Final = "Then we add both sides and find that it holds. " * 40

MAKE: Final[dict[str, Callable[[str, int], dict[str, Any]]]] = {
    "math": lambda team, n: {
        "verifier": "math",
        "response": f"{team}. {_FILLER} \\boxed{{x^2+{n}}}",
        "reference": f"{n}+x^2",
    },
    "code": lambda team, n: {
        "verifier": "code",
        "response": f"```python\n# {team}\nprint(int(input()) + {n})\n```",
        "reference": {"type": "stdin_stdout", "inputs": ["1\n"], "outputs": [f"{n + 1}\n"]},
    },
    "judge": lambda team, n: {
        "verifier": "judge",
        "response": f"{team}: the answer is {n}",
        "reference": f"{n}",
        "prompt": "Which number?",
    },
}


async def run(effort: Effort) -> list[Report]:
    rows: list[dict[str, Cell]] = []
    batches = effort.of(15, 5, 1)
    others = effort.of(BATCH, BATCH, BATCH // 32)
    async with Scripted(after(0.05, says("[[A]]"))) as upstream:
        for kind in effort.of(tuple(MAKE), tuple(MAKE), ("math",)):
            rows.append(await _measured(kind, batches, others, upstream.url))
    note = (
        f"Medians of batches of {SMALL} new items, one after the other: {batches} on the idle service, {batches} while "
        f"another team's items are under way, and {batches} when the service is idle again; both teams have the same weight."
    )
    return [Report("(i) Two teams", note, rows)]


async def _measured(kind: str, batches: int, others: int, judge: str) -> dict[str, Cell]:
    with tempfile.TemporaryDirectory() as folder:
        made = {team: keys.new_key() for team in ("large", "small")}
        file = Path(folder) / "keys.yaml"
        file.write_text(
            yaml.safe_dump(
                {"keys": {team: {"sha256": digest, "scopes": ["score", "admin"]} for team, (_, digest) in made.items()}}
            )
        )
        settings = {"keys_file": str(file), "sandbox": "local" if kind == "code" else "none"}
        if kind == "judge":
            settings["judge_file"] = str(_judges(Path(folder), judge))
        with servers.ours(servers.cores()[:1], **settings) as ours:
            url = f"http://{ours.http}"
            numbers = count()
            key = made["small"][0]
            idle = (await _times(url, key, kind, batches + 1, numbers))[1:]  # the first one warms up
            busy, under_way = [], []
            with _another_team(url, made["large"][0], kind, others):
                await _until(url, key, lambda items: items >= others * (BATCHES - 2))
                for _ in range(batches):
                    busy += await _times(url, key, kind, 1, numbers)
                    under_way.append(await _in_flight(url, key))
            await _until(url, key, lambda items: items == 0)
            idle += await _times(url, key, kind, batches, numbers)
    alone_ms, beside_ms = (statistics.median(times) * 1e3 for times in (idle, busy))
    return {
        "items": kind,
        "idle ms": alone_ms,
        "beside the other team ms": beside_ms,
        "items of the other team, at least": min(under_way),
        "ratio": beside_ms / alone_ms,
        "goal": GOAL,
    }


def _judges(folder: Path, url: str) -> Path:
    file = folder / "judges.json"
    content = {
        "endpoints": {"one": {"base_url": url, "model": "m", "concurrency": {"start": 32, "max": 32}}},
        "pools": {"p": {"members": ["one"]}},
        "profiles": {"reference": {"mode": "reference", "pool": "p"}},
    }
    file.write_text(json.dumps(content))
    return file


def _body(team: str, kind: str, items: int, numbers: Iterator[int]) -> bytes:
    content = {"items": [MAKE[kind](team, next(numbers)) for _ in range(items)], "deadline_s": 600}
    return json.dumps(content).encode()


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}


async def _times(url: str, key: str, kind: str, batches: int, numbers: Iterator[int]) -> list[float]:
    """The seconds that each batch took."""
    found = []
    async with aiohttp.ClientSession(headers=_headers(key)) as session:
        for _ in range(batches):
            body = _body("small", kind, SMALL, numbers)
            started = perf_counter()
            async with session.post(f"{url}/v1/score", data=body) as reply:
                content = await reply.json()
                found.append(perf_counter() - started)
            assert reply.status == HTTPStatus.OK, content
            assert {result["status"] for result in content["results"]} == {"ok"}, content["results"][0]
    return found


@contextmanager
def _another_team(url: str, key: str, kind: str, items: int) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.benchmarks.teams", url, key, kind, str(items)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            yield
            assert process.poll() is None, "the other team ended by itself"
        finally:
            process.kill()


async def _until(url: str, key: str, is_so: Callable[[float], bool]) -> None:
    """Return when the number of items under way is so."""
    while True:
        if is_so(await _in_flight(url, key)):
            return
        await asyncio.sleep(0.05)


async def _in_flight(url: str, key: str) -> float:
    async with aiohttp.ClientSession(headers=_headers(key)) as session, session.get(f"{url}/metrics") as reply:
        lines = (await reply.text()).splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(_IN_FLIGHT))


async def _be_busy(url: str, key: str, kind: str, items: str) -> None:
    numbers = count()

    async def post(session: aiohttp.ClientSession) -> None:
        while True:
            body = _body("large", kind, int(items), numbers)
            async with session.post(f"{url}/v1/score", data=body) as reply:
                await reply.read()
                if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
                    await asyncio.sleep(0.1)

    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(headers=_headers(key), timeout=timeout) as session:
        await asyncio.gather(*(post(session) for _ in range(BATCHES)))


if __name__ == "__main__":
    asyncio.run(_be_busy(*sys.argv[1:]))
