"""All recipes and routes in force: those that ship, and before them those of the user's file.

A book is read as a whole and never changes. When the file is read again, another book takes its place.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from service.recipes import routing
from service.recipes.files import BadRecipes, parsed, read, shipped
from service.recipes.model import BookSpec, RecipeSpec, RouteSpec
from service.recipes.recipe import Recipe, describe
from service.recipes.resolution import Resolver
from service.recipes.routing import AmbiguousRoutes, Row, Table
from verifiers.near_names import near
from verifiers.registry import Registry


class Book:
    """Recipes by name, and the tables of routes to them."""

    def __init__(
        self,
        recipes: Mapping[str, Recipe],
        tables: Sequence[Table],
        routes: Sequence[tuple[str, RouteSpec]],
        unavailable: Mapping[str, str],
    ) -> None:
        """
        Args:
            recipes: By name.
            tables: In the order in which they are tried.
            routes: All routes, each with the name of its file.
            unavailable: Recipes that ship but need a verifier that is not installed, with its name.
        """
        self.recipes = dict(sorted(recipes.items()))
        self.routes = routes
        self.labels = frozenset(route.pattern for _, route in routes)
        """The labels that routes name. A pattern among them does no harm, because no row has it as a label."""
        self.unavailable = unavailable
        self._tables = tables
        self.as_json = msgspec.json.encode(self.describe())
        """Made once, because it takes a while."""

    def route(self, row: Row) -> RouteSpec | None:
        return routing.find(self._tables, row)

    def describe(self) -> dict[str, Any]:
        """Recipes and routes as JSON, with every default filled in."""
        return {
            "recipes": [describe(recipe) for recipe in self.recipes.values()],
            "routes": [
                {**route.model_dump(exclude_none=True, exclude_defaults=True), "origin": origin}
                for origin, route in self.routes
            ],
            "unavailable": [{"name": name, "needs": needs} for name, needs in sorted(self.unavailable.items())],
        }


def load(registry: Registry, path: Path | None = None) -> Book:
    """Load the shipped recipes, and before them those of a file.

    Raises:
        BadRecipes: the file has mistakes. The error holds all of them.
    """
    ours = [(name, parsed(name, text)) for name, text in shipped()]
    own_files = [(str(path), parsed(str(path), read(path)))] if path is not None else []
    problems: list[str] = []
    recipes, unavailable = _resolved(registry, [*ours, *own_files], {str(path)}, problems)
    tables: list[Table] = []
    routes: list[tuple[str, RouteSpec]] = []
    for files in (own_files, ours):
        specs = [(origin, route) for origin, spec in files for route in spec.routes]
        for origin, route in specs:
            if route.recipe not in recipes and route.recipe not in unavailable:
                problems.append(f"{origin}: {routing.route_text(route)}: no such recipe{near(route.recipe, recipes)}")
        try:
            tables.append(Table(route for _, route in specs))
        except AmbiguousRoutes as error:
            problems.append(f"{', '.join(sorted({origin for origin, _ in specs}))}: {error}")
        routes += specs
    if problems:
        raise BadRecipes(problems)
    return Book(recipes, tables, routes, unavailable)


def _resolved(
    registry: Registry, files: Sequence[tuple[str, BookSpec]], own_origins: set[str], problems: list[str]
) -> tuple[dict[str, Recipe], dict[str, str]]:
    specs: dict[str, tuple[str, RecipeSpec]] = {}
    for origin, book in files:
        for name, recipe in book.recipes.items():
            if name in specs and origin not in own_origins:
                problems.append(f"{origin}: recipe {name!r} is in {specs[name][0]} as well")
            specs[name] = (origin, recipe)
    resolver = Resolver(registry, specs, problems, {})
    unavailable: dict[str, str] = {}
    for name, (origin, spec) in specs.items():
        missing = resolver.missing(spec, ())
        if missing is not None and origin not in own_origins:
            unavailable[name] = missing
        else:
            resolver.recipe(name, ())
    return resolver.done, unavailable
