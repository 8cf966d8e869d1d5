"""Makes Debian images from Debian's packages alone. The images of this folder start from them if no registry is at
hand.

It needs mmdebstrap and root's rights. An image carries the version of its recipe. While that version is the same, the
image is left alone.
"""

import hashlib
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import docker
from docker.errors import ImageNotFound

RELEASE: Final = "bookworm"
VERSION_LABEL: Final = "rewardline.debian.version"

_LEFT_OUT: Final = ("doc", "info", "lintian", "locale", "man")
_CLEANING: Final = (
    "rm -rf /var/cache/apt/* /var/lib/apt/lists/* /var/log/* /var/cache/debconf/* /var/lib/redis /var/lib/prometheus"
)
# No process in these containers can become root by such files anyway: containers run with no_new_privs.
_NO_SETUID: Final = "find / -xdev -perm /6000 -type f -exec chmod ug-s {} +"


class NotMade(Exception):
    """The image could not be made. The message says what is missing or went wrong."""


@dataclass(frozen=True, slots=True)
class Debian:
    """The recipe of an image."""

    name: str
    packages: tuple[str, ...]
    steps: tuple[str, ...] = ()
    """Shell commands that finish the image. They run in it."""

    @property
    def version(self) -> str:
        """The version of the recipe. It changes with everything that goes into the image, except for Debian's own
        updates.
        """
        ingredients = [RELEASE, self.packages, self.steps, _LEFT_OUT, _CLEANING, _NO_SETUID]
        return hashlib.sha256(json.dumps(ingredients).encode()).hexdigest()[:12]


def ensure(client: docker.APIClient, image: Debian) -> None:
    """Make the image, in half a minute, unless it exists.

    Raises:
        NotMade: mmdebstrap is not there or did not succeed.
    """
    if _version_of(client, image.name) == image.version:
        return
    with tempfile.TemporaryDirectory(prefix="rewardline-debian-") as folder:
        archive = Path(folder) / "image.tar"
        _make_archive(archive, image)
        changes = ["ENV LANG=C.UTF-8", f"LABEL {VERSION_LABEL}={image.version}"]
        client.import_image_from_file(str(archive), repository=image.name, tag="latest", changes=changes)


def _version_of(client: docker.APIClient, name: str) -> str | None:
    try:
        image = client.inspect_image(name)  # type: ignore[no-untyped-call]  # its stubs have holes
    except ImageNotFound:
        return None
    version: str | None = (image["Config"].get("Labels") or {}).get(VERSION_LABEL)
    return version


def _make_archive(archive: Path, image: Debian) -> None:
    command = [
        "mmdebstrap",
        "--quiet",
        "--variant=essential",
        "--include=" + ",".join(image.packages),
        '--aptopt=APT::Install-Recommends "false"',
        "--dpkgopt=force-unsafe-io",
        *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _LEFT_OUT),
        *(f"--customize-hook=chroot \"$1\" sh -ec '{step}'" for step in (*image.steps, _CLEANING, _NO_SETUID)),
        RELEASE,
        str(archive),
    ]
    try:
        subprocess.run(command, check=True)  # noqa: S603 - all of it is ours
    except FileNotFoundError:
        raise NotMade("mmdebstrap is needed: apt-get install mmdebstrap") from None
    except subprocess.CalledProcessError as error:
        raise NotMade(f"mmdebstrap ended with exit code {error.returncode}") from error
