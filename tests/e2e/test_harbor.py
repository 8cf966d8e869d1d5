"""Harbor itself, from PyPI: its trials and our verifier give the same rewards to the same tasks and solutions."""

import json
import subprocess
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import docker
import pytest

from tests.e2e.environments import NoPython, python_of, variables
from tests.task_images import repository_image, write_files
from tests.verifiers.harbor.judge import FILES, TASK, HarborJudge
from verifiers.base import Status, Verdict

pytestmark = pytest.mark.trainers

SCRIPT: Final = Path(__file__).parent / "harbor" / "trials.py"
PYTEST: Final = """\
from pathlib import Path

FOLDER = Path("/testbed")


def test_the_file_is_there():
    assert (FOLDER / "sorted.txt").is_file()


def test_the_order():
    assert (FOLDER / "sorted.txt").read_text().split() == ["Bob", "Ann"]
"""


@dataclass(frozen=True)
class Row:
    """A task: what its tests do once `sorted.txt` is there, and the reward; None if there is none."""

    command: str
    reward: float | None
    files: Mapping[str, str] = field(default_factory=dict)
    reference: Mapping[str, Any] = field(default_factory=dict)

    def folder(self, image: str) -> Mapping[str, str]:
        """Without the solution the tests write 0. `$R` is where rewards are, without the ending."""
        tests = f"#!/bin/bash\nR=/logs/verifier/reward\nif [ -e sorted.txt ]; then\n{self.command}\nelse echo 0 >$R.txt; fi\n"
        settings = TASK["task.toml"].replace("[environment]\n", f'[environment]\ndocker_image = "{image}"\n')
        made = {**TASK, "task.toml": settings, "tests/test.sh": tests, **self.files}
        return {**made, "task.toml": made["task.toml"].replace("IMAGE", image)}


ROWS: Final = {
    "one": Row("echo 1 >$R.txt", 1.0),
    "a-share": Row("echo 0.25 >$R.txt", 0.25),
    "spaces": Row("printf ' 5e-1 \\n\\n' >$R.txt", 0.5),
    "an-underscore": Row("echo 0.2_5 >$R.txt", 0.25),
    "less-than-zero": Row("echo -1 >$R.txt", -1.0),
    "more-than-one": Row("echo 3 >$R.txt", 3.0, reference={"max_reward": 4}),
    "not-a-number": Row("echo nan >$R.txt", None),
    "endless": Row("echo -inf >$R.txt", None),
    "a-word": Row("echo yes >$R.txt", None),
    "two-numbers": Row("echo 1 1 >$R.txt", None),
    "empty": Row(">$R.txt", None),
    "a-blank-line": Row("echo >$R.txt", None),
    "no-text": Row("printf '\\3771' >$R.txt", None),
    "nothing": Row("true", None),
    "a-folder": Row("mkdir $R.txt", None),
    "a-code-behind": Row("echo 1 >$R.txt; exit 3", 1.0),
    "json": Row("echo '{\"reward\": 1}' >$R.json", 1.0),
    "json-of-several": Row('echo \'{"style": 0.5, "reward": 0.75}\' >$R.json', 0.75),
    "json-of-another-name": Row("echo '{\"accuracy\": 0.75}' >$R.json", 0.75),
    "json-of-two-names": Row(
        "",
        0.75,
        {
            "tests/test.sh": "#!/bin/bash\nshare=0\n[ ! -e sorted.txt ] || share=0.75\n"
            'echo "{\\"accuracy\\": $share, \\"style\\": 1}" >/logs/verifier/reward.json\n'
        },
        {"reward_key": "accuracy"},
    ),
    "json-of-a-truth": Row("echo '{\"reward\": true}' >$R.json", 1.0),
    "json-twice": Row('echo \'{"reward": 0, "reward": 0.5}\' >$R.json', 0.5),
    "json-of-a-word": Row('echo \'{"reward": "1"}\' >$R.json', None),
    "json-of-null": Row("echo '{\"reward\": null}' >$R.json", None),
    "json-of-nan": Row("echo '{\"reward\": NaN}' >$R.json", None),
    "json-too-large": Row("echo '{\"reward\": 1e309}' >$R.json", None),
    "json-of-a-list": Row("echo '[1]' >$R.json", None),
    "json-of-a-number": Row("echo 1 >$R.json", None),
    "json-in-json": Row('echo \'{"reward": {"reward": 1}}\' >$R.json', None),
    "json-without-rewards": Row("echo '{}' >$R.json", None),
    "broken-json": Row("echo '{\"reward\": 1' >$R.json", None),
    "json-beside-text": Row("echo 0 >$R.txt; echo '{\"reward\": 1}' >$R.json", 1.0),
    "broken-json-beside-text": Row("echo 1 >$R.txt; echo '{' >$R.json", None),
    "text-beside-a-dangling-link": Row("echo 1 >$R.txt; ln -s /nowhere $R.json", 1.0),
    "a-wrong-solution": Row(
        "python3 -s /tests/check.py && echo 1 >$R.txt || echo 0 >$R.txt",
        0.0,
        {"solution/solve.sh": "#!/bin/bash\nsort names.txt >sorted.txt\n"},
    ),
    "pytest": Row(
        "python3 -m pytest -p no:cacheprovider /tests/test_state.py\n"
        "if [ $? -eq 0 ]; then echo 1 >$R.txt; else echo 0 >$R.txt; fi",
        1.0,
        {"tests/test_state.py": PYTEST},
    ),
    "variables": Row(
        'echo "$SHARE" >$R.txt; [ "$PLACE" = here ] || rm $R.txt',
        0.25,
        {
            "task.toml": TASK["task.toml"].replace("[environment]\n", '[environment]\ndocker_image = "IMAGE"\n')
            + '[environment.env]\nPLACE = "here"\n[verifier.env]\nSHARE = "0.25"\n'
        },
    ),
    "tests-in-python": Row(
        "",
        0.5,
        {
            "tests/test.sh": "#!/usr/bin/env python3\nfrom pathlib import Path\n\n"
            'score = 0.5 if Path("sorted.txt").exists() else 0\nPath("/logs/verifier/reward.txt").write_text(str(score))\n'
        },
    ),
}


