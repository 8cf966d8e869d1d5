"""Judges in this process, for the commands: an engine as a service has one, without doors."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
import uvloop
from rewardline import InvalidRequest

from service.cli.console import quiet_settings
from service.cli.remote_scorer import DEADLINE_S
from service.errors import RequestError
from service.recipes import book
from service.recipes.files import BadRecipes
from service.recipes.recipe import describe
from service.rollouts.bad_input import BadInput, Json
from service.rollouts.judging import Judge
from service.rollouts.verdict_file import fingerprint
from service.run.core import CannotStart, load_verifiers, open_core
from service.settings import Settings, SettingsError
from service.tenant import RUN
from service.wire import BatchRequest, decode_request, encode
from verifiers.near_names import near

_SHOW_VERIFIERS = "; `rewardline verifiers` shows all"
_SHOW_RECIPES = "; `rewardline recipes list` shows all"


@asynccontextmanager
async def scorer_here(settings: Settings, *, explain: bool = False, run_id: str | None = None) -> AsyncIterator[Judge]:
    """A scorer with an engine in this process. It needs no server."""
    RUN.set(run_id or "")
    async with open_core(settings, idle_boxes=False) as core:

        async def score(items: Sequence[Json]) -> Sequence[Json]:
            try:
                request = await decode_request(encode({"items": items}), len(items))
            except RequestError as error:
                messages = "; ".join(f"{'.'.join(map(str, mistake.loc))}: {mistake.msg}" for mistake in error.errors)
                raise InvalidRequest(messages or error.detail) from error
            except UnicodeEncodeError as error:
                raise InvalidRequest("a text holds half a character (a lone surrogate)") from error
            deadline = asyncio.get_running_loop().time() + DEADLINE_S
            scored = await core.engine.score(BatchRequest(request.items, {}, "use", explain, deadline))
            return [msgspec.structs.asdict(result) for result in scored.results]

        yield score


def judged(name: str, item: Json) -> Json:
    """Judge one item by the verifier or the recipe of this name, with an explanation.

    Raises:
        BadInput: there is no such name, or a mistake in the settings or in the file of recipes.
    """
    try:
        settings = quiet_settings()
        verifiers = load_verifiers()
        kind = "verifier" if name in verifiers else "recipe"
        recipes = book.load(verifiers, settings.recipes_file).recipes if kind == "recipe" else {}
        if kind == "recipe" and name not in recipes:
            hint = near(name, [*verifiers, *recipes]) or f"{_SHOW_VERIFIERS} and `rewardline recipes list`"
            raise BadInput(f"there is no verifier and no recipe {name!r}{hint}")
        result: Json = uvloop.run(_judged(settings, {**item, kind: name}))
    except (BadRecipes, CannotStart, SettingsError) as error:
        raise BadInput(str(error)) from error
    return result


async def _judged(settings: Settings, item: Json) -> Json:
    async with scorer_here(settings, explain=True) as score:
        (result,) = await score([item])
        return dict(result)


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
