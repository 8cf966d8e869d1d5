"""The commands of `rewardline`. Those of more than a few lines have modules of their own."""

import json
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from rewardline import RewardlineError
from rewardline.config import check_run_id
from rich.bar import Bar
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from sandbox import self_check
from service import settings
from service.backends.boxes import variants
from service.cli import check_config, drain, host_check, pool, serve, try_one, usage, view
from service.cli import recipes as recipes_command
from service.cli.audit import command as audit_command
from service.cli.console import err, fail, out, quiet_settings, say
from service.cli.judges import command as judges_command
from service.cli.log import log as audit_log
from service.cli.score import Scorer, rescore, scorer_at, scorer_here, total_of
from service.cli.score_on_ray import score_on_ray
from service.doors.verifier_info import describe
from service.limits.keys import Scope, is_name, new_key
from service.recipes.files import BadRecipes
from service.rollouts.columns import BadInput, Columns
from service.rollouts.tally import Tally
from service.run.core import CannotStart, load_verifiers

app = typer.Typer(invoke_without_command=True, add_completion=False, pretty_exceptions_enable=False)
app.command("log")(audit_log)

_BAR_CHARS = 20
_NEEDS_CLUSTER = "; folders, patterns and URIs need --ray"
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
def score(
    file: Annotated[
        str,
        typer.Argument(
            help="JSON lines or Parquet: a response and a reference each. With --ray also a folder, a pattern or a URI."
        ),
    ],
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Default: FILE.verdicts.jsonl. With --ray a folder or a URI.")
    ] = None,
    verifier: Annotated[str | None, typer.Option(help="Judge every line by this one.")] = None,
    recipe: Annotated[str | None, typer.Option(help="Judge every line by this recipe.")] = None,
    url: Annotated[
        str | None, typer.Option(help="Have this service judge (http:// or grpc://); default: here.")
    ] = None,
    api_key: Annotated[str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="For --url.")] = None,
    response_field: Annotated[str | None, typer.Option(help="Default: response, completion or output.")] = None,
    reference_field: Annotated[str | None, typer.Option(help="Default: reference, ground_truth, gold, ...")] = None,
    label_field: Annotated[str | None, typer.Option(help="true/false, to compare verdicts with: expected, ...")] = None,
    overwrite: Annotated[bool, typer.Option(help="Start again instead of continuing an interrupted run.")] = False,
    run_id: Annotated[
        str | None, typer.Option(envvar="REWARDLINE_RUN_ID", help="The run that usage is counted for, and logs name.")
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Score on a cluster of Ray: its HOST:PORT, auto, or local for one that ends with this.",
        ),
    ] = None,
) -> None:
    """Score a file of rollouts; continues where an interrupted run stopped. Exit code 3: some lines failed."""
    try:
        check_run_id(run_id)
    except ValueError as error:
        raise fail(f"--run-id: {error}") from error
    columns = Columns(verifier, recipe, response_field, reference_field, label_field)
    target = output or str(Path(file).with_suffix(".verdicts.jsonl"))
    if ray is None and not Path(file).is_file():
        raise fail(f"no file {file}" + _NEEDS_CLUSTER)
    if ray is not None and (url or output is None):
        raise fail("--ray judges in the cluster, without --url, and needs a folder for its output: -o DIR")
    started = time.monotonic()
    try:
        if ray is not None:
            tally = score_on_ray(file, target, columns, ray, run_id=run_id, overwrite=overwrite)
        else:
            if overwrite:
                Path(target).unlink(missing_ok=True)
            scorer = scorer_at(url, api_key, run_id=run_id) if url else scorer_here(quiet_settings(), run_id=run_id)
            tally = uvloop.run(_score(Path(file), total_of(Path(file)), Path(target), columns, scorer))
    except (BadInput, BadRecipes, RewardlineError, CannotStart, settings.SettingsError) as error:
        raise fail(str(error)) from error
    except KeyboardInterrupt as error:
        err.print(
            f"Interrupted; the same command continues after what is in {target}.", soft_wrap=True, highlight=False
        )
        raise typer.Exit(130) from error
    _summarise(tally, target, time.monotonic() - started)
    if tally.with_status("failed"):
        raise typer.Exit(3)


async def _score(
    file: Path, total: int | None, target: Path, columns: Columns, scorer: AbstractAsyncContextManager[Scorer]
) -> Tally:
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]} items/s, {task.fields[failed]} failed"),
        TimeRemainingColumn(),
        console=err,
    )
    async with scorer as judge:
        with bar:
            task = bar.add_task(file.name, total=total, rate="-", failed=0)
            started = time.monotonic()

            def show(position: int, tally: Tally) -> None:
                rate = tally.lines / (time.monotonic() - started)
                bar.update(task, completed=position, rate=f"{rate:.0f}", failed=tally.with_status("failed"))

            return await rescore(file, target, columns, judge, show)


def _summarise(tally: Tally, target: str, seconds: float) -> None:
    table = Table("verifier", "status", "reason", Column("lines", justify="right"), "share")
    for (verifier, status, reason), count in sorted(tally.by_outcome.items(), key=lambda pair: -pair[1]):
        share = Bar(tally.lines, 0, count, width=_BAR_CHARS)
        table.add_row(verifier, status, reason, f"{count:,}", share)
    out.print(table)
    before = f" ({tally.done_before} lines were there before)" if tally.done_before else ""
    rate = tally.lines / seconds if seconds else 0.0
    judged = tally.with_status("ok")
    mean = f", mean score {tally.score_sum / judged:.4f}" if judged else ""
    say(f"{tally.lines} lines in {seconds:.1f} s, {rate:.0f}/s{mean}. Verdicts in {target}{before}.")
    if labelled := tally.agreement.total():
        right = tally.agreement[(True, True)] + tally.agreement[(False, False)]
        say(
            f"Labels: {right} of {labelled} agree ({right / labelled:.2%}); accepted though labelled wrong "
            f"{tally.agreement[(False, True)]}, rejected though labelled right {tally.agreement[(True, False)]}."
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
