"""`offline.py WAY SOURCE TARGET` scores Parquet files. Prints a line of JSON: seconds from the first block's start on.

engine     the engine alone, in this process: the same blocks, read, judged and written, without Ray
ray        `rewardline score --ray local`
nodes N    the same on N nodes of one CPU each, pinned to a core each; the head has the first node's core
"""

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

from service.cluster.run import Job, Progress, score
from service.cluster.scorer import LocalEngine
from service.rollouts.block_run import judge_block
from service.rollouts.blocks import plan
from service.rollouts.columns import Columns
from service.rollouts.manifest import Manifest
from service.rollouts.tally import Tally
from service.settings import Settings
from tests.processes import descendants, gone

POLL_S = 0.02
STEPS = 10
COLUMNS = Columns(verifier="math")
CACHE_MB = 16
"""A cache that is soon full: what grows then is not a cache."""
MB = 1 << 20


def main(way: str, source: str, target: str, nodes: str = "") -> None:
    begin = time.perf_counter()
    figures = alone(source, target) if way == "engine" else on_ray(source, target, int(nodes or 0))
    print(json.dumps({"whole_s": time.perf_counter() - begin, **figures}))


def alone(source: str, target: str) -> Mapping[str, Any]:
    """As many blocks at once as an engine on Ray has."""
    cores = len(os.sched_getaffinity(0))
    engine = LocalEngine(settings(), workers=cores)
    filesystem, blocks = plan(source, COLUMNS)
    manifest = Manifest.at(target)
    manifest.begin(blocks, COLUMNS)

    async def work() -> int:
        turns = asyncio.Semaphore(2)

        async def one(block: Any) -> Tally:
            async with turns:
                return await judge_block(filesystem, block, COLUMNS, engine.judge, manifest)

        return sum(tally.lines for tally in await asyncio.gather(*map(one, blocks)))

    begin = time.perf_counter()
    rows = engine.run(work())
    seconds = time.perf_counter() - begin
    engine.close()
    return {"rows": rows, "seconds": seconds}


def on_ray(source: str, target: str, nodes: int) -> Mapping[str, Any]:
    starts: list[float] = []
    memory: list[Mapping[str, float]] = []
    steps = iter(range(1, STEPS + 1))
    due = next(steps)

    def note(progress: Progress, tally: Tally) -> None:
        nonlocal due
        if due and progress.done * STEPS >= due * progress.total:
            memory.append({"rows": tally.lines, **resident_mb()})
            due = next(steps, 0)

    over = threading.Event()
    watching = threading.Thread(target=note_start, args=(Path(target), starts, over))
    watching.start()
    with addressed(nodes) as address:
        tally = score(Job(source, target, COLUMNS, settings()), address, note)
        end = time.perf_counter()
    over.set()
    watching.join()
    return {"rows": tally.lines, "seconds": end - starts[0], "memory": memory}


def settings() -> Settings:
    return Settings(sandbox="none", log_level="warning", cache_memory_mb=CACHE_MB)


def note_start(folder: Path, starts: list[float], over: threading.Event) -> None:
    """Note when the first file of the output is begun."""
    while not over.is_set() and not starts:
        if [*folder.glob("part-*"), *folder.glob(".unfinished-*")]:
            starts.append(time.perf_counter())
        over.wait(POLL_S)


@contextmanager
def addressed(nodes: int) -> Iterator[str]:
    if not nodes:
        yield "local"
        return
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:1])
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for core in cores[:nodes]:
            os.sched_setaffinity(0, [core])
            cluster.add_node(num_cpus=1)
        os.sched_setaffinity(0, cores[:1])
        yield cluster.address
    finally:
        cluster.shutdown()


def resident_mb() -> dict[str, float]:
    """The memory of this command, of engines with their workers, and of Ray's own processes."""
    found = {"command": 0.0, "engines": 0.0, "ray": 0.0}
    for pid in [os.getpid(), *descendants(os.getpid())]:
        with gone():
            title = Path(f"/proc/{pid}/cmdline").read_bytes()
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            kind = "command" if pid == os.getpid() else "engines" if is_engines(title) else "ray"
            found[kind] += pages * os.sysconf("SC_PAGE_SIZE") / MB
    return found


def is_engines(title: bytes) -> bool:
    return title.startswith(b"ray::MapWorker") or b"sandbox.workers" in title


if __name__ == "__main__":
    main(*sys.argv[1:])
