"""What the commands print: results on standard output, messages on standard error."""

from typing import TYPE_CHECKING, Any

import typer
from typer import Exit

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from service.settings import Settings

    out: Console
    err: Console


def __getattr__(name: str) -> Any:
    """`out` and `err`, the consoles of commands that print tables. Others need not load the library."""
    if name not in ("out", "err"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rich.console import Console  # noqa: PLC0415 - as above

    return Console(stderr=name == "err")


def say(text: str, *, is_error: bool = False) -> None:
    """Print a line as it is: not folded, not coloured."""
    typer.echo(text, err=is_error)


def fail(*problems: str) -> Exit:
    """Print what is wrong. Raise the result: it ends the command with exit code 2."""
    for problem in problems:
        typer.secho(f"rewardline: {problem}", fg="red", err=True)
    return Exit(2)


def quiet_settings(config: "Path | None" = None) -> "Settings":
    """Read the settings for a command that prints its own results: the log holds warnings and errors alone.

    Raises:
        SettingsError: a setting is wrong.
    """
    from service import settings  # noqa: PLC0415 - commands that ask a service need none of these
    from service.observe import logs  # noqa: PLC0415

    chosen = settings.read(config, {"log_level": "warning"})
    logs.configure(chosen)
    return chosen


def one_line(value: Any, max_chars: int = 80, *, at_end: bool = False) -> str:
    """The beginning of a text, or its end, as one line."""
    text = " ".join(str(value).split())
    if len(text) <= max_chars:
        return text
    return f"…{text[1 - max_chars :]}" if at_end else f"{text[: max_chars - 1]}…"
