"""One file says the version; what cannot read it there follows by a program."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import rewardline

from deploy import version
from tests.deploy.engine import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Of the repository, the files that name the version."""
    for name in (version.SOURCE, *version.FOLLOWERS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_what_names_the_version_names_the_one_of_this_checkout() -> None:
    assert version.outdated() == []
    assert rewardline.__version__ == version.version()


@pytest.mark.parametrize("folder", [".", "client"])
def test_both_distributions_have_it(folder: str) -> None:
    command = [sys.executable, "-m", "hatchling", "metadata", "version"]
    told = subprocess.run(command, cwd=ROOT / folder, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == version.version()


def test_a_new_version_is_written_everywhere_and_nothing_else_is(checkout: Path) -> None:
    version.write("12.0.34", checkout)
    assert version.version(checkout) == "12.0.34"
    assert version.outdated(checkout) == []
    for name in (version.SOURCE, *version.FOLLOWERS):
        before, after = (root / name for root in (ROOT, checkout))
        assert after.read_text() == before.read_text().replace(version.version(), "12.0.34")


@pytest.mark.parametrize("name", version.FOLLOWERS)
def test_a_file_that_names_another_version_or_none_is_told(checkout: Path, name: str) -> None:
    text = (checkout / name).read_text()
    for instead in ("9.9.9", ""):
        (checkout / name).write_text(text.replace(version.version(), instead))
        assert version.outdated(checkout) == [name]


@pytest.mark.parametrize("new", ["", "1.2", "v1.2.3", "1.2.3rc1", "1.2.3\n", "latest"])
def test_what_wheels_charts_or_tags_would_not_take_is_refused(checkout: Path, new: str) -> None:
    with pytest.raises(version.BadVersion, match="expected three numbers"):
        version.write(new, checkout)
    assert version.version(checkout) == version.version()
