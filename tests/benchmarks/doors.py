"""The cost of engine and doors beyond receiving, decoding and answering: our server against bare ones, side by side.

Every size and door is measured in rounds. In each round every contestant runs once, in the opposite order every other
round, so that a machine that changes its speed does so for all. Ratios are taken within rounds; their median counts.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from tests.benchmarks import load, servers
from tests.benchmarks.load import Batches, Run
from tests.benchmarks.report import Cell, Effort, Report
from tests.benchmarks.servers import Server

_CONNECTIONS = {1: 16, 64: 8, 1024: 3, 8192: 2}
_SETTINGS = {"sandbox": "none", "max_items_per_request": "8192", "max_body_mb": "64"}


@dataclass(slots=True, eq=False)
class Contestant:
    """One server with one kind of load, and the results of its runs."""

    name: str
    server: Server
    batch: Batches
    body: Callable[[], bytes]
    answer_bytes: int
    pids: Sequence[int] = ()
    runs: list[Run] = field(default_factory=list)
    cpu_s: float = 0.0

    def items_per_s(self) -> float:
        return median(run.items_per_s for run in self.runs)

    def cpu_us_per_item(self) -> float:
        return self.cpu_s * 1e6 / sum(run.items for run in self.runs)

    def latency_ms(self, quantile: float) -> float:
        all_s = sorted(latency for run in self.runs for latency in run.latencies_s)
        return all_s[int(quantile * (len(all_s) - 1))] * 1000


async def run(effort: Effort) -> list[Report]:
    cores = servers.cores()
    rows: list[dict[str, Cell]] = []
    sizes = effort.of((1, 64, 1024, 8192), (1, 64, 1024), (64,))
    with ExitStack() as stack:
        service = stack.enter_context(servers.ours(cores[:1], **_SETTINGS))
        for door, kinds in (("http", servers.BARE_HTTP), ("grpc", servers.BARE_GRPC)):
            rivals = [stack.enter_context(servers.bare(kind, cores[:1])) for kind in kinds]
            for size in sizes:
                contestants = await _contestants(door, size, service, rivals)
                rounds, seconds = effort.of((5, 0.8 if size == 8192 else 0.4), (2, 0.3), (1, 0.1))
                await compete(door, contestants, _CONNECTIONS[size], rounds, seconds)
                rows += [{"door": door, "batch": size, **row} for row in _rows(contestants, len(rivals))]
    note = (
        f"Items of {load.RESPONSE_CHARS} characters, judged by a verifier that looks at their end; servers on core {cores[0]}, load "
        f"generator on core {cores[-1]}. Requests under way: {_CONNECTIONS}. Medians of interleaved runs. Toughest: "
        "msgspec into our types, protobuf only parsed; plainest: request.json(), protobuf parsed and its strings read. "
        "The generator keeps the bare servers waiting in large batches, so the ratio by CPU time is the stricter one."
    )
    return [Report("(a) Engine and doors against bare servers", note, rows)]


async def compete(door: str, contestants: Sequence[Contestant], connections: int, rounds: int, seconds: float) -> None:
    """Let every contestant run in every round. The first round warms up and does not count."""
    generate = load.http_load if door == "http" else load.grpc_load
    for number in range(rounds + 1):
        for contestant in contestants if number % 2 else reversed(contestants):
            before = servers.cpu_s(contestant.pids)
            done = await generate(
                contestant.server,
                contestant.batch,
                contestant.body,
                connections=connections,
                seconds=seconds if number else seconds / 2,
                answer_bytes=contestant.answer_bytes,
            )
            if number:
                contestant.cpu_s += servers.cpu_s(contestant.pids) - before
                contestant.runs.append(done)


def compared(contestant: Contestant, rivals: Sequence[Contestant]) -> dict[str, Cell]:
    """The speed as a multiple of each rival's, the fastest rival first. The cells are empty for a rival itself."""
    cells: dict[str, Cell] = {}
    is_rival = contestant in rivals
    for name, rival in zip(("toughest", "plainest"), rivals, strict=True):
        pairs = zip(contestant.runs, rival.runs, strict=True)
        cells[f"x {name}"] = None if is_rival else median(mine.items_per_s / its.items_per_s for mine, its in pairs)
    cells["x toughest by CPU"] = None if is_rival else rivals[0].cpu_us_per_item() / contestant.cpu_us_per_item()
    return cells


async def _contestants(door: str, size: int, service: Server, rivals: Sequence[Server]) -> list[Contestant]:
    batch = load.batches(door, "trivial", load.long_samples(size))
    answer_bytes = load.check(door, await load.answer(service, door, batch.same), batch)
    pids = [service.pid]
    return [
        Contestant("ours, new items", service, batch, batch.fresh, answer_bytes, pids),
        Contestant("ours, cache hits", service, batch, partial(_same, batch), answer_bytes, pids),
        *(Contestant(rival.name, rival, batch, batch.fresh, answer_bytes, [rival.pid]) for rival in rivals),
    ]


def _same(batch: Batches) -> bytes:
    return batch.same


def _rows(contestants: Sequence[Contestant], rivals: int) -> list[dict[str, Cell]]:
    return [
        {
            "server": contestant.name,
            "items/s": contestant.items_per_s(),
            **compared(contestant, contestants[-rivals:]),
            "CPU us/item": contestant.cpu_us_per_item(),
        }
        for contestant in contestants
    ]
