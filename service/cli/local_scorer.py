"""Judges in this process, for the commands: an engine as a service has one, without doors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.cli.engine_judge import judge_by
from service.recipes import book
from service.recipes.recipe import describe
from service.rollouts.bad_input import BadInput
from service.rollouts.judging import Judge
from service.rollouts.verdict_file import fingerprint
from service.run.core import load_verifiers, open_core
from service.settings import Settings
from service.tenant import RUN
from verifiers.near_names import near

_SHOW_VERIFIERS = "; `rewardline verifiers` shows all"
_SHOW_RECIPES = "; `rewardline recipes list` shows all"


@asynccontextmanager
async def scorer_here(settings: Settings, *, explain: bool = False, run_id: str | None = None) -> AsyncIterator[Judge]:
    """A scorer with an engine in this process. It needs no server."""
    RUN.set(run_id or "")
    async with open_core(settings, idle_boxes=False) as core:
        yield judge_by(core.engine, explain=explain)


def versions_here(settings: Settings, verifier: str | None, recipe: str | None) -> dict[str, str]:
    """The version of the verifier here; without one, those of all, and of the recipe.

    Raises:
        BadInput: there is no such verifier or recipe.
    """
    registry = load_verifiers()
    if verifier is not None and verifier not in registry:
        raise BadInput(f"there is no verifier {verifier!r}{near(verifier, registry) or _SHOW_VERIFIERS}")
    versions = {name: entry.verifier.version for name, entry in registry.items() if verifier in (None, name)}
    if recipe is not None:
        recipes = book.load(registry, settings.recipes_file).recipes
        if recipe not in recipes:
            raise BadInput(f"there is no recipe {recipe!r}{near(recipe, recipes) or _SHOW_RECIPES}")
        versions[f"recipe {recipe}"] = fingerprint(describe(recipes[recipe]))
    return versions
