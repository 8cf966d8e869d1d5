"""Virtual environments with real trainers in them, separate from ours and from each other.

`requirements/e2e-<name>.txt` pins the packages of an environment with hashes. It is made from an environment in which
the trainer ran. torch is not in it, because machines without a GPU take their own build of it. Environments lie below
`.build/e2e`, and are made anew when their pins change. torch is installed once, and all environments share its files.

`python -m tests.e2e.environments LANE` makes the environments of a lane before its tests need them.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from tests.conftest import ROOT

TORCH = "torch==2.13.0"
FOLDER = ROOT / ".build" / "e2e"
CLIENT = ROOT / "client"
WITH_SERVER = ("ray",)
"""Environments that run the server, too."""
_BUILD_CLIENT = "import sys, hatchling.build; hatchling.build.build_editable(sys.argv[1])"
"""The client is built by our own environment, so that theirs need no builder. The wheel refers to the folder as it
stands."""
QUICK = ("openenv",)
WITHOUT_TORCH = {
    "openenv": f"{sys.version_info.major}.{sys.version_info.minor}",
    "nemo-gym": "3.12",
    "nemo-gym-0.7": "3.13",
    "harbor": "3.12",
    "sinks": f"{sys.version_info.major}.{sys.version_info.minor}",
    "ray": f"{sys.version_info.major}.{sys.version_info.minor}",
}
"""The Python version of environments that need no torch. NeMo-Gym and Harbor need newer ones than ours may be."""
TAKEN_FOR = {"nemo-gym-0.7": "3.13.14"}
"""The Python version that pip assumes, if an environment's packages ask for it but run with an older one of the same
minor version."""
_PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
"""Options of pip. Modules are not compiled at installation, because most modules of trainers are never imported
here."""
_UV = (sys.executable, "-m", "uv", "pip", "install", "--quiet")


T = TypeVar("T")


class CannotBuild(Exception):
    """An environment could not be made. The message is pip's."""


class NoPython(CannotBuild):
    """This machine has no interpreter of the version that an environment needs."""


def names() -> list[str]:
    return sorted(path.stem.removeprefix("e2e-") for path in _pins())


def python_of(name: str) -> Path:
    """The interpreter of an environment with the packages that its file pins and this repository's client. It is made
    if necessary.

    Raises:
        CannotBuild
    """
    pins = ROOT / "requirements" / f"e2e-{name}.txt"
    folder = FOLDER / name
    python = folder / "bin" / "python"
    with _stale(name, pins.read_bytes(), (CLIENT / "pyproject.toml").read_bytes()) as stale:
        if stale:
            shutil.rmtree(folder, ignore_errors=True)
            if version := WITHOUT_TORCH.get(name):
                _run(*interpreter(version), "-m", "venv", "--clear", str(folder))
            else:
                shutil.copytree(_with_torch(), folder, symlinks=True, copy_function=os.link)
            _install(python, "--require-hashes", "-r", str(pins), taken_for=TAKEN_FOR.get(name))
            with tempfile.TemporaryDirectory() as wheels:
                for distribution in (CLIENT, *_if(name in WITH_SERVER, ROOT)):
                    _run(sys.executable, "-c", _BUILD_CLIENT, wheels, cwd=distribution)
                _install(python, *map(str, Path(wheels).glob("*.whl")))
    return python


def interpreter(version: str) -> list[str]:
    """The command of a Python of this version: ours, one on the PATH, or one of pyenv's.

    Raises:
        NoPython
    """
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [sys.executable, f"python{version}", *map(str, sorted(installed.glob(f"{version}.*/bin/python")))]
    for command in found:
        asked = [command, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
        try:
            output = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        except OSError:
            continue
        if output.strip() == version:
            return [command]
    raise NoPython(f"no Python {version} with venv is installed")


def _with_torch() -> Path:
    """An environment with torch alone, which takes longest."""
    folder = FOLDER / "torch"
    with _stale("torch") as stale:
        if stale:
            _run(sys.executable, "-m", "venv", "--clear", str(folder))
            _run(str(folder / "bin" / "python"), *_PIP, TORCH)
    return folder


def _install(python: Path, *what: str, taken_for: str | None = None) -> None:
    """Install with uv. If uv does not find the index, pip installs: uv does not read pip's configuration."""
    try:
        _run(*_UV, "--python", str(python), *_if(taken_for, "--python-version", str(taken_for)), "--no-deps", *what)
    except CannotBuild:
        _run(str(python), *_PIP, *_if(taken_for, "--ignore-requires-python"), "--no-deps", *what)


def _if(condition: object, *options: T) -> tuple[T, ...]:
    return options if condition else ()


def _pins() -> list[Path]:
    return sorted((ROOT / "requirements").glob("e2e-*.txt"))


@contextmanager
def _stale(name: str, *made_of: bytes) -> Iterator[bool]:
    """Whether an environment must still be made from this. Inside the block no other process makes it."""
    stamp = FOLDER / f"{name}.stamp"
    state = hashlib.sha256(b"".join((*made_of, TORCH.encode(), sys.version.encode()))).hexdigest()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stale = not stamp.exists() or stamp.read_text() != state
        if stale:
            stamp.unlink(missing_ok=True)
        yield stale
        stamp.write_text(state)


def variables(**more: str) -> dict[str, str]:
    """Environment variables for programs in an environment: none of this process's settings, and no hub, which tests
    never need.
    """
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("REWARDLINE_", "PYTHON", "VIRTUAL_"))
    }
    offline = {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "WANDB_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    return kept | offline | {"TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": ""} | more


def ray_variables(**more: str) -> dict[str, str]:
    """Those of programs that use Ray, and this repository. A busy machine takes longer than Ray expects to start its
    processes, and it does not put them behind all others.
    """
    ours = {
        "PYTHONPATH": f"{ROOT}:{CLIENT}",
        "REWARDLINE_SANDBOX": "none",
        "RAY_AUTH_MODE": "disabled",
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
        "RAY_worker_niceness": "0",
        "RAY_raylet_start_wait_time_s": "300",
        "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "300",
        "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "300",
        "RAY_TMPDIR": f"/tmp/rewardline-{os.getpid()}",
    }
    return variables(**(ours | more))


def _run(*command: str, cwd: Path = ROOT) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotBuild(f"{' '.join(command)}: {(done.stdout + done.stderr)[-3000:]}")


if __name__ == "__main__":
    chosen = {"quick": QUICK, "ray": ("ray",)}.get(sys.argv[1]) or names()
    for each in chosen:
        with suppress(NoPython):
            python_of(each)
