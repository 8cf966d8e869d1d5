"""Writes the version where a file cannot read it: `python -m deploy.version [NEW]`.

    client/rewardline/version.py ──► both distributions, when they are built, and `rewardline.__version__`
                                 ──► by this program: the Dockerfile, the Helm chart, the overlays, a page of docs

With NEW, the version becomes that first. `python -m deploy.kubernetes.render` comes next: it makes the files of the chart.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = "client/rewardline/version.py"
_TAG: Final = r"(?<=, newTag: )[\d.]+(?=\}$)"
"""Of our images; the tag of Redis has the name of a Debian release behind it."""
FOLLOWERS: Final[Mapping[str, str]] = {
    "deploy/docker/Dockerfile": r"(?<=^ARG VERSION=)[\d.]+$",
    "deploy/helm/rewardline/Chart.yaml": r"(?<=ersion: )[\d.]+$",
    "deploy/kubernetes/overlays/dev/kustomization.yaml": _TAG,
    "deploy/kubernetes/overlays/prod/kustomization.yaml": _TAG,
    "docs/deploy-kubernetes.md": r"(?<=under the tag `)[\d.]+(?=`)",
}
"""The files that name the version, each with the pattern of its places."""
_ASSIGNED: Final = r'(?<=^__version__ = ")[\d.]+(?="$)'


class BadVersion(Exception):
    """The version cannot be read or written. The message says where and why."""


def version(root: Path = ROOT) -> str:
    """The version of this checkout.

    Raises:
        BadVersion: the file does not say it.
    """
    match = re.search(_ASSIGNED, (root / SOURCE).read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise BadVersion(f'{SOURCE}: expected one line __version__ = "1.2.3"')
    return match[0]


def outdated(root: Path = ROOT) -> list[str]:
    """The files that name another version, or none where they should."""
    current = {version(root)}
    return [name for name, pattern in FOLLOWERS.items() if set(_places(root / name, pattern)) != current]


def write(new: str, root: Path = ROOT) -> None:
    """Make a version that of the checkout, and of all that follows it.

    Raises:
        BadVersion: it is not of the form 1.2.3, which wheels, Helm and image tags all take.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", new):
        raise BadVersion(f"{new!r} is not a version; expected three numbers, such as 1.2.3")
    for name, pattern in {SOURCE: _ASSIGNED, **FOLLOWERS}.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(pattern, new, text, flags=re.MULTILINE), encoding="utf-8")


def _places(path: Path, pattern: str) -> list[str]:
    return re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write the version where a file cannot read it.")
    parser.add_argument("new", nargs="?", help="the new version; default: it stays what it is")
    try:
        write(parser.parse_args(arguments).new or version())
    except BadVersion as error:
        sys.exit(str(error))
    sys.stdout.write(f"{version()}\n")


if __name__ == "__main__":
    main()
