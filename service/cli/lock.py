"""`rewardline lock` writes down the versions that judge now, for runs that are to keep them."""

from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import msgspec
import typer
import uvloop

from service import settings
from service.cli.console import fail, say
from service.observe import logs
from service.recipes.files import BadRecipes
from service.run.core import CannotStart, open_core
from service.settings import Settings, SettingsError
from service.versions.locks import Lock, versions_of
from verifiers.near_names import near


def command(
    output: Annotated[Path, typer.Option("-o", "--output", help="The lock file.")] = Path("rewardline.lock.json"),
    only: Annotated[
        list[str] | None,
        typer.Option(help="Pin this verifier or recipe alone; several times. Default: all. Others are then refused."),
    ] = None,
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Have a later service judge by the wheel of this release, instead of refusing."),
    ] = False,
    config: Annotated[Path | None, typer.Option(help="YAML file of options (service/settings.py).")] = None,
) -> None:
    """Write a lock file with the versions of verifiers, recipes, prompts and judge models that judge here now."""
    try:
        chosen = settings.read(config, {"log_level": "warning", "sandbox": "none"})
        logs.configure(chosen)
        versions = uvloop.run(_versions(chosen))
    except (BadRecipes, CannotStart, SettingsError) as error:
        raise fail(str(error)) from error
    if only:
        names = {name: name if name in versions else f"recipe {name}" for name in only}
        unknown = [name for name, full_name in names.items() if full_name not in versions]
        if unknown:
            known_names = {name.removeprefix("recipe ") for name in versions}
            raise fail(f"there is no verifier and no recipe {unknown[0]!r}{near(unknown[0], known_names)}")
        versions = {name: versions[name] for name in names.values()}
    today = datetime.now(UTC).date().isoformat()
    lock = Lock(1, today, version("rewardline-server"), versions, "serve" if serve else "refuse")
    try:
        output.write_bytes(msgspec.json.format(msgspec.json.encode(lock), indent=1) + b"\n")
    except OSError as error:
        raise fail(f"{output}: {error.strerror}") from error
    say(f"{output} pins {len(versions)} verifiers and recipes of release {lock.release}.")


async def _versions(chosen: Settings) -> dict[str, str]:
    async with open_core(chosen, idle_boxes=False) as core:
        return versions_of(core.engine.registry, core.engine.book)
