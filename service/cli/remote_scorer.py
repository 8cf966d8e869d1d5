"""Has a running service judge, for the commands. It loads the client alone."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from rewardline import AsyncClient, InvalidRequest, RewardlineError

from service.rollouts.bad_input import BadInput, Json
from verifiers.near_names import near

if TYPE_CHECKING:
    from service.rollouts.judging import Judge

DEADLINE_S = 3600.0
"""Of a segment of rows."""
_PROBE_S = 10.0
_PROBE_RETRIES = 3
"""Somebody waits for the answer that nobody is there."""


@asynccontextmanager
async def scorer_at(
    url: str, api_key: str | None, *, explain: bool = False, run_id: str | None = None
) -> AsyncIterator["Judge"]:
    """A scorer that asks a running service."""
    async with AsyncClient(url, api_key=api_key, timeout_s=DEADLINE_S, run_id=run_id) as client:

        async def score(items: Sequence[Json]) -> Sequence[Json]:
            try:
                return [_plain(result) for result in await client.score(items, explain=explain)]
            except ValueError as error:  # NaN, half a character
                raise InvalidRequest(str(error)) from error

        yield score


async def versions_at(url: str, api_key: str | None, verifier: str | None, recipe: str | None) -> dict[str, str]:
    """The same of a running service.

    Raises:
        BadInput: there is no such verifier or recipe, or no service at this URL.
    """
    try:
        async with AsyncClient(url, api_key=api_key, timeout_s=_PROBE_S, max_retries=_PROBE_RETRIES) as client:
            versions = {str(entry["name"]): str(entry["version"]) for entry in await client.verifiers()}
            recipes = await _recipes_at(client) if recipe is not None and not url.startswith("grpc") else None
    except (RewardlineError, ValueError) as error:
        raise BadInput(f"--url {url}: {error}") from error
    if verifier is not None and verifier not in versions:
        raise BadInput(f"{url} has no verifier {verifier!r}{near(verifier, versions)}")
    if recipes is not None:
        from service.rollouts.verdict_file import fingerprint  # noqa: PLC0415 - it imports the engine's wire

        if recipe not in recipes:
            raise BadInput(f"{url} has no recipe {recipe!r}{near(str(recipe), recipes)}")
        versions[f"recipe {recipe}"] = fingerprint(recipes[recipe])
    return versions if verifier is None else {verifier: versions[verifier]}


async def _recipes_at(client: AsyncClient) -> dict[str, Any]:
    answer = await client.call("GET", "/v1/recipes")
    return {str(recipe["name"]): recipe for recipe in answer["recipes"]}


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
