"""`rewardline pool` starts, shows and stops services in a Ray cluster, which trainers call by `ray://NAME`."""

from typing import Annotated

import typer
from rewardline import RewardlineError
from rewardline import ray as on_ray
from rich.table import Column, Table

from service.cli.console import err, fail, out, say

app = typer.Typer(no_args_is_help=True, help="Services in a Ray cluster, for trainers with REWARDLINE_URL=ray://NAME.")

_Name = Annotated[str, typer.Argument(help="The name of the pool.")]
_CANNOT = (ImportError, RewardlineError, ValueError)


@app.command()
def start(
    name: _Name = "rewardline",
    per_node: Annotated[int, typer.Option(min=1, help="Actors on each node.")] = 1,
    cpus: Annotated[int, typer.Option(min=1, help="CPUs of each actor.")] = 1,
    nodes: Annotated[int | None, typer.Option(min=1, help="On at most so many nodes; default: on all.")] = None,
    env: Annotated[list[str] | None, typer.Option(help="A setting, NAME=VALUE; several times.")] = None,
    python: Annotated[str | None, typer.Option(help="The interpreter with the server, if not the cluster's.")] = None,
) -> None:
    """Start a pool in the cluster that RAY_ADDRESS or this machine names, or add actors to nodes that have joined."""
    environment = {}
    for assignment in env or []:
        variable, separator, value = assignment.partition("=")
        if not separator:
            raise fail(f"--env {assignment!r}: expected NAME=VALUE")
        environment[variable] = value
    try:
        with err.status(f"starting the pool {name}"):
            actors = on_ray.start(
                name, per_node=per_node, cpus=cpus, nodes=nodes, environment=environment, python=python
            )
    except _CANNOT as error:
        raise fail(str(error)) from error
    say(f"{len(actors)} actors can judge. Trainers in this cluster: REWARDLINE_URL=ray://{name}")


@app.command()
def status(name: _Name = "rewardline") -> None:
    """Show the actors of a pool. Exit code 1: there is none that can judge."""
    try:
        actors = on_ray.status(name)
    except _CANNOT as error:
        raise fail(str(error)) from error
    table = Table("actor", Column("items in flight", justify="right"), "problems")
    for actor, health in actors.items():
        problems = "; ".join(f"{part}: {why}" for part, why in health["problems"].items())
        table.add_row(actor, f"{health['items_in_flight']:,}", problems)
    out.print(table)
    if all(health["problems"] for health in actors.values()):
        raise typer.Exit(1)


@app.command()
def stop(name: _Name = "rewardline") -> None:
    """End a pool. Its actors finish what they have."""
    try:
        ended = on_ray.stop(name)
    except _CANNOT as error:
        raise fail(str(error)) from error
    say(f"{len(ended)} actors ended.")
