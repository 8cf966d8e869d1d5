"""`rewardline check-config` looks for mistakes in everything that `serve` would read, without serving."""

from pathlib import Path
from typing import Annotated

import typer

from service import settings
from service.cli.console import fail, say
from service.run.checks import problems


def command(
    config: Annotated[Path | None, typer.Option(help="YAML file of options, as for `serve`.")] = None,
) -> None:
    """Check settings, keys, TLS files, recipes, judges and tasks, as `serve` would read them. Exit code 2: mistakes.

    It reads the same environment variables REWARDLINE_<NAME>. Nothing is started, and no other machine is asked.
    """
    try:
        chosen = settings.read(config)
    except settings.SettingsError as error:
        raise fail(*error.problems) from error
    wrong = problems(chosen)
    if wrong:
        raise fail(*wrong)
    say("No mistakes in settings, keys, TLS files, recipes, judges and tasks.")
