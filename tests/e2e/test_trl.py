"""TRL itself, from PyPI, with our reward functions and environment and a real server; one process, so one rank."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from rewardline import Client

from tests.conftest import ROOT, Serve, Served, serving
from tests.e2e.conftest import RIGHT, WRONG
from tests.e2e.environments import python_of, variables
from tests.ports import free_port

EXAMPLES = ROOT / "client" / "examples" / "trl"
AWAY_S = 5.0
GROUP = 8

Row = dict[str, Any]


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A script in TRL's environment."""
    with subprocess.Popen(
        [str(python_of("trl")), *command],
        cwd=ROOT,
        env=variables(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def report(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What it says with its last line."""
    said, complaints = process.communicate(timeout=600)
    assert process.returncode == 0, complaints[-5000:]
    last: dict[str, Any] = json.loads(said.splitlines()[-1])
    return last


def run(*command: str) -> dict[str, Any]:
    with running(*command) as process:
        return report(process)


def advantages(rewards: list[float | None]) -> list[float]:
    """GRPO's, of one group: over those that have a reward; nothing for those that have none."""
    known = [reward for reward in rewards if reward is not None]
    if not known:
        return [0.0] * len(rewards)
    mean = sum(known) / len(known)
    deviation = math.sqrt(sum((reward - mean) ** 2 for reward in known) / max(1, len(known) - 1))
    return [0.0 if reward is None else (reward - mean) / (deviation + 1e-4) for reward in rewards]


def weighted(row: Row, weights: dict[str, float]) -> float | None:
    """The sum of the rewards that there are."""
    parts = [weight * row[name] for name, weight in weights.items() if row[name] is not None]
    return sum(parts) if parts else None


def expected_advantages(rows: list[Row], weights: dict[str, float]) -> list[float]:
    rewards = [weighted(row, weights) for row in rows]
    return [each for start in range(0, len(rows), GROUP) for each in advantages(rewards[start : start + GROUP])]


def judged_again(url: str, rows: list[Row]) -> dict[str, list[float | None]]:
    """What each function's reward must have been, by a new verdict."""
    tests = [{"stdin": "2", "expected_stdout": "4"}, {"stdin": "5", "expected_stdout": "10"}]
    form = {"verifier": "think_format", "params": {"preset": "deepseek"}}
    fields: dict[str, dict[str, Row]] = {
        "math": {prompt: {"verifier": "math", "reference": right} for prompt, right in (("2+2?", "4"), ("3+4?", "7"))},
        "code": {"twice?": {"verifier": "code", "test_cases": tests}},
        "form": {prompt: dict(form) for prompt in ("2+2?", "3+4?", "twice?")},
    }
    with Client(url) as client:
        again: dict[str, list[float | None]] = {}
        for name, of_prompt in fields.items():
            asked = [place for place, row in enumerate(rows) if row["prompt"] in of_prompt]
            items = [{**of_prompt[rows[place]["prompt"]], "response": rows[place]["completion"]} for place in asked]
            rewards = dict(zip(asked, (each.reward for each in client.score(items, cache="off")), strict=True))
            again[name] = [rewards.get(place) for place in range(len(rows))]
    return again


@pytest.mark.trainers
def test_killing_the_service_for_five_seconds_loses_no_step_and_makes_no_reward_a_zero(tmp_path: Path) -> None:
    """The trainer is told to go on once the server is dead, so that its next step's requests find nobody."""
    port = ("--http-port", str(free_port()))
    with (
        serving(tmp_path / "first.jsonl", port) as first,
        running("-m", "tests.e2e.trl.steps", first.url, "outage") as trainer,
    ):
        assert trainer.stdout is not None
        assert trainer.stdin is not None
        while (line := trainer.stdout.readline()) != "step 2\n":
            assert line, trainer.communicate()[1][-5000:]
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        trainer.stdin.write("go on\n")
        trainer.stdin.flush()
        time.sleep(AWAY_S)
        with serving(tmp_path / "second.jsonl", port) as second:
            assert second.url == first.url
            outcome = report(trainer)
            rows = outcome["completions"]
            again = judged_again(second.url, rows)
    assert outcome["step"] == 6
    assert [row["step"] for row in rows] == [step for step in range(1, 7) for _ in range(2 * GROUP)]
    assert {name: [row[name] for row in rows] for name in again} == again
    assert all(
        entry[f"{name}/failed"] == 0 for entry in outcome["logged"] for name in again if f"{name}/failed" in entry
    )
    after = [row for row in rows if row["step"] == 3]
    assert {row["form"] for row in after} == {0.0, 1.0}
    assert outcome["logged"][2]["step_time"] > AWAY_S  # it waited, and did not go on without rewards
    expected = expected_advantages(rows, {"math": 1.0, "code": 1.0, "form": 0.25})
    assert [row["advantage"] for row in rows] == pytest.approx(expected, abs=1e-3)


@pytest.mark.trainers
def test_the_samples_of_a_prompt_are_right_by_majority(served: Served) -> None:
    rows = run("-m", "tests.e2e.trl.steps", served.url, "groups")["completions"]
    assert len(rows) == 3 * 2 * GROUP
    seen = set()
    for start in range(0, len(rows), GROUP):
        part = rows[start : start + GROUP]
        assert len({row["prompt"] for row in part}) == 1
        votes = Counter(row["math/extracted"] for row in part if row["math/extracted"] is not None).most_common(2)
        is_clear = len(votes) == 1 or (len(votes) == 2 and votes[0][1] > votes[1][1])
        expected = [float(row["math/extracted"] == votes[0][0]) if is_clear else None for row in part]
        assert [row["math"] for row in part] == expected
        seen.update(expected)
    assert {0.0, 1.0} <= seen


@pytest.mark.trainers
def test_samples_without_a_verdict_take_no_part(served: Served) -> None:
    """Messages, a function that blocks, one whose server is away, and a composition with a component; weighted."""
    outcome = run("-m", "tests.e2e.trl.steps", served.url, "conversation")
    rows = outcome["completions"]
    assert outcome["step"] == 3
    assert len(rows) == 3 * 2 * GROUP
    for row in rows:
        is_math = row["prompt"][-1]["content"] != "twice?"
        text = row["completion"][-1]["content"]
        right = text.endswith({"2+2?": "4", "3+4?": "7"}.get(row["prompt"][-1]["content"], "never"))
        assert row["math"] == (float(right) if is_math else None)
        assert row["form"] == row["form/form"] == (float(text.startswith("<think>")) if is_math else None)
        assert row["away"] is None
        assert row["away/reason"] in (
            [None] if is_math else ["unreachable", "deadline"]
        )  # what a busy machine is told first
        if not is_math:
            assert row["advantage"] == 0.0
    assert {row["math"] for row in rows} == {0.0, 1.0, None}
    expected = expected_advantages(rows, {"math": 1.0, "away": 3.0, "form": 0.25})
    assert [row["advantage"] for row in rows] == pytest.approx(expected, abs=1e-3)
    for entry in outcome["logged"]:
        assert entry["rewards/away/mean"] is None
        assert entry.get("away/failed", 1.0) == 1.0
    assert any("away/failed" in entry for entry in outcome["logged"])
    assert all(math.isfinite(entry["loss"]) for entry in outcome["logged"])


@pytest.mark.trainers
def test_a_model_plays_with_an_environment_whose_state_is_the_servers(served: Served) -> None:
    outcome = run("-m", "tests.e2e.trl.rollouts", served.url, "right")
    rows = outcome["completions"]
    assert outcome["step"] == 2
    seen = set()
    for row in rows:
        answers = [
            each["function"]["arguments"]["answer"]
            for message in row["completion"]
            for each in message.get("tool_calls") or ()
        ]
        feedback_given = [message["content"] for message in row["completion"] if message["role"] == "tool"]
        feedback = [
            "Yes." if answer == "4" else ("No." if place == 0 else "Over.") for place, answer in enumerate(answers)
        ]
        assert feedback_given == feedback[: len(feedback_given)]
        assert row["Environment"] == (-1.0 if not answers else float(answers[-1] == "4"))
        assert row["tool_call"] == float(answers == ["4"])
        seen.add(tuple(answers))
    assert {(), ("4",), ("5", "4"), ("5", "6")} <= seen


@pytest.mark.trainers
def test_an_environment_whose_server_is_away_gives_no_rewards(served: Served) -> None:
    outcome = run("-m", "tests.e2e.trl.rollouts", served.url, "nobody")
    rows = outcome["completions"]
    assert outcome["step"] == 2
    answered = [row for row in rows if any(message["role"] == "tool" for message in row["completion"])]
    assert answered
    assert {row["Environment"] for row in answered} == {None}
    assert {row["Environment"] for row in rows if row not in answered} <= {-1.0}


@pytest.mark.trainers
def test_a_tiny_model_learns_sums_by_our_rewards(served: Served, tmp_path: Path) -> None:
    """The example, but shorter. The longer run is shown in docs/learning.md."""
    command = (str(EXAMPLES / "sums.py"), "--url", served.url, "--steps", "150", "--out", str(tmp_path / "sums"))
    outcome = run(*command)
    rewards = outcome["rewards"]
    assert len(rewards) == 150
    assert outcome["failed"] == 0
    first, last = (sum(part) / len(part) for part in (rewards[:20], rewards[-20:]))
    assert last > first + 0.15  # 0.03 and 0.35 to 0.5, with each of the seeds tried
    assert outcome["after"] > outcome["before"]
    assert json.loads((tmp_path / "sums.json").read_text()) == outcome
    assert (tmp_path / "sums.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in a folder, as the examples take one."""
    folder = tmp_path_factory.mktemp("tiny")
    subprocess.run(
        [str(python_of("trl")), "-m", "tests.e2e.trl.save_tiny", str(folder)], cwd=ROOT, env=variables(), check=True
    )
    return folder


@pytest.mark.trainers
def test_the_command_line_takes_rewards_by_name(served: Served, tiny: Path, tmp_path: Path) -> None:
    """The example's YAML, with a model and a data set that are here, and one step."""
    (tmp_path / "rows").mkdir()
    rows = [{"prompt": [{"role": "user", "content": f"{n}+1"}], "solution": str(n + 1)} for n in range(16)]
    (tmp_path / "rows" / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    here = {"model_name_or_path": tiny, "dataset_name": tmp_path / "rows", "output_dir": tmp_path / "out"}
    short = {"max_steps": 1, "max_completion_length": 8, "use_cpu": True, "bf16": False, "report_to": "none"}
    options = [word for name, value in (here | short).items() for word in (f"--{name}", str(value))]
    done = subprocess.run(
        [str(python_of("trl").with_name("trl")), "grpo", "--config", "grpo.yaml", *options],
        cwd=EXAMPLES,
        env=variables(REWARDLINE_URL=served.url),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert "rewards/accuracy/mean" in done.stdout
    assert "'form/failed': '0'" in done.stdout


@pytest.mark.trainers
def test_the_example_of_an_environment_runs(served: Served, tiny: Path, tmp_path: Path) -> None:
    """A model that has learnt nothing calls no tool; how one plays is tested above."""
    options = ("--model", str(tiny), "--steps", "1", "--tokens", "8", "--cpu")
    done = subprocess.run(
        [str(python_of("trl")), str(EXAMPLES / "guess.py"), "--url", served.url, *options],
        cwd=tmp_path,
        env=variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert "'rewards/Environment/mean': '0'" in done.stdout


@pytest.mark.trainers
def test_the_example_of_patches_has_rewards_of_real_tests(
    serve: Serve, docker_address: str, docker_task: Row, tmp_path: Path
) -> None:
    """The model has learnt two changes of the repository by heart, of which one makes its tests pass."""
    prompt = "add(1, 2) is -1."
    (tmp_path / "texts.json").write_text(json.dumps([[prompt, said] for said in (RIGHT, WRONG)]))
    (tmp_path / "tasks.jsonl").write_text(2 * f"{json.dumps({'prompt': prompt, 'task': docker_task})}\n")
    learning = ("-m", "tests.e2e.trl.save_tiny", str(tmp_path / "model"), str(tmp_path / "texts.json"))
    subprocess.run([str(python_of("trl")), *learning], cwd=ROOT, env=variables(), check=True)
    server = serve(docker_host=docker_address)
    options = ("--model", str(tmp_path / "model"), "--steps", "1", "--tokens", "160", "--cpu")
    done = subprocess.run(
        [str(python_of("trl")), str(EXAMPLES / "patches.py"), "--url", server.url, *options],
        cwd=tmp_path,
        env=variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    (table,) = (tmp_path / "out" / "completions").glob("*.parquet")
    rewards = {(row["completion"], row["tests"]) for row in parquet.read_table(table).to_pylist()}
    assert {(RIGHT, 1.0), (WRONG, 0.0)} <= rewards
    assert {reward for said, reward in rewards if said not in (RIGHT, WRONG)} <= {0.0}
