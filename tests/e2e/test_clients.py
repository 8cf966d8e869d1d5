"""Trainers' own code, from the package index, with our hooks and doors; and where the index has none, stand-ins for them.

Each script runs in the environment of these packages and prints what the trainer saw.
"""

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Serve, Served
from tests.e2e.environments import python_of, variables

pytestmark = pytest.mark.trainers

SCRIPTS = Path(__file__).parent / "clients"
STAND_INS = SCRIPTS / "stand_ins"
SLIME = Path(os.environ.get("GRADER_SOURCES", os.devnull)) / "slime"
ALTERNATING = [0.0, 1.0]
MAJORITY = [1.0, 1.0, 0.0, 1.0]
"""The rewards of a group of four, in which all but the third give the same answer, which is not the reference."""


@functools.lru_cache
def run(script: str, url: str, *arguments: str, beside: Path | None = None, environment: str = "clients") -> Any:
    """What the script prints in its last line, with the modules of a folder `beside` the environment's."""
    path = {"PYTHONPATH": str(beside)} if beside else {}
    settings = variables(REWARDLINE_URL=url, RAY_AUTH_MODE="disabled", **path)
    command = [str(python_of(environment)), str(SCRIPTS / script), url, *arguments]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return {**json.loads(done.stdout.splitlines()[-1]), "said": done.stdout + done.stderr}


def test_openrlhf_trains_on_our_file_and_on_our_door(served: Served) -> None:
    printed = run("openrlhf_executor.py", served.url)
    for name, reward, score in (("right", 1.0, 1.0), ("wrong", 0.0, 0.0), ("shaped", -1.0, 0.0), ("filled", -1.0, 0.0)):
        assert printed[name]["reward"] == [reward]
        assert printed[name]["score"] == score
    assert printed["filled"]["logs"]["failed"] == [1.0]
    assert set(printed["filled"]["logs"]) == set(printed["right"]["logs"])
    for name in ("cut_prompt", "label", "named", "named_recipe", "door_right", "example"):
        assert printed[name]["reward"] == [1.0]
    assert printed["responses"] == [" four"] * 5 + ["ValueError"]
    assert printed["door_wrong"]["reward"] == [0.0]
    assert [each["reward"] for each in printed["doors"]] == [[1.0], [0.0]]
    assert printed["together"] == ALTERNATING * 32
    assert printed["votes"] == MAJORITY
    assert printed["called"] == [[1.0], [0.0], [0.0]]


def test_openrlhf_gets_no_number_for_what_was_not_judged_and_the_log_says_why(served: Served) -> None:
    printed = run("openrlhf_executor.py", served.url)
    assert (printed["lost"], printed["invalid"]) == (None, None)
    said = [
        line for line in printed["said"].splitlines() if line.startswith("no reward, and OpenRLHF cannot do without")
    ]
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
    printed = run("areal_workflows.py", served.url)
    for way in ("pooled", "awaited"):
        outcomes = printed[way]
        assert (outcomes["right"], outcomes["wrong"], outcomes["routed"]) == (
            [True, [1.0]],
            [True, [0.0]],
            [True, [1.0]],
        )
        assert (outcomes["lost"], outcomes["invalid"]) == ("FailedItems", "InvalidItems")
        assert [rewards[0] for _, rewards in outcomes["together"]] == ALTERNATING * 32
    assert (printed["named"], printed["found"], printed["example"]) == (1.0, True, [True, [1.0]])


def test_skyrl_plays_one_turn(served: Served) -> None:
    printed = run("skyrl_environments.py", served.url)
    for name, reward in (
        ("right", 1.0),
        ("wrong", 0.0),
        ("routed", 1.0),
        ("composed", 0.5),
        ("filled", -1.0),
    ):
        assert printed[name]["steps"] == [{"observations": [], "reward": reward, "done": True}]
    assert printed["composed"]["metrics"]["math"] == 1.0
    assert (printed["lost"], printed["invalid"]) == ("FailedItems", "InvalidItems")
    assert printed["registered"] == [1.0, 0.0]
    assert printed["limited"]["steps"] == printed["wrong"]["steps"]
    assert printed["together"] == ALTERNATING * 32
    assert printed["votes"] == MAJORITY
    assert printed["aggregated"]["score"] == 0.5
    assert (printed["aggregated"]["failed"], printed["filled"]["metrics"]["failed"]) == (0.0, 1.0)


