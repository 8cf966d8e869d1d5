"""The console script `rewardline`."""

import gc
import importlib
import os
import sys


def main() -> None:
    _speak_utf8()
    gc.disable()  # objects of modules stay, and repeated scans of them take a fifth of the time
    name = "serve" if sys.argv[1:2] == ["serve"] else "main"
    cli = importlib.import_module(f"service.cli.{name}")
    gc.enable()
    cli.app()


def _speak_utf8() -> None:
    """Begin anew in UTF-8 if the locale is another one. Arguments, names of files and output are texts of any language."""
    if sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - this same command


if __name__ == "__main__":
    main()
