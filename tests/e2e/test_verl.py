"""verl itself, from its own packages: its configuration, reward loop on Ray, managers, agent loops and scorers."""

import fcntl
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.conftest import ROOT, Serve, Served
from tests.e2e.conftest import RIGHT, WRONG
from tests.e2e.environments import FOLDER, python_of, variables
from tests.ports import free_port
from tests.waiting import eventually
from verifiers.commitment import same_truths

pytestmark = pytest.mark.trainers

SCRIPTS = Path(__file__).parent / "verl"
EXAMPLES = ROOT / "client" / "examples" / "verl"
MATHEMATICS = ROOT / "tests" / "data" / "math"
PLUGIN = {"VERL_USE_EXTERNAL_MODULES": "rewardline.verl"}
NUMBERS = {"score", "acc", "failed", "invalid", "cached", "judge_ms"}


def ran(python: Path, script: str, *arguments: str, **more: str) -> Any:
    """The JSON of a script's last line."""
    done = subprocess.run(
        [python, SCRIPTS / script, *arguments],
        env=variables(**PLUGIN, **more),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def python() -> Path:
    return python_of("verl")


@pytest.fixture(scope="module")
def tokenizer(python: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tokenizer")
    subprocess.run([python, SCRIPTS / "tokenizer.py", folder], env=variables(), check=True)
    return str(folder)


@pytest.fixture(scope="module")
def older(python: Path) -> Path:
    """A folder with the last release of verl that has interactions; beside the newer one's environment it needs nothing."""
    pins, folder = ROOT / "requirements" / "verl-0.7.txt", FOLDER / "verl-0.7"
    with (FOLDER / "verl-0.7.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / "pins.txt"
        if not stamp.exists() or stamp.read_bytes() != pins.read_bytes():
            install = ("-m", "pip", "--quiet", "install", "--no-deps", "--require-hashes", "--upgrade")
            subprocess.run([python, *install, "--target", folder, "-r", pins], check=True)
            stamp.write_bytes(pins.read_bytes())
    return folder


@pytest.fixture(scope="module")
def in_process(served: Served, python: Path, tokenizer: str) -> Any:
    """What came of the scenarios of managers.py that need one process and a server."""
    return ran(python, "managers.py", "in_process", served.url, tokenizer)


def test_an_installed_client_registers_its_managers_by_itself(python: Path, tmp_path: Path) -> None:
    asked = """if True:
        import verl
        from verl.experimental.reward_loop.reward_manager import get_reward_manager_cls
        from verl.workers.reward_manager import get_reward_manager_cls as legacy
        print(get_reward_manager_cls("rewardline").__name__, legacy("rewardline").__name__)
    """
    done = subprocess.run(
        [python, "-c", asked], env=variables(), cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["RewardManager", "LegacyRewardManager"]


def test_samples_that_arrive_together_travel_in_one_request(in_process: Any) -> None:
    outcome = in_process["in_loop"]
    requests = outcome["requests"]
    assert (requests.pop("rewardline"), requests.pop("imported")) == (1, 1)
    assert sorted(requests) == ["dapo", "gdpo", "naive"]
    assert max(requests.values()) <= 16, "verl's own managers decode each sample by itself"
    for name, answers in outcome["answers"].items():
        assert [each["reward_score"] for each in answers] == [float(at == 7) for at in range(64)], name
        expected = NUMBERS | ({"math"} if name == "dapo" else set())
        assert all(set(each["reward_extra_info"]) == expected for each in answers), name
    last_token = len("I add.\n#### 7")
    assert outcome["places"] == [[7, last_token]]


def test_what_cannot_be_judged_raises_or_is_marked_on_every_sample(in_process: Any) -> None:
    outcome = in_process["in_trouble"]
    answers = outcome["answers"]
    assert answers["manager"] == answers["function"] == ["FailedItems"] * 3
    assert [each["reward_score"] for each in answers["number"]] == [-0.5] * 3
    assert [each["reward_extra_info"]["failed"] for each in answers["number"]] == [1.0] * 3
    right, *mistakes = answers["invalid"]
    assert (right["reward_score"], mistakes) == (1.0, ["InvalidItems"] * 2)
    assert [each["reward_score"] for each in answers["invalid_number"]] == [1.0, -2.0, -2.0]
    assert [each["reward_extra_info"]["invalid"] for each in answers["invalid_number"]] == [0.0, 1.0, 1.0]
    assert {frozenset(each["reward_extra_info"]) for each in answers["number"] + answers["invalid_number"]} == {
        frozenset(NUMBERS)
    }
    words = {
        "both": "custom_reward_function.path",
        "misplaced": "reward.reward_kwargs",
        "model": "reward_model",
        "typo": "verifer",
        "abstain": "'raise'",
    }
    for name, word in words.items():
        assert word in outcome["refused"][name]


def test_the_manager_tells_verifiers_of_tokens_and_columns(in_process: Any) -> None:
    outcome = in_process["with_prompts"]
    assert [each["reward_score"] for each in outcome["overlong"]] == [0.0, 1.0]
    assert outcome["tested"][0]["reward_score"] == 1.0


def test_calls_are_judged_in_text_and_in_messages_that_an_agent_loop_left(in_process: Any) -> None:
    for way in ("manager", "function"):
        assert in_process["with_calls"][way] == [1.0, 0.0, 0.0, 1.0, 0.0]


def test_the_samples_of_a_prompt_are_rewarded_together(in_process: Any) -> None:
    outcome = in_process["with_groups"]
    for name in ("manager", "rewardline", "batch"):
        assert outcome[name] == [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0], name
    assert "val_kwargs.n" in outcome["refused"]


def test_managers_of_whole_batches_give_the_same_rewards(in_process: Any) -> None:
    outcome = in_process["legacy"]
    last_token = len("#### 7")
    for name in ("naive", "dapo", "batch", "prime", "rewardline"):
        assert outcome[name]["rewards"] == [0.0, 1.0, 0.0], name
        assert outcome[name]["places"] == [[1, last_token]], name
        assert set(outcome[name]["columns"]) == (set() if name == "prime" else NUMBERS), name
    assert [outcome[name]["requests"] for name in ("batch", "rewardline")] == [1, 1]
    assert [outcome[f"{name} without a server"] for name in ("batch", "prime", "rewardline")] == [
        "FailedItems",
        "NoVerdict",
        "FailedItems",
    ]
    shape, columns = outcome["empty"]
    assert (shape[0], columns) == (0, {})


def test_verls_sandbox_client_works_against_our_door(in_process: Any) -> None:
    assert in_process["sandbox_client"] == {
        "stdin": pytest.approx(2 / 3),
        "function": 1.0,
        "asserts": 0.5,
    }


def test_a_tool_judges_and_never_makes_a_failure_a_reward(
    served: Served, python: Path, tokenizer: str, tmp_path: Path
) -> None:
    example = yaml.safe_load((EXAMPLES / "tool.yaml").read_text())
    example["tools"][0]["config"]["deadline_s"] = 1
    (tmp_path / "tool.yaml").write_text(yaml.safe_dump(example))
    outcome = ran(python, "conversation.py", "tool", served.url, tokenizer, str(tmp_path / "tool.yaml"))
    rewards = {name: conversation["tools"] for name, (conversation, _) in outcome.items()}
    assert rewards == {"right": [0.0, 1.0], "mistake": [], "away": []}
    assert all(left == 0 for _, left in outcome.values())
    said = {name: conversation["said"] for name, (conversation, _) in outcome.items()}
    assert "is not correct. Think again." in said["right"]
    assert "is correct." in said["right"]
    assert "could not be checked" in said["mistake"]
    assert "could not be checked" in said["away"]
    called = ran(python, "managers.py", "tool", served.url, str(EXAMPLES / "tool.yaml"))
    assert called["left"] == 0
    assert {name: rewards for name, (_, rewards, _) in called["outcomes"].items()} == {
        "right": [1.0, 1.0],
        "wrong": [0.0, 0.0],
        "invalid": [None],
        "refused": [None],
    }
    assert called["outcomes"]["invalid"][2] == {"failed": 0.0, "invalid": 1.0}


def test_interactions_of_an_older_verl_take_turns_on_the_server(
    served: Served, python: Path, older: Path, tokenizer: str
) -> None:
    file = str(EXAMPLES / "interaction.yaml")
    outcome = ran(python, "conversation.py", "interaction", served.url, tokenizer, file, PYTHONPATH=str(older))
    assert outcome["solved"]["turns"] == [0.0, 1.0]
    assert "That is not right. Look at your steps again." in outcome["solved"]["said"]
    assert "\\boxed{56}" in outcome["solved"]["said"]
    assert outcome["never"]["turns"] == [0.0, 0.0, 0.0]
    assert outcome["calculated"] == [0.0, pytest.approx(0.9)]
    assert (outcome["mistake"], outcome["unknown"], outcome["away"]) == ("InvalidRequest", "NotFound", "Unavailable")
    assert outcome["abstain"][:3] == [True, "", None]
    assert outcome["number"][:3] == [True, "", -0.5]
    assert outcome["number"][3]["failed"] == 1.0


def test_the_reward_loop_on_ray_outlives_a_restart_in_mid_batch(
    serve: Serve, python: Path, tokenizer: str, tmp_path: Path
) -> None:
    port = str(free_port())
    server = serve("--http-port", port, sandbox="auto")
    script = [str(python), str(SCRIPTS / "ray_loop.py"), server.url, tokenizer]
    environment = variables(**PLUGIN, RAY_TMPDIR=f"/tmp/rewardline-{os.getpid()}")
    with (
        (tmp_path / "errors").open("w") as errors,
        subprocess.Popen(script, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True) as trainer,
    ):
        assert trainer.stdout is not None
        guard = threading.Timer(500, trainer.kill)
        guard.start()
        begun = next(iter(trainer.stdout), "")
        assert begun, (tmp_path / "errors").read_text()[-3000:]
        count = json.loads(begun)["begun"]
        _await_items(server.url, count)
        server.process.kill()
        server.process.wait()
        serve("--http-port", port, sandbox="auto")
        *_, last = trainer.stdout
        guard.cancel()
    outcome = json.loads(last)
    for name in ("function", "manager"):
        assert outcome[name]["rewards"] == [float(at % 9 == 7) for at in range(63)], name
        assert set(outcome[name]["columns"]) == NUMBERS
        assert outcome[name]["requests"] <= 8, "two workers, of which each gathers what it has"
    assert outcome["mistake"] == "InvalidItems"
    assert outcome["restarted"]["rewards"] == [float(at % 9 == 7) for at in range(count)]
    assert outcome["restarted"]["columns"]["failed"] == [0.0] * count


def _await_items(url: str, count: int) -> None:
    """Until the server holds this many at once, all of them admitted and few judged."""

    def arrived() -> bool:
        found = re.search(r"^rewardline_in_flight_items (\S+)$", httpx.get(f"{url}/metrics").text, re.MULTILINE)
        return found is not None and float(found[1]) >= count

    eventually(arrived)


SETS = {
    "openai/gsm8k": ("gsm8k_model_solutions",),
    "DigitalLearningGmbH/MATH-lighteval": ("exam", "probes", "long_sample"),
    "math_dapo": ("exam", "probes", "hard_sample", "long_sample"),
    "numina_olympiads": ("probes",),
}


def labelled() -> Iterator[tuple[str, str, str, bool]]:
    """Data source, response, reference, and what is right."""
    for source, names in SETS.items():
        for name in names:
            for line in (MATHEMATICS / f"{name}.jsonl").read_text().splitlines():
                known = json.loads(line)
                if isinstance(known.get("expected"), bool) and isinstance(known["gold"], str):
                    yield source, known["response"], known["gold"], known["expected"]


def test_where_we_judge_otherwise_than_verl_we_are_right(served: Served, python: Path, tmp_path: Path) -> None:
    rows = list(labelled())
    assert len(rows) > 7000
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(each[:3]) + "\n" for each in rows))
    outcome = ran(python, "managers.py", "default_scores", served.url, str(tmp_path / "rows.jsonl"))
    theirs = [None if isinstance(score, str) else score > 0 for score in outcome["theirs"]]
    ours = [score > 0 for score in outcome["ours"]]
    assert -9.0 not in outcome["ours"], "every reference can be read"
    unexplained = [
        (source, response[-200:], gold)
        for (source, response, gold, expected), they, we in zip(rows, theirs, ours, strict=True)
        if they != we != expected and not _explained(response, gold)
    ]
    assert unexplained == []
    for source in SETS:
        of_source = [at for at, row in enumerate(rows) if row[0] == source]
        right = [sum(judged[at] == rows[at][3] for at in of_source) for judged in (theirs, ours)]
        assert right[1] > right[0], source
    agreed = [we == they for (source, *_), they, we in zip(rows, theirs, ours, strict=True) if source == "openai/gsm8k"]
    assert (agreed.count(False), len(agreed)) == (5, 2631), "on gsm8k only another form of the same number differs"


def _explained(response: str, gold: str) -> bool:
    """A remark within a box is taken for a part of the answer. Correct, true and yes are one answer (docs/verifiers.md)."""
    box = response.rpartition("\\boxed{")[2]
    word = box.removeprefix("\\text{").partition("}")[0]
    return "\\text{ (since }" in box or word in (same_truths(gold) or ())


def test_the_examples_are_what_verl_reads(served: Served, python: Path, tokenizer: str, tmp_path: Path) -> None:
    command = command_of("train.sh", served.url, tmp_path)
    file = str(EXAMPLES / "reward.yaml")
    outcome = ran(python, "managers.py", "examples", served.url, tokenizer, file, *command)
    assert outcome["command"]["reward_score"] == 1.0
    assert set(outcome["command"]["reward_extra_info"]) == NUMBERS
    assert outcome["file"]["reward_extra_info"]["acc"] == 1.0
    assert set(outcome["file"]["reward_extra_info"]) == NUMBERS | {"math", "think_format"}


def test_the_example_of_patches_has_rewards_of_real_tests(
    serve: Serve, docker_address: str, docker_task: dict[str, Any], python: Path, tokenizer: str, tmp_path: Path
) -> None:
    server = serve(docker_host=docker_address)
    responses = (RIGHT, WRONG, "I cannot mend it.", RIGHT.replace("a + b", "a +"))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps([each, docker_task]) + "\n" for each in responses))
    command = command_of("patches.sh", server.url, tmp_path)
    temporary = {"RAY_TMPDIR": f"/tmp/rewardline-{os.getpid()}"}
    outcome = ran(python, "patches.py", server.url, tokenizer, str(tmp_path / "rows.jsonl"), *command, **temporary)
    assert outcome["rewards"] == [1.0, 0.0, 0.0, 0.0]
    assert outcome["columns"]["failed"] == outcome["columns"]["invalid"] == [0.0] * 4


def command_of(example: str, url: str, folder: Path) -> list[str]:
    """The arguments of Python in an example's command line."""
    (folder / "python3").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (folder / "python3").chmod(0o755)
    before = variables(PATH=f"{folder}:{os.environ['PATH']}", REWARDLINE_URL=url)
    shown = subprocess.run(["sh", EXAMPLES / example], env=before, capture_output=True, text=True, check=True)
    command = shown.stdout.splitlines()
    assert command[:2] == ["-m", "verl.trainer.main_ppo"]
    return command
