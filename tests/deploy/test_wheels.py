"""The wheels, in empty environments of every Python that they are for: the service serves, the client scores."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from deploy import release
from deploy.version import version
from tests.conftest import Served
from tests.deploy.engine import ROOT
from tests.deploy.test_ci_examples import BAD, GOOD, github
from tests.e2e.environments import NoPython, interpreter, variables
from tests.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.deploy

SERVER = ("3.11", "3.12", "3.13")
CLIENT = ("3.9", "3.10", *SERVER)
_SCORED = """
import sys
from rewardline import Client, __version__
for url in sys.argv[1:]:
    with Client(url) as client:
        results = client.score([{"verifier": "math", "response": each, "reference": "4"} for each in ("4", "5")])
    print(__version__, [result.score for result in results])
"""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a release that are installed."""
    folder = tmp_path_factory.mktemp("dist")
    release.distributions(folder)
    (folder / "constraints.txt").write_text(release.constraints(release.LOCKED.read_text()))
    return folder


def environment(folder: Path, python: str, *what: str) -> Path:
    """The programs of a new environment with nothing but this in it, and what it requires."""
    try:
        command = interpreter(python)
    except NoPython as error:
        pytest.skip(f"NOT INSTALLED: {error}")
    run(*command, "-m", "venv", "--without-pip", str(folder))
    target = ("--python", str(folder / "bin/python"))
    try:
        run(sys.executable, "-m", "uv", "pip", "install", "--quiet", *target, *what)
    except AssertionError:  # uv does not read pip's configuration, which may have to say where the index is
        run(sys.executable, "-m", "pip", *target, "install", "--quiet", *what)
    run(sys.executable, "-m", "uv", "pip", "check", *target)
    return folder / "bin"


def run(*command: str, cwd: Path | None = None, **more: str) -> str:
    """What a command prints, with no variable of ours, and no folder of the checkout at hand."""
    done = subprocess.run(
        command, cwd=cwd or "/", env=variables(**more), capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, f"{command}: {(done.stdout + done.stderr)[-3000:]}"
    return done.stdout


@contextmanager
def serving(program: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """The addresses of the two doors of an installed service."""
    ports = ("--http-port", "0", "--grpc-port", "0", "--sandbox", "none")
    with (
        (folder / "log.jsonl").open("w") as log,
        subprocess.Popen(
            [program, "serve", *ports], cwd=folder, env=variables(), stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            found = re.search(r"HTTP on (\S+) and gRPC on ([^\s,]+)\.", process.stdout.readline())
            assert found, (folder / "log.jsonl").read_text()[-3000:]
            eventually(lambda: httpx.get(f"{found[1]}/readyz", timeout=PATIENCE_S).status_code == 200)
            yield found[1], found[2]
        finally:
            process.terminate()
    assert process.returncode == 0


@pytest.mark.parametrize("python", SERVER)
def test_the_servers_wheel_serves_both_doors_and_judges_at_the_command_line(
    dist: Path, tmp_path: Path, python: str
) -> None:
    wheels = map(str, dist.glob("*.whl"))
    programs = environment(tmp_path / "env", python, "--constraint", str(dist / "constraints.txt"), *wheels)
    with serving(programs / "rewardline", tmp_path) as (http, grpc):
        scored = run(str(programs / "python"), "-c", _SCORED, http, grpc if "://" in grpc else f"grpc://{grpc}")
        metrics = httpx.get(f"{http}/metrics", timeout=PATIENCE_S).text
    assert scored.splitlines() == [f"{version()} [1.0, 0.0]"] * 2
    assert f'rewardline_build_info{{version="{version()}"}}' in metrics
    tried = run(str(programs / "rewardline"), "try", "math", "--response", "\\boxed{\\frac12}", "--reference", "0.5")
    assert "correct" in tried


@pytest.mark.parametrize("extra", ["", "[grpc]"])
@pytest.mark.parametrize("python", CLIENT)
def test_the_clients_wheel_scores(dist: Path, tmp_path: Path, served: Served, python: str, extra: str) -> None:
    (wheel,) = dist.glob(f"rewardline-{version()}-*.whl")
    programs = environment(tmp_path / "env", python, f"rewardline{extra} @ {wheel.as_uri()}")
    address = served.url if not extra else f"grpc://{served.grpc}"
    assert run(str(programs / "python"), "-c", _SCORED, address) == f"{version()} [1.0, 0.0]\n"


def test_it_is_tried_without_installing_as_the_page_says(dist: Path, tmp_path: Path) -> None:
    (line,) = re.findall(r"^(uvx --from dist/.*) serve$", (ROOT / "docs/install.md").read_text(), re.MULTILINE)
    (tmp_path / "dist").symlink_to(dist)
    uvx = shutil.which("uvx", path=str(Path(sys.executable).parent))
    assert uvx
    told = run("sh", "-c", line.replace("uvx", uvx, 1) + " verifiers math", cwd=tmp_path)
    assert "math" in told


def test_the_examples_for_ci_install_and_audit(dist: Path, tmp_path: Path) -> None:
    """The lines of the example, in an environment as its action makes one."""
    (install, audit), settings = github()
    try:
        command = interpreter("3.12")
    except NoPython as error:
        pytest.skip(f"NOT INSTALLED: {error}")
    run(*command, "-m", "venv", str(tmp_path / "env"))
    data = tmp_path / settings["DATA"]
    data.parent.mkdir()
    settings = {**settings, "WHEELS": str(dist), "PATH": f"{tmp_path / 'env/bin'}:/usr/bin:/bin"}
    run("sh", "-ec", install, cwd=tmp_path, PIP_NO_COMPILE="1", **settings)
    data.write_text(json.dumps(GOOD) + "\n")
    run("sh", "-ec", audit, cwd=tmp_path, **settings)
    data.write_text(json.dumps(BAD) + "\n")
    with pytest.raises(AssertionError, match="1 with findings"):
        run("sh", "-ec", audit, cwd=tmp_path, **settings)
    assert len(json.loads((tmp_path / "audit.json").read_text())["findings"]) == 1
