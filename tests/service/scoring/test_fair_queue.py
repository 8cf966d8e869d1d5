"""A small request beside big ones: it waits for the work under way, never for the queue behind it."""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.conftest import ROOT
from tests.waiting import PATIENCE_S, eventually

SAMPLES = 30
UNDER_WAY = 2_000
JUDGED = "rewardline_verifier_seconds_count"
MOST_BEFORE = 60
"""Chunks of up to 64 items: who waits behind a batch of 20,000 waits for three hundred, or half of that on average."""

FILLER = "x" * 2000
MAKE: dict[str, Callable[[int], dict[str, Any]]] = {
    "rules": lambda n: {"verifier": "exact_match", "response": f"{n} {FILLER}", "reference": f"{n} {FILLER}"},
    "math": lambda n: {"verifier": "math", "response": f"{FILLER} \\boxed{{x^2+{n}}}", "reference": f"x^2+{n}+0"},
}
LOAD = """\
import sys
from rewardline import Client
from tests.service.scoring.test_fair_queue import MAKE

url, kind = sys.argv[1:]
make = MAKE[kind]
with Client(url, batch_items=4096, batch_bytes=1 << 26, timeout_s=500) as client:
    count = 0
    while True:
        items = [make(n) for n in range(count, count + 20_000)]
        count += 20_000
        results = client.score(items)
        bad = [result for result in results if result.score != 1.0]
        print(len(results), len(bad), flush=True)
"""


@contextmanager
def load(served: Any, kind: str) -> Iterator[None]:
    """Batches of 20,000 items, one after the other, from another process."""
    command = [sys.executable, "-c", LOAD, served.url, kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            yield
            assert process.poll() is None, "the load ended by itself"
        finally:
            process.kill()
        assert process.stdout is not None
        for line in process.stdout.read().splitlines():
            assert line == "20000 0"


def total(client: httpx.Client, name: str) -> float:
    """The sum of a metric's samples."""
    lines = [line for line in client.get("/metrics").text.splitlines() if line.startswith((f"{name} ", f"{name}{{"))]
    assert lines, f"no metric {name}"
    return sum(float(line.split()[-1]) for line in lines)


def judged_meanwhile(client: httpx.Client, item: Callable[[int], dict[str, Any]]) -> list[float]:
    """How many chunks of others are judged while each of some posts of one item is answered, by what metrics say."""
    found: list[float] = []
    while len(found) < SAMPLES:
        eventually(lambda: total(client, "rewardline_in_flight_items") >= UNDER_WAY)
        before = total(client, JUDGED)
        content = json.dumps({"items": [item(len(found))]}).encode()
        reply = client.post("/v1/score", content=content)
        found.append(total(client, JUDGED) - before)
        assert reply.json()["results"][0]["score"] == 1.0, reply.text
    return found


def small_rule(n: int) -> dict[str, Any]:
    return {"verifier": "exact_match", "response": f"small {n}", "reference": f"small {n}"}


def small_math(n: int) -> dict[str, Any]:
    return {"verifier": "math", "response": f"\\boxed{{y^2+{n}}}", "reference": f"y^2+{n}+0"}


@pytest.mark.load
@pytest.mark.parametrize(("kind", "item"), [("rules", small_rule), ("math", small_math)])
def test_one_item_is_answered_beside_twenty_thousand(
    serve: Any, kind: str, item: Callable[[int], dict[str, Any]]
) -> None:
    """Counted in the chunks of others that go before it, so that no machine is too slow."""
    served = serve()
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as client:
        client.post("/v1/score", json={"items": [item(-1)]})  # from here on there is the metric
        with load(served, kind):
            before = statistics.median(judged_meanwhile(client, item))
    assert before <= MOST_BEFORE, f"{before} chunks went before it"
