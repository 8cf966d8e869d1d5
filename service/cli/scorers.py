"""Where the commands have items judged: in this process, or by a running service."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from blake3 import blake3
from rewardline import AsyncClient, InvalidRequest, RewardlineError

from service.errors import RequestError
from service.recipes import book
from service.recipes.recipe import describe
from service.rollouts.columns import BadInput, Json
from service.rollouts.judging import Judge
from service.run.core import load_verifiers, open_core
from service.settings import Settings
from service.tenant import RUN
from service.wire import BatchRequest, decode_request, encode
from verifiers.near_names import near

DEADLINE_S = 3600.0
"""Of a segment of rows."""
_PROBE_S = 10.0


@asynccontextmanager
async def scorer_at(
    url: str, api_key: str | None, *, explain: bool = False, run_id: str | None = None
) -> AsyncIterator[Judge]:
    """A scorer that asks a running service."""
    async with AsyncClient(url, api_key=api_key, timeout_s=DEADLINE_S, run_id=run_id) as client:

        async def score(items: Sequence[Json]) -> Sequence[Json]:
            return [_plain(result) for result in await client.score(items, explain=explain)]

        yield score


@asynccontextmanager
async def scorer_here(settings: Settings, *, explain: bool = False, run_id: str | None = None) -> AsyncIterator[Judge]:
    """A scorer with an engine in this process. It needs no server."""
    RUN.set(run_id or "")
    async with open_core(settings) as core:

        async def score(items: Sequence[Json]) -> Sequence[Json]:
            try:
                request = await decode_request(encode({"items": items}), len(items))
            except RequestError as error:
                shown = "; ".join(f"{'.'.join(map(str, each.loc))}: {each.msg}" for each in error.errors)
                raise InvalidRequest(shown or error.detail) from error
            except UnicodeEncodeError as error:
                raise InvalidRequest("a text holds half a character (a lone surrogate)") from error
            deadline = asyncio.get_running_loop().time() + DEADLINE_S
            scored = await core.engine.score(BatchRequest(request.items, {}, "use", explain, deadline))
            return [msgspec.structs.asdict(result) for result in scored.results]

        yield score


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
        versions[f"recipe {recipe}"] = _fingerprint(describe(recipes[recipe]))
    return versions


async def versions_at(url: str, api_key: str | None, verifier: str | None, recipe: str | None) -> dict[str, str]:
    """The same of a running service.

    Raises:
        BadInput: there is no such verifier or recipe, or no service at this URL.
    """
    try:
        async with AsyncClient(url, api_key=api_key, timeout_s=_PROBE_S) as client:
            versions = {str(one["name"]): str(one["version"]) for one in await client.verifiers()}
            recipes = await _recipes_at(client) if recipe is not None and not url.startswith("grpc") else None
    except (RewardlineError, ValueError) as error:
        raise BadInput(f"--url {url}: {error}") from error
    if verifier is not None and verifier not in versions:
        raise BadInput(f"{url} has no verifier {verifier!r}{near(verifier, versions)}")
    if recipes is not None:
        if recipe not in recipes:
            raise BadInput(f"{url} has no recipe {recipe!r}{near(str(recipe), recipes)}")
        versions[f"recipe {recipe}"] = _fingerprint(recipes[recipe])
    return versions if verifier is None else {verifier: versions[verifier]}


_SHOW_VERIFIERS = "; `rewardline verifiers` shows all"
_SHOW_RECIPES = "; `rewardline recipes list` shows all"


async def _recipes_at(client: AsyncClient) -> dict[str, Any]:
    answer = await client.call("GET", "/v1/recipes")
    return {str(recipe["name"]): recipe for recipe in answer["recipes"]}


def _fingerprint(recipe: Mapping[str, Any]) -> str:
    return blake3(msgspec.json.encode(recipe, enc_hook=dict, order="deterministic")).hexdigest(8)


def _plain(result: Any) -> Json:
    names = ("id", "status", "score", "reward", "reason", "verifier", "version", "extracted", "detail", "cached")
    plain = {name: getattr(result, name) for name in names}
    checks = None if result.checks is None else list(result.checks)
    return {
        **plain,
        "status": str(result.status),
        "elapsed_ms": result.elapsed_ms,
        "checks": checks,
        "recipe": result.recipe,
    }
