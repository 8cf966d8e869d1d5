"""Writes the variables that docker-compose.yml needs: fresh keys, and the images to use.

python3 -m deploy.docker.environment [--local] [--out .env]

An existing file stays as it is, because its keys are in use. This program needs only the standard library.
"""

import argparse
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

LOCAL: Final = {
    "REDIS_IMAGE": "rewardline-companions",
    "PROXY_IMAGE": "rewardline-companions",
    "PROMETHEUS_IMAGE": "rewardline-companions",
}
"""The images that `python -m deploy.docker.build` makes. Without them public images are used."""


def variables(local: bool) -> Mapping[str, str]:
    """The variables that differ between installations. Every secret is new each time."""
    keys = {
        name: secrets.token_hex(24) for name in ("TRAINER_KEY", "BOX_HOSTS_KEY", "REDIS_PASSWORD", "GRAFANA_PASSWORD")
    }
    return {**keys, "JUDGE_FENCE_SECRET": secrets.token_hex(24), **(LOCAL if local else {})}


def write(path: Path, values: Mapping[str, str]) -> None:
    """Write one `NAME=value` per line. Only the owner can read the file.

    Raises:
        FileExistsError: the file exists already.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as file:
        file.writelines(f"{name}={value}\n" for name, value in values.items())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write fresh keys for docker-compose.yml.")
    parser.add_argument("--local", action="store_true", help="take the images that were built here, not public ones")
    parser.add_argument("--out", type=Path, default=Path(".env"))
    options = parser.parse_args(arguments)
    try:
        write(options.out, variables(options.local))
    except FileExistsError:
        sys.exit(f"{options.out} exists already and stays as it is; delete it first to get fresh keys")


if __name__ == "__main__":
    main()
