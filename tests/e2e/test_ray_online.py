"""A pool and Serve in a real Ray cluster: answers, killed actors, replicas and nodes, and trainers' own reward calls.

Each scenario is a script, because Ray has an environment of its own.
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.e2e.environments import python_of, ray_variables, variables
from tests.ports import free_port

pytestmark = pytest.mark.ray
SCRIPTS = Path(__file__).parent / "ray_online"
VERDICTS = [["ok", 1.0], ["ok", 0.0], ["ok", 0.0]] * 2
NONE_AMISS = {"lost": 0, "twice": 0, "unjudged": 0, "wrong": 0}


def ran(python: Path, script: str, *arguments: object, beside: Sequence[Path] = (), **more: str) -> Any:
    """The JSON of a script's last line. The script sees this repository's service and client, and the modules beside it."""
    done = subprocess.run(
        [python, SCRIPTS / script, *map(str, arguments)],
        env=ray_variables(PYTHONPATH=":".join(map(str, (ROOT / "client", ROOT, *beside))), **more),
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def python() -> Path:
    return python_of("ray")


def test_a_pool_loses_no_row_when_its_actors_and_nodes_are_killed(python: Path) -> None:
    outcome = ran(python, "pool.py")
    assert len(outcome["started"]) == 2
    assert outcome["again"] == outcome["started"]
    for trouble in ("actors", "node"):
        account = outcome[trouble]
        assert account.pop("sent") > 0
        assert account == NONE_AMISS, trouble
    scores = [0.0, 0.0, 0.0, 1.0, 0.0]
    assert outcome["trainer"] == [scores, [*scores, 1.0], [*scores, 1.0]]
    assert not any(each["problems"] for each in outcome["status"].values())
    assert (outcome["stopped"], outcome["left"]) == (sorted(outcome["status"]), {})
    assert "cache_ttl_s" in outcome["refused"]


def test_serve_loses_no_row_when_a_replica_is_killed_or_replaced(python: Path) -> None:
    outcome = ran(python, "serving.py", free_port(), free_port(), free_port(), ROOT / "deploy" / "ray" / "serve.yaml")
    assert outcome["replicas"] == 2
    for way in ("doors", "deployed"):
        for door in ("http", "grpc"):
            assert outcome[way][door] == [*VERDICTS, ["invalid", None]]
            assert outcome[way][f"{door} streamed"] == [[at, score] for at, (_, score) in enumerate(VERDICTS)]
            assert outcome[way][f"{door} verifiers"]
        assert outcome[way]["http refused"] == outcome[way]["grpc refused"] == "InvalidRequest"
    for trouble in ("killed", "rolled out", "rolled out, gRPC", "deployed again"):
        account = outcome[trouble]
        assert account.pop("sent") > 0
        assert account == NONE_AMISS, trouble


def test_verls_reward_loop_gets_its_rewards_from_a_pool(python: Path, tmp_path: Path) -> None:
    verl = python_of("verl")
    subprocess.run([verl, SCRIPTS.parent / "verl" / "tokenizer.py", tmp_path], env=variables(), check=True)
    beside = [SCRIPTS.parent / "verl"]
    outcome = ran(verl, "verl_loop.py", tmp_path, python, beside=beside, VERL_USE_EXTERNAL_MODULES="rewardline.verl")
    expected = [float(at % 9 == 7) for at in range(63)]
    for way in ("manager", "function"):
        assert outcome[way] == expected
        during = outcome[f"{way} with a killed actor"]
        assert len(during) >= 2
        assert all(each == expected for each in during)


def test_openrlhf_and_roll_get_their_rewards_from_a_pool(python: Path) -> None:
    clients = SCRIPTS.parent / "clients"
    beside = [clients, clients / "stand_ins"]
    outcome = ran(python_of("clients"), "clients_rewards.py", python, beside=beside)
    expected = [float(at % 9 == 7) for at in range(63)]
    for trainer in ("OpenRLHF", "ROLL"):
        assert outcome[trainer] == expected
        during = outcome[f"{trainer} with a killed actor"]
        assert len(during) >= 2
        assert all(each == expected for each in during)
