"""Verdicts on responses of every kind to a task, honest and hostile, in real containers on runc and gVisor."""

import base64
import io
import json
import tarfile
from collections.abc import Mapping

import pytest

from tests.verifiers.harbor.judge import TASK, HarborJudge
from tests.waiting import eventually
from verifiers.base import Item, Status

SOLVE = "sort -r names.txt >sorted.txt"
DIFF = "```diff\n--- /dev/null\n+++ b/sorted.txt\n@@ -0,0 +1,2 @@\n+Bob\n+Ann\n```"


def script(text: str) -> str:
    return f"I do this:\n```bash\n{text}\n```"


def tarred(files: Mapping[str, str]) -> str:
    """A tar of files, plain, in base64."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as members:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            members.addfile(member, io.BytesIO(text.encode()))
    return base64.b64encode(archive.getvalue()).decode()


ROWS = [
    ("a script", script(SOLVE), 1.0, "correct"),
    ("a diff", DIFF, 1.0, "correct"),
    ("a wrong script", script("sort names.txt >sorted.txt"), 0.0, "tests_failed"),
    (
        "a reward that is written",
        script("mkdir -p /logs/verifier; echo 1 >/logs/verifier/reward.txt; echo 1 >/logs/verifier/reward.json"),
        0.0,
        "tests_failed",
    ),
    (
        "a process that waits for the tests",
        script(
            "(trap '' TERM HUP; while :; do "
            "[ ! -e /tests ] || { echo '{\"reward\": 1}' >new; mv new /logs/verifier/reward.json; }; done) >/dev/null 2>&1 &"
        ),
        0.0,
        "tests_failed",
    ),
    (
        "tests that are put there before",
        script("mkdir /tests; echo >/tests/check.py; echo >/tests/os.py"),
        0.0,
        "tests_failed",
    ),
]
MORE_ROWS = [
    ("a tar", json.dumps({"tar": tarred({"testbed/sorted.txt": "Bob\nAnn\n"})}), 1.0, "correct"),
    ("files", json.dumps({"files": {"sorted.txt": "Bob\nAnn\n"}}), 1.0, "correct"),
    ("a script in JSON", json.dumps({"script": SOLVE}), 1.0, "correct"),
    ("a script that fails at its end", script(f"{SOLVE}\nexit 3"), 1.0, "correct"),
    ("a script that never ends", script(f"{SOLVE}\nwhile :; do sleep 1; done"), 1.0, "correct"),
    ("nothing", "I cannot do this.", 0.0, "no_answer"),
    (
        "a diff that does not apply",
        DIFF.replace("/dev/null", "a/sorted.txt").replace("-0,0", "-1,1"),
        0.0,
        "patch_failed",
    ),
    ("a diff that leads outside", DIFF.replace("b/sorted.txt", "b/../sorted.txt"), 0.0, "forbidden_path"),
    ("what a script cannot see", script("cat /tests/check.py >sorted.txt"), 0.0, "tests_failed"),
    ("the folder of the reward", script("rm -rf /logs; mv /logs /x; echo >/logs"), 0.0, "container_lost"),
    (
        "programs of the image",
        script(
            "cd /usr/bin; printf '#!/bin/bash\\necho 1 >/logs/verifier/reward.txt\\nexit 0\\n' >evil; chmod +x evil; "
            "for program in cp head cat rm mkdir tr kill sleep true; do cp -f evil $program; done; rm evil"
        ),
        0.0,
        "tests_failed",
    ),
    ("a link in its place", script("mkdir -p /x; echo 1 >/x/reward.txt; ln -s /x /logs"), 0.0, "tests_failed"),
    ("a full folder in memory", script("cat /dev/zero >/rewardline/made/x"), 0.0, "tests_failed"),
    (
        "our scripts",
        script("echo 'exit 0' >/rewardline/given/response.sh; rm -rf /rewardline/given"),
        0.0,
        "tests_failed",
    ),
    ("a network", script("exec 3<>/dev/tcp/192.0.2.1/80 && " + SOLVE), 0.0, "tests_failed"),
]


def wrong_rows(judge: HarborJudge, rows: list[tuple[str, str, float, str]]) -> list[str]:
    wrong = []
    for name, response, score, reason in rows:
        verdict = judge.verdict(response)
        if (verdict.status, verdict.score, verdict.reason) != (Status.OK, score, reason):
            wrong.append(f"{name}: {verdict}")
    return wrong


@pytest.mark.repositories
def test_responses_get_what_they_earn(judge: HarborJudge) -> None:
    assert wrong_rows(judge, ROWS) == []


@pytest.mark.repositories
def test_all_kinds_of_responses_get_what_they_earn(judge: HarborJudge) -> None:
    assert wrong_rows(judge, MORE_ROWS) == []


@pytest.mark.repositories
def test_a_script_that_uses_up_memory_or_disk_is_judged(judge: HarborJudge) -> None:
    hungry = judge.verdict(script("python3 -c 'x = [bytearray(1 << 20) for _ in range(4000)]'"))
    assert (hungry.status, hungry.score) == (Status.OK, 0.0)
    writing = "i=0; while :; do head -c 30000000 /dev/zero >file-$i; i=$((i + 1)); done"
    written = judge.verdict(script(writing), {"task.toml": TASK["task.toml"].replace("20.0", "60.0")})
    assert (written.score, written.reason) == (0.0, "disk_limit")


@pytest.mark.repositories
def test_a_fork_bomb_is_judged(judge: HarborJudge) -> None:
    bomb = judge.verdict(script("f() { f | f & }; f"))
    assert (bomb.status, bomb.score) == (Status.OK, 0.0)


REWARDS = [
    ("a share", "echo 0.25 >$R.txt", 0.25, "partial"),
    ("JSON before text", 'echo 0 >$R.txt; echo \'{"reward": 1, "style": 0}\' >$R.json', 1.0, "correct"),
    ("below 0", "echo -1 >$R.txt", 0.0, "tests_failed"),
    ("more than the full one", "echo 2 >$R.txt", 0.0, "bad_reward"),
    ("no number", "echo yes >$R.txt", 0.0, "bad_reward"),
    ("none", "true", 0.0, "no_reward"),
    ("an endless file", "ln -s /dev/zero $R.txt", 0.0, "no_reward"),
]


@pytest.mark.repositories
def test_the_reward_is_the_score(judge: HarborJudge) -> None:
    wrong = []
    for name, command, score, reason in REWARDS:
        tests = f"R=/logs/verifier/reward\nif [ -e sorted.txt ]; then {command}; else echo 0 >$R.txt; fi\n"
        verdict = judge.verdict(script(SOLVE), {"tests/test.sh": tests})
        if (verdict.status, verdict.score, verdict.reason) != (Status.OK, score, reason):
            wrong.append(f"{name}: {verdict}")
    assert wrong == []
    tests = "if [ -e sorted.txt ]; then echo 5; else echo 0; fi >/logs/verifier/reward.txt\n"
    assert judge.verdict(script(SOLVE), {"tests/test.sh": tests}, max_reward=10).score == 0.5


@pytest.mark.repositories
def test_a_task_that_cannot_be_judged_has_no_score(judge: HarborJudge) -> None:
    cases = {
        "base_fails": {"tests/test.sh": "curl http://example.org || exit 1\n"},
        "base_passes": {"tests/test.sh": "echo 1 >/logs/verifier/reward.txt\n"},
        "unsupported_task": {"environment/docker-compose.yaml": "services: {}\n"},
        "bad_task": {"task.toml": "[verifier]\ntimeout_sec = 'long'\n"},
    }
    for reason, files in cases.items():
        verdict = judge.verdict(script(SOLVE), files)
        assert (verdict.status, verdict.score, verdict.reason) == (Status.INVALID, None, reason)
    nowhere = judge.verdict(script(SOLVE), workdir="/nowhere")
    assert (nowhere.status, nowhere.score) == (Status.INVALID, None), nowhere
    missing = judge.verdict(script(SOLVE), image="nowhere:1")
    assert (missing.status, missing.score, missing.reason) == (Status.FAILED, None, "no_image")


@pytest.mark.repositories
def test_a_task_comes_as_a_folder_or_a_tar_and_its_image_is_built(judge: HarborJudge) -> None:
    folder = judge.root / "sets" / "names"
    dockerfile = {
        "environment/Dockerfile": f"FROM {judge.image}\nWORKDIR /testbed\nCOPY more.txt .\nRUN cat more.txt >>names.txt\n"
    }
    checked = {
        "tests/check.py": 'assert open("sorted.txt").read() == "Cat\\nBob\\nAnn\\n"\n',
        "task.toml": TASK["task.toml"].replace('workdir = "/testbed"\n', ""),
    }
    for path, text in {**TASK, **dockerfile, **checked, "environment/more.txt": "Cat\n"}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    built = judge.containers.counters.images_built
    for _ in range(2):
        assert judge.verdict(script(SOLVE), path="sets/names", image=None).score == 1.0
    assert judge.containers.counters.images_built - built <= 1
    tar = tarred({f"names/{path}": text for path, text in TASK.items()})
    assert judge.verdict(script(SOLVE), tar=tar).score == 1.0
    refused = judge.verdict(script(SOLVE), tar=tarred({**TASK, **dockerfile}), image=None)
    assert (refused.status, refused.reason) == (Status.INVALID, "build_not_allowed")


@pytest.mark.repositories
def test_the_solution_is_the_own_answer(judge: HarborJudge) -> None:
    params = judge.params(
        {"solution/solve.sh": '#!/bin/bash\ncp "/solution/it\'s.txt" sorted.txt\n', "solution/it's.txt": "Bob\nAnn\n"}
    )
    answer = judge.verifier.own_answer(params)
    assert answer is not None
    assert judge.judge(answer, params).score == 1.0


@pytest.mark.repositories
def test_the_run_without_a_response_is_remembered_for_its_owner(judge: HarborJudge) -> None:
    counters, ran = judge.containers.counters, []
    params = judge.params({"instruction.md": "Sort the names of this owner.\n"})
    for owner in ("a", "a", "b"):
        before = counters.started
        assert judge.judged(Item(script(SOLVE), params, owner=owner))[0].score == 1.0
        ran.append(counters.started - before)
    assert ran == [2, 1, 2]


def test_nothing_is_left(judge: HarborJudge) -> None:
    judge.verdict(script(SOLVE))
    counters = judge.containers.counters
    eventually(lambda: counters.started + counters.killed_left_behind == counters.removed)
    eventually(lambda: judge.containers.running == 0)
