"""Builds the images of this folder on a Debian machine, without an image registry and without network in the build.

python -m deploy.docker.build [--only server,companions,box-host] [--sbom-dir .build/sbom]

    mmdebstrap ──► rewardline-debian, rewardline-debian-build ──┐
    pip download (hashes checked) ──► wheels ──► context.tar ───┼──► rewardline-server
    python -m sandbox.images.build ──► rewardline-box ──────────┴──► rewardline-box-host
    mmdebstrap ──► rewardline-companions: Redis, HAProxy and Prometheus, for docker-compose.yml

It needs mmdebstrap, root's rights, a Docker daemon, and the first time an index of Python packages. If public images
can be had, you need none of this: `docker build` with the defaults of the Dockerfile gives the same.
"""

import argparse
import contextlib
import io
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import docker
from docker.errors import DockerException
from docker.utils import kwargs_from_env

from deploy.docker import wheels
from deploy.docker.debian import Debian, NotMade, ensure
from deploy.docker.wheels import NoWheels
from sandbox.images import build as boxes
from sandbox.images import recipe

ROOT: Final = Path(__file__).parents[2]
WHEELS: Final = ROOT / ".build" / "wheels"
SBOM: Final = "/usr/share/sbom/rewardline.cdx.json"

BASE: Final = Debian("rewardline-debian", ("ca-certificates", "libstdc++6", "python3"))
BUILD_BASE: Final = Debian("rewardline-debian-build", ("libstdc++6", "python3-pip"))
COMPANIONS: Final = Debian(
    "rewardline-companions",
    ("haproxy", "prometheus", "redis-server"),
    # A volume takes owner and mode from the folder on which it is mounted. The users are those of the public images.
    ("install -d -o 999 -g 999 /data", "install -d -o 65534 -g 65534 /prometheus"),
)
BOX: Final = "rewardline-box"

_FOLDERS: Final = (
    "client/rewardline", "service", "verifiers", "sandbox", "fairness", "memory", "tracing", "deploy/docker",
)  # fmt: skip
_FILES: Final = (
    *("pyproject.toml", "README.md", "LICENSE", "NOTICE", "requirements/serve.txt"),
    *("client/pyproject.toml", "client/README.md", "client/LICENSE"),
)
_PATIENCE_S: Final = 900
_SHOWN_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class Image:
    """One of the two images that the Dockerfile makes."""

    name: str
    target: str
    base: str


SERVER: Final = Image("rewardline-server", "server", BASE.name)
BOX_HOST: Final = Image("rewardline-box-host", "box-host", BOX)


def prepare(client: docker.APIClient) -> bytes:
    """The context for builds: this checkout as it is, with every locked wheel.

    Raises:
        NotMade: the base image for builds could not be made.
        NoWheels: a locked distribution could not be had.
    """
    with _shown(f"{BUILD_BASE.name}, from Debian's packages"):
        ensure(client, BUILD_BASE)
    with _shown("wheels of requirements/serve.txt"):
        wheels.fetch(ROOT / "requirements/serve.txt", WHEELS, _python_of(client, BUILD_BASE.name))
    return context()


def build(client: docker.APIClient, image: Image, prepared: bytes) -> None:
    """Build an image from the prepared context. An older image of the same name loses the name.

    Raises:
        NotMade: the base image could not be made, or a step of the Dockerfile did not succeed.
    """
    if image.base == BASE.name:
        with _shown(f"{BASE.name}, from Debian's packages"):
            ensure(client, BASE)
    lines = client.build(
        fileobj=io.BytesIO(prepared),
        custom_context=True,
        dockerfile="deploy/docker/Dockerfile",
        target=image.target,
        tag=image.name,
        buildargs={"BASE": image.base, "BUILD_BASE": BUILD_BASE.name, "REVISION": _revision()},
        network_mode="none",
        rm=True,
        decode=True,
    )
    _follow(image.name, lines)


def bill_of_materials(client: docker.APIClient, image: str) -> bytes:
    """The CycloneDX document in the image."""
    container = client.create_container(image)["Id"]
    try:
        chunks, _ = client.get_archive(container, SBOM)
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            member = archive.extractfile(archive.getmembers()[0])
            assert member is not None
            return member.read()
    finally:
        client.remove_container(container)


