"""`rewardline score --ray` on a cluster of three nodes on this machine, whose parts are killed while it works.

`offline.py SCENARIO INPUT OUTPUT ROWS` prints a line of JSON: how the commands ended, and a ledger of all rows. The
input has `ROWS` rows with the columns `row` and `right`.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import ray
from ray.cluster_utils import Cluster

PATIENCE_S = 300.0
ENGINE = "ray::MapWorker"


def main(scenario: str, source: str, target: str, rows: str) -> None:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    try:
        folder = Path(target)
        outcome = SCENARIOS[scenario](cluster, nodes, source, folder)
        print(json.dumps({**outcome, **ledger(folder, int(rows))}))
    finally:
        cluster.shutdown()


def lose_a_node(cluster: Cluster, nodes: list[Any], source: str, folder: Path) -> Any:
    with command(cluster, source, folder) as run:
        with frozen(folder, 1):
            at = finished(folder)
            cluster.remove_node(nodes[1], allow_graceful=False)
        return {"codes": [run.wait()], "finished_before": at}


def lose_engines(cluster: Cluster, nodes: list[Any], source: str, folder: Path) -> Any:
    with command(cluster, source, folder) as run:
        with frozen(folder, 1) as stopped:
            at = finished(folder)
            ray.init(cluster.address, log_to_driver=False)
            eventually(lambda: not ray.available_resources().get("CPU"), "engines leave CPUs to others")
            ray.shutdown()
            for pid in stopped:
                os.kill(pid, signal.SIGKILL)
        return {"codes": [run.wait()], "finished_before": at, "killed": len(stopped)}


def lose_the_command(cluster: Cluster, nodes: list[Any], source: str, folder: Path) -> Any:
    with command(cluster, source, folder) as first, frozen(folder, 2):
        first.kill()
        first.wait()
    eventually(lambda: not engines(), "engines outlive their command")
    kept = states(folder)
    with command(cluster, source, folder) as second:
        code = second.wait()
    now = states(folder)
    return {
        "codes": [code],
        "finished_before": len([name for name in kept if name.startswith("part-")]),
        "changed": [name for name, state in kept.items() if now.get(name) != state],
    }


def meet_a_deadly_row(cluster: Cluster, nodes: list[Any], source: str, folder: Path) -> Any:
    with command(cluster, source, folder, verifier="deadly") as run:
        return {"codes": [run.wait()]}


SCENARIOS: dict[str, Callable[[Cluster, list[Any], str, Path], Any]] = {
    "node": lose_a_node,
    "engines": lose_engines,
    "command": lose_the_command,
    "deadly": meet_a_deadly_row,
}


def command(cluster: Cluster, source: str, folder: Path, verifier: str = "math") -> subprocess.Popen[bytes]:
    arguments = ["score", source, "-o", str(folder), "--verifier", verifier, "--ray", cluster.address]
    return subprocess.Popen([sys.executable, "-m", "service", *arguments], stdout=sys.stderr)


def finished(folder: Path) -> int:
    return len([*(folder / "_run" / "finished").glob("[0-9]*.json")])


@contextmanager
def frozen(folder: Path, count: int) -> Iterator[list[int]]:
    """Stop all engines as soon as so many blocks are finished. Those that live go on after the block."""
    eventually(lambda: finished(folder) >= count, f"{count} blocks are not finished")
    stopped = engines()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    yield stopped
    for pid in stopped:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def states(folder: Path) -> dict[str, tuple[int, int]]:
    """The files that are complete: which they are, and when they were written."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.glob("part-*")}


def engines() -> list[int]:
    """The processes with engines, of all nodes."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            title = (place / "cmdline").read_bytes()
            ours = (place / "environ").read_bytes()
        except OSError:
            continue
        if title.startswith(ENGINE.encode()) and f"RAY_TMPDIR={os.environ['RAY_TMPDIR']}".encode() in ours:
            found.append(int(place.name))
    return found


def ledger(folder: Path, rows: int) -> Any:
    """The rows that are lost, are there twice, were not judged because engines died, or have another verdict than the
    right one.
    """
    seen: Counter[int] = Counter()
    unjudged, wrong = [], []
    for path in sorted(folder.glob("part-*.parquet")):
        for row in pq.read_table(path).to_pylist():
            seen[row["row"]] += 1
            verdict = (row["verdict_status"], row["verdict_score"])
            if (*verdict, row["verdict_reason"]) == ("failed", None, "engine_died"):
                unjudged.append(row["row"])
            elif verdict != ("ok", float(row["right"])):
                wrong.append(row)
    return {
        "lost": [row for row in range(rows) if row not in seen],
        "twice": [row for row, count in seen.items() if count > 1],
        "unjudged": unjudged,
        "to score again": [
            row for path in sorted(folder.glob("_failed/*")) for row in pq.read_table(path)["row"].to_pylist()
        ],
        "wrong": wrong[:3],
        "rows": seen.total(),
        "unfinished": [path.name for path in folder.rglob(".unfinished-*")],
    }


def eventually(condition: Callable[[], object], otherwise: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(otherwise)
        time.sleep(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:])
