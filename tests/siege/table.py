"""The table of what was held before, between and after the halves, as a file that grows row by row."""

from dataclasses import dataclass
from pathlib import Path

from tests.siege.stand import Held


@dataclass(frozen=True, slots=True)
class Halves:
    """What was held at rest before the first half, between the halves, and after the second."""

    before: Held
    middle: Held
    end: Held

    @property
    def grown(self) -> Held:
        return self.end - self.middle

    @property
    def told(self) -> str:
        grown = self.grown
        return (
            f"grown in the second half by {grown.service_mb:.1f} MB in the service and {grown.workers_mb:.1f} MB in workers; "
            f"by {grown.memories_mb:.1f} MB grew what both remember"
        )


class Table:
    def __init__(self, file: Path) -> None:
        self._file = file
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            "| kind | of each half | service MB: before | mid | end | workers MB: before | mid | end "
            "| grown in the 2nd half: service | workers | of it memories | CPU s |\n" + "|---" * 12 + "|\n"
        )

    def add(self, kind: str, count: int, halves: Halves, cpu_s: float) -> None:
        states = (halves.before, halves.middle, halves.end)
        sizes = [*(held.service_mb for held in states), *(held.workers_mb for held in states)]
        grown = (halves.grown.service_mb, halves.grown.workers_mb, halves.grown.memories_mb)
        cells = [
            kind,
            f"{count}",
            *(f"{size:.1f}" for size in sizes),
            *(f"{size:+.1f}" for size in grown),
            f"{cpu_s:.0f}",
        ]
        with self._file.open("a") as file:
            file.write(f"| {' | '.join(cells)} |\n")
