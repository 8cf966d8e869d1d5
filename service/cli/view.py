"""`rewardline view` shows stored results in a browser: files of `rewardline score`, exports, audit logs, and reports of
`rewardline audit`.
"""

import asyncio
import contextlib
import socket
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from service.cli.console import fail, quiet_settings, say
from service.dataset_audit.report import NoReport
from service.doors.http import console
from service.doors.http.view import HOST, build_view
from service.doors.routes.stored_audits import load
from service.observe.audit_log import reader
from service.observe.audit_log.desk import Desk
from service.prompts.stored_files import FORMS, REPORT, files, rollouts_of
from service.settings import SettingsError


def command(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE|DIR...", help="JSON lines (also .gz, .zst), Parquet, reports of audits (.json), or folders."
        ),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Default: a free one.")] = 0,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show stored results in a browser, until Ctrl-C: verdicts of `rewardline score`, exports, audit logs, audits."""
    try:
        quiet_settings()
        found, audits = files(places), reports(places)
    except (reader.NotThere, SettingsError) as error:
        raise fail(str(error)) from error
    count = len(found) + len(audits)
    if not count:
        forms = ", ".join((*FORMS, REPORT))
        raise fail(f"no files to show in {', '.join(map(str, places))}; they end with {forms}")
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise fail(f"port {port}: {error.strerror}") from error
    with listening, contextlib.suppress(KeyboardInterrupt):
        desk = Desk(lambda: files(places), rollouts_of)
        app = build_view(desk, lambda: reports(places), console.LOG if found else console.DATA_SETS)
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


def reports(places: Sequence[Path]) -> list[Path]:
    """The reports of audits at these places.

    Raises:
        reader.NotThere
    """
    inside = [path for place in places if place.is_dir() for path in sorted(place.glob(f"*{REPORT}"))]
    named = [place for place in places if place.suffix == REPORT and not place.is_dir()]
    for path in named:
        try:
            load(path)
        except NoReport as error:
            raise reader.NotThere(str(error)) from error
    return [*named, *(path for path in inside if path.is_file() and _is_report(path))]


def _is_report(path: Path) -> bool:
    try:
        load(path)
    except NoReport:
        return False
    return True
