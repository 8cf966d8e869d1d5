"""Trainers' own code, from the package index, with our hooks and doors; and where the index has none, stand-ins for them.

Each script runs in the environment of these packages and prints what the trainer saw.
"""

import functools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Served
from tests.e2e.environments import python_of, variables

pytestmark = pytest.mark.trainers

SCRIPTS = Path(__file__).parent / "clients"
STAND_INS = SCRIPTS / "stand_ins"
ALTERNATING = [0.0, 1.0]


@functools.lru_cache
def run(script: str, url: str, *arguments: str, stand_ins: bool = False, environment: str = "clients") -> Any:
    """What the script prints in its last line."""
    path = {"PYTHONPATH": str(STAND_INS)} if stand_ins else {}
    settings = variables(REWARDLINE_URL=url, RAY_AUTH_MODE="disabled", **path)
    command = [str(python_of(environment)), str(SCRIPTS / script), url, *arguments]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return {**json.loads(done.stdout.splitlines()[-1]), "said": done.stdout + done.stderr}


def test_openrlhf_trains_on_our_file_and_on_our_door(served: Served) -> None:
    told = run("openrlhf_executor.py", served.url)
    for name, reward, score in (("right", 1.0, 1.0), ("wrong", 0.0, 0.0), ("shaped", -1.0, 0.0), ("filled", -1.0, 0.0)):
        assert told[name]["reward"] == [reward]
        assert told[name]["score"] == score
    assert told["filled"]["logs"]["failed"] == [1.0]
    assert set(told["filled"]["logs"]) == set(told["right"]["logs"])
    for name in ("cut_prompt", "label", "named", "named_recipe", "door_right", "example"):
        assert told[name]["reward"] == [1.0]
    assert told["responses"] == [" four"] * 5 + ["ValueError"]
    assert told["door_wrong"]["reward"] == [0.0]
    assert [each["reward"] for each in told["doors"]] == [[1.0], [0.0]]
    assert told["together"] == ALTERNATING * 32
    assert told["called"] == [[1.0], [0.0], [0.0]]


def test_openrlhf_gets_no_number_for_what_was_not_judged_and_the_log_says_why(served: Served) -> None:
    told = run("openrlhf_executor.py", served.url)
    assert (told["lost"], told["invalid"]) == (None, None)
    said = [line for line in told["said"].splitlines() if line.startswith("no reward, and OpenRLHF cannot do without")]
    assert any("unreachable" in line for line in said)
    assert any("bad_reference" in line for line in said)


def test_openrlhf_plays_several_turns_whose_rewards_add_up(served: Served) -> None:
    turns = run("openrlhf_executor.py", served.url)["turns"]
    logs = {"failed": 0.0, "invalid": 0.0, "acc": 1.0}
    assert turns["solved"] == {"reward": 1.0, "score": 1.0, "turns": 2, "logs": logs, "asked": 2}
    assert turns["example"] == turns["solved"]
    assert (turns["exhausted"]["reward"], turns["exhausted"]["turns"], turns["exhausted"]["asked"]) == (0.0, 3, 3)
    assert (turns["added"]["reward"], turns["last"]["reward"]) == (2.0, 1.0)
    assert (turns["lost"], turns["invalid"]) == ("FailedItems", "InvalidItems")
    assert (turns["filled"]["reward"], turns["filled"]["logs"]["failed"]) == (-1.0, 1.0)
    assert turns["together"] == [2] * 32
    assert (turns["called"]["reward"], turns["called"]["turns"]) == (1.0, 2)


def test_areal_rejects_what_was_not_judged_in_its_pool_and_awaited(served: Served) -> None:
    told = run("areal_workflows.py", served.url)
    for way in ("pooled", "awaited"):
        outcomes = told[way]
        assert (outcomes["right"], outcomes["wrong"], outcomes["routed"]) == (
            [True, [1.0]],
            [True, [0.0]],
            [True, [1.0]],
        )
        assert (outcomes["lost"], outcomes["invalid"]) == ("FailedItems", "InvalidItems")
        assert [rewards[0] for _, rewards in outcomes["together"]] == ALTERNATING * 32
    assert (told["named"], told["found"], told["example"]) == (1.0, True, [True, [1.0]])


def test_skyrl_plays_one_turn(served: Served) -> None:
    told = run("skyrl_environments.py", served.url)
    for name, reward in (
        ("right", 1.0),
        ("wrong", 0.0),
        ("routed", 1.0),
        ("composed", 0.5),
        ("filled", -1.0),
    ):
        assert told[name]["steps"] == [{"observations": [], "reward": reward, "done": True}]
    assert told["composed"]["metrics"]["math"] == 1.0
    assert (told["lost"], told["invalid"]) == ("FailedItems", "InvalidItems")
    assert told["registered"] == [1.0, 0.0]
    assert told["limited"]["steps"] == told["wrong"]["steps"]
    assert told["together"] == ALTERNATING * 32
    assert told["aggregated"]["score"] == 0.5
    assert (told["aggregated"]["failed"], told["filled"]["metrics"]["failed"]) == (0.0, 1.0)


