"""The console script `rewardline`."""

import gc
import importlib
import os
import sys
from typing import Final

_RARELY: Final = 50_000
"""New objects between two collections of garbage. Those of modules stay, and repeated scans of them take a fifth of a start."""


def main() -> None:
    _speak_utf8()
    cli = importlib.import_module("service.cli.main")
    names = sys.argv[1:2]
    if names in ([], ["-h"], ["--help"]):
        print(cli.FRONT_PAGE)  # noqa: T201 - what the command is asked for
        return
    if names[0] not in cli.COMMANDS and not names[0].startswith("-"):
        print(cli.unknown(names[0]), file=sys.stderr)  # noqa: T201
        sys.exit(2)
    gc.set_threshold(_RARELY)
    cli.application(*(name for name in names if name in cli.COMMANDS))()


def _speak_utf8() -> None:
    """Begin anew in UTF-8 if the locale is another one. Arguments, names of files and output are texts of any language."""
    if sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - this same command


if __name__ == "__main__":
    main()