def test_skyrl_plays_several_turns_whose_rewards_add_up(served: Served) -> None:
    printed = run("skyrl_environments.py", served.url)
    first, second = printed["solved"]["steps"]
    assert (first["reward"], first["done"], second) == (0.0, False, {"observations": [], "reward": 1.0, "done": True})
    assert [message["role"] for message in first["observations"]] == ["user"]
    assert [step["done"] for step in printed["exhausted"]["steps"]] == [False, False, True]
    assert [step["reward"] for step in printed["added"]["steps"]] == [1.0, 0.0, 1.0]
    assert [step["reward"] for step in printed["last"]["steps"]] == [1.0, -1.0, 1.0]
    assert printed["added"]["metrics"]["score"] == 2.0
    assert (printed["several_lost"], printed["several_invalid"]) == ("FailedItems", "InvalidItems")
    assert printed["several_filled"]["steps"] == [{"observations": [], "reward": -1.0, "done": True}]
    assert printed["several_together"] == [3, 1] * 32
    assert printed["forgotten"] == printed["solved"]
    assert (printed["called"], printed["called_later"]) == ([1.0, 0.0, 0.0], [0.0, 1.0])
    assert printed["example"] == [1.0, 0.0]


def test_verifiers_has_an_error_on_the_trace_and_no_number_for_what_was_not_judged(served: Served) -> None:
    printed = run("verifiers_tasks.py", served.url)
    right, wrong = printed["right"], printed["wrong"]
    assert (right["rewards"], wrong["rewards"]) == ({"verified": 1.0}, {"verified": 0.0})
    assert set(right["metrics"]) == set(wrong["metrics"]) >= {"rewardline_score", "rewardline_failed"}
    assert right["info"]["rewardline"]["reason"] == "correct"
    assert right["errors"] == []
    for name in ("lost", "invalid"):
        assert (printed[name]["rewards"], printed[name]["errors"]) == ({"verified": None}, ["TaskError"])
    assert printed["plugged"]["rewards"] == {"ours": 0.5}
    assert [trace["rewards"] for trace in printed["example"]] == [{"verified": 1.0}] * 2
    assert [trace["rewards"]["verified"] for trace in printed["together"]] == ALTERNATING * 32
    assert [trace["rewards"]["verified"] for trace in printed["votes"]] == MAJORITY


def test_verifiers_hands_on_what_a_model_calls(served: Served) -> None:
    printed = run("verifiers_tasks.py", served.url)
    rewards = [trace["rewards"]["verified"] for trace in printed["called"]]
    assert rewards == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert printed["answered"]["rewards"] == {"verified": 1.0}
    assert (printed["unanswered"]["rewards"], printed["unanswered"]["errors"]) == ({"verified": 0.0}, [])


def test_the_older_rubric_cannot_make_a_number_of_what_was_not_judged(served: Served) -> None:
    printed = run("verifiers_tasks.py", served.url)
    assert (printed["rubric"], printed["rubric_messages"]) == (1.0, 0.0)
    assert printed["rubric_lost"] == printed["rubric_invalid"] == [False, "Unjudged"]


def test_a_worker_of_roll_returns_what_survives_half_precision(served: Served) -> None:
    printed = run("roll_workers.py", served.url, beside=STAND_INS)
    assert printed["method"] == [True, "DP_MP_COMPUTE"]
    assert printed["ranks"] == [3, 8]
    for name, rewards, scores in (
        ("judged", [1.0, 0.0], [1.0, 0.0]),
        ("routed", [1.0, 0.0], [1.0, 0.0]),
        ("marked", [1.0, 0.0], [1.0, 0.0]),
        ("by_tag", [1.0, -1.0], [1.0, 0.0]),
        ("empty", [], []),
        ("filled", [-1.0, -1.0], [-1.0, -1.0]),
    ):
        assert (printed[name]["response_level_rewards"], printed[name]["scores"]) == (rewards, scores)
        assert (printed[name]["kinds"], printed[name]["shape"]) == (["torch.float16"], True)
    assert printed["held"] == [[True, pytest.approx(0.7, abs=1e-3)], [False, 1.0], "OverflowError"]
    assert printed["together"] == ALTERNATING * 64
    assert printed["votes"] == MAJORITY
    assert printed["example"][0]["scores"] == [1.0]


def test_a_worker_of_roll_has_an_explicit_policy_for_failures(served: Served) -> None:
    printed = run("roll_workers.py", served.url, beside=STAND_INS)
    assert (printed["lost"], printed["invalid"]) == ("FailedItems", "InvalidItems")
    assert printed["filled"]["metrics"]["rewardline/failed"] == 1.0
    assert printed["judged"]["metrics"]["rewardline/failed"] == 0.0
    assert (printed["unknown_option"], printed["abstain"], printed["both"]) == ("TypeError", "ValueError", "ValueError")
    assert printed["no_tag"] == "ValueError"
    assert printed["code_example"] == ["InvalidItems"]


