"""Makes the files of a release: `python -m deploy.release [--dry-run] [--no-images] [--out FOLDER]`, or `make release DRY=1`.

    pyproject.toml, client/pyproject.toml ──► hatchling     ──► two wheels, two source archives
    requirements/serve.txt                ──► cyclonedx-py  ──► rewardline-server-VERSION.cdx.json
                                          ──► constraints.txt, with which pip installs what was tested
    docs/, proto/, README, CHANGELOG      ──► git archive   ──► rewardline-VERSION-docs.tar.gz
                                          ──► deploy.docs_site ──► rewardline-VERSION-site.tar.gz
    deploy/docker                         ──► deploy.docker.build ──► images with the tag VERSION, images.json, their SBOMs
                                              all of it     ──► SHA256SUMS

Nothing is uploaded and no tag is set: the last line says what comes next. A release is only made of a clean checkout with
a dated section in CHANGELOG.md; a dry run says what stands in the way, goes on, and leaves images out where no
Docker daemon is. Equal commits give equal files. cyclonedx-py is installed by hash (`deploy/release.txt`) into
`.build/release-tools`.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Final

import docker
from docker.errors import DockerException
from docker.utils import kwargs_from_env

from deploy import docs_site, version
from deploy.docs_reference import BrokenExample

ROOT: Final = Path(__file__).parents[1]
PINNED: Final = Path(__file__).with_name("release.txt")
LOCKED: Final = ROOT / "requirements/serve.txt"
DOCUMENTS: Final = (
    "README.md", "README.zh.md", "CHANGELOG.md", "LICENSE", "NOTICE", "docs", "proto", "client/README.md",
)  # fmt: skip
_TOOLS: Final = ROOT / ".build" / "release-tools"
_PATIENCE_S: Final = 3600
"""For one step; the images take longest."""


class NotMade(Exception):
    """The release was not made. The message says why."""


def obstacles(changelog: str, name: str, status: str) -> list[str]:
    """The reasons why this checkout must not be released.

    Args:
        changelog: The text of CHANGELOG.md.
        name: The version.
        status: What `git status --porcelain` printed.
    """
    reasons = [f"{file} names another version; run python -m deploy.version" for file in version.outdated()]
    if not re.search(rf"^## {re.escape(name)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        reasons.append(f"CHANGELOG.md has no section '## {name} (YYYY-MM-DD)'")
    if status:
        reasons.append(f"files are changed or not committed: {', '.join(line[3:] for line in status.splitlines())}")
    return reasons


def distributions(out: Path) -> None:
    """Both wheels and both source archives.

    Raises:
        NotMade: hatchling refuses; its words are the message.
    """
    for folder in (ROOT, ROOT / "client"):
        _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(out), cwd=folder)


def constraints(locked: str) -> str:
    """The pins of a locked file without its hashes, which pip would ask of our own wheels too."""
    pins = re.findall(r"^([\w.-]+==[^\\\n]+?) *\\?$", locked, re.MULTILINE)
    return "".join(f"{pin}\n" for pin in pins)


def bill_of_materials(out: Path) -> None:
    """The packages that the server is installed with, as CycloneDX 1.6.

    Raises:
        NotMade: cyclonedx-py cannot be installed, or refuses.
    """
    python = _TOOLS / "bin/python"
    if not python.exists():
        venv.create(_TOOLS, with_pip=True)
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes")
    _run(str(python), *pip, "--requirement", str(PINNED))
    options = ("--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible", "--validate")
    output = _run(str(python), "-W", "ignore", "-m", "cyclonedx_py", "requirements", *options, str(LOCKED))
    bill: dict[str, Any] = json.loads(output)
    name = version.version()
    bill["metadata"]["component"]["version"] = name
    (out / f"rewardline-server-{name}.cdx.json").write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")


def documents(out: Path) -> None:
    """The documents of the commit, with proto/, in one archive."""
    name = f"rewardline-{version.version()}-docs"
    _run("git", "archive", f"--prefix={name}/", "--output", str(out / f"{name}.tar.gz"), "HEAD", *DOCUMENTS)


def site(out: Path) -> None:
    """The documentation site, in one archive.

    Raises:
        NotMade: a link leads nowhere, or an example has another verdict than it promises.
    """
    name = f"rewardline-{version.version()}-site"
    with tempfile.TemporaryDirectory() as folder:
        try:
            docs_site.make(Path(folder) / name)
        except (docs_site.NotBuilt, BrokenExample) as error:
            raise NotMade(str(error)) from error
        ordered = ("--sort=name", f"--mtime=@{_commit_time()}", "--owner=0", "--group=0", "--numeric-owner")
        _run("tar", *ordered, "--use-compress-program=gzip -n", "-cf", str(out / f"{name}.tar.gz"), "-C", folder, name)


def images(out: Path) -> None:
    """The images in the Docker daemon, with the version as their tag; in the folder, what they are and hold.

    Raises:
        NotMade: there is no Docker daemon, or an image could not be made.
    """
    try:
        with closing(docker.APIClient(version="auto", **kwargs_from_env())) as client:
            _run(sys.executable, "-m", "deploy.docker.build", "--only", "server,box-host", "--sbom-dir", str(out))
            ids = {}
            for image in ("rewardline-server", "rewardline-box-host"):
                client.tag(image, image, version.version())
                image_info = client.inspect_image(image)  # type: ignore[no-untyped-call]  # its stubs have holes
                ids[f"{image}:{version.version()}"] = image_info["Id"]
    except DockerException as error:
        raise NotMade(f"no Docker daemon: {error}") from error
    (out / "images.json").write_text(json.dumps(ids, indent=1) + "\n", encoding="utf-8")


def checksums(out: Path) -> None:
    """SHA256SUMS of all files, in the form of `sha256sum --check`."""
    (out / "SHA256SUMS").write_text("".join(_sums(out)), encoding="utf-8")


def _sums(out: Path) -> Iterator[str]:
    for path in sorted(out.iterdir()):
        if path.name != "SHA256SUMS":
            yield f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"


def make(out: Path, dry: bool, with_images: bool) -> list[str]:
    """Make all files in a new folder.

    Returns:
        The reasons why a dry run is not a release.

    Raises:
        NotMade
    """
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    reasons = obstacles(changelog, version.version(), _run("git", "status", "--porcelain"))
    if reasons and not dry:
        raise NotMade("; ".join(reasons))
    out.mkdir(parents=True)
    distributions(out)
    (out / "constraints.txt").write_text(constraints(LOCKED.read_text(encoding="utf-8")), encoding="utf-8")
    bill_of_materials(out)
    documents(out)
    site(out)
    if with_images:
        try:
            images(out)
        except NotMade as error:
            if not dry:
                raise
            reasons.append(f"no images were made: {error}")
    checksums(out)
    return reasons


def _run(*command: str, cwd: Path = ROOT) -> str:
    """What the command printed.

    Raises:
        NotMade: the command failed; the message is what it said.
    """
    timed = ("env", f"SOURCE_DATE_EPOCH={_commit_time()}", *command)
    try:
        process = subprocess.run(timed, cwd=cwd, capture_output=True, text=True, timeout=_PATIENCE_S)  # noqa: S603 - all of it is ours
    except subprocess.TimeoutExpired as error:
        raise NotMade(f"{' '.join(command)}: did not end in {_PATIENCE_S} s") from error
    if process.returncode:
        raise NotMade(f"{' '.join(command)}: {(process.stdout + process.stderr).strip()[-2000:]}")
    return process.stdout


@cache
def _commit_time() -> str:
    """The time that wheels, archives and the bill of materials name, in seconds since 1970."""
    process = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)  # noqa: S607
    if process.returncode:
        raise NotMade(f"a release is made of a git checkout: {process.stderr.strip()}")
    return process.stdout.strip()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Make the files of a release. Nothing is uploaded.")
    parser.add_argument("--dry-run", action="store_true", help="go on where something stands in the way, and say what")
    parser.add_argument("--no-images", action="store_true", help="of a dry run alone: leave the images out")
    parser.add_argument("--out", type=Path, help="a new folder; default: .build/release/VERSION, made anew")
    options = parser.parse_args(arguments)
    if options.no_images and not options.dry_run:
        parser.error("--no-images is for a dry run: a release has images")
    try:
        name = version.version()
        out: Path = options.out or ROOT / ".build" / "release" / name
        if options.out is None:
            shutil.rmtree(out, ignore_errors=True)
        elif out.exists():
            parser.error(f"{out} is there already; name a new folder")
        reasons = make(out, options.dry_run, not options.no_images)
    except (NotMade, version.BadVersion) as error:
        sys.exit(f"no release was made: {error}")
    sys.stdout.write((out / "SHA256SUMS").read_text(encoding="utf-8"))
    for reason in reasons:
        sys.stdout.write(f"in the way of a release: {reason}\n")
    if not reasons and not options.dry_run:
        sys.stdout.write(f"{out} is release {name}. Next: git tag -a v{name}; upload the files; push the images.\n")


if __name__ == "__main__":
    main()
