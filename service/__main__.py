"""The console script `rewardline`."""

import gc
import importlib
import sys


def main() -> None:
    gc.disable()  # objects of modules stay, and repeated scans of them take a fifth of the time
    name = "serve" if sys.argv[1:2] == ["serve"] else "main"
    cli = importlib.import_module(f"service.cli.{name}")
    gc.enable()
    cli.app()


if __name__ == "__main__":
    main()
