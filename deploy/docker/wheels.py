"""Fetches the locked distributions of Python as files, so that an image can be built without an index.

The interpreter of the image decides which of the locked distributions are needed, not the interpreter that runs this
program.
"""

import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from packaging.markers import Marker

_GLIBC: Final = (
    "manylinux2014",
    "manylinux_2_17",
    "manylinux_2_24",
    "manylinux_2_26",
    "manylinux_2_27",
    "manylinux_2_28",
)
"""The versions of glibc that wheels may ask for. Debian 12 has 2.36."""


class NoWheels(Exception):
    """A distribution could not be had. The message is that of pip."""


def fetch(locked: Path, folder: Path, python: str) -> None:
    """Fetch into the folder the distributions that the locked file names for this version of CPython on Linux, and
    check their hashes.

    Raises:
        NoWheels: an index is needed but cannot be reached, or its files are not the locked ones.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rewardline-wheels-") as temporary:
        requirements = Path(temporary) / "requirements.txt"
        requirements.write_text("".join(_needed(locked.read_text(), python)))
        try:
            # This succeeds if the folder holds all of them.
            _download(requirements, folder, python, "--no-index", "--find-links", str(folder))
        except NoWheels:
            _download(requirements, folder, python)


def _needed(locked: str, python: str) -> Iterator[str]:
    """The entries with markers that hold for the image, without the markers."""
    environment = {
        "python_full_version": python,
        "python_version": ".".join(python.split(".")[:2]),
        "sys_platform": "linux",
        "platform_system": "Linux",
    }
    for entry in re.split(r"^(?=\S)", locked, flags=re.MULTILINE):
        first, newline, hashes = entry.partition("\n")
        requirement, _, marker = first.rstrip("\\ ").partition(" ; ")
        if requirement and (not marker or Marker(marker).evaluate(environment)):
            yield f"{requirement} \\{newline}{hashes}"


def _download(requirements: Path, folder: Path, python: str, *options: str) -> None:
    machine = platform.machine()
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--require-hashes", "--requirement", str(requirements), "--dest", str(folder)),
        *("--implementation", "cp", "--python-version", python),
        *(f"--platform={name}_{machine}" for name in _GLIBC),
        *options,
    ]
    process = subprocess.run(command, capture_output=True, text=True)  # noqa: S603 - all of it is ours
    if process.returncode:
        raise NoWheels("\n".join(line for line in process.stderr.splitlines() if line.startswith("ERROR")))