def context() -> bytes:
    """The files that the Dockerfile may see, as a tar archive without times and owners, so that equal contents give
    equal builds.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, path in _sources():
            entry = archive.gettarinfo(path, name)
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname, entry.mode = 0, 0, 0, "", "", 0o644
            with path.open("rb") as file:
                archive.addfile(entry, file)
    return packed.getvalue()


def _sources() -> Iterator[tuple[str, Path]]:
    for name in _FILES:
        yield name, ROOT / name
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield str(path.relative_to(ROOT)), path
    for path in sorted(WHEELS.iterdir()):
        yield f"deploy/docker/wheelhouse/{path.name}", path


def _python_of(client: docker.APIClient, image: str) -> str:
    """The version of the Python interpreter in an image, such as 3.11.2."""
    script = "import platform; print(platform.python_version())"
    container = client.create_container(image, ["python3", "-c", script], network_disabled=True)["Id"]
    try:
        client.start(container)
        client.wait(container)
        output: bytes = client.logs(container, stderr=False)
        return output.decode().strip()
    finally:
        client.remove_container(container, force=True)


def _follow(name: str, lines: Iterable[Mapping[str, Any]]) -> None:
    """Say which step of a Dockerfile runs.

    Raises:
        NotMade: a step did not succeed. The error has the end of its output.
    """
    output: list[str] = []
    for line in lines:
        if "error" in line:
            raise NotMade(f"{line['error']}: {''.join(output[-30:])}")
        text = line.get("stream", "")
        output.append(text)
        if text.startswith("Step "):
            _say(f"{name}: {text.partition(chr(10))[0][:_SHOWN_CHARS].rstrip()}")


def _say(text: str) -> None:
    """Tell who waits what is being done, at once, also if they watch through a pipe."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@contextlib.contextmanager
def _shown(step: str) -> Iterator[None]:
    """Say what begins, and how long it took."""
    _say(f"{step} ...")
    started = time.monotonic()
    yield
    _say(f"{step}: done after {time.monotonic() - started:.0f} s")


def _revision() -> str:
    process = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)  # noqa: S607
    return process.stdout.strip() or "unknown"


def _box_base(client: docker.APIClient, languages: Sequence[str]) -> None:
    if not boxes.is_current(client, BOX, languages):
        with _shown(f"{BOX}, with the languages of programs, from Debian's packages (minutes)"):
            boxes.build(client, BOX, languages)


def main(arguments: Sequence[str] | None = None) -> None:
    every = ("server", "box-host", "companions")
    parser = argparse.ArgumentParser(description="Make the images of the service, without a registry of images.")
    parser.add_argument(
        "--only", default=",".join(every), help=f"names with commas between them, of {', '.join(every)}"
    )
    parser.add_argument("--languages", default="common", help="of the box host's programs: common, all, or names")
    parser.add_argument("--sbom-dir", type=Path, default=ROOT / ".build" / "sbom", help="where bills of materials go")
    options = parser.parse_args(arguments)
    chosen = set(options.only.split(","))
    if unknown := chosen - set(every):
        parser.error(f"no such image: {', '.join(sorted(unknown))}; there are {', '.join(every)}")
    try:
        languages = recipe.languages_named(options.languages)
    except ValueError as error:
        parser.error(str(error))
    try:
        with closing(docker.APIClient(version="auto", timeout=_PATIENCE_S, **kwargs_from_env())) as client:
            _make(client, chosen, languages, options.sbom_dir)
    except (NotMade, NoWheels, boxes.BuildFailed, DockerException) as error:
        sys.exit(f"no image was made: {error}")


def _make(client: docker.APIClient, chosen: set[str], languages: Sequence[str], sbom_dir: Path) -> None:
    if "companions" in chosen:
        with _shown(f"{COMPANIONS.name}, from Debian's packages"):
            ensure(client, COMPANIONS)
    if "box-host" in chosen:
        _box_base(client, languages)
    images = [image for image in (SERVER, BOX_HOST) if image.target in chosen]
    prepared = prepare(client) if images else b""
    for image in images:
        with _shown(image.name):
            build(client, image, prepared)
        sbom_dir.mkdir(parents=True, exist_ok=True)
        (sbom_dir / f"{image.name}.cdx.json").write_bytes(bill_of_materials(client, image.name))


if __name__ == "__main__":
    main()
