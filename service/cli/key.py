"""`rewardline key` makes an API key."""

from typing import Annotated

import typer

from service.cli.console import err, fail, out
from service.limits.keys import Scope, is_name, new_key


def command(
    name: Annotated[str, typer.Argument(help="What metrics and logs call it.")],
    scope: Annotated[
        list[Scope] | None, typer.Option(help="score (the default), sandbox, admin; several times.")
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(help="Whom it belongs to, with all keys of the same tenant; default: a tenant of its own."),
    ] = None,
    weight: Annotated[
        int, typer.Option(min=1, max=1000, help="How much its tenant is served while others wait, too; 2 is twice.")
    ] = 1,
) -> None:
    """Make an API key: the key on standard error, to be handed on once; on standard output its line for `keys_file`."""
    if tenant is not None and not is_name(tenant):
        raise fail(f"--tenant {tenant!r}: expected letters, digits and . _ -, at most 64")
    secret, digest = new_key()
    err.print(secret, highlight=False, soft_wrap=True)
    scopes = ", ".join(scope or [Scope.SCORE])
    owner = f", tenant: {tenant}" if tenant else ""
    owner += f", weight: {weight}" if weight > 1 else ""
    out.print(
        f"  {name}: {{sha256: '{digest}', scopes: [{scopes}]{owner}}}", highlight=False, soft_wrap=True, markup=False
    )
