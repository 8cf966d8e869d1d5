"""The long runs: python -m tests.load --minutes 30 --out docs/reliability.md

It fills each table of the document as soon as its part is over. It needs root, and the programs that `make chaos-tools`
and `make docker` install. The exit code is 1 if an item was lost or misjudged, or a request broke something.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.chaos import alone, daemon, scenarios, stand
from tests.chaos.servers import Server
from tests.dockerd import docker_with_image
from tests.load import report
from tests.load.ledger import Ledger
from tests.load.malformed import malformed
from tests.load.overload import overload
from tests.load.soak import soak
from tests.ports import free_ports

Rows = list[tuple[str, Ledger]]
Part = tuple[str, bool]
"""A table, and whether all its figures are as they must be."""


async def _faults(folder: Path, options: argparse.Namespace) -> Part:
    rows: Rows = []
    async with stand.standing(folder) as parts:
        for seed, scenario in enumerate(scenarios.SCENARIOS.values(), 1):
            ledger = await scenarios.run(scenario, parts, options.times, seed, calm=1000)
            _tell(rows, f"{scenario.about} (× {options.times})", ledger)
    return _judged(rows)


async def _single(folder: Path, _: argparse.Namespace) -> Part:
    rows: Rows = []
    async with alone.standing(folder) as parts:
        for seed, (about, breaks) in enumerate(alone.SCENARIOS.values(), 20):
            _tell(rows, about, await alone.run(breaks, parts, seed))
    return _judged(rows)


async def _docker(folder: Path, options: argparse.Namespace) -> Part:
    rows: Rows = []
    with docker_with_image() as address:
        async with daemon.standing(folder, address) as parts:
            _tell(rows, f"{daemon.ABOUT} (× {options.times})", await daemon.run(parts, options.times))
    return _judged(rows)


async def _flood(folder: Path, options: argparse.Namespace) -> Part:
    found = await overload(folder, options.flood_s)
    return report.overload_table(found), found.flood.wrong == found.flood.without_retry_after == 0


async def _malformed(folder: Path, options: argparse.Namespace) -> Part:
    server = Server(folder / "log.jsonl", "127.0.0.1", free_ports(3), sandbox="local", workers="1", log_level="error")
    await server.start()
    try:
        found = await malformed(server, options.requests)
    finally:
        await server.end()
    print(*found.broken[:20], sep="\n", file=sys.stderr)
    return report.malformed_table(found), not found.broken


async def _soak(folder: Path, options: argparse.Namespace) -> Part:
    found = await soak(folder, 60 * options.minutes, options.share)
    _, is_good = _judged([("", found.ledger)])
    return report.soak_table(found), is_good


PARTS: dict[str, Callable[[Path, argparse.Namespace], Coroutine[Any, Any, Part]]] = {
    "faults": _faults,
    "single": _single,
    "docker": _docker,
    "overload": _flood,
    "malformed": _malformed,
    "soak": _soak,
}


def _tell(rows: Rows, about: str, ledger: Ledger) -> None:
    rows.append((about, ledger))
    print(about, ledger.sent, ledger.right, dict(ledger.faults), *ledger.examples[:3], file=sys.stderr)


def _judged(rows: Rows) -> Part:
    return report.ledger_table(rows), all(ledger.sent == ledger.right for _, ledger in rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="of the soak")
    parser.add_argument("--share", type=float, default=0.8, help="of capacity that the soak asks for")
    parser.add_argument("--times", type=int, default=5, help="that each part is broken")
    parser.add_argument("--requests", type=int, default=10_000, help="that are malformed")
    parser.add_argument("--flood-s", type=float, default=20.0, help="of overload")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--out", type=Path, help="the document whose tables are filled; without, they are printed")
    options = parser.parse_args()
    are_good = True
    for name in options.parts:
        with TemporaryDirectory() as folder:
            table, is_good = asyncio.run(PARTS[name](Path(folder), options))
        are_good &= is_good
        if options.out is None:
            print(table)
        else:
            report.put(options.out, name, table)
    return 0 if are_good else 1


if __name__ == "__main__":
    sys.exit(main())
