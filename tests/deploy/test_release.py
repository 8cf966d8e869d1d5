"""What a release is made of, and that it is only made of what is ready."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from deploy import release
from deploy.version import version
from tests.deploy.engine import ROOT

NEWEST = 13
"""The minor version of the newest Python that is tested."""
READY = f"# Changes\n\n## {version()} (2026-12-01)\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    release.distributions(folder)
    return folder


@pytest.mark.deploy
def test_two_wheels_and_two_source_archives_are_built(built: Path) -> None:
    assert sorted(path.name for path in built.iterdir()) == _distributions()


def _distributions() -> list[str]:
    names = [f"{name}-{version()}" for name in ("rewardline", "rewardline_server")]
    return sorted([f"{name}.tar.gz" for name in names] + [f"{name}-py3-none-any.whl" for name in names])


@pytest.mark.deploy
@pytest.mark.parametrize(("name", "folder"), [("rewardline_server", "."), ("rewardline", "client")])
def test_a_wheel_says_its_version_and_licence_and_has_the_texts(built: Path, name: str, folder: str) -> None:
    with zipfile.ZipFile(built / f"{name}-{version()}-py3-none-any.whl") as archive:
        inside = set(archive.namelist())
        about = f"{name}-{version()}.dist-info"
        told = Parser().parsestr(archive.read(f"{about}/METADATA").decode())
        licence = archive.read(f"{about}/licenses/LICENSE")
    assert (told["Version"], told["License-Expression"]) == (version(), "Apache-2.0")
    assert licence == (ROOT / "LICENSE").read_bytes()
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
    assert {f"{about}/licenses/{file}" for file in project["license-files"]} <= inside
    assert told.get_payload() == (ROOT / folder / "README.md").read_text()
    assert _pythons(told) == {
        f"3.{minor}" for minor in range(int(told["Requires-Python"].removeprefix(">=3.")), NEWEST + 1)
    }
    assert not [path for path in inside if path.startswith(("tests/", "deploy/")) or "__pycache__" in path]


def _pythons(told: Message) -> set[str]:
    """The versions of Python that the classifiers name."""
    names = [str(text).rpartition(" :: ")[2] for text in told.get_all("Classifier", [])]
    return {name for name in names if re.fullmatch(r"3\.\d+", name)}


@pytest.mark.deploy
@pytest.mark.parametrize("name", ["rewardline_server", "rewardline"])
def test_a_source_archive_makes_the_same_wheel(built: Path, tmp_path: Path, name: str) -> None:
    with tarfile.open(built / f"{name}-{version()}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path / f"{name}-{version()}", check=True, capture_output=True)
    wheel = f"{name}-{version()}-py3-none-any.whl"
    assert _contents(tmp_path / wheel) == _contents(built / wheel)


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.deploy
def test_what_ships_of_others_is_named_in_the_notice(built: Path) -> None:
    """A folder of vendored files is named in NOTICE, and has their licence in it."""
    notice = (ROOT / "NOTICE").read_text()
    inside = {name for wheel in built.glob("*.whl") for name in _contents(wheel) if ".dist-info/" not in name}
    assert "verifiers/commitment/lexicon/en.yaml" in inside
    found = (re.match(r"(.*/(?:vendor|vendored|third_party)/[^/]+)/", name) for name in inside)
    vendored = {match[1] for match in found if match is not None}
    assert "service/doors/http/pages/console/vendor/katex" in vendored
    for folder in vendored:
        assert folder in notice
        assert any(name.startswith(f"{folder}/") and "LICEN" in name.upper() for name in inside)


def test_the_clients_licence_is_the_projects() -> None:
    assert (ROOT / "client/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_a_clean_checkout_with_a_dated_section_may_be_released() -> None:
    assert release.obstacles(READY, version(), "") == []


@pytest.mark.parametrize(
    ("changelog", "status", "said"),
    [
        (READY, " M service/errors.py\n?? new.py\n", "service/errors.py, new.py"),
        (READY.replace("2026-12-01", "in preparation"), "", "CHANGELOG.md has no section"),
        (READY.replace(version(), version().replace(".", "x")), "", "CHANGELOG.md has no section"),
        ("", "", "CHANGELOG.md has no section"),
    ],
    ids=["not committed", "not dated", "another version", "nothing"],
)
def test_what_is_not_ready_is_told(changelog: str, status: str, said: str) -> None:
    (told,) = release.obstacles(changelog, version(), status)
    assert said in told


def test_changes_of_this_version_are_told() -> None:
    first = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert re.fullmatch(rf"{re.escape(version())} \((in preparation|\d{{4}}-\d\d-\d\d)\)", first)


def test_nothing_is_made_where_something_is_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "obstacles", lambda *_: ["a reason"])
    with pytest.raises(release.NotMade, match="a reason"):
        release.make(tmp_path / "out", dry=False, with_images=True)
    assert not (tmp_path / "out").exists()


def test_no_release_is_without_images_and_no_folder_is_overwritten(tmp_path: Path) -> None:
    for arguments in (["--no-images"], ["--dry-run", "--out", str(tmp_path)]):
        with pytest.raises(SystemExit) as ended:
            release.main(arguments)
        assert ended.value.code == 2


def test_constraints_are_the_pins_without_hashes() -> None:
    locked = (ROOT / "requirements/serve.txt").read_text()
    lines = release.constraints(locked).splitlines()
    assert len(lines) == len(re.findall("^\\S+==", locked, re.MULTILINE)) > 50
    assert [line for line in lines if "--hash" in line or line.endswith("\\")] == []
    assert any(" ; " in line for line in lines) == (" ; " in locked)


def test_checksums_are_those_of_all_files(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_bytes(name.encode())
    release.checksums(tmp_path)
    release.checksums(tmp_path)
    sums = [f"{hashlib.sha256(name).hexdigest()}  {name.decode()}" for name in (b"a", b"b")]
    assert (tmp_path / "SHA256SUMS").read_text().splitlines() == sums
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.deploy
def test_a_dry_run_makes_all_but_images_and_the_same_each_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("one", "two"):
        release.main(["--dry-run", "--no-images", "--out", str(tmp_path / folder)])
    bill = f"rewardline-server-{version()}.cdx.json"
    made = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert made == sorted(
        [
            *_distributions(),
            "SHA256SUMS",
            "constraints.txt",
            bill,
            *(f"rewardline-{version()}-{what}.tar.gz" for what in ("docs", "site")),
        ]
    )
    sums = (tmp_path / "one" / "SHA256SUMS").read_text()
    assert sums == (tmp_path / "two" / "SHA256SUMS").read_text()
    assert sums in capsys.readouterr().out
    told = json.loads((tmp_path / "one" / bill).read_text())
    assert told["bomFormat"] == "CycloneDX"
    root = told["metadata"]["component"]
    assert (root["name"], root["version"]) == ("rewardline-server", version())
    pins = {line.partition(" ")[0] for line in (tmp_path / "one" / "constraints.txt").read_text().splitlines()}
    assert {f"{each['name']}=={each['version']}" for each in told["components"]} == pins
    with tarfile.open(tmp_path / "one" / f"rewardline-{version()}-docs.tar.gz") as archive:
        assert f"rewardline-{version()}-docs/docs/answers.md" in archive.getnames()
    with tarfile.open(tmp_path / "one" / f"rewardline-{version()}-site.tar.gz") as archive:
        assert f"rewardline-{version()}-site/docs/answers.html" in archive.getnames()
