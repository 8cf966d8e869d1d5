"""`python -m tests.benchmarks`: every benchmark in one run, side by side, as tables and as JSON."""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
import uvloop
from rich.console import Console

from tests.benchmarks import servers
from tests.benchmarks.parts import BENCHMARKS
from tests.benchmarks.report import Effort, Report, machine

_FILE_COLUMNS = 150


def main(
    json_path: Annotated[Path, typer.Option("--json", help="Where the figures are written.")] = Path(
        ".build/bench.json"
    ),
    only: Annotated[
        str,
        typer.Option(
            help="Which: a doors, b single items, c math, d memory, e boxes, f rules, g judges, h training steps, i two teams, "
            "j Ray, k new parameters for each item, l groups, m the watch."
        ),
    ] = "a,b,c,d,e,f,g,h,i,j,k,l,m",
    effort: Annotated[
        Effort, typer.Option(help="How much: full, quick, or a glance to see that it works.")
    ] = Effort.FULL,
) -> None:
    """Measure the service against bare servers and its math verifier against Math-Verify."""
    console = Console(width=None if sys.stdout.isatty() else _FILE_COLUMNS)
    about = machine()
    console.print(" · ".join(f"{name} {value}" for name, value in about.items()))
    reports: list[Report] = []
    os.sched_setaffinity(0, servers.cores()[-1:])
    for name in only.split(","):
        started = perf_counter()
        part = import_module(f"tests.benchmarks.{BENCHMARKS[name]}")
        for report in uvloop.run(part.run(effort)):
            report.show(console)
            reports.append(report)
        console.print(f"{perf_counter() - started:.0f} s\n")
    json_path.parent.mkdir(parents=True, exist_ok=True)
    shown = [{"title": report.title, "note": report.note, "rows": report.rows} for report in reports]
    json_path.write_text(json.dumps({"machine": about, "effort": effort, "reports": shown}, indent=1), encoding="utf-8")
    console.print(f"written to {json_path}")


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    app.command()(main)
    app()
