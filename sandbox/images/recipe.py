"""What a box image consists of: Debian's packages for some languages, and the steps that finish it.

One recipe, two ways to follow it: `sandbox.images.build` needs no registry of images, and the Dockerfile beside this file
is for places where one is at hand. An image carries the version of the recipe it was made by, so that one made by an
older recipe is noticed.
"""

import hashlib
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from sandbox.languages import all_languages
from sandbox.languages.cpp import PRECOMPILE

RELEASE: Final = "bookworm"
"""Of Debian: its Python is the one that programs are judged with."""

LANGUAGES_LABEL: Final = "rewardline.box.languages"
VERSION_LABEL: Final = "rewardline.box.version"
ENVIRONMENT: Final = {"LANG": "C.UTF-8", "TZ": "UTC"}

BEFORE_PACKAGES: Final = "mkdir -p /usr/share/man/man1"
"""Java's packages put links there, and fail when a slim base has no such folder."""

_BASE_PACKAGES: Final = ("libc6", "python3-minimal")
_NOT_NEEDED: Final = (
    "rm -rf /usr/share/doc /usr/share/man /usr/share/info /usr/share/locale /usr/share/lintian /usr/share/bug",
    "rm -rf /var/cache/apt/* /var/lib/apt/lists/* /var/log/* /var/cache/debconf/*",
    # The libraries' own tests, and what only Java's linker and Go's own developers read.
    "rm -rf /usr/lib/python3/dist-packages/*/tests /usr/lib/python3/dist-packages/*/*/tests",
    "rm -rf /usr/lib/jvm/*/jmods /usr/share/go-*/src/cmd /usr/share/go-*/test /usr/share/go-*/api",
    "find / -xdev -path '*/go-*' -name '*_test.go' -delete",
)
# Nobody in a box can become root by them anyhow: no_new_privs is set before the first program starts.
_NO_SETUID: Final = "find / -xdev -perm /6000 -type f -exec chmod ug-s {} +"
_PRECOMPILED_HEADER: Final = f"cd /usr/include/*/c++/* && {shlex.join(PRECOMPILE)}"


def packages(languages: Sequence[str]) -> list[str]:
    """The Debian packages for these languages; boxes need Python whatever they are."""
    known = all_languages()
    wanted = set(_BASE_PACKAGES)
    for name in languages:
        wanted.update(known[name].packages)
    return sorted(wanted)


def finishing_steps(languages: Sequence[str]) -> list[str]:
    """Shell commands to be run in the image when the packages are there."""
    precompile = [_PRECOMPILED_HEADER] if "cpp" in languages else []
    return [*precompile, *_NOT_NEEDED, _NO_SETUID]


def labels(languages: Sequence[str]) -> dict[str, str]:
    return {LANGUAGES_LABEL: ",".join(sorted(languages)), VERSION_LABEL: version(languages)}


def version(languages: Sequence[str]) -> str:
    """Changes with everything that goes into the image, except for Debian's own updates."""
    parts = [RELEASE, ENVIRONMENT, packages(languages), finishing_steps(languages)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def is_current(labels: Mapping[str, str]) -> bool:
    """Whether an image with these labels was made by this recipe; one without a version is somebody's own."""
    if VERSION_LABEL not in labels:
        return True
    languages = labels.get(LANGUAGES_LABEL, "").split(",")
    return set(languages) <= set(all_languages()) and labels[VERSION_LABEL] == version(languages)


def dockerfile(languages: Sequence[str]) -> str:
    """The recipe in Docker's words."""
    steps = [
        BEFORE_PACKAGES,
        "apt-get update",
        "apt-get install -y --no-install-recommends " + " ".join(packages(languages)),
        *finishing_steps(languages),
    ]
    settings = " ".join(f"{name}={value}" for name, value in ENVIRONMENT.items())
    marks = " ".join(f'{name}="{value}"' for name, value in labels(languages).items())
    run = " \\\n && ".join(f"( {step} )" for step in steps)
    return (
        "# Made by `python -m sandbox.images.recipe`; build it with `docker build -t rewardline-box .`\n"
        f"FROM debian:{RELEASE}-slim\nENV {settings}\nLABEL {marks}\nRUN {run}\n"
    )


if __name__ == "__main__":
    sys.stdout.write(dockerfile(sorted(all_languages())))
