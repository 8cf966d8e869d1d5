"""`python -m tests.siege`: what fresh items of each verifier cost and leave behind, as a table.

.venv/bin/python -m tests.siege --items 2000 --only multiple_choice,regex
"""

from collections import deque
from typing import Annotated, Final

import typer

from tests.siege.counts import batch_items, items_of
from tests.siege.fresh.items import GENERATORS
from tests.siege.stand import Stand, besieged

_MUCH_MB: Final = 700.0


def main(
    items: Annotated[int, typer.Option(help="Items of each half; fewer where counts.py says so.")] = 2000,
    only: Annotated[str, typer.Option(help="Verifiers, with commas.")] = ",".join(GENERATORS),
    sandbox: Annotated[str, typer.Option(help="Boxes for programs; without them a service starts soon.")] = "local",
) -> None:
    """Measure one verifier after the other, in a new service once the old one holds much."""
    print(
        "| verifier | items | kB kept per item, 2nd half: service | workers | 1st half: service | workers | CPU ms per item: service | below | longest step ms | of | not right |"
    )
    print("|" + "---|" * 11)
    left = deque(only.split(","))
    while left:
        with besieged(sandbox=sandbox) as stand:
            while left and stand.held().mb < _MUCH_MB:
                verifier = left.popleft()
                print(_row(stand, verifier, items_of(verifier, items)), flush=True)


def _row(stand: Stand, verifier: str, count: int) -> str:
    size = batch_items(verifier)
    outcomes = stand.judge_all(verifier, range(size), size)
    start = stand.rest()
    stand.begin_steps()
    before = stand.spent()
    outcomes += stand.judge_all(verifier, range(size, size + count), size)
    after = stand.spent()
    task, step_s = stand.longest_step()
    middle = stand.rest()
    outcomes += stand.judge_all(verifier, range(size + count, size + 2 * count), size)
    end = stand.rest()
    first, second = middle - start, end - middle
    right = outcomes.pop("right", 0)
    cells = (
        verifier,
        count,
        f"{second.service_mb * 1000 / count:.2f}",
        f"{second.workers_mb * 1000 / count:.2f}",
        f"{first.service_mb * 1000 / count:.2f}",
        f"{first.workers_mb * 1000 / count:.2f}",
        f"{(after.service_s - before.service_s) * 1000 / count:.2f}",
        f"{(after.below_s - before.below_s) * 1000 / count:.2f}",
        f"{step_s * 1000:.1f}",
        task,
        dict(outcomes) or "" if right else f"none right {dict(outcomes)}",
    )
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    typer.run(main)
