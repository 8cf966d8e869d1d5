"""What a policy may find that tampers with its tests earns nothing, and is judged."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import docker
import pytest

from tests.repositories import load
from tests.sandbox.containers import containers_of
from tests.task_images import repository_image
from tests.verifiers.container_judge import ContainerJudge
from tests.verifiers.harbor.judge import FILES as HARBOR_FILES
from tests.verifiers.harbor.judge import TASK
from tests.verifiers.repository.judge import FILES, FIX, OWNER, Judge
from tests.verifiers.repository.tampering import (
    COMPARED,
    COMPARED_TASK,
    PYTEST,
    SCRIPTS,
    TRICKS_OF,
    UNITTEST,
    UNITTEST_TASK,
    change_of,
)
from tests.verifiers.repository.test_repositories import task_of
from verifiers import harbor
from verifiers.base import Item, Status, Verdict
from verifiers.harbor.reference import HarborParams

pytestmark = pytest.mark.repositories
SLOTS: Final = 4
LIMITS: Final[Mapping[str, Any]] = {"cpu_s": 20.0, "wall_s": 40.0, "memory_mb": 256, "disk_mb": 64}
AT_ONCE: Final = 48
"""Changes that one test judges."""
GROUPS: Final[Mapping[str, tuple[Mapping[str, str], Mapping[str, Any]]]] = {
    f"{runner} {start}": (dict(list(changes.items())[start : start + AT_ONCE]), task)
    for runner, changes, task in (
        ("pytest", PYTEST, {}),
        ("comparisons", COMPARED, COMPARED_TASK),
        ("unittest", UNITTEST, UNITTEST_TASK),
    )
    for start in range(0, len(changes), AT_ONCE)
}


@pytest.fixture(scope="module", params=["runc", "runsc"])
def images(request: pytest.FixtureRequest, docker_address: str) -> Iterator[tuple[str, str, str, str]]:
    """The runtime, and the images of the task and of that of Harbor. No container is there afterwards."""
    with closing(docker.APIClient(docker_address, version="auto", timeout=300)) as client:
        if request.param not in client.info()["Runtimes"]:
            pytest.skip(f"the Docker daemon has no runtime {request.param}")
        yield request.param, *repository_image(client, FILES), repository_image(client, HARBOR_FILES)[0]
        assert containers_of(client, OWNER) == []


def judged_at_once(judge: ContainerJudge[Any], items: Sequence[Item[Any]]) -> Sequence[Verdict]:
    async def judge_all() -> list[Verdict]:
        return [verdicts[0] for verdicts in await asyncio.gather(*(judge.verifier.score([item]) for item in items))]

    verdicts: Sequence[Verdict] = judge.run(judge_all())
    return verdicts


def paid_or_lost(names: Sequence[str], verdicts: Sequence[Verdict]) -> list[str]:
    return [
        f"{name}: {verdict}"
        for name, verdict in zip(names, verdicts, strict=True)
        if (verdict.status, verdict.score) != (Status.OK, 0.0)
    ]


@pytest.mark.parametrize("group", GROUPS)
def test_no_change_that_tampers_with_its_tests_earns_anything(
    images: tuple[str, str, str, str], docker_address: str, group: str
) -> None:
    runtime, image, commit, _ = images
    changes, task = GROUPS[group]
    judge = Judge(docker_address, image, commit, runtime, slots=SLOTS)
    try:
        assert judge.verdict(FIX, **LIMITS, **task).score == 1.0
        verdicts = judged_at_once(judge, [judge.item(change, **LIMITS, **task) for change in changes.values()])
    finally:
        judge.close()
    assert paid_or_lost(list(changes), verdicts) == []


@pytest.mark.parametrize("name", TRICKS_OF)
def test_no_change_that_tampers_with_another_runner_earns_anything(
    images: tuple[str, str, str, str], docker_address: str, name: str
) -> None:
    """Those that print or write the results of a passing run are not among them: docs/repository-tasks.md says what they earn."""
    repository, tricks = load(name), TRICKS_OF[name]
    judge = Judge(docker_address, "", "", images[0], slots=SLOTS)
    try:
        task = {**task_of(judge, repository), "cpu_s": 60.0, "wall_s": 60.0}
        verdicts = judged_at_once(judge, [judge.item(change_of(repository, code), **task) for code in tricks.values()])
    finally:
        judge.close()
    assert paid_or_lost(list(tricks), verdicts) == []


def test_no_script_that_tampers_with_its_tests_earns_anything(
    images: tuple[str, str, str, str], docker_address: str, tmp_path: Path
) -> None:
    runtime, _, _, image = images
    judge = ContainerJudge(harbor.create, docker_address, runtime, task_root=tmp_path, owner=OWNER, slots=SLOTS)
    try:
        params = HarborParams.model_validate({"reference": {"image": image, "files": TASK}})
        verdicts = judged_at_once(judge, [Item(script, params) for script in SCRIPTS.values()])
    finally:
        judge.close()
    assert paid_or_lost(list(SCRIPTS), verdicts) == []
