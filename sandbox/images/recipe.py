"""The recipe of a box image: Debian's packages for some languages, and the steps that finish it.

There is one recipe and two ways to follow it. `sandbox.images.build` needs no image registry; the Dockerfile beside
this file is for places that have one. An image carries the version of its recipe, so that an image made by an older
recipe is noticed.
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
"""The Debian release. Its Python runs the judged programs."""

COMMON: Final = ("bash", "c", "cpp", "go", "java", "javascript", "python", "rust", "typescript")
"""The languages of the usual image, which has one and a half gigabytes. All languages together have six."""

LANGUAGES_LABEL: Final = "rewardline.box.languages"
VERSION_LABEL: Final = "rewardline.box.version"
ENVIRONMENT: Final = {"LANG": "C.UTF-8", "TZ": "UTC"}

BEFORE_PACKAGES: Final = "mkdir -p /usr/share/man/man1"
"""Java's packages make links in this folder, and fail when a slim base does not have it."""

_BASE_PACKAGES: Final = ("libc6", "python3-minimal")
_NOT_NEEDED: Final = (
    "rm -rf /usr/share/doc /usr/share/man /usr/share/info /usr/share/locale /usr/share/lintian /usr/share/bug",
    "rm -rf /var/cache/apt/* /var/lib/apt/lists/* /var/log/* /var/cache/debconf/*",
    # The libraries' own tests, and files that only Java's linker and developers of Go itself use.
    "rm -rf /usr/lib/python3/dist-packages/*/tests /usr/lib/python3/dist-packages/*/*/tests",
    "rm -rf /usr/lib/jvm/*/jmods /usr/share/go-*/src/cmd /usr/share/go-*/test /usr/share/go-*/api",
    "find / -xdev -path '*/go-*' -name '*_test.go' -delete",
)
# Defence in depth: they give no privileges in a box anyhow, because no_new_privs is set before programs start.
_NO_SETUID: Final = "find / -xdev -perm /6000 -type f -exec chmod ug-s {} +"
_PRECOMPILED_HEADER: Final = f"cd /usr/include/*/c++/* && {shlex.join(PRECOMPILE)}"


def languages_named(text: str) -> list[str]:
    """The languages that a text names: `common`, `all` (what Debian has), or names with commas between them.

    Raises:
        ValueError: there is no such language, or Debian has no package for it.
    """
    of_debian = sorted(name for name, language in all_languages().items() if language.packages)
    names = {"all": of_debian, "common": list(COMMON)}.get(text) or sorted(text.split(","))
    if unknown := set(names) - set(of_debian):
        raise ValueError(
            f"no such language: {', '.join(sorted(unknown))}; there are common, all, {', '.join(of_debian)}"
        )
    return names


def packages(languages: Sequence[str]) -> list[str]:
    """The Debian packages for these languages. Boxes always need Python."""
    languages_by_name = all_languages()
    package_names = set(_BASE_PACKAGES)
    for name in languages:
        package_names.update(languages_by_name[name].packages)
    return sorted(package_names)


def finishing_steps(languages: Sequence[str]) -> list[str]:
    """Shell commands to run in the image after the packages are installed."""
    precompile = [_PRECOMPILED_HEADER] if "cpp" in languages else []
    return [*precompile, *_NOT_NEEDED, _NO_SETUID]


def labels(languages: Sequence[str]) -> dict[str, str]:
    return {LANGUAGES_LABEL: ",".join(sorted(languages)), VERSION_LABEL: version(languages)}


def version(languages: Sequence[str]) -> str:
    """Changes with everything that goes into the image, except Debian's own updates."""
    ingredients = [RELEASE, ENVIRONMENT, packages(languages), finishing_steps(languages)]
    return hashlib.sha256(json.dumps(ingredients).encode()).hexdigest()[:12]


def is_current(labels: Mapping[str, str]) -> bool:
    """Whether an image with these labels was made by this recipe.

    An image without a version is the user's own, and accepted.
    """
    if VERSION_LABEL not in labels:
        return True
    languages = labels.get(LANGUAGES_LABEL, "").split(",")
    return set(languages) <= set(all_languages()) and labels[VERSION_LABEL] == version(languages)


def dockerfile(languages: Sequence[str]) -> str:
    """The recipe as a Dockerfile."""
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
    sys.stdout.write(dockerfile(COMMON))
