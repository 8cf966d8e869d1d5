"""The commands of `rewardline`: which module has each. A command loads its own module alone, because some are large."""

import difflib
import importlib
from importlib.metadata import version
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS: Final = {
    "serve": "serve",
    "try": "try_one",
    "verifiers": "verifier_list",
    "recipes": "recipes",
    "audit": "audit",
    "score": "score",
    "check": "check",
    "diff": "diff",
    "lock": "lock",
    "verify-receipt": "verify_receipt",
    "dataset": "dataset",
    "view": "view",
    "log": "log",
    "curves": "curves",
    "check-config": "check_config",
    "check-host": "check_host",
    "doctor": "doctor",
    "judges": "judges",
    "key": "key",
    "usage": "usage",
    "drain": "drain_command",
    "pool": "pool",
}
"""The module of each command, in the order of use. It has a function `command`, or an `app` of several."""
FRONT_PAGE: Final = r"""Rewardline judges responses for reinforcement learning with verifiable rewards.

Look at one verdict:
  rewardline try math --response 'It is \boxed{\frac12}.' --reference 0.5
  rewardline verifiers                 what can be judged; `rewardline verifiers math` shows one
  rewardline recipes list              rewards made of several checks, and those of known trainers

Judge files:
  rewardline audit data.parquet --verifier math      before training: rows that cannot be judged
  rewardline score rollouts.jsonl --verifier math    verdicts on stored responses
  rewardline dataset stats rollouts.verdicts.jsonl   which prompts teach; suspect references
  rewardline view rollouts.verdicts.jsonl            look at them in a browser
  rewardline check cases.jsonl                       judge corrected verdicts again; a gate for CI
  rewardline diff stored here rollouts.jsonl         which verdicts another version flips
  rewardline lock                      a file of versions, to pin a run to
  rewardline verify-receipt FILE       check the receipts of verdicts

Serve trainers:
  rewardline serve                     HTTP on 127.0.0.1:8080, gRPC on 127.0.0.1:8081
  rewardline check-config              mistakes in settings, keys, recipes, judges and tasks
  rewardline check-host                what boxes for programs stop on this machine
  rewardline doctor URL                try a running service, and see what is wrong with it
  rewardline judges judges.yaml        try a file of judge models
  rewardline key NAME                  make an API key
  rewardline log DIRECTORY             search the audit log
  rewardline curves --to tensorboard   its runs in W&B, MLflow, TensorBoard or trackio
  rewardline pool start                services in a Ray cluster, for its trainers
  rewardline usage                     what a tenant and its runs have used
  rewardline drain                     send the callers of this host's service elsewhere

`rewardline COMMAND --help` shows the options of each."""


class _Command(TyperCommand):
    """A command whose help shows no type of a flag, which has none."""

    def get_params(self, ctx: Any) -> Any:
        return _without_types_of_flags(super().get_params(ctx))


class _Group(TyperGroup):
    """The same for several commands."""

    def get_params(self, ctx: Any) -> Any:
        return _without_types_of_flags(super().get_params(ctx))


def _without_types_of_flags(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


def application(*names: str) -> typer.Typer:
    """The application with these commands."""
    app = typer.Typer(
        invoke_without_command=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        cls=_Group,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_rewardline)
    for name in names:
        module = importlib.import_module(f"service.cli.{COMMANDS[name]}")
        if hasattr(module, "app"):
            for registered in module.app.registered_commands:
                registered.cls = _Command
            own = module.app.info.cls
            group = type("Group", (_Group, own), {}) if isinstance(own, type) else _Group
            app.add_typer(module.app, name=name, cls=group)
        else:
            app.command(name, cls=_Command)(module.command)
    return app


def unknown(name: str) -> str:
    """The message about a command that is not there."""
    close = difflib.get_close_matches(name, COMMANDS)
    return f"rewardline: there is no command {name!r}; " + (
        f"did you mean {close[0]}?" if close else "`rewardline` shows all"
    )


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"rewardline {version('rewardline-server')}")
        raise typer.Exit


def _rewardline(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Verdicts for reinforcement learning with verifiable rewards."""
    if context.invoked_subcommand is None:
        typer.echo(FRONT_PAGE)
