"""`rewardline recipes` lists, shows and checks recipes."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from service.cli.console import fail, out, say
from service.recipes import book
from service.recipes.files import BadRecipes
from service.run.core import load_verifiers
from verifiers.near_names import near

app = typer.Typer(no_args_is_help=True, help="List, show and check recipes.")

_File = Annotated[Path | None, typer.Option("--file", exists=True, dir_okay=False, help="With a file of your own.")]


@app.command("list")
def list_recipes(file: _File = None) -> None:
    """List all recipes: those that ship, and those of a file."""
    book = _loaded(file)
    table = Table(Column("name", overflow="fold"), "checks", "aggregate", "from")
    for recipe in book.recipes.values():
        table.add_row(recipe.name, ", ".join(check.name for check in recipe.checks), recipe.aggregate, recipe.origin)
    out.print(table)
    for name, needs in sorted(book.unavailable.items()):
        say(f"{name}: needs the verifier {needs!r}, which is not installed")


@app.command()
def show(name: str, file: _File = None) -> None:
    """Show a recipe with every default filled in, and the routes to it."""
    description = _loaded(file).describe()
    recipe = next((entry for entry in description["recipes"] if entry["name"] == name), None)
    if recipe is None:
        hint = near(name, [entry["name"] for entry in description["recipes"]])
        raise fail(f"no recipe {name!r}{hint or '; `rewardline recipes list` shows all'}")
    routes = [route for route in description["routes"] if route["recipe"] == name]
    typer.echo(json.dumps({**recipe, "routes": routes}, indent=2, ensure_ascii=False, default=_plain))


@app.command()
def check(file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)]) -> None:
    """Check whether the service would take this file. Every mistake is shown with its place. Exit code 2: no."""
    book = _loaded(file)
    own_recipes = [recipe for recipe in book.recipes.values() if recipe.origin == str(file)]
    routes = sum(origin == str(file) for origin, _ in book.routes)
    say(f"{file}: {len(own_recipes)} recipes and {routes} routes, all of them good")


def _loaded(file: Path | None) -> book.Book:
    try:
        return book.load(load_verifiers(), file)
    except BadRecipes as error:
        raise fail(*error.problems) from error


def _plain(value: Any) -> Any:
    return dict(value)
