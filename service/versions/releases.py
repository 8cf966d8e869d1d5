"""Other releases of this server, each from a wheel of its own, in a process with workers of its own.

    DIR/rewardline_server-0.1.0-py3-none-any.whl      runs with the packages of this environment
    DIR/rewardline-0.1.0-py3-none-any.whl             its client, which the server imports
    DIR/0.1.0/bin/python                              or a virtual environment with packages of its own

Nothing is downloaded. A release is asked over HTTP on loopback, with a key that only this process knows: the contract of
HTTP is what releases have in common.
"""

import asyncio
import contextlib
import os
import re
import secrets
import signal
import sys
import tempfile
import zipfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml
from pydantic import SecretStr

from service.settings import Settings
from tracing.lines import Log

log = Log("rewardline")

_WHEEL: Final = re.compile(r"rewardline_server-([0-9][A-Za-z0-9.+!_]*?)-py3-none-any\.whl")
VERSION: Final = r"[0-9][A-Za-z0-9.+!_]{0,63}"
"""The form of a version. It names a folder or a wheel, and callers may name it."""
_ANNOUNCED: Final = re.compile(rb"serves HTTP on (http://\S+) ")
_START_S: Final = 120.0
_STOP_S: Final = 20.0
_MAX_COMPLAINT_CHARS: Final = 500
_KEY_NAME: Final = "release"
_NOT_HANDED_ON: Final = re.compile(
    r"host|http_port|grpc_port|ops_.*|api_keys|keys_file|allow_.*|tls_.*|oidc_.*|audit_.*|redis_url|releases_dir|pins_dir|receipt.*"
)
"""Settings of the doors, of what is recorded or shared with other replicas, and of other releases. The others decide how a
release judges. Without Redis it takes no background jobs."""
_BOOT: Final = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 15)  # SIGTERM when the parent ends
from service.settings import Settings
import yaml
path = sys.argv.pop()
with open(path) as file:
    given = yaml.safe_load(file)
with open(path, "w") as file:
    yaml.safe_dump({name: value for name, value in given.items() if name in Settings.model_fields}, file)
unknown = sorted(given.keys() - Settings.model_fields)
if unknown:
    print("settings that this release does not know:", ", ".join(unknown), file=sys.stderr)
from service.__main__ import main
main()
"""


class Running(NamedTuple):
    """A release that runs."""

    url: str
    key: str
    """What it takes."""
    process: asyncio.subprocess.Process

    @property
    def has_ended(self) -> bool:
        return self.process.returncode is not None


class NoRelease(Exception):
    """A release cannot be had, or does not start. The message says why."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release that can be started."""

    version: str
    python: Path
    wheels: tuple[Path, ...] = ()
    """What is put before the packages of the interpreter."""


def wheel(path: Path) -> Release:
    """The release in a wheel of the server, with the client of the same version if it is beside it.

    Raises:
        NoRelease
    """
    match = _WHEEL.fullmatch(path.name)
    if match is None or not path.is_file():
        raise NoRelease(f"{path} is not a wheel of the server (rewardline_server-VERSION-py3-none-any.whl)")
    client = path.with_name(path.name.replace("rewardline_server", "rewardline", 1))
    return Release(match[1], Path(sys.executable), (path, client) if client.is_file() else (path,))


def find(folder: Path | None, version: str) -> Release:
    """The release of this version in a folder.

    Raises:
        NoRelease: it is not there. The message says what is.
    """
    if not re.fullmatch(VERSION, version):
        raise NoRelease(f"{version[:64]!r} is not the version of a release")
    if folder is None:
        raise NoRelease(f"release {version} is not at hand: no folder of releases is set (releases_dir)")
    python = folder / version / "bin" / "python"
    if python.is_file():
        return Release(version, python)
    for path in folder.glob("rewardline_server-*.whl"):
        match = _WHEEL.fullmatch(path.name)
        if match is not None and match[1] == version:
            return wheel(path)
    available = ", ".join(sorted(path.name for path in folder.glob("rewardline_server-*.whl"))) or "no wheel"
    raise NoRelease(f"{folder} holds no release {version}; it holds {available}")


@asynccontextmanager
async def running(release: Release, settings: Settings) -> AsyncIterator[Running]:
    """Run a release with these settings. Leaving the block ends it.

    Raises:
        NoRelease: it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="rewardline-release-") as folder:
        folder_path, key = Path(folder), secrets.token_urlsafe(32)
        try:
            for path in release.wheels:
                with zipfile.ZipFile(path) as packed:
                    await asyncio.to_thread(packed.extractall, folder_path / "packages")
        except (OSError, zipfile.BadZipFile) as error:
            raise NoRelease(f"{path}: {error}") from error
        config = folder_path / "config.yaml"
        config.write_text(yaml.safe_dump({**handed_on(settings), "api_keys": {_KEY_NAME: key}}))
        options = ("--host", "127.0.0.1", "--http-port", "0", "--grpc-port", "0", "--config", str(config))
        process = await asyncio.create_subprocess_exec(
            *(str(release.python), "-P", "-c", _BOOT, "serve", *options, str(config)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(folder_path / "packages" if release.wheels else None),
            start_new_session=True,
        )
        complaints = asyncio.create_task(_last_lines(process.stderr))
        reading: list[asyncio.Task[list[bytes]]] = [complaints]
        try:
            url = await _announced(release, process, complaints)
            reading.append(asyncio.create_task(_last_lines(process.stdout)))
            yield Running(url, key, process)
        finally:
            await _end(process)
            await asyncio.gather(*reading)


def handed_on(settings: Settings) -> dict[str, Any]:
    """The settings that somebody has set and that decide how items are judged, as a file holds them."""
    return {
        name: _plain(getattr(settings, name))
        for name in sorted(settings.model_fields_set)
        if not _NOT_HANDED_ON.fullmatch(name)
    }


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(member) for member in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _environment(packages: Path | None) -> dict[str, str]:
    """The environment without settings, which are in the file, and with the packages of the release first."""
    environment = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 - it is handed on, not read
        if not name.startswith(("REWARDLINE_", "PYTHON"))
    }
    return environment if packages is None else {**environment, "PYTHONPATH": str(packages)}


async def _announced(
    release: Release, process: asyncio.subprocess.Process, complaints: "asyncio.Task[list[bytes]]"
) -> str:
    """The URL of a release, once its port answers."""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_START_S):
            while line := await process.stdout.readline():
                if match := _ANNOUNCED.search(line):
                    return match[1].decode()
    except TimeoutError as error:
        raise NoRelease(f"release {release.version} does not answer after {_START_S:g} s") from error
    complaint = b"\n".join(await complaints).decode(errors="replace").strip()[-_MAX_COMPLAINT_CHARS:]
    raise NoRelease(f"release {release.version} does not start: {complaint or 'it ended without a word'}")


async def _last_lines(pipe: asyncio.StreamReader | None) -> list[bytes]:
    """The last lines of a pipe. It is read to its end, so that the process never waits for a reader."""
    assert pipe is not None
    ending = b""
    while part := await pipe.read(65_536):
        ending = (ending + part)[-_MAX_COMPLAINT_CHARS:]
    return ending.splitlines()


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_S):
                await process.wait()
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
