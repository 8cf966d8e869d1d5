"""The console script `rewardline`."""

import gc
import importlib


def main() -> None:
    gc.disable()  # objects of modules stay, and repeated scans of them take a fifth of the time
    cli = importlib.import_module("service.cli.main")
    gc.enable()
    cli.app()


if __name__ == "__main__":
    main()
