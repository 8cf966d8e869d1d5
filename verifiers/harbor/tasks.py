"""Reads the folder of a task, as Harbor lays it out.

    task.toml                 limits, environment, image
    environment/Dockerfile    what the image is built of, with the files beside it
    tests/test.sh             run after the response; writes the reward
    solution/solve.sh         the right response, for audits

Source of the layout: the models of the package `harbor` 0.26, modules models.task.config and models.task.paths.
"""

import base64
import binascii
import io
import os
import re
import tarfile
import tomllib
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from sandbox.workers import worker_function
from verifiers.base import InvalidItem
from verifiers.harbor.reference import MAX_FILES, MAX_TASK_BYTES, Image

Files = Mapping[str, bytes]
"""Content by path below the task's folder."""

_PARTS: Final = ("environment", "tests", "solution")
_SIZE: Final = re.compile(r"(\d+)\s*([MG])i?B?", re.I)
_Size = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^\d{1,9}\s*[MmGg][iI]?[bB]?$")]
_Seconds = Annotated[float, Field(gt=0, le=86_400)]
_Megabytes = Annotated[int, Field(ge=16, le=1_048_576)]
_Env = dict[
    Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")],
    Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")],
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Environment(_Table):
    docker_image: Image | None = None
    os: str = "linux"
    workdir: Annotated[str, StringConstraints(pattern=r"^/[^\x00\n]*$")] | None = None
    memory_mb: _Megabytes | None = None
    memory: _Size | None = None
    storage_mb: _Megabytes | None = None
    storage: _Size | None = None
    gpus: int | None = None
    env: _Env = {}
    healthcheck: Any = None
    mcp_servers: list[Any] = []


class Agent(_Table):
    timeout_sec: _Seconds | None = None
    user: str | int | None = None


class Tests(_Table):
    timeout_sec: _Seconds = 600.0
    env: _Env = {}
    user: str | int | None = None
    environment_mode: str | None = None
    environment: Any = None
    collect: list[Any] = []


class Config(_Table):
    """What of a task.toml is used."""

    environment: Environment = Environment()
    agent: Agent = Agent()
    verifier: Tests = Tests()
    steps: list[Any] | None = None

    @property
    def memory_mb(self) -> int:
        return self.environment.memory_mb or _megabytes(self.environment.memory) or 4096

    @property
    def disk_mb(self) -> int:
        return self.environment.storage_mb or _megabytes(self.environment.storage) or 4096


def config(files: Files) -> Config:
    """The settings of a task that can be judged here.

    Raises:
        InvalidItem: they are broken, or ask for what is not supported.
    """
    if "tests/test.sh" not in files:
        raise InvalidItem("bad_task", "the task has no tests/test.sh")
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    if not folders.isdisjoint(files):
        raise InvalidItem("bad_task", f"{min(folders & set(files))[:200]!r} in the task is a file and a folder")
    try:
        settings = Config.model_validate(tomllib.loads(files.get("task.toml", b"").decode()))
    except (ValueError, RecursionError) as error:
        raise InvalidItem("bad_task", f"task.toml cannot be read: {_first(error)}") from error
    unsupported = _unsupported(settings, files)
    if unsupported:
        raise InvalidItem("unsupported_task", f"the task needs {unsupported}, which this verifier does not have")
    return settings


def _unsupported(config: Config, files: Files) -> str:
    environment, tests = config.environment, config.verifier
    needs = {
        "several steps": config.steps,
        "an operating system other than Linux": environment.os.lower() != "linux",
        "a GPU": environment.gpus,
        "servers for tools (mcp_servers)": environment.mcp_servers,
        "a healthcheck": environment.healthcheck is not None,
        "several containers": any(path.startswith("environment/docker-compose.") for path in files),
        "an environment of its own for the verifier": tests.environment is not None
        or tests.environment_mode not in (None, "shared"),
        "commands that collect files (verifier.collect)": tests.collect,
        "another user than the image's": config.agent.user is not None or tests.user is not None,
        "variables of the machine (${…} in env)": any(
            "${" in value for value in [*environment.env.values(), *tests.env.values()]
        ),
    }
    return next((feature for feature, is_asked in needs.items() if is_asked), "")


def of_folder(root: Path, path: str) -> dict[str, bytes]:
    """The files of a task below the operator's folder. Blocks.

    Raises:
        InvalidItem: there is no such task, or it leads out of the folder.
    """
    top = root.resolve()
    folder = (top / path).resolve()
    if not folder.is_relative_to(top) or folder == top or not folder.is_dir():
        raise InvalidItem("no_task", f"there is no task {path[:200]!r}")
    files: dict[str, bytes] = {}
    total_bytes = 0
    for directory, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            file = Path(directory, name)
            relative = file.relative_to(folder).as_posix()
            if not _is_of_task(relative) or (file.is_dir() and not file.is_symlink()):
                continue
            if file.is_symlink() or not file.is_file():
                raise InvalidItem("bad_task", f"{relative!r} in the task is a link or a device, and no file")
            total_bytes += file.stat().st_size
            _check_size(len(files) + 1, total_bytes)
            files[relative] = file.read_bytes()
    return files


def of_tar(text: str) -> dict[str, bytes]:
    """The files of a task in a tar, plain or compressed by gzip, in base64. One folder around them all is left out.

    Raises:
        InvalidItem: it cannot be read, or has more than files.
    """
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(_plain(base64.b64decode(text, validate=True))), mode="r:") as members:
            for member in members:
                path = os.path.normpath(member.name)
                if member.isdir():
                    continue
                if not member.isreg() or path.startswith(("/", "..")):
                    raise InvalidItem("bad_task", f"{path[:200]!r} in the tar is not a file below the task's folder")
                _check_size(len(files) + 1, member.offset_data + member.size)
                file = members.extractfile(member)
                files[path] = b"" if file is None else file.read()
    except (binascii.Error, ValueError, tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise InvalidItem("bad_task", f"the tar cannot be read: {_first(error)}") from error
    tops = {path.partition("/")[0] for path in files}
    if len(tops) == 1 and "tests/test.sh" not in files:
        files = {path.partition("/")[2]: content for path, content in files.items() if "/" in path}
    return {path: content for path, content in files.items() if _is_of_task(path)}


def part(files: Files, name: str) -> dict[str, bytes]:
    """The files of one folder of a task, by path below that."""
    return {path.removeprefix(f"{name}/"): content for path, content in files.items() if path.startswith(f"{name}/")}


def _is_of_task(path: str) -> bool:
    return path == "task.toml" or path.partition("/")[0] in _PARTS


def _plain(packed: bytes) -> bytes:
    if not packed.startswith(b"\x1f\x8b"):
        return packed
    stream = zlib.decompressobj(wbits=31)
    plain = stream.decompress(packed, 2 * MAX_TASK_BYTES)
    if stream.unconsumed_tail:
        raise InvalidItem("bad_task", f"the task has more than {MAX_TASK_BYTES} bytes")
    return plain


def _check_size(files: int, total_bytes: int) -> None:
    if files > MAX_FILES or total_bytes > MAX_TASK_BYTES:
        raise InvalidItem("bad_task", f"the task has more than {MAX_FILES} files or {MAX_TASK_BYTES} bytes")


def _megabytes(size: str | None) -> int | None:
    """Megabytes of a size such as `2G`."""
    match = None if size is None else _SIZE.fullmatch(size)
    if match is None:
        return None
    return min(max(int(match[1]) * (1024 if match[2].upper() == "G" else 1), 16), 1_048_576)


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        wrong = error.errors()[0]
        return f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}"
    return str(error)[:200]


@worker_function
def of_tar_in_worker(text: str) -> list[Any]:
    """Run `of_tar` in a worker: `[files, message]`; a message says what is wrong."""
    try:
        return [of_tar(text), ""]
    except InvalidItem as error:
        return [{}, str(error)]
