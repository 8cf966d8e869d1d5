"""The service's memory over more than a million new items.

The verdict cache is so small that it is full after the first tenth, and so is the memory for references. From then on
memory should stay the same.
"""

import math
from statistics import linear_regression

from tests.benchmarks import load, servers
from tests.benchmarks.load import MARK, Sample
from tests.benchmarks.report import Cell, Effort, Report
from tests.benchmarks.servers import Server
from tests.processes import descendants

_COUNTS = {"exact_match": 1_000_000, "numeric": 200_000, "math": 1_000_000}
_POINTS = 10
_BATCH_ITEMS = 250
_FEW_ITEMS = 25
"""Items of a batch at a glance."""
_CACHE_MB = 8
_MATH = (
    ("N", "N"),
    ("N.50", "N.5"),
    (r"\frac{N}{7}", "N/7"),
    ("-N", "N"),
    ("42", "42"),
    (r"N \text{ cm}", "N"),
    (r"\{2, N\}", r"\{N, 2\}"),
    ("(x+N)(x-1)", "x^2+Nx-x-N"),
    (r"\sqrt{2}+N", "N+2^{1/2}"),
)
"""Answers and references. N is a new number for each item. The last `_READ` are read in a worker, which takes a
millisecond."""
_READ = 4


async def run(effort: Effort) -> list[Report]:
    rows: list[dict[str, Cell]] = []
    slopes: list[dict[str, Cell]] = []
    size = effort.of(_BATCH_ITEMS, _BATCH_ITEMS, _FEW_ITEMS)
    with servers.ours(servers.cores(), sandbox="none", cache_memory_mb=str(_CACHE_MB)) as service:
        for verifier, count in _COUNTS.items():
            points = await _watch(service, verifier, effort.of(count, count // 10, _POINTS * size), size)
            rows += points
            slopes.append({"verifier": verifier, "items": points[-1]["items"], **_slopes(points[_POINTS // 2 :])})
    note = (
        f"Small new items over HTTP in batches of {size}, one server for all, cache of {_CACHE_MB} MB; "
        "workers include the process they are forked from. Math: numbers, fractions, quantities, sets and expressions."
    )
    about = "Least squares over the second half of each verifier's points."
    return [
        Report("(d) Memory of server and workers", note, rows),
        Report("(d) Growth of memory", about, slopes),
    ]


async def _watch(service: Server, verifier: str, count: int, size: int) -> list[dict[str, Cell]]:
    batch = load.batches("http", verifier, [_sample(index, verifier) for index in range(size)])
    answer_bytes = load.check("http", await load.answer(service, "http", batch.same), batch)
    rows = [_row(service, verifier, 0, None)]
    items = 0
    for _ in range(_POINTS):
        requests = count // _POINTS // size
        done = await load.http_load(
            service, batch, batch.fresh, connections=2, seconds=math.inf, requests=requests, answer_bytes=answer_bytes
        )
        items += done.items
        rows.append(_row(service, verifier, items, done.items_per_s))
    return rows


def _row(service: Server, verifier: str, items: int, items_per_s: float | None) -> dict[str, Cell]:
    workers = [servers.rss_mb(pid) for pid in descendants(service.pid)]
    return {
        "verifier": verifier,
        "items": items,
        "server MB": servers.rss_mb(service.pid),
        "workers MB": sum(workers),
        "processes": len(workers) + 1,
        "items/s": items_per_s,
    }


def _sample(index: int, verifier: str) -> Sample:
    """A short item, new in every batch. One in 25 of the math items needs a worker."""
    if verifier != "math":
        return Sample(f"Sum {index} of {MARK}.\n#### {index % 97}", f"{index % 97}")
    plain = len(_MATH) - _READ
    answer, reference = _MATH[plain + index // 25 % _READ] if index % 25 == 0 else _MATH[index % plain]
    number = f"{index + 1}{MARK}"
    response = f"So item {index} of {MARK} is \\boxed{{{answer.replace('N', number)}}}"
    return Sample(response, reference.replace("N", number))


def _slopes(points: list[dict[str, Cell]]) -> dict[str, Cell]:
    """Bytes per item of the server and its workers."""

    def slope(name: str) -> float:
        items = [float(point["items"] or 0) for point in points]
        return linear_regression(items, [float(point[name] or 0) * 1e6 for point in points]).slope

    return {"server bytes/item": slope("server MB"), "workers bytes/item": slope("workers MB")}