def test_skyrl_plays_several_turns_whose_rewards_add_up(served: Served) -> None:
    told = run("skyrl_environments.py", served.url)
    first, second = told["solved"]["steps"]
    assert (first["reward"], first["done"], second) == (0.0, False, {"observations": [], "reward": 1.0, "done": True})
    assert [message["role"] for message in first["observations"]] == ["user"]
    assert [step["done"] for step in told["exhausted"]["steps"]] == [False, False, True]
    assert [step["reward"] for step in told["added"]["steps"]] == [1.0, 0.0, 1.0]
    assert [step["reward"] for step in told["last"]["steps"]] == [1.0, -1.0, 1.0]
    assert told["added"]["metrics"]["score"] == 2.0
    assert (told["several_lost"], told["several_invalid"]) == ("FailedItems", "InvalidItems")
    assert told["several_filled"]["steps"] == [{"observations": [], "reward": -1.0, "done": True}]
    assert told["several_together"] == [3, 1] * 32
    assert told["forgotten"] == told["solved"]
    assert (told["called"], told["called_later"]) == ([1.0, 0.0, 0.0], [0.0, 1.0])
    assert told["example"] == [1.0, 0.0]


def test_verifiers_has_an_error_on_the_trace_and_no_number_for_what_was_not_judged(served: Served) -> None:
    told = run("verifiers_tasks.py", served.url)
    right, wrong = told["right"], told["wrong"]
    assert (right["rewards"], wrong["rewards"]) == ({"verified": 1.0}, {"verified": 0.0})
    assert set(right["metrics"]) == set(wrong["metrics"]) >= {"rewardline_score", "rewardline_failed"}
    assert right["info"]["rewardline"]["reason"] == "correct"
    assert right["errors"] == []
    for name in ("lost", "invalid"):
        assert (told[name]["rewards"], told[name]["errors"]) == ({"verified": None}, ["TaskError"])
    assert told["plugged"]["rewards"] == {"ours": 0.5}
    assert [trace["rewards"] for trace in told["example"]] == [{"verified": 1.0}] * 2
    assert [trace["rewards"]["verified"] for trace in told["together"]] == ALTERNATING * 32


def test_verifiers_hands_on_what_a_model_calls(served: Served) -> None:
    told = run("verifiers_tasks.py", served.url)
    rewards = [trace["rewards"]["verified"] for trace in told["called"]]
    assert rewards == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert told["answered"]["rewards"] == {"verified": 1.0}
    assert (told["unanswered"]["rewards"], told["unanswered"]["errors"]) == ({"verified": None}, ["TaskError"])


def test_the_older_rubric_cannot_make_a_number_of_what_was_not_judged(served: Served) -> None:
    told = run("verifiers_tasks.py", served.url)
    assert (told["rubric"], told["rubric_messages"]) == (1.0, 0.0)
    assert told["rubric_lost"] == told["rubric_invalid"] == [False, "Unjudged"]


def test_a_worker_of_roll_returns_what_survives_half_precision(served: Served) -> None:
    told = run("roll_workers.py", served.url, stand_ins=True)
    assert told["method"] == [True, "DP_MP_COMPUTE"]
    assert told["ranks"] == [3, 8]
    for name, rewards, scores in (
        ("judged", [1.0, 0.0], [1.0, 0.0]),
        ("routed", [1.0, 0.0], [1.0, 0.0]),
        ("marked", [1.0, 0.0], [1.0, 0.0]),
        ("by_tag", [1.0, -1.0], [1.0, 0.0]),
        ("empty", [], []),
        ("filled", [-1.0, -1.0], [-1.0, -1.0]),
    ):
        assert (told[name]["response_level_rewards"], told[name]["scores"]) == (rewards, scores)
        assert (told[name]["kinds"], told[name]["shape"]) == (["torch.float16"], True)
    assert told["held"] == [[True, pytest.approx(0.7, abs=1e-3)], [False, 1.0], "OverflowError"]
    assert told["together"] == ALTERNATING * 64
    assert told["example"][0]["scores"] == [1.0]


def test_a_worker_of_roll_has_an_explicit_policy_for_failures(served: Served) -> None:
    told = run("roll_workers.py", served.url, stand_ins=True)
    assert (told["lost"], told["invalid"]) == ("FailedItems", "InvalidItems")
    assert told["filled"]["metrics"]["rewardline/failed"] == 1.0
    assert told["judged"]["metrics"]["rewardline/failed"] == 0.0
    assert (told["unknown_option"], told["abstain"], told["both"]) == ("TypeError", "ValueError", "ValueError")
    assert told["no_tag"] == "ValueError"
    assert told["code_example"] == ["InvalidItems"]


