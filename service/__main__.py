"""The console script `rewardline`."""

import gc
import importlib


def main() -> None:
    gc.disable()  # what modules make is there to stay, and looking through it again and again takes a fifth of the time
    cli = importlib.import_module("service.cli.main")
    gc.enable()
    cli.app()


if __name__ == "__main__":
    main()
