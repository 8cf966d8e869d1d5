"""Writes figures as rows of the tables in docs/reliability.md. Each table stands between marks of its own."""

import re
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from tests.load.footprint import Footprint, growth
from tests.load.ledger import Ledger
from tests.load.malformed import Malformed
from tests.load.overload import Flow, Overload
from tests.load.soak import Soak

HEAD = "| | items sent | verdicts right | asked again by the client | failed | lost | wrong | batch p50, ms | longest wait, s |"


def ledger_table(rows: Sequence[tuple[str, Ledger]]) -> str:
    lines = [HEAD, "|" + "---|" * (HEAD.count("|") - 1)]
    return "\n".join([*lines, *(_ledger_row(about, ledger) for about, ledger in rows)])


def _ledger_row(about: str, found: Ledger) -> str:
    counts = (found.sent, found.right, found.asked_again, found.failed, found.lost, found.wrong)
    cells = [about, *(f"{count:,}" for count in counts), f"{found.wait_ms(0.5):.0f}", f"{found.wait_ms(1) / 1000:.1f}"]
    return f"| {' | '.join(cells)} |"


def soak_table(found: Soak) -> str:
    held = [_held("memory of all its processes, MB", [held.memory_mb for held in found.footprints])]
    held.append(_held("of it, the service's own process, MB", [held.server_mb for held in found.footprints]))
    held.append(_held("open files", [float(held.files) for held in found.footprints]))
    about = (
        f"{found.seconds / 60:.0f} minutes at {found.items_per_s:,.0f} items/s, "
        f"{found.items_per_s / found.capacity_items_per_s:.0%} of {found.capacity_items_per_s:,.0f}"
    )
    head = "| | second fifth of the time | last fifth | growth |\n|---|---|---|---|"
    return "\n".join([ledger_table([(about, found.ledger)]), "", head, *held])


def _held(about: str, values: Sequence[float]) -> str:
    fifth = len(values) // 5
    early, late = median(values[fifth : 2 * fifth]), median(values[-fifth:])
    return f"| {about} | {early:,.0f} | {late:,.0f} | {growth(values):+.1%} |"


def overload_table(found: Overload) -> str:
    head = "| | answered | refused | right verdicts/s | wrong | refusal p50 / p99, ms | refused without Retry-After |"
    ratio = found.flood.goodput / found.capacity.goodput
    return "\n".join(
        [
            head,
            "|---|---|---|---|---|---|---|",
            _flow_row("eight callers, each waiting for its answer", found.capacity),
            _flow_row("five times that rate, nobody waiting", found.flood),
            "",
            f"Goodput under the flood: {ratio:.0%} of capacity. Answers were as quick as before it "
            f"{found.recovery_s:.1f} s after its last batch was answered.",
            f"The load had a core to itself, the service {'one other' if found.cores == 1 else f'the other {found.cores}'}.",
        ]
    )


def _flow_row(about: str, flow: Flow) -> str:
    refusals = sorted(flow.refusals_s)
    refused = "–"
    if refusals:
        refused = f"{1000 * median(refusals):.0f} / {1000 * refusals[int(0.99 * (len(refusals) - 1))]:.0f}"
    counts = f"{flow.statuses[200]:,} | {flow.statuses[429]:,} | {flow.goodput:,.0f} | {flow.wrong}"
    return f"| {about} | {counts} | {refused} | {flow.without_retry_after} |"


def malformed_table(found: Malformed) -> str:
    assert found.before is not None
    assert found.after is not None
    answers = ", ".join(f"{code}: {count:,}" for code, count in sorted(found.http.items()))
    calls = ", ".join(f"{code}: {count:,}" for code, count in sorted(found.grpc.items()))
    return "\n".join(
        [
            "| requests | HTTP | gRPC | bytes that are not requests | 5xx, INTERNAL | memory after a tenth, at the end, MB |"
            " open files |",
            "|---|---|---|---|---|---|---|",
            f"| {found.sent:,} | {answers} | {calls} | {found.hung_up:,} | {len(found.broken)} |"
            f" {_memory(found.before)}, {_memory(found.after)} | {found.before.files}, {found.after.files} |",
        ]
    )


def _memory(held: Footprint) -> str:
    return f"{held.memory_mb:.0f}"


def put(file: Path, part: str, table: str) -> None:
    """Replace the text between the marks of this part.

    Raises:
        ValueError: there are none.
    """
    text = file.read_text(encoding="utf-8")
    begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{file} has not once the marks {begin} and {end}")
    pattern = re.escape(begin) + ".*" + re.escape(end)
    filled = re.sub(pattern, lambda _: f"{begin}\n{table}\n{end}", text, flags=re.DOTALL)
    file.write_text(filled, encoding="utf-8")