def test_an_environment_of_nemo_rl_is_an_actor_whose_failures_are_the_infrastructures(served: Served) -> None:
    printed = run("nemo_rl_environments.py", served.url, beside=STAND_INS)
    judged = printed["judged"]
    assert (judged["rewards"], judged["done"], judged["answers"]) == ([1.0, 0.0], [1.0, 1.0], ["4", "5"])
    assert judged["observations"] == ["Environment: correct", "Environment: incorrect"]
    assert judged["lengths"] == [2]
    assert (printed["routed"]["rewards"], printed["empty"]["rewards"]) == ([1.0], [])
    assert printed["whole"]
    assert printed["one_by_one"]
    assert printed["example"] == [1.0]
    assert printed["components"]["rewards"] == {"math": [1.0, 0.0], "think_format": [1.0, 0.0]}
    assert printed["lost"][0] is True
    assert printed["invalid"][0] is False
    assert (printed["filled"]["rewards"], printed["filled"]["observations"]) == ([-1.0], ["Environment: not judged"])
    assert printed["metrics"][0] == [1.0, 0.0]
    assert printed["metrics"][1]["mean_reward"] == 0.5


def test_swift_has_a_reward_for_each_sample_with_its_calls_or_an_exception(served: Served) -> None:
    printed = run("swift_rewards.py", served.url, environment="swift")
    assert (printed["math"], printed["behind_a_call"]) == ([1.0, 0.0], [1.0])
    assert printed["calls"] == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert (printed["invalid"], printed["lost"]) == ("InvalidItems", "FailedItems")
    assert printed["example"] == [1.0]


def test_a_reward_that_swift_has_not_counts_as_0_so_that_the_hook_refuses_to_abstain(served: Served) -> None:
    printed = run("swift_rewards.py", served.url, environment="swift")
    assert printed["none_is_zero"]
    assert printed["abstaining"].startswith("ms-swift knows no abstention")


def test_tunix_adds_up_our_rewards_or_stops(served: Served) -> None:
    printed = run("tunix_rewards.py", served.url, environment="tunix")
    assert (printed["sum"], printed["array"]) == ([2.0, 1.0, 0.0], [1.0, 1.0, 0.0])
    assert printed["calls"] == [1.0, 0.0]
    assert (printed["invalid"], printed["lost"]) == ("InvalidItems", "FailedItems")
    assert printed["example"] == printed["sum"]


def test_the_command_line_of_tunix_finds_functions_that_were_made_by_a_call(served: Served) -> None:
    printed = run("tunix_rewards.py", served.url, environment="tunix")
    assert printed["found"] == ["form", "math"] * 2


def test_an_agent_of_tunix_is_judged_by_its_environment_with_all_its_calls(served: Served) -> None:
    printed = run("tunix_rewards.py", served.url, environment="tunix")["agents"]
    assert (printed["right"], printed["wrong"], printed["silent"]) == ([0.0, 1.0], [0.0, 0.0], [0.0])
    assert (printed["endless"], printed["finished"], printed["invalid"]) == ([0.0, 1.0], [0.0, 1.0], "InvalidItems")
    assert (printed["tasks"], printed["handed_on"]) == ([1.0, 0.0], [1.0, 0.0])


def test_an_environment_of_the_tinker_cookbook_judges_what_its_renderer_read(served: Served) -> None:
    printed = run("tinker_episodes.py", served.url, environment="tinker")
    assert (printed["math"], printed["thought"]) == ([1.0, 0.0], 1.0)
    assert printed["calls"] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert (printed["invalid"], printed["lost"]) == ("InvalidItems", "FailedItems")
    assert printed["example"] == 1.0


def test_an_agent_of_the_tinker_cookbook_is_judged_by_its_whole_conversation(served: Served) -> None:
    printed = run("tinker_episodes.py", served.url, environment="tinker")["agents"]
    assert (printed["called"], printed["called_else"], printed["called_in_vain"]) == (
        [0.0, 1.0],
        [0.0, 0.0],
        [0.0, 0.0],
    )
    assert (printed["answered"], printed["suffix"], printed["example"]) == ([0.0, 1.0], [0.0, 1.0], [0.0, 1.0])
    assert (printed["invalid"], printed["lost"]) == ("InvalidItems", "FailedItems")


