"""`rewardline view` shows stored results in a browser: files of `rewardline score`, exports, audit logs, and reports of
`rewardline audit`.
"""

import asyncio
import contextlib
import socket
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from service.cli.console import fail, quiet_settings, say
from service.cli.shown_files import Shown
from service.dataset_audit.report import NoReport
from service.doors.http import console
from service.doors.http.view import HOST, build_view
from service.doors.routes.stored_audits import load
from service.observe.audit_log import reader
from service.observe.audit_log.corrections import Corrections
from service.observe.audit_log.desk import Desk
from service.prompts.stored_files import FORMS, REPORT
from service.settings import SettingsError


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE|DIR...", help="JSON lines (also .gz, .zst), Parquet, reports of audits (.json), or folders."
        ),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Default: a free one.")] = 0,
    cases: Annotated[
        Path | None, typer.Option(help="Keep verdicts that you correct in this file, for `rewardline check`.")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show stored results in a browser, until Ctrl-C: verdicts of `rewardline score`, exports, audit logs, audits."""
    with tempfile.TemporaryDirectory(prefix="rewardline-view-") as folder:
        _show(paths, Shown(paths, Path(folder)), port, None if cases is None else Corrections(cases), open_it=open_it)


def _show(paths: list[Path], shown: Shown, port: int, corrections: Corrections | None, *, open_it: bool) -> None:
    try:
        quiet_settings()
        result_files, audits = shown.files(), reports(paths)
    except (reader.NotThere, SettingsError) as error:
        raise fail(str(error)) from error
    for message in shown.damaged:
        say(message, is_error=True)
    count = len(result_files) + len(audits)
    if not count:
        forms = ", ".join((*FORMS, REPORT))
        raise fail(f"no files to show in {', '.join(map(str, paths))}; they end with {forms}")
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise fail(f"port {port}: {error.strerror}") from error
    with listening, contextlib.suppress(KeyboardInterrupt):
        desk = Desk(shown.files)
        first = console.LOG if result_files else console.DATA_SETS
        app = build_view(desk, lambda: reports(paths), first, corrections)
        address = f"http://{HOST}:{listening.getsockname()[1]}/"
        server = _AnnouncedServer(uvicorn.Config(app, log_config=None))
        server.announcement = f"Shows {count} {'file' if count == 1 else 'files'} on {address} until Ctrl-C."
        server.opens = address if open_it else None
        server.run(sockets=[listening])


class _AnnouncedServer(uvicorn.Server):
    """A server that is announced once it answers, and ends quietly by Ctrl-C from then on."""

    announcement: str
    opens: str | None
    """The address to open in a browser."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        say(self.announcement)
        if self.opens is not None:
            await asyncio.to_thread(webbrowser.open, self.opens)


def reports(paths: Sequence[Path]) -> list[Path]:
    """The reports of audits at these places.

    Raises:
        reader.NotThere
    """
    inside = [path for folder in paths if folder.is_dir() for path in sorted(folder.glob(f"*{REPORT}"))]
    report_files = [folder for folder in paths if folder.suffix == REPORT and not folder.is_dir()]
    for path in report_files:
        try:
            load(path)
        except NoReport as error:
            raise reader.NotThere(str(error)) from error
    return [*report_files, *(path for path in inside if path.is_file() and _is_report(path))]


def _is_report(path: Path) -> bool:
    try:
        load(path)
    except NoReport:
        return False
    return True
