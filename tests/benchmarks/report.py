"""The result of a benchmark: rows that are printed as a table and written as JSON."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table

Cell = str | int | float | None
T = TypeVar("T")


class Effort(StrEnum):
    """How much is measured."""

    FULL = "full"
    """Enough measurements to quote."""
    QUICK = "quick"
    """Fewer and shorter runs, for a first impression."""
    GLANCE = "glance"
    """Everything once, about a second each, to check that it works."""

    def of(self, full: T, quick: T, glance: T) -> T:
        """The one of three amounts that belongs to this effort."""
        return {Effort.FULL: full, Effort.QUICK: quick, Effort.GLANCE: glance}[self]


@dataclass(frozen=True, slots=True)
class Report:
    """One table. Every row has the same columns. Their names have units."""

    title: str
    note: str
    """How the table was measured: what a reader must know."""
    rows: Sequence[Mapping[str, Cell]]

    def show(self, console: Console) -> None:
        table = Table(title=self.title, caption=self.note, title_justify="left", caption_justify="left")
        for name in self.rows[0]:
            table.add_column(name, justify="left" if isinstance(self.rows[0][name], str) else "right")
        for row in self.rows:
            table.add_row(*map(_shown, row.values()))
        console.print(table)


def machine() -> dict[str, Cell]:
    """A description of the machine."""
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "cpu": models[0].partition(":")[2].strip() if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "load_1_min": round(os.getloadavg()[0], 2),
    }


def _shown(value: Cell) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else value
