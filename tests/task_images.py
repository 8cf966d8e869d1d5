"""An image for repository tasks, made of this machine's own Debian packages without a registry.

It has a shell, coreutils, tar, git, patch and Debian's Python with pytest. Repositories are layers upon it. Another one
has git and patch upon a box image with compilers.
"""

import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import docker

_RECIPE: Final = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
TOOLS_IMAGE: Final = f"rewardline-test-tools:{_RECIPE}"
"""The tag says how it was made, so no image of an earlier recipe is taken for it."""
TOOLCHAINS_IMAGE: Final = "rewardline-test-toolchains"
TOOLCHAINS: Final = ("go", "java", "javascript", "junit", "python", "rust")
_PROGRAMS: Final = (
    "sh", "bash", "git", "patch", "tar", "python3", "env", "cat", "cp", "ls", "mkdir", "mv", "rm", "ln", "chmod", "sleep",
    "touch", "head", "tail", "dd", "grep", "sed", "sort", "id", "test", "true", "false", "timeout", "seq", "tr", "wc", "cut",
    "diff", "find", "xargs", "dirname", "basename", "uname", "kill", "stat",
)  # fmt: skip
_PACKAGES: Final = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")


def ensure_tools_image(client: docker.APIClient) -> str:
    """The tools image; it is made if this daemon has none."""
    if not client.images(TOOLS_IMAGE):
        with tempfile.NamedTemporaryFile(suffix=".tar") as file:
            with tarfile.open(fileobj=file, mode="w") as tree:
                _add_tools(tree)
            file.flush()
            name, _, tag = TOOLS_IMAGE.partition(":")
            client.import_image(file.name, repository=name, tag=tag, changes=["ENV PATH=/usr/bin:/bin"])
    return TOOLS_IMAGE


def ensure_toolchains_image(client: docker.APIClient) -> str:
    """The box image `TOOLCHAINS_IMAGE`, which must be there, with git and patch."""
    of = client.inspect_image(TOOLCHAINS_IMAGE)["Id"].removeprefix("sha256:")[:16]  # type: ignore[no-untyped-call]
    name = f"{TOOLCHAINS_IMAGE}-git:{of}"
    if not client.images(name):
        layer = io.BytesIO()
        with tarfile.open(fileobj=layer, mode="w") as tree:
            for path in ("/usr/bin/git", "/usr/bin/patch"):
                for needed in (path, *_libraries([path])):
                    place = f"{os.path.realpath(os.path.dirname(needed))}/{os.path.basename(needed)}"
                    tree.add(os.path.realpath(needed), place.lstrip("/"), recursive=False, filter=_as_root)
        commit_upon(client, TOOLCHAINS_IMAGE, layer.getvalue(), name)
    return name


