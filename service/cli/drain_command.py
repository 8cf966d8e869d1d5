"""`rewardline drain`, for people; containers run `service.cli.drain` itself."""

from typing import Annotated

import typer

from service.cli import drain
from service.cli.console import fail, say


def command(
    url: Annotated[
        str | None, typer.Option(help="The operators' port; default: port REWARDLINE_OPS_PORT, or 8090, of this host.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="With the scope admin, for another host.")
    ] = None,
) -> None:
    """Send callers elsewhere before a service is stopped. Returns when it has no work left."""
    try:
        say(drain.drain(url or drain.default_url(), api_key))
    except drain.NotDrained as error:
        raise fail(str(error)) from error