def test_miles_trains_on_our_rewards_and_removes_what_was_not_judged(served: Served) -> None:
    printed = run("miles_rollouts.py", served.url)
    assert (printed["right"], printed["wrong"], printed["by_type"]) == ([1.0, False], [0.0, False], [-1.0, False])
    assert (printed["keyed"][0]["score"], printed["keyed"][0]["failed"]) == (1.0, 0.0)
    assert (printed["called"], printed["called_in_vain"], printed["example"]) == (
        [1.0, False],
        [0.0, False],
        [1.0, False],
    )
    assert printed["lost"] == [0.0, True]
    assert printed["invalid"] == "InvalidItems"
    for raw, normalised in printed["groups"]:
        assert (raw, normalised) == ([1.0, 0.0], pytest.approx([0.7071, -0.7071], abs=1e-4))


def test_miles_evaluates_one_by_one_and_not_with_rewards_of_groups(served: Served) -> None:
    printed = run("miles_rollouts.py", served.url)
    assert printed["evaluated"] == [1.0, 1.0, 0.0, 0.0]
    assert printed["evaluated_in_groups"][0] == "AssertionError"
    assert printed["evaluated_lost"][0] == "FailedItems"


@pytest.mark.skipif(not SLIME.is_dir(), reason="slime publishes no wheel: set GRADER_SOURCES, see docs/graders.md")
def test_slime_rewards_the_samples_of_a_prompt_together(served: Served) -> None:
    """One by one, and with `--group-rm`; in an evaluation each by its label."""
    printed = run("slime_rollouts.py", served.url, beside=SLIME)
    for raw, normalised in printed["groups"]:
        assert (raw, normalised) == ([1.0, 0.0, 1.0, 0.0], pytest.approx([0.866, -0.866, 0.866, -0.866], abs=1e-4))
    assert printed["again"] == [1.0, 0.0, 0.0, 1.0]
    assert printed["evaluated"] == [1.0, 0.0]
    assert printed["ranked"][0] == "ValueError"
    assert "custom_rm_path" in printed["ranked"][1]


def test_four_trackers_store_the_curves_of_a_run_and_two_its_alarms(serve: Serve, tmp_path: Path) -> None:
    holed = {"checks": [{"verifier": "qa", "params": {"metric": "contains"}}], "watch": {}}
    (tmp_path / "recipes.json").write_text(json.dumps({"recipes": {"holed": holed}}))
    printed = run("curves.py", serve(recipes_file=str(tmp_path / "recipes.json")).url, environment="sinks")
    points = [[5, 0.5], [7, 1.0]]
    assert printed["wandb"]
    assert [printed[tracker] for tracker in ("mlflow", "tensorboard", "trackio")] == [points] * 3
    assert printed["figures"]["rewardline/numeric/groups_without_signal"] == 1
    assert printed["figures"]["rewardline/judge_cost"] == 0
    assert ({*printed["alarms"]}, printed["alerts"]) == ({"impostor"}, True)
    assert "known to be bad" in printed["tags"]["rewardline.alarm.impostor"]


def test_a_log_is_drawn_by_each_tracker(tmp_path: Path) -> None:
    packages = next(python_of("sinks").parents[1].glob("lib/python*/site-packages"))
    fields = {"status": "ok", "reason": "correct", "verifier": "math", "prompt": "q", "reward": 1}
    rows = [
        {**fields, "time": f"2026-03-01T00:0{step}:00Z", "id": step, "run_id": run, "metadata": {"step": step}}
        for step in (3, 4)
        for run in ("a", "x/../../a")
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = variables(
        WANDB_MODE="offline", MLFLOW_TRACKING_URI=f"file:{tmp_path}/mlflow", MLFLOW_ALLOW_FILE_STORE="true"
    )
    script = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}]; sys.path.append({str(packages)!r})\n"
        "from service.cli.main import application\napplication('curves')(sys.argv[1:])"
    )
    for tracker in ("wandb", "mlflow", "tensorboard", "trackio"):
        command = [sys.executable, "-c", script, "curves", "--to", tracker, "log.jsonl"]
        done = subprocess.run(
            command, cwd=tmp_path, env={**settings, "TRACKIO_DIR": str(tmp_path / "trackio")},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert f"4 steps of 2 runs are drawn by {tracker}." in done.stdout, done.stderr[-3000:]
    assert list(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    folders = {path.parent.relative_to(tmp_path / "runs").as_posix() for path in tmp_path.glob("**/events.*")}
    assert len(folders) == 2
    assert {re.sub("-[0-9a-f]{8}$", "", name) for name in folders} == {"a", "x_.._.._a"}
