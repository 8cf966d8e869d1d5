"""Makes a box image on a Debian machine, from Debian's packages alone, without an image registry.

python -m sandbox.images.build [--image rewardline-box] [--languages common|all|python,cpp,...] [--if-stale]

It needs mmdebstrap, root, a Docker daemon, and some minutes.
"""

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import docker
from docker.errors import DockerException, ImageNotFound
from docker.utils import kwargs_from_env

from sandbox.images import recipe


class BuildFailed(Exception):
    """No image was made; the message says what is missing or went wrong."""


def build(client: docker.APIClient, image: str, languages: Sequence[str]) -> None:
    """Make an image for boxes of these languages, in some minutes. It replaces an image of the same name.

    Raises:
        BuildFailed: mmdebstrap is missing or failed.
    """
    with tempfile.TemporaryDirectory(prefix="rewardline-image-") as folder:
        archive = Path(folder) / "image.tar"
        _make_archive(archive, languages)
        changes = [f"ENV {name}={value}" for name, value in recipe.ENVIRONMENT.items()]
        changes += [f'LABEL {name}="{value}"' for name, value in recipe.labels(languages).items()]
        client.import_image_from_file(str(archive), repository=image, tag="latest", changes=changes)


def is_current(client: docker.APIClient, image: str, languages: Sequence[str]) -> bool:
    """Whether there is an image of this name, made by the current recipe, for at least these languages."""
    try:
        image_info = client.inspect_image(image)  # type: ignore[no-untyped-call]  # its stubs have holes
    except ImageNotFound:
        return False
    labels = image_info["Config"].get("Labels") or {}
    return recipe.is_current(labels) and set(languages) <= set(labels.get(recipe.LANGUAGES_LABEL, "").split(","))


def _make_archive(archive: Path, languages: Sequence[str]) -> None:
    in_image = 'chroot "$1" sh -ec '
    finish = "\n".join(f"( {step} )" for step in recipe.finishing_steps(languages))
    command = [
        "mmdebstrap",
        "--variant=minbase",
        "--quiet",
        "--include=" + ",".join(recipe.packages(languages)),
        '--aptopt=APT::Install-Recommends "false"',
        # The image becomes one archive at the end, so no single file needs to be synced to the disk before.
        "--dpkgopt=force-unsafe-io",
        *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "locale", "info", "lintian")),
        f"--essential-hook={in_image}{shlex.quote(recipe.BEFORE_PACKAGES)}",
        f"--customize-hook={in_image}{shlex.quote(finish)}",
        recipe.RELEASE,
        str(archive),
    ]
    try:
        subprocess.run(command, check=True)  # noqa: S603 - all of it is ours
    except FileNotFoundError:
        raise BuildFailed("mmdebstrap is needed: apt-get install mmdebstrap") from None
    except subprocess.CalledProcessError as error:
        raise BuildFailed(f"mmdebstrap ended with exit code {error.returncode}") from error


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Make the image that Docker boxes are started from.")
    parser.add_argument("--image", default="rewardline-box")
    parser.add_argument("--languages", default="common", help="common, all, or names with commas between them")
    parser.add_argument("--if-stale", action="store_true", help="do nothing when the image is there and up to date")
    options = parser.parse_args(arguments)
    try:
        languages = recipe.languages_named(options.languages)
    except ValueError as error:
        parser.error(str(error))
    try:
        client = docker.APIClient(version="auto", timeout=600, **kwargs_from_env())
        if options.if_stale and is_current(client, options.image, languages):
            return
        build(client, options.image, languages)
    except (BuildFailed, DockerException) as error:
        sys.exit(f"no image was made: {error}")


if __name__ == "__main__":
    main()
