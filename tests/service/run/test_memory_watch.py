"""What `/metrics` says of the memory of the service, and what the service does at its bound."""

import re
from collections.abc import Mapping

import httpx
import pytest

import memory
from memory import Store
from sandbox.workers import Workers
from service.observe.metrics import Metrics
from service.run.memory_watch import MemoryWatch
from tests.conftest import Serve
from tests.waiting import eventually

QUESTION = {"choices": ["Paris is large", "London is old", "Rome is warm", "Bonn is small"]}


def items(first: int, count: int) -> list[dict[str, object]]:
    numeric: dict[str, object] = {"verifier": "numeric", "response": "The answer is 4."}
    asked: dict[str, object] = {
        "verifier": "multiple_choice",
        "response": "The answer is (C).",
        "reference": "C",
        "params": QUESTION,
    }
    return [asked, *({**numeric, "reference": f"{number}.5"} for number in range(first, first + count))]


def metrics_of(url: str) -> Mapping[str, float]:
    lines = httpx.get(f"{url}/metrics").text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def test_metrics_name_each_memory_and_what_it_holds(serve: Serve) -> None:
    served = serve(workers="1")
    for first in (0, 100):
        httpx.post(f"{served.url}/v1/score", json={"items": items(first, 100)}).raise_for_status()
    metrics = metrics_of(served.url)
    entries = {
        name: metrics[f'rewardline_memory_entries{{memory="{name}"}}']
        for name in ("parameters", "verdicts", "multiple_choice.questions")
    }
    assert entries["parameters"] == entries["verdicts"] == 201  # one is the example of the self-check
    assert entries["multiple_choice.questions"] in (2, 3)  # others are examples: of the self-check, of the tests' seed
    for name, count in entries.items():
        assert metrics[f'rewardline_memory_bytes{{memory="{name}"}}'] > 200 * count
    resident = {name: metrics[f'rewardline_resident_bytes{{process="{name}"}}'] for name in ("service", "workers")}
    assert min(resident.values()) > 20e6
    assert metrics["rewardline_memory_bound_bytes"] == memory.machine_bytes() // 2
    assert metrics["rewardline_memory_halvings_total"] == 0


@pytest.mark.leaks
def test_a_service_at_its_bound_halves_what_it_remembers_and_judges_on(serve: Serve) -> None:
    served = serve(workers="1", memory_mb="1")
    answer = httpx.post(f"{served.url}/v1/score", json={"items": items(0, 1000)}).raise_for_status()
    assert {result["status"] for result in answer.json()["results"]} == {"ok"}

    def halved() -> bool:
        metrics = metrics_of(served.url)
        held = metrics.get('rewardline_memory_entries{memory="verdicts"}', 0)
        return metrics["rewardline_memory_halvings_total"] > 0 and 0 < held < 1001

    eventually(halved)
    answer = httpx.post(f"{served.url}/v1/score", json={"items": items(0, 1000)}).raise_for_status()
    assert {result["status"] for result in answer.json()["results"]} == {"ok"}
    assert re.search(r'"memory_full"', served.log.read_text())


def test_the_workers_count_towards_the_bound_and_halve_their_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers(1)
    asked: list[bool] = []
    monkeypatch.setattr(Workers, "resident_bytes", property(lambda _: 12_500_000_000))
    monkeypatch.setattr(workers, "halve_memories", lambda: asked.append(True))
    watched = MemoryWatch(9000, workers)
    store: Store[int, int] = Store("of the workers' test", 1000, size=lambda _key, _value: 10)
    for key in range(100):
        store.put(key, key)
    watched.look()
    assert (asked, len(store)) == ([True], 50)
    published = Metrics("0")
    watched.publish(published)
    text = published.exposition().decode()
    assert "rewardline_memory_halvings_total 1.0" in text
    assert 'rewardline_resident_bytes{process="workers"} 1.25e' in text
