"""A real Ray cluster of several nodes on this machine, for the scripts beside this file."""

import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ray
from ray.cluster_utils import Cluster

MEMORY = 80_000_000
"""Bytes of a node's object store."""
ATTEMPTS = 10
SETTINGS = {"REWARDLINE_SANDBOX": "none"}


@contextmanager
def cluster(nodes: int, dashboard_port: int | None = None) -> Iterator[Cluster]:
    """A head without CPUs, where this process is, and so many nodes of one CPU. `serve deploy` needs the dashboard."""
    dashboard = {"include_dashboard": dashboard_port is not None, "dashboard_port": dashboard_port}
    made = Cluster()
    try:
        _start(made, num_cpus=0, **dashboard)
        for _ in range(nodes):
            add_node(made)
        ray.init(address=made.address, log_to_driver=False)
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def add_node(made: Cluster) -> Any:
    return _start(made, num_cpus=1)


def _start(made: Cluster, **options: Any) -> Any:
    """Start a node. Ray itself gives up after 30 s, and a busy machine takes longer now and then."""
    for _ in range(ATTEMPTS):
        try:
            return made.add_node(object_store_memory=MEMORY, **options)
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    raise RuntimeError(f"no node started in {ATTEMPTS} attempts")


def pool(python: str, *arguments: str) -> None:
    """`rewardline pool` with an interpreter that has the server."""
    subprocess.run([python, "-m", "service", "pool", *arguments], check=True, stdout=subprocess.DEVNULL)


def during_a_kill(name: str, rewards: Callable[[], list[float]]) -> list[list[float]]:
    """What a trainer gets again and again, while an actor of the pool is killed and afterwards."""
    over = threading.Event()

    def kill() -> None:
        listed = ray.util.list_named_actors(all_namespaces=True)
        first = min(each["name"] for each in listed if each["name"].startswith(f"{name}:"))
        ray.kill(ray.get_actor(first, namespace="rewardline"), no_restart=False)
        over.set()

    killer = threading.Thread(target=kill)
    killer.start()
    during = [rewards()]
    while not over.is_set():
        during.append(rewards())
    killer.join()
    return [*during, rewards()]


def item(at: int) -> dict[str, Any]:
    """One that is right if its place is divisible by three. No two are equal, so no verdict stands for another."""
    said = at if at % 3 == 0 else at + 1
    return {"id": f"row-{at}", "verifier": "math", "response": f"It is \\boxed{{{said}}}.", "reference": str(at)}


class Ledger:
    """What became of every row."""

    def __init__(self) -> None:
        self.seen: dict[str, list[Any]] = {}
        self.sent = 0

    def take(self, places: Sequence[int], results: Sequence[Any]) -> None:
        self.sent += len(places)
        for at, result in zip(places, results, strict=True):
            verdict = [result.status.value, result.score == float(at % 3 == 0), result.id == f"row-{at}"]
            self.seen.setdefault(f"row-{at}", []).append(verdict)

    def account(self) -> dict[str, int]:
        verdicts = [verdict for each in self.seen.values() for verdict in each]
        return {
            "sent": self.sent,
            "lost": self.sent - len(verdicts),
            "twice": len(verdicts) - len(self.seen),
            "unjudged": sum(status != "ok" for status, _, _ in verdicts),
            "wrong": sum(status == "ok" and not (right and own) for status, right, own in verdicts),
        }