def test_an_environment_of_nemo_rl_is_an_actor_whose_failures_are_the_infrastructures(served: Served) -> None:
    told = run("nemo_rl_environments.py", served.url, stand_ins=True)
    judged = told["judged"]
    assert (judged["rewards"], judged["done"], judged["answers"]) == ([1.0, 0.0], [1.0, 1.0], ["4", "5"])
    assert judged["observations"] == ["Environment: correct", "Environment: incorrect"]
    assert judged["lengths"] == [2]
    assert (told["routed"]["rewards"], told["empty"]["rewards"]) == ([1.0], [])
    assert told["whole"]
    assert told["one_by_one"]
    assert told["example"] == [1.0]
    assert told["components"]["rewards"] == {"math": [1.0, 0.0], "think_format": [1.0, 0.0]}
    assert told["lost"][0] is True
    assert told["invalid"][0] is False
    assert (told["filled"]["rewards"], told["filled"]["observations"]) == ([-1.0], ["Environment: not judged"])
    assert told["metrics"][0] == [1.0, 0.0]
    assert told["metrics"][1]["mean_reward"] == 0.5


def test_swift_has_a_reward_for_each_sample_with_its_calls_or_an_exception(served: Served) -> None:
    told = run("swift_rewards.py", served.url, environment="swift")
    assert (told["math"], told["behind_a_call"]) == ([1.0, 0.0], [1.0])
    assert told["calls"] == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert (told["invalid"], told["lost"]) == ("InvalidItems", "FailedItems")
    assert told["example"] == [1.0]


def test_a_reward_that_swift_has_not_counts_as_0_so_that_the_hook_refuses_to_abstain(served: Served) -> None:
    told = run("swift_rewards.py", served.url, environment="swift")
    assert told["none_is_zero"]
    assert told["abstaining"].startswith("ms-swift knows no abstention")


def test_tunix_adds_up_our_rewards_or_stops(served: Served) -> None:
    told = run("tunix_rewards.py", served.url, environment="tunix")
    assert (told["sum"], told["array"]) == ([2.0, 1.0, 0.0], [1.0, 1.0, 0.0])
    assert told["calls"] == [1.0, 0.0]
    assert (told["invalid"], told["lost"]) == ("InvalidItems", "FailedItems")
    assert told["example"] == told["sum"]


def test_the_command_line_of_tunix_finds_functions_that_were_made_by_a_call(served: Served) -> None:
    told = run("tunix_rewards.py", served.url, environment="tunix")
    assert told["found"] == ["form", "math"] * 2


def test_an_agent_of_tunix_is_judged_by_its_environment_with_all_its_calls(served: Served) -> None:
    told = run("tunix_rewards.py", served.url, environment="tunix")["agents"]
    assert (told["right"], told["wrong"], told["silent"]) == ([0.0, 1.0], [0.0, 0.0], [0.0])
    assert (told["endless"], told["finished"], told["invalid"]) == ([0.0, 1.0], [0.0, 1.0], "InvalidItems")
    assert (told["tasks"], told["handed_on"]) == ([1.0, 0.0], [1.0, 0.0])


def test_an_environment_of_the_tinker_cookbook_judges_what_its_renderer_read(served: Served) -> None:
    told = run("tinker_episodes.py", served.url, environment="tinker")
    assert (told["math"], told["thought"]) == ([1.0, 0.0], 1.0)
    assert told["calls"] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert (told["invalid"], told["lost"]) == ("InvalidItems", "FailedItems")
    assert told["example"] == 1.0


def test_an_agent_of_the_tinker_cookbook_is_judged_by_its_whole_conversation(served: Served) -> None:
    told = run("tinker_episodes.py", served.url, environment="tinker")["agents"]
    assert (told["called"], told["called_else"], told["called_in_vain"]) == ([0.0, 1.0], [0.0, 0.0], [0.0, 0.0])
    assert (told["answered"], told["suffix"], told["example"]) == ([0.0, 1.0], [0.0, 1.0], [0.0, 1.0])
    assert (told["invalid"], told["lost"]) == ("InvalidItems", "FailedItems")


def test_miles_trains_on_our_rewards_and_removes_what_was_not_judged(served: Served) -> None:
    told = run("miles_rollouts.py", served.url)
    assert (told["right"], told["wrong"], told["by_type"]) == ([1.0, False], [0.0, False], [-1.0, False])
    assert (told["keyed"][0]["score"], told["keyed"][0]["failed"]) == (1.0, 0.0)
    assert (told["called"], told["called_in_vain"], told["example"]) == ([1.0, False], [0.0, False], [1.0, False])
    assert told["lost"] == [0.0, True]
    assert told["invalid"] == "InvalidItems"
    for raw, normalised in told["groups"]:
        assert (raw, normalised) == ([1.0, 0.0], pytest.approx([0.7071, -0.7071], abs=1e-4))


def test_miles_evaluates_one_by_one_and_not_with_rewards_of_groups(served: Served) -> None:
    told = run("miles_rollouts.py", served.url)
    assert told["evaluated"] == [1.0, 1.0, 0.0, 0.0]
    assert told["evaluated_in_groups"][0] == "AssertionError"
    assert told["evaluated_lost"][0] == "FailedItems"
