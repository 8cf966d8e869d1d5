"""Judges one item in this process. The engine of a whole service is loaded only for items that need more of it than one
verifier.
"""

import logging
from typing import TYPE_CHECKING

import uvloop

from service.cli.console import quiet_settings
from service.cli.engine_judge import judge_by
from service.rollouts.bad_input import BadInput, Json
from service.run.alone import open_alone
from service.run.cannot_start import CannotStart
from service.settings import Settings, SettingsError, read
from verifiers.near_names import near

if TYPE_CHECKING:
    from verifiers.registry import Registry


def judged(name: str, item: Json) -> Json:
    """Judge one item by the verifier or the recipe of this name, with an explanation.

    Raises:
        BadInput: there is no such name, or a mistake in the settings or in the file of recipes.
    """
    try:
        settings = read(None, {"log_level": "warning"})
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        result = uvloop.run(_judged_alone(settings, name, item))
        return _judged_by_all(settings, name, item) if result is None else result
    except (CannotStart, SettingsError) as error:
        raise BadInput(str(error)) from error


async def _judged_alone(settings: Settings, name: str, item: Json) -> Json | None:
    async with open_alone(settings, name) as engine:
        if engine is None:
            return None
        (result,) = await judge_by(engine, explain=True)([{**item, "verifier": name}])
        return dict(result)


def _judged_by_all(settings: Settings, name: str, item: Json) -> Json:
    from service.run.core import load_verifiers  # noqa: PLC0415 - most verifiers judge alone

    quiet_settings()  # the log of a whole engine
    kind = _kind(settings, name, load_verifiers())
    result: Json = uvloop.run(_judged_by_core(settings, {**item, kind: name}))
    return result


def _kind(settings: Settings, name: str, verifiers: "Registry") -> str:
    """Whether this is the name of a verifier or of a recipe."""
    from service.recipes import book  # noqa: PLC0415 - as above
    from service.recipes.files import BadRecipes  # noqa: PLC0415

    if name in verifiers:
        return "verifier"
    try:
        recipes = book.load(verifiers, settings.recipes_file).recipes
    except BadRecipes as error:
        raise BadInput(str(error)) from error
    if name not in recipes:
        hint = near(name, [*verifiers, *recipes])
        hint = hint or "; `rewardline verifiers` shows all and `rewardline recipes list`"
        raise BadInput(f"there is no verifier and no recipe {name!r}{hint}")
    return "recipe"


async def _judged_by_core(settings: Settings, item: Json) -> Json:
    from service.cli.local_scorer import scorer_here  # noqa: PLC0415 - as above

    async with scorer_here(settings, explain=True) as score:
        (result,) = await score([item])
        return dict(result)
