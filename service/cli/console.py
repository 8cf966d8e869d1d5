"""What the commands print: results on standard output, messages on standard error."""

from typing import TYPE_CHECKING

from rich.console import Console
from typer import Exit

if TYPE_CHECKING:
    from service.settings import Settings

out = Console()
err = Console(stderr=True)


def say(text: str, console: Console = out) -> None:
    """Print a line as it is: not folded, not coloured."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)


def fail(*problems: str) -> Exit:
    """Print what is wrong. Raise the result: it ends the command with exit code 2."""
    for problem in problems:
        err.print(f"rewardline: {problem}", style="red", soft_wrap=True, highlight=False, markup=False)
    return Exit(2)


def quiet_settings() -> "Settings":
    """Read the settings for a command that prints its own results: the log holds warnings and errors alone.

    Raises:
        SettingsError: a setting is wrong.
    """
    from service import settings  # noqa: PLC0415 - commands that ask a service need none of these
    from service.observe import logs  # noqa: PLC0415

    chosen = settings.read(None, {"log_level": "warning"})
    logs.configure(chosen)
    return chosen