def test_harbors_trials_and_our_verdicts_have_the_same_rewards(docker_address: str, tmp_path: Path) -> None:
    with closing(docker.APIClient(docker_address, version="auto", timeout=300)) as client:
        image, _ = repository_image(client, FILES)
    tasks = tmp_path / "tasks"
    for name, row in ROWS.items():
        write_files(tasks / name, row.folder(image))
    theirs = harbors(tasks, tmp_path / "trials", docker_address)
    judge = HarborJudge(docker_address, image, tasks)
    try:
        ours = {name: own_verdict(judge, name, row) for name, row in ROWS.items()}
    finally:
        judge.close()
    wrong = {
        name: (row.reward, theirs[name], ours[name])
        for name, row in ROWS.items()
        if reward_of(theirs[name], row) != row.reward or not says(ours[name], row)
    }
    assert wrong == {}


def harbors(tasks: Path, out: Path, address: str) -> Any:
    """The rewards of each task by Harbor, or the name of its exception."""
    try:
        python = python_of("harbor")
    except NoPython as error:
        pytest.skip(str(error))
    settings = variables(DOCKER_HOST=address, HARBOR_TELEMETRY="off")
    command = [python, SCRIPT, tasks, out]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def own_verdict(judge: HarborJudge, name: str, row: Row) -> Verdict:
    params = judge.params(path=name, **row.reference)
    answer = judge.verifier.own_answer(params)
    assert answer is not None
    return judge.judge(answer, params)


def reward_of(found: Any, row: Row) -> float | None:
    """The reward that counts among those that Harbor read."""
    if not isinstance(found, dict) or not found:
        return None
    key = row.reference.get("reward_key") or ("reward" if "reward" in found else next(iter(found)))
    return float(found[key])


def says(verdict: Verdict, row: Row) -> bool:
    """Whether a verdict is what the row's reward makes of it: a share of the full one, and 0 if there is none."""
    if row.reward is None:
        return (verdict.status, verdict.score) == (Status.OK, 0.0) and verdict.reason in ("no_reward", "bad_reward")
    share = max(row.reward, 0.0) / row.reference.get("max_reward", 1)
    return (verdict.status, verdict.score) == (Status.OK, share) and "reward" in verdict.detail
