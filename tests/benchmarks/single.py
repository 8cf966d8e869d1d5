"""Requests with one item: how many per second, and how long each takes, with 64 in flight."""

from collections.abc import Sequence
from contextlib import ExitStack

from tests.benchmarks import load, servers
from tests.benchmarks.doors import Contestant, compared, compete
from tests.benchmarks.load import Sample
from tests.benchmarks.report import Cell, Effort, Report
from tests.benchmarks.servers import Server
from tests.processes import descendants

CONNECTIONS = 64
_VERIFIERS = ("trivial", "numeric", "math")


async def run(effort: Effort) -> list[Report]:
    cores = servers.cores()
    rows: list[dict[str, Cell]] = []
    rounds, seconds = effort.of((5, 0.8), (2, 0.4), (1, 0.1))
    with ExitStack() as stack:
        service = stack.enter_context(servers.ours(cores[:1], sandbox="none"))
        for door, kinds in (("http", servers.BARE_HTTP), ("grpc", servers.BARE_GRPC)):
            rivals = [stack.enter_context(servers.bare(kind, cores[:1])) for kind in kinds]
            contestants = await _contestants(door, service, rivals)
            await compete(door, contestants, CONNECTIONS, rounds, seconds)
            rows += [{"door": door, **row} for row in _rows(contestants, len(rivals))]
    note = (
        f"{CONNECTIONS} requests under way, each with one new item of {load.RESPONSE_CHARS} characters; servers and "
        f"their workers on core {cores[0]}, load generator on core {cores[-1]}. Medians of interleaved runs."
    )
    return [Report("(b) Requests of one item", note, rows)]


async def _contestants(door: str, service: Server, rivals: Sequence[Server]) -> list[Contestant]:
    contestants = []
    for verifier in _VERIFIERS:
        sample = load.long_samples(1)[0]
        if verifier != "trivial":
            sample = Sample(sample.response, sample.reference.removeprefix("#### "), sample.prompt)
        batch = load.batches(door, verifier, [sample])
        answer_bytes = load.check(door, await load.answer(service, door, batch.same), batch)
        pids = [service.pid, *descendants(service.pid)]
        contestants.append(Contestant(f"ours, {verifier}", service, batch, batch.fresh, answer_bytes, pids))
    first = contestants[0]
    for rival in rivals:
        contestants.append(
            Contestant(rival.name, rival, first.batch, first.batch.fresh, first.answer_bytes, [rival.pid])
        )
    return contestants


def _rows(contestants: Sequence[Contestant], rivals: int) -> list[dict[str, Cell]]:
    return [
        {
            "server": contestant.name,
            "requests/s": contestant.items_per_s(),
            **compared(contestant, contestants[-rivals:]),
            "p50 ms": contestant.latency_ms(0.5),
            "p99 ms": contestant.latency_ms(0.99),
            "CPU us/request": contestant.cpu_us_per_item(),
        }
        for contestant in contestants
    ]
