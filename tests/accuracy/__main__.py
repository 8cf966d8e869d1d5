"""`make accuracy`: the labelled files judged by `math`, by Math-Verify, and by `math` with it as a second opinion."""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from tests.accuracy.equality import as_rows, equal, judge_with_sympy, near_miss, pairs, partly_equal
from tests.accuracy.real_data import (
    BENCHMARKS,
    PROBES,
    RIVALS,
    WAYS,
    Outcome,
    Rows,
    against_themselves,
    benchmark_golds,
    benchmarks,
    deepmath,
    deepmath_golds,
    gsm8k,
    judge,
    judge_as,
    peers,
    probes,
    reports,
    sentences,
)
from tests.accuracy.rewrites import Rewrite
from tests.conftest import serving

_ALL = sys.maxsize
_PARTLY, _NEAR, _EQUAL = 60_000, 40_000, 20_000
"""Pairs that are drawn."""


@dataclass(frozen=True)
class _Task:
    """Rows, the doors of ours that judge them, and the most rows that other judges get."""

    rows: Rows
    ways: tuple[str, ...] = WAYS[:1]
    most_by_rival: int = 400
    by_sympy: bool = False
    """Whether sympy alone judges the same sample."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write every disagreement with a label there, one per line")
    parser.add_argument("--probes", type=Path, default=PROBES, help="lines with `gold`, `response`, `expected`")
    parser.add_argument("--golds", type=Path, default=BENCHMARKS, help="lines with `dataset` and `gold`")
    parser.add_argument("--only", default="", help="the sets whose names begin so")
    parser.add_argument("--ours-only", action="store_true", help="without Math-Verify and second opinions")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as name, serving(Path(name) / "log.jsonl") as served:
        for task in _tasks(options.probes, options.golds):
            if not task.rows.name.startswith(options.only):
                continue
            print(f"{time.perf_counter() - started:4.0f} s  {task.rows.name}", file=sys.stderr)
            outcomes += [judge(task.rows, way, served, Path(name)) for way in task.ways]
            if task.most_by_rival and not options.ours_only:
                sample = task.rows.sample(task.most_by_rival)
                outcomes += [judge_as(rival, sample, served, Path(name)) for rival in RIVALS]
                outcomes += [judge_with_sympy(sample)] if task.by_sympy else []
    Console(width=220).print(_table(outcomes), _same(outcomes), sep="\n\n")
    if options.json:
        disagreements = [row for outcome in outcomes for row in outcome.disagreements]
        options.json.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in disagreements))


def _tasks(probes_file: Path, golds_file: Path) -> Iterator[_Task]:
    yield _Task(probes(probes_file), WAYS, most_by_rival=_ALL)
    for rows in (*peers(), sentences()):
        yield _Task(rows, most_by_rival=_ALL)
    for rows in reports():
        is_math = all(item["verifier"] == "math" for item in rows.items)
        yield _Task(rows, most_by_rival=_ALL if is_math else 0)
    yield _Task(gsm8k(), WAYS, most_by_rival=_ALL)
    yield _Task(deepmath(), WAYS, most_by_rival=1_000)
    yield _Task(benchmarks(golds_file), most_by_rival=1_000)
    yield _Task(as_rows("equal on a part of the line", pairs(_PARTLY, 1, partly_equal)), by_sympy=True)
    yield _Task(as_rows("equal but for a slip", pairs(_NEAR, 3, near_miss)), by_sympy=True)
    yield _Task(as_rows("equal by an identity", pairs(_EQUAL, 2, equal)), by_sympy=True)
    for name, golds in (("DeepMath", deepmath_golds()), ("benchmarks", benchmark_golds(golds_file))):
        for rewrite in Rewrite:
            yield _Task(against_themselves(name, golds, rewrite))


def _table(outcomes: list[Outcome]) -> Table:
    table = Table(box=box.MARKDOWN)
    for header in ("data", "judged by"):
        table.add_column(header, no_wrap=True)
    for header in (
        *("items", "left out", "agree", "accepted, labelled wrong", "rejected, labelled right", "refused as invalid"),
        *("not judged", "items/s", "CPU-s"),
    ):
        table.add_column(header, justify="right", no_wrap=True)
    for outcome in outcomes:
        table.add_row(*_cells(outcome))
    return table


def _cells(outcome: Outcome) -> tuple[str, ...]:
    rows = outcome.rows
    judged = len(rows.items) - outcome.failed.total()
    return (
        rows.name,
        outcome.way,
        f"{len(rows.items):,}" + (f" drawn of {rows.drawn_from:,}" if rows.drawn_from else ""),
        f"{rows.left_out:,}",
        f"{outcome.agree / judged:.2%}" if judged else "",
        str(outcome.false_accepts),
        str(outcome.false_rejects),
        str(outcome.invalid),
        ", ".join(f"{count} {reason}" for reason, count in outcome.failed.items()) or "0",
        f"{len(rows.items) / outcome.seconds:,.0f}",
        f"{outcome.cpu_s:.1f}",
    )


def _same(outcomes: list[Outcome]) -> str:
    first = {outcome.rows.name: outcome for outcome in outcomes if outcome.way == WAYS[0]}
    others = [outcome for outcome in outcomes if outcome.way in WAYS[1:]]
    same = all(outcome.verdicts == first[outcome.rows.name].verdicts for outcome in others)
    return f"The three ways gave {'the same' if same else 'DIFFERENT'} verdicts." if others else ""


if __name__ == "__main__":
    main()
