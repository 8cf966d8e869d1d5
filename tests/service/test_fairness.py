"""A small request beside big ones: it waits for the work under way, never for the queue behind it."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.conftest import ROOT
from tests.waiting import PATIENCE_S

SAMPLES = 30
BATCH_ITEMS = 20_000
SAMPLE_ITEMS = 500
TIMES_IDLE = 10
SHARE_OF_BATCH = 0.05
"""Who waits for the queue behind which others' work stands waits half of that work, more or less."""

FILLER = "x" * 2000
MAKE: dict[str, Callable[[int], dict[str, Any]]] = {
    "rules": lambda n: {"verifier": "exact_match", "response": f"{n} {FILLER}", "reference": f"{n} {FILLER}"},
    "math": lambda n: {"verifier": "math", "response": f"{FILLER} \\boxed{{x^2+{n}}}", "reference": f"x^2+{n}+0"},
}
LOAD = """\
import sys
from rewardline import Client
from tests.service.test_fairness import MAKE

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


def latencies(client: httpx.Client, item: Callable[[int], dict[str, Any]], first: int, *, beside: int) -> list[float]:
    """Seconds of posts of one item each, made while more than `beside` items of others are in flight."""
    found: list[float] = []
    end = time.monotonic() + 300
    while len(found) < SAMPLES:
        assert time.monotonic() < end, f"only {len(found)} samples under load"
        if beside and total(client, "rewardline_in_flight_items") < beside:
            continue
        content = json.dumps({"items": [item(first + len(found))]}).encode()
        started = time.perf_counter()
        reply = client.post("/v1/score", content=content)
        found.append(time.perf_counter() - started)
        assert reply.json()["results"][0]["score"] == 1.0, reply.text
    return found


def sample_s(client: httpx.Client, kind: str) -> float:
    """What a part of such a batch takes alone."""
    content = json.dumps({"items": [MAKE[kind](-1 - n) for n in range(SAMPLE_ITEMS)]}).encode()
    started = time.perf_counter()
    reply = client.post("/v1/score", content=content)
    took_s = time.perf_counter() - started
    assert all(result["score"] == 1.0 for result in reply.json()["results"])
    return took_s


def small_rule(n: int) -> dict[str, Any]:
    return {"verifier": "exact_match", "response": f"small {n}", "reference": f"small {n}"}


def small_math(n: int) -> dict[str, Any]:
    return {"verifier": "math", "response": f"\\boxed{{y^2+{n}}}", "reference": f"y^2+{n}+0"}


@pytest.mark.load
@pytest.mark.parametrize(("kind", "item"), [("rules", small_rule), ("math", small_math)])
def test_one_item_is_answered_beside_twenty_thousand(
    serve: Any, kind: str, item: Callable[[int], dict[str, Any]], record_property: Callable[[str, object], None]
) -> None:
    served = serve()
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as client:
        latencies(client, item, 0, beside=0)  # connections, caches and code paths warm up
        idle_s = statistics.median(latencies(client, item, 1_000, beside=0))
        batch_s = sample_s(client, kind) * BATCH_ITEMS / SAMPLE_ITEMS
        with load(served, kind):
            loaded = latencies(client, item, 2_000, beside=2_000)
    loaded_s = statistics.median(loaded)
    figures = f"median idle {idle_s * 1e3:.2f} ms, under load {loaded_s * 1e3:.2f} ms; a batch {batch_s * 1e3:.0f} ms"
    record_property("figures", figures)
    print(figures)
    assert loaded_s <= max(TIMES_IDLE * idle_s, SHARE_OF_BATCH * batch_s), figures
