"""`rewardline verifiers` lists the verifiers."""

import json
from typing import Annotated

import typer
from rich.table import Table

from service.cli.console import fail, out
from service.doors.verifier_info import describe
from service.run.core import load_verifiers
from verifiers.near_names import near


def command(
    name: Annotated[str | None, typer.Argument(help="Show one: its parameters' schema and its examples.")] = None,
) -> None:
    """List the verifiers, or show one."""
    registry = load_verifiers()
    if name is None:
        table = Table("name", "version", "decides")
        for entry in registry.values():
            table.add_row(entry.verifier.name, entry.verifier.version, entry.verifier.summary)
        out.print(table)
        return
    if name not in registry:
        raise fail(f"no verifier {name!r}{near(name, registry)}; there are {list(registry)}")
    typer.echo(json.dumps(describe(registry[name]), indent=2, ensure_ascii=False))
