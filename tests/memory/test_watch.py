"""When a process collects garbage, and when it halves its memories."""

import gc
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

import memory
from memory import Store, Watch, watch

MB = 1_000_000


@dataclass
class Process:
    """A process whose size and clock the test sets; a collection takes `collection_s` and leaves `garbage` bytes less."""

    size: int = 100 * MB
    garbage: int = 0
    collection_s: float = 0.1
    now_s: float = 0.0

    def resident(self) -> int:
        return self.size

    def clock(self) -> float:
        return self.now_s

    def collect(self, _generation: int) -> int:
        self.now_s += self.collection_s
        self.size -= self.garbage
        self.garbage = 0
        return 0


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Process:
    made = Process()
    monkeypatch.setattr(gc, "collect", made.collect)
    return made


def watching(process: Process, bound_bytes: int | None = None) -> Watch:
    return Watch(growth_bytes=10 * MB, bound_bytes=bound_bytes, resident=process.resident, clock=process.clock)


def test_garbage_is_collected_after_growth_only(process: Process) -> None:
    watched = watching(process)
    for _ in range(1000):
        process.now_s += 1
        watched.check()
    assert watched.collections == 0
    process.size += 10 * MB
    watched.check()
    assert watched.collections == 1
    process.now_s += 1000
    watched.check()
    assert watched.collections == 1, "it has not grown since"


def test_collections_cost_at_most_one_per_cent(process: Process) -> None:
    watched = watching(process)
    while process.now_s < 1000:
        process.now_s += 1
        process.size += 10 * MB
        process.garbage = 10 * MB
        watched.check()
    assert 50 < watched.collections <= 100
    assert watched.collection_s == pytest.approx(0.1 * watched.collections)


def test_what_shrank_may_grow_as_much_again(process: Process) -> None:
    watched = watching(process)
    process.size -= 50 * MB
    watched.check()
    process.size += 10 * MB
    watched.check()
    assert watched.collections == 1


def test_memories_are_halved_at_the_bound_and_have_time_to_show_it(process: Process) -> None:
    store: Store[int, int] = Store("of the watch", 1000, size=lambda _key, _value: 10)
    for key in range(100):
        store.put(key, key)
    watched = watching(process, 150 * MB)
    assert not watched.check()
    process.size = 151 * MB
    assert watched.check()
    assert (watched.halvings, watched.collections, len(store)) == (1, 1, 50)
    assert not watched.check()
    process.now_s += 11
    assert watched.check()
    assert (watched.halvings, len(store)) == (2, 25)
    process.now_s += 11
    process.size = 149 * MB
    assert not watched.check()


def test_other_processes_count_towards_the_bound(process: Process) -> None:
    watched = Watch(bound_bytes=150 * MB, resident=process.resident, more_bytes=lambda: 60 * MB, clock=process.clock)
    assert watched.check()


@pytest.mark.siege
def test_cycles_that_python_would_keep_for_long_are_collected() -> None:
    class Ring:
        def __init__(self) -> None:
            self.itself = self
            self.bytes = bytes(100_000)

    thresholds = gc.get_threshold()
    gc.set_threshold(*watch.GRADUAL_THRESHOLDS)
    try:
        watched = Watch(growth_bytes=10 * MB)
        sizes = []
        for _ in range(40):
            for _ in range(100):
                Ring()
            watched.check()
            sizes.append(watched.rss_bytes)
            watched._collect_from_s = 0.0
    finally:
        gc.set_threshold(*thresholds)
    assert watched.collections > 5
    assert max(sizes) - sizes[0] < 60 * MB, "400 MB were made"


def test_sizes_are_those_of_the_system() -> None:
    assert memory.resident_bytes() == pytest.approx(memory.resident_bytes(os.getpid()), rel=0.1)
    assert memory.resident_bytes(2**22 + 1) == 0


def test_the_machine_is_as_large_as_its_control_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(watch, "_LIMITS", (str(limit),))
    whole = memory.machine_bytes()
    limit.write_text("max\n")
    assert memory.machine_bytes() == whole
    limit.write_text("1000000\n")
    assert memory.machine_bytes() == 1_000_000


def test_a_gradual_watch_looks_at_what_is_new_and_now_and_then_at_all(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    generations: list[int] = []
    monkeypatch.setattr(gc, "collect", generations.append)
    watched = Watch(growth_bytes=10 * MB, is_gradual=True, resident=process.resident, clock=process.clock)

    def grow(nbytes: int) -> None:
        process.size += nbytes
        process.now_s += 1
        watched.check()

    for _ in range(40):  # a large request now and then
        grow(watch.WHOLE_GROWTH_BYTES)
        grow(-watch.WHOLE_GROWTH_BYTES)
    assert generations == [1] * watched.collections
    for _ in range(watch.WHOLE_GROWTH_BYTES // (10 * MB) + 32):
        grow(10 * MB)
    assert generations.count(2) == 1
    assert len(generations) == watched.collections


def test_no_collection_of_a_gradual_process_looks_at_many_objects() -> None:
    """Half a million objects live, and with each of them come and go others."""
    looked_at: list[int] = []

    def count(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            looked_at.append(sum(len(gc.get_objects(generation)) for generation in range(info["generation"] + 1)))

    thresholds = gc.get_threshold()
    gc.collect()
    gc.set_threshold(*watch.GRADUAL_THRESHOLDS)
    gc.callbacks.append(count)
    try:
        live = [[[number]] for number in range(250_000)]
        gc.collect(1)  # as the watch does after a growth
    finally:
        gc.callbacks.remove(count)
        gc.set_threshold(*thresholds)
    assert len(live) == 250_000
    assert len(looked_at) > 500_000 / 10_000 / 2
    assert max(looked_at) <= 21_000
