"""Rewardline on a real cluster of Ray, of several nodes on this machine, whose parts are killed while they work."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import ROOT
from tests.e2e.environments import python_of, ray_variables
from tests.ports import free_port

pytestmark = pytest.mark.ray

SCRIPTS = Path(__file__).parent / "ray"
FILES = 24
ROWS_OF_A_FILE = 100
ROWS = FILES * ROWS_OF_A_FILE


@pytest.fixture(scope="module")
def python() -> Path:
    return python_of("ray")


@pytest.fixture(scope="module")
def rollouts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of one block each."""
    folder = tmp_path_factory.mktemp("rollouts")
    for file in range(FILES):
        rows = range(file * ROWS_OF_A_FILE, (file + 1) * ROWS_OF_A_FILE)
        columns = {
            "row": [*rows],
            "response": [f"So the sum is \\boxed{{{row % 7} + {row}}}." for row in rows],
            "reference": [str(row + 3) for row in rows],
            "right": [row % 7 == 3 for row in rows],
        }
        pq.write_table(pa.table(columns), folder / f"{file:03}.parquet")
    return folder


def ran(python: Path, scenario: str, rollouts: Path, folder: Path) -> Any:
    """What a scenario says at its end."""
    script = [str(python), str(SCRIPTS / "offline.py"), scenario, f"{rollouts}/*.parquet", f"{folder}/out", str(ROWS)]
    done = subprocess.run(
        script,
        env=ray_variables(PYTHONPATH=f"{ROOT}:{ROOT / 'client'}:{SCRIPTS / 'plugin'}"),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("scenario", ["node", "engines", "command"])
def test_whatever_dies_every_row_is_judged_once_and_rightly(
    python: Path, rollouts: Path, tmp_path: Path, scenario: str
) -> None:
    outcome = ran(python, scenario, rollouts, tmp_path)
    assert outcome["codes"] == [0]
    assert 0 < outcome["finished_before"] < FILES, "it died in the middle"
    assert [outcome[name] for name in ("lost", "twice", "unjudged", "wrong", "rows")] == [[], [], [], [], ROWS]
    assert outcome.get("changed", []) == [], "what was finished is not judged again"
    assert outcome.get("killed", 1) >= 1


def test_rows_that_kill_their_engines_cost_their_blocks_alone(python: Path, rollouts: Path, tmp_path: Path) -> None:
    """The verifier `deadly` (ray/plugin) kills the engine that judges row 1234 or row 1400."""
    outcome = ran(python, "deadly", rollouts, tmp_path)
    assert outcome["codes"] == [3], "some rows failed"
    assert outcome["unjudged"] == outcome["to score again"] == [*range(1200, 1300), *range(1400, 1500)]
    assert [outcome[name] for name in ("lost", "twice", "wrong", "rows")] == [[], [], [], ROWS]


def test_a_block_that_cannot_be_read_is_named_and_the_others_are_finished(
    python: Path, rollouts: Path, tmp_path: Path
) -> None:
    shutil.copytree(rollouts, tmp_path / "in")
    with (tmp_path / "in" / "007.parquet").open("r+b") as file:
        file.seek(4)
        file.write(bytes(200))
    command = [str(python), "-m", "service", "score", f"{tmp_path}/in", "-o", f"{tmp_path}/out", "--verifier", "math"]
    done = subprocess.run(
        [*command, "--ray", "local"], env=ray_variables(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr[-3000:]
    assert f"1 of {FILES} blocks" in done.stderr
    assert "007.parquet" in done.stderr
    assert len([*(tmp_path / "out").glob("part-*.parquet")]) == FILES - 1


def test_a_cluster_that_is_not_there_is_a_message(python: Path, rollouts: Path, tmp_path: Path) -> None:
    command = [str(python), "-m", "service", "score", str(rollouts), "-o", f"{tmp_path}/out", "--verifier", "math"]
    for address, message in {
        f"127.0.0.1:{free_port()}": "refused",
        "ray://127.0.0.1:10001": "HOST:PORT of the cluster's head",
        "nonsense": "write local, auto or HOST:PORT",
    }.items():
        done = subprocess.run(
            [*command, "--ray", address], env=ray_variables(), capture_output=True, text=True, check=False
        )
        assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr[-3000:]
        assert message in done.stderr


def test_a_data_set_of_ray_is_judged_in_batches(python: Path, rollouts: Path, tmp_path: Path) -> None:
    script = [python, SCRIPTS / "data_set.py", rollouts]
    done = subprocess.run(script, env=ray_variables(), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"rows": ROWS, "wrong": 0}
