"""`rewardline check-host` shows what boxes for programs stop on this machine."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from rich.table import Table

from sandbox import self_check
from service import settings
from service.backends.boxes import variants
from service.cli import host_check
from service.cli.console import err, fail, out, say


def command(
    config: Annotated[Path | None, typer.Option(help="YAML file of options (service/settings.py).")] = None,
    sandbox: Annotated[str | None, typer.Option(help="Only this kind: docker or local.")] = None,
    long: Annotated[bool, typer.Option("--long/--short", help="All attacks, or those that `serve` tries.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Attack every kind of boxes here, and show what each stops. Exit code 1: not everything, or no boxes."""
    chosen = _settings(config, sandbox=sandbox)
    extent = self_check.LONG if long else self_check.SHORT
    with err.status("attacking boxes"):
        checks = uvloop.run(host_check.check_kinds(variants(chosen), extent))
    if as_json:
        typer.echo(json.dumps([check.plain() for check in checks], indent=2))
    else:
        _show_host(checks)
    if not host_check.is_good(checks):
        raise typer.Exit(1)


def _show_host(checks: Sequence[host_check.KindCheck]) -> None:
    present = [check for check in checks if check.report is not None]
    table = Table("attack", *(check.kind for check in present))
    for attack in dict.fromkeys(name for check in present for name in check.outcomes):
        table.add_row(attack, *(_WORDS[check.outcomes.get(attack)] for check in present))
    if present:
        out.print(table)
    for check in checks:
        if check.report is None:
            say(f"{check.kind}: not here. {check.why}")
            continue
        say(f"{check.kind}: {check.report.isolation}. {' '.join(check.caveats)}")
        for finding in check.report.findings:
            if not finding.held:
                say(f"  {finding.name}: {finding.detail}")


_WORDS = {True: "stopped", False: "[red]NOT STOPPED[/red]", None: "not promised"}


def _settings(config: Path | None, **overrides: object) -> settings.Settings:
    try:
        return settings.read(config, overrides)
    except settings.SettingsError as error:
        raise fail(str(error)) from error
