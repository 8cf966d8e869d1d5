"""The commands of `rewardline`. Those of more than a few lines have modules of their own."""

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
from service.cli import check_config, drain, host_check, pool, serve, try_one, usage, view
from service.cli import recipes as recipes_command
from service.cli.audit import command as audit_command
from service.cli.console import err, fail, out, say
from service.cli.judges import command as judges_command
from service.cli.log import log as audit_log
from service.cli.score import command as score_command
from service.doors.verifier_info import describe
from service.limits.keys import Scope, is_name, new_key
from service.run.core import load_verifiers

app = typer.Typer(invoke_without_command=True, add_completion=False, pretty_exceptions_enable=False)
app.command("log")(audit_log)

_FRONT_PAGE = r"""Rewardline judges responses for reinforcement learning with verifiable rewards.

Look at one verdict:
  rewardline try math --response 'It is \boxed{\frac12}.' --reference 0.5
  rewardline verifiers                 what can be judged; `rewardline verifiers math` shows one
  rewardline recipes list              rewards made of several checks, and those of known trainers

Judge files:
  rewardline audit data.parquet --verifier math      before training: rows that cannot be judged
  rewardline score rollouts.jsonl --verifier math    verdicts on stored responses
  rewardline view rollouts.verdicts.jsonl            look at them in a browser

Serve trainers:
  rewardline serve                     HTTP on 127.0.0.1:8080, gRPC on 127.0.0.1:8081
  rewardline check-config              mistakes in settings, keys, recipes, judges and tasks
  rewardline check-host                what boxes for programs stop on this machine
  rewardline judges judges.yaml        try a file of judge models
  rewardline key NAME                  make an API key
  rewardline log DIRECTORY             search the audit log
  rewardline pool start                services in a Ray cluster, for its trainers
  rewardline usage                     what a tenant and its runs have used
  rewardline drain                     send the callers of this host's service elsewhere

`rewardline COMMAND --help` shows the options of each."""


app.add_typer(pool.app, name="pool")
app.add_typer(recipes_command.app, name="recipes")
app.command("audit")(audit_command)
app.command("judges")(judges_command)
app.command("score")(score_command)
app.command("try")(try_one.command)
app.command("usage")(usage.command)
app.command("view")(view.command)


app.command("check-config")(check_config.command)
app.command("serve")(serve.command)


@app.callback()
def rewardline(context: typer.Context) -> None:
    """Verdicts for reinforcement learning with verifiable rewards."""
    if context.invoked_subcommand is None:
        say(_FRONT_PAGE)


@app.command("drain")
def drain_service(
    url: Annotated[
        str | None, typer.Option(help="The operators' port; default: port REWARDLINE_OPS_PORT, or 8090, of this host.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="With the scope admin, for another host.")
    ] = None,
) -> None:
    """Send callers elsewhere before a service is stopped. Returns when it has no work left."""
    try:
        say(drain.drain(url or drain.default_url(), api_key))
    except drain.NotDrained as error:
        raise fail(str(error)) from error


@app.command()
def key(
    name: Annotated[str, typer.Argument(help="What metrics and logs call it.")],
    scope: Annotated[
        list[Scope] | None, typer.Option(help="score (the default), sandbox, admin; several times.")
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(help="Whom it belongs to, with all keys of the same tenant; default: a tenant of its own."),
    ] = None,
    weight: Annotated[
        int, typer.Option(min=1, max=1000, help="How much its tenant is served while others wait, too; 2 is twice.")
    ] = 1,
) -> None:
    """Make an API key: the key on standard error, to be handed on once; on standard output its line for `keys_file`."""
    if tenant is not None and not is_name(tenant):
        raise fail(f"--tenant {tenant!r}: expected letters, digits and . _ -, at most 64")
    secret, digest = new_key()
    err.print(secret, highlight=False, soft_wrap=True)
    scopes = ", ".join(scope or [Scope.SCORE])
    owner = f", tenant: {tenant}" if tenant else ""
    owner += f", weight: {weight}" if weight > 1 else ""
    out.print(
        f"  {name}: {{sha256: '{digest}', scopes: [{scopes}]{owner}}}", highlight=False, soft_wrap=True, markup=False
    )


@app.command()
def verifiers(
    name: Annotated[str | None, typer.Argument(help="Show one: its parameters' schema and its examples.")] = None,
) -> None:
    """List the verifiers, or show one."""
    found = load_verifiers()
    if name is None:
        table = Table("name", "version", "decides")
        for entry in found.values():
            table.add_row(entry.verifier.name, entry.verifier.version, entry.verifier.summary)
        out.print(table)
        return
    if name not in found:
        raise fail(f"no verifier {name!r}; there are {list(found)}")
    typer.echo(json.dumps(describe(found[name]), indent=2, ensure_ascii=False))


@app.command("check-host")
def check_host(
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
        typer.echo(json.dumps([one.plain() for one in checks], indent=2))
    else:
        _show_host(checks)
    if not host_check.is_good(checks):
        raise typer.Exit(1)


def _show_host(checks: Sequence[host_check.KindCheck]) -> None:
    there = [one for one in checks if one.report is not None]
    table = Table("attack", *(one.kind for one in there))
    for attack in dict.fromkeys(name for one in there for name in one.outcomes):
        table.add_row(attack, *(_WORDS[one.outcomes.get(attack)] for one in there))
    if there:
        out.print(table)
    for one in checks:
        if one.report is None:
            say(f"{one.kind}: not here. {one.why}")
            continue
        say(f"{one.kind}: {one.report.isolation}. {' '.join(one.caveats)}")
        for finding in one.report.findings:
            if not finding.held:
                say(f"  {finding.name}: {finding.detail}")


_WORDS = {True: "stopped", False: "[red]NOT STOPPED[/red]", None: "not promised"}


def _settings(config: Path | None, **overrides: object) -> settings.Settings:
    try:
        return settings.read(config, overrides)
    except settings.SettingsError as error:
        raise fail(str(error)) from error