def make_repository(
    files: Mapping[str, str],
    folder: Path,
    links: Mapping[str, str] | None = None,
    history: Sequence[Mapping[str, str]] = (),
) -> str:
    """Make a git repository with these files and links; the last commit's id, which is always the same.

    `history` has the files of the commits before it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    for earlier in history:
        write_files(folder, earlier)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "A step")
    write_files(folder, files)
    for path, target in (links or {}).items():
        (folder / path).symlink_to(target)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "The base")
    return git(folder, "rev-parse", "HEAD").strip()


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def git(folder: Path, *command: str) -> str:
    """What git prints."""
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _WHO.items()}
    environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": "/dev/null"}
    return subprocess.run(
        ["git", *command], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


_WHO: Final = {"NAME": "Ann", "EMAIL": "ann@example.org", "DATE": "2026-01-01T00:00:00Z"}


def repository_image(
    client: docker.APIClient,
    files: Mapping[str, str],
    *,
    links: Mapping[str, str] | None = None,
    history: Sequence[Mapping[str, str]] = (),
    workdir: str = "/testbed",
    has_toolchains: bool = False,
) -> tuple[str, str]:
    """An image with a repository of these files; its name and the commit."""
    base = (ensure_toolchains_image if has_toolchains else ensure_tools_image)(client)
    named = (base, sorted(files.items()), links, history, workdir)
    digest = hashlib.sha256(repr(named).encode()).hexdigest()[:16]
    with tempfile.TemporaryDirectory() as folder:
        commit = make_repository(files, Path(folder), links, history)
        name = f"rewardline-test-repository:{digest}"
        if not client.images(name):
            layer = io.BytesIO()
            with tarfile.open(fileobj=layer, mode="w") as tree:
                tree.add(folder, workdir.lstrip("/"), filter=_as_root)
            commit_upon(client, base, layer.getvalue(), name)
    return name, commit


def commit_upon(client: docker.APIClient, base: str, layer: bytes, name: str) -> None:
    """Make an image, whose name has a tag, of another one and a tar."""
    repository, _, tag = name.rpartition(":")
    made = client.create_container(base, ["true"], network_disabled=True)["Id"]
    try:
        client.put_archive(made, "/", layer)
        client.commit(made, repository=repository, tag=tag)
    finally:
        client.remove_container(made, v=True)


def _add_tools(tree: tarfile.TarFile) -> None:
    added: set[str] = set()

    def add(path: str, name: str | None = None) -> None:
        name = name or path
        if name not in added:
            added.add(name)
            tree.add(os.path.realpath(path), name.lstrip("/"), recursive=False, filter=_as_root)

    for folder, mode in (("tmp", 0o1777), ("root", 0o700), ("etc", 0o755), ("dev", 0o755), ("proc", 0o755)):
        member = tarfile.TarInfo(folder)
        member.type, member.mode = tarfile.DIRTYPE, mode
        tree.addfile(member)
    for name, text in (("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"), ("etc/group", "root:x:0:\n")):
        member = tarfile.TarInfo(name)
        member.size = len(text)
        tree.addfile(member, io.BytesIO(text.encode()))
    link = tarfile.TarInfo("bin")
    link.type, link.linkname = tarfile.SYMTYPE, "usr/bin"
    tree.addfile(link)
    for program in _PROGRAMS:
        path = f"/usr/bin/{program}"
        add(path)
        for needed in _libraries([path]):
            add(needed)
    python = "/usr/bin/python3"
    asked = "import sysconfig; print(sysconfig.get_path('stdlib'))"
    library = Path(
        subprocess.run([python, "-I", "-c", asked], check=True, capture_output=True, text=True).stdout.strip()
    )
    for file in _files(library):
        add(str(file))
    for needed in _libraries([str(path) for path in library.glob("lib-dynload/*.so")]):
        add(needed)
    packages = Path(docker.__file__).parents[1]
    add(str(packages / "py.py"), str(library / "py.py"))
    distributions = [path for path in packages.glob("*.dist-info") if path.name.partition("-")[0] in _PACKAGES]
    with tempfile.TemporaryDirectory() as folder:
        for package in (*(packages / name for name in _PACKAGES), *distributions):
            shutil.copytree(package, Path(folder, package.name))
        compile_all = ["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", folder]
        subprocess.run([python, "-I", *compile_all], check=True)
        for file in _files(Path(folder)):
            add(str(file), str(library / file.relative_to(folder)))


def _files(folder: Path) -> Iterator[Path]:
    """The files, and what is compiled of them: or else each container would compile what it imports, for seconds."""
    skipped = {"test", "tests", "idlelib", "tkinter", "config-3.11-x86_64-linux-gnu", "ensurepip"}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not skipped & set(path.relative_to(folder).parts):
            yield path


def _libraries(programs: Sequence[str]) -> set[str]:
    said = subprocess.run(["ldd", *programs], check=False, capture_output=True, text=True).stdout
    return {
        word for line in said.splitlines() for word in line.split() if word.startswith("/") and not word.endswith(":")
    }


def _as_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member
