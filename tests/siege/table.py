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
            f"by {grown.memories_mb:.1f} MB grew what both remember; the service has {grown.blocks:+} blocks of Python in use "
            f"and {grown.free_mb:+.1f} MB free in its heap"
        )


class Table:
    def __init__(self, file: Path) -> None:
        self._file = file
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            "| kind | of each half | service MB: before | mid | end | workers MB: before | mid | end "
            "| grown in the 2nd half: service | workers | of it memories | blocks in use | free in the heap | CPU s |\n"
            + "|---" * 14
            + "|\n"
        )

    def add(self, kind: str, count: int, halves: Halves, cpu_s: float) -> None:
        states = (halves.before, halves.middle, halves.end)
        grown = halves.grown
        cells = [
            kind,
            f"{count}",
            *(f"{state.service_mb:.1f}" for state in states),
            *(f"{state.workers_mb:.1f}" for state in states),
            *(f"{size:+.1f}" for size in (grown.service_mb, grown.workers_mb, grown.memories_mb)),
            f"{grown.blocks:+}",
            f"{grown.free_mb:+.1f}",
            f"{cpu_s:.0f}",
        ]
        with self._file.open("a") as file:
            file.write(f"| {' | '.join(cells)} |\n")
