"""Repository tasks through the running service: verdicts, metrics, audits, and what is said when there is no daemon."""

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import httpx
import pytest
import yaml
from pydantic import ValidationError

from sandbox.base import SandboxUnavailable
from sandbox.containers import NoContainers
from sandbox.containers.docker import DockerContainers
from service.backends.task_containers import DaemonWatch
from service.dataset_audit.audit import audit
from service.dataset_audit.report import Severity
from service.dataset_audit.rows import Columns, read
from service.limits import keys
from service.run.core import open_core
from service.settings import Settings
from tests.conftest import Serve, serving
from tests.service.backends.test_programs import samples, score
from tests.task_images import repository_image
from tests.verifiers.repository.judge import FILES, FIX, small_task
from tests.virtual_time import in_virtual_time
from tests.waiting import eventually

JSON = dict[str, Any]
WRONG = FIX.replace("a + b", "b - a")


class Answering(NoContainers):
    """Containers of a daemon that answers, or does not."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = 2
        self.answers = False

    async def check(self) -> None:
        if not self.answers:
            raise SandboxUnavailable("no answer", "containers_unavailable")


@in_virtual_time
async def test_a_daemon_that_is_lost_and_back_is_said_once_each_time(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "rewardline.tasks")
    containers = Answering()
    watch = DaemonWatch(containers)
    assert watch.state == "unknown"
    running = asyncio.create_task(watch.run())
    states = []
    for containers.answers in (False, True, False, True):
        await asyncio.sleep(60)
        states.append(watch.state)
    running.cancel()
    assert states == ["absent", "ready", "lost", "ready"]
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("INFO", "tasks cannot be run: items of `repository` and `harbor` will be `failed`"),
        ("INFO", "containers of tasks are ready"),
        ("WARNING", "tasks cannot be run: items of `repository` and `harbor` will be `failed`"),
        ("WARNING", "the Docker daemon of tasks is back"),
    ]


@in_virtual_time
async def test_a_service_without_containers_of_tasks_says_so_once_and_asks_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "rewardline.tasks")
    watch = DaemonWatch(NoContainers())
    await watch.run()
    assert watch.state == "absent"
    assert len(caplog.records) == 1


async def test_a_daemon_that_goes_after_it_was_checked_is_missed(docker_address: str, tmp_path: Path) -> None:
    """Between the service and the daemon there is a socket that is taken away and brought back."""
    door = tmp_path / "docker.sock"
    door.symlink_to(docker_address.removeprefix("unix://"))
    containers = DockerContainers(f"unix://{door}", slots=1, owner="watch-tests")
    try:
        await containers.check()
        away = door.rename(tmp_path / "away.sock")
        with pytest.raises(SandboxUnavailable) as caught:
            await containers.check()
        assert caught.value.reason == "containers_unavailable"
        away.rename(door)
        await containers.check()
    finally:
        await containers.stop()


@pytest.fixture(scope="module")
def task(docker_address: str) -> JSON:
    with closing(docker.APIClient(docker_address, version="auto", timeout=300)) as client:
        return small_task(*repository_image(client, FILES))


@pytest.mark.repositories
def test_a_patch_is_judged_by_the_service(docker_address: str, task: JSON, tmp_path: Path) -> None:
    item = {"verifier": "repository", "reference": task}
    with serving(tmp_path / "log.jsonl", sandbox="none", docker_host=docker_address, repository_slots="1") as served:
        results = score(
            served,
            {**item, "response": FIX},
            {**item, "response": WRONG},
            {**item, "response": FIX, "reference": {**task, "image": "nowhere:1"}},
            {**item, "response": FIX, "reference": {**task, "network": True}},
            {**item, "response": FIX, "reference": {**task, "fail_to_pass": [], "pass_to_pass": []}},
            deadline_s=600,
        )
        assert [(result["status"], result["score"], result["reason"]) for result in results] == [
            ("ok", 1.0, "correct"),
            ("ok", 0.0, "tests_failed"),
            ("failed", None, "no_image"),
            ("invalid", None, "network_not_allowed"),
            ("invalid", None, "bad_reference"),
        ]
        # The base run, the run of each change, and the twin run of the one that would earn something: with one slot none
        # begins beside a run. A verdict does not wait until its containers are removed.
        containers = 4
        eventually(lambda: samples(served)[("rewardline_task_removed_total",)] == containers)
        counts = samples(served)
        assert counts[("rewardline_task_started_total",)] == containers
        assert counts[("rewardline_tasks_running",)] == 0
        assert counts[("rewardline_task_slots",)] == 1
        assert counts[("rewardline_task_cpu_seconds_total",)] > 0


@pytest.mark.repositories
def test_cpu_time_of_containers_counts_for_budgets(docker_address: str, task: JSON, tmp_path: Path) -> None:
    key, digest = keys.new_key()
    keys_file = tmp_path / "keys.yaml"
    specs = {"keys": {"trainer": {"sha256": digest}}, "tenants": {"trainer": {"run_budget": {"cpu_s": 1e-6}}}}
    keys_file.write_text(yaml.safe_dump(specs))
    item = {"verifier": "repository", "reference": task}
    with (
        serving(tmp_path / "log.jsonl", sandbox="none", docker_host=docker_address, keys_file=str(keys_file)) as served,
        httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {key}"}, timeout=600) as client,
    ):

        def judged(response: str, run: str) -> JSON:
            body = {"items": [{**item, "response": response}], "run_id": run, "deadline_s": 600}
            [result] = client.post("/v1/score", json=body).json()["results"]
            assert isinstance(result, dict)
            return result

        assert judged(FIX, "one")["score"] == 1.0
        refused = judged(WRONG, "one")
        assert (refused["status"], refused["score"], refused["reason"]) == ("failed", None, "budget_exhausted")
        assert refused["detail"]["budget"] == "cpu_s"
        assert judged(FIX, "one")["cached"]
        assert judged(WRONG, "two")["score"] == 0.0, "another run has its own budget"
        [usage] = client.get("/v1/usage").json()["tenants"]
        used_s = {run["run_id"]: run["total"]["cpu_s"] for run in usage["runs"]}
        assert used_s["one"] > 0.0 < used_s["two"]
        assert usage["total"]["cpu_s"] == pytest.approx(sum(used_s.values()))


@pytest.mark.repositories
async def test_an_audit_finds_tasks_that_cannot_be_solved(docker_address: str, task: JSON, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    tasks = [
        {**task, "patch": FIX},
        {**task, "patch": WRONG},
        {**task, "patch": FIX, "fail_to_pass": ["tests/test_calc.py::test_double"], "pass_to_pass": []},
        {**task, "patch": FIX.replace("return a + b", "import sys; sys._getframe(1); return a + b")},
        {**task, "patch": FIX, "log_options": {"names": "r2e"}, "fail_to_pass": ["test_add"], "pass_to_pass": []},
    ]
    rows.write_text("".join(json.dumps({"reference": each}) + "\n" for each in tasks))
    async with open_core(Settings(sandbox="none", workers=1, docker_host=docker_address)) as core:
        report = await audit(core.engine, read(rows, Columns(verifier="repository")), lambda report: None)
    assert [(finding.row, finding.reason) for finding in report.findings] == [(2, "not_itself"), (3, "base_passes")]
    assert report.own_answers == 5
    hints = {kind.reason: kind.rows for kind in report.kinds.values() if kind.severity is Severity.HINT}
    assert hints == {"inspects_tests": 1, "nothing_guards": 1}


@pytest.mark.repositories
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"repository_docker_host": "unix:///nonexistent.sock"}, "nonexistent.sock"),
        ({"repository_slots": "0"}, "slots"),
    ],
)
def test_a_service_that_can_run_no_tasks_says_so_at_the_start(serve: Serve, options: dict[str, str], why: str) -> None:
    item = {"verifier": "repository", "reference": {"image": "x:1", "test_command": "x", "fail_to_pass": ["x"]}}
    served = serve(**options)
    eventually(lambda: said(served.log, "tasks cannot be run"))
    assert why in said(served.log, "tasks cannot be run")[0]["why"]
    (result,) = score(served, {**item, "response": FIX})
    assert (result["status"], result["score"], result["reason"]) == ("failed", None, "containers_unavailable")
    assert why in result["detail"]["message"]


def said(log: Path, event: str) -> list[JSON]:
    """The whole lines of a log whose event begins so."""
    lines = [json.loads(line) for line in log.read_text().splitlines(keepends=True) if line.endswith("}\n")]
    return [line for line in lines if line["event"].startswith(event)]


def test_images_are_named_with_commas_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDLINE_REPOSITORY_IMAGES", "swebench/*,example:1")
    assert Settings().repository_images == ["swebench/*", "example:1"]


def test_images_that_are_pulled_must_be_named() -> None:
    with pytest.raises(ValidationError, match="does not say which images"):
        Settings(repository_pull=True)
    assert Settings(repository_pull=True, repository_images=["*"]).repository_images == ["*"]
