"""`rewardline log` shows which answer got which reward, and why."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.cells import set_cell_size
from rich.table import Table
from rich.text import Text

from service import settings
from service.cli.console import err, fail, say
from service.observe.audit_log import reader
from service.observe.audit_log.query import AuditEntry, BadMoment, Query, Tally, moment

_COLUMNS: Final = {
    "time": 23, "id": 20, "judge": 22, "status": 7, "score": 6, "reward": 7, "reason": 22, "answer": 48,
}  # fmt: skip
_Several = list[str] | None


def command(
    places: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DIR|FILE]...", help="Default: `audit_dir`, or the log of `rewardline serve` here."),
    ] = None,
    verifier: Annotated[_Several, typer.Option(help="Of this verifier, or this recipe.")] = None,
    reason: Annotated[_Several, typer.Option(help="With this reason.")] = None,
    status: Annotated[_Several, typer.Option(help="ok, invalid or failed.")] = None,
    min_score: Annotated[float | None, typer.Option(help="With at least this score.")] = None,
    max_score: Annotated[float | None, typer.Option(help="With at most this score.")] = None,
    item_id: Annotated[_Several, typer.Option("--id", help="Of this item, or this request.")] = None,
    tenant: Annotated[_Several, typer.Option(help="Of this tenant.")] = None,
    run: Annotated[_Several, typer.Option(help="Of this run.")] = None,
    since: Annotated[str | None, typer.Option(help="From this time on: 2026-03-07T09:15 (UTC), or 2h ago.")] = None,
    until: Annotated[str | None, typer.Option(help="Up to this time.")] = None,
    as_json: Annotated[bool, typer.Option("--json/--table", help="Whole records as JSON lines, or a table.")] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is written, until Ctrl-C.")] = False,
) -> None:
    """Show the audit log. Options of one kind widen the choice, of different kinds narrow it. Counts come last."""
    now = datetime.now(UTC)
    try:
        query = Query(
            frozenset(verifier or ()),
            frozenset(reason or ()),
            frozenset(status or ()),
            frozenset(item_id or ()),
            min_score,
            max_score,
            moment(since, now) if since else None,
            moment(until, now) if until else None,
            frozenset(tenant or ()),
            frozenset(run or ()),
        )
        where = places or _configured()
        files = reader.find(where)
    except (BadMoment, reader.NotThere, settings.SettingsError) as error:
        raise fail(str(error)) from error
    if not files and not follow:
        raise fail(f"no audit log in {', '.join(map(str, where))}")
    tally = Tally()
    interrupted = False
    try:
        _show(_followed(where, query, tally) if follow else _read(files, query, tally), query, tally, as_json=as_json)
    except KeyboardInterrupt:
        interrupted = True
    _tell(tally)
    if interrupted and not follow:
        raise typer.Exit(130)


def _show(lines: Iterable[bytes | None], query: Query, tally: Tally, *, as_json: bool) -> None:
    """Print the wanted records as they come."""
    out = sys.stdout.buffer
    if not as_json:
        out.write(_row(_COLUMNS))
    for line in lines:
        if line is None:
            out.flush()
            continue
        entry = tally.entry_of(line, query)
        if entry is not None:
            out.write(line.rstrip(b"\n") + b"\n" if as_json else _row(_cells(entry)))
    out.flush()


def _configured() -> list[Path]:
    folder = settings.read().with_own_log().log_folder
    if folder is None or not folder.exists():
        raise reader.NotThere("no audit log is configured (audit_dir); name a folder or files")
    return [folder]


def _read(files: Sequence[Path], query: Query, tally: Tally) -> Iterator[bytes]:
    for path in files:
        if reader.may_hold(path, query.since, query.until):
            yield from reader.lines(path, tally.damaged_files)


def _followed(paths: Sequence[Path], query: Query, tally: Tally) -> Iterator[bytes | None]:
    return reader.follow(paths, tally.damaged_files, lambda path: reader.may_hold(path, query.since, query.until))


def _cells(entry: AuditEntry) -> list[str]:
    judge = entry.verifier or ""
    if entry.recipe:
        judge = f"{entry.recipe} ({judge})" if judge else entry.recipe
    answer = entry.extracted
    if answer is None:
        # The end of an answer is shown, because it holds the result.
        answer = (
            f"sha256 {entry.response_sha256}"
            if entry.response_sha256
            else (entry.response or "")[-_COLUMNS["answer"] :]
        )
    score, reward = ("" if number is None else f"{number:.4g}" for number in (entry.score, entry.reward))
    return [entry.time[:23].replace("T", " "), str(entry.id), judge, entry.status, score, reward, entry.reason, answer]


def _row(cells: Iterable[str]) -> bytes:
    """One row of the table. The cells hold untrusted text, so nothing in them may reach the terminal as a command."""
    printable = ("".join(char if char.isprintable() else " " for char in cell[:200]) for cell in cells)
    fitted = (set_cell_size(cell, width) for cell, width in zip(printable, _COLUMNS.values(), strict=True))
    return ("  ".join(fitted).rstrip() + "\n").encode("utf-8", "replace")


def _tell(tally: Tally) -> None:
    table = Table("verifier", "status", "reason", "records")
    for outcome, count in tally.by_outcome.most_common():
        table.add_row(*map(Text, outcome), str(count))
    if tally.shown:
        err.print(table)
    say(f"{tally.shown} of {tally.read} records.", is_error=True)
    if tally.unreadable_lines:
        say(
            f"{tally.unreadable_lines} lines passed over that are not whole records, as a crash may leave one.",
            is_error=True,
        )
    for damage in tally.damaged_files:
        say(f"Damaged, read as far as it goes: {damage}", is_error=True)
