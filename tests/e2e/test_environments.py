"""Protocols of environments, spoken by the packages that define them: NeMo-Gym's agent and OpenEnv's client."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Serve, Served
from tests.e2e.clients.pair_scores import scored
from tests.e2e.environments import NoPython, python_of, variables
from tests.judge_upstream.grader import Grader

SCRIPTS = Path(__file__).parent / "clients"


def run(environment: str, script: str, url: str) -> Any:
    """What the script prints in its last line."""
    try:
        python = python_of(environment)
    except NoPython as error:
        pytest.skip(str(error))
    command = [str(python), str(SCRIPTS / script), url]
    settings = variables(REWARDLINE_URL=url, RAY_AUTH_MODE="disabled")
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.trainers
def test_an_episode_of_openenv_is_an_interaction(served: Served) -> None:
    printed = run("openenv", "openenv_episodes.py", served.url)
    assert printed["episode"] == [["7 times 8?", None, False], [0.0, False, True], [1, "open"], [1.0, True, 1.0]]
    right, wrong, refused = printed["calls"]
    assert (right, wrong) == (1.0, 0.0)
    assert "VALIDATION_ERROR" in refused


@pytest.mark.trainers
@pytest.mark.parametrize("environment", ["nemo-gym", "nemo-gym-0.7"])
def test_rollouts_of_nemo_gyms_agent_are_verified_with_their_calls(serve: Serve, environment: str) -> None:
    printed = run(environment, "nemo_gym_rollouts.py", serve(root_door="nemo_gym", workers="1").url)
    _check_rollouts(printed)


@pytest.mark.trainers
def test_an_environment_server_of_nemo_gym_has_its_episodes_verified(serve: Serve) -> None:
    printed = run("nemo-gym-0.7", "nemo_gym_episodes.py", serve(root_door="nemo_gym", workers="1").url)
    _check_rollouts({way: printed[way]["episodes"] for way in printed})
    for way in ("door", "server"):
        assert printed[way]["typed"] == {
            "right": [1.0, False, None, "stateless"],
            "wrong": [0.0, False, None, "stateless"],
            "invalid": [0.0, True, "rewardline:unparseable_reference", "stateless"],
        }


@pytest.mark.trainers
def test_groups_have_the_rewards_of_nemo_gyms_own_server(serve: Serve, tmp_path: Path) -> None:
    with Grader(lambda said: scored(said["RESPONSE_A"].strip(), said["RESPONSE_B"].strip())) as grader:
        url = serve(judge_file=str(grader.file(tmp_path)), workers="1").url
        printed = run("nemo-gym-0.7", "nemo_gym_groups.py", url)
    for strategy in ("circular", "all_pairs"):
        ours, theirs = printed[strategy]["ours"], printed[strategy]["theirs"]
        assert len(set(theirs["first"])) > 2
        assert ours == {name: pytest.approx(rewards, abs=1e-9) for name, rewards in theirs.items()}, strategy


def _check_rollouts(printed: Any) -> None:
    for way in ("door", "server"):
        rewards = printed[way]
        assert {name.partition("/")[0]: value for name, value in rewards.items() if name.endswith("/calls")} == {
            "right": 1.0,
            "wrong": 0.0,
            "unparsable": 0.0,
            "silent": 0.0,
            "endless": 0.0,
        }
        answers = ("right", "wrong", "unparsable", "silent", "endless")
        assert [rewards[f"{name}/answer"] for name in answers] == [1.0, 0.0, 1.0, 0.0, 0.0]
