"""A container that is lost with a response: whose doing it is."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from sandbox.base import SandboxUnavailable
from sandbox.containers import Container, Counters, End, Ended, Files, NoContainers, Task, TaskLimits
from sandbox.workers import Workers
from tests.verifiers.harbor.judge import TASK
from verifiers.base import Item, Resources, Status, Verdict
from verifiers.harbor import create
from verifiers.harbor.reference import HarborParams


class Losing(NoContainers):
    """Containers whose tests write 0. The first `lost` of those with a script are lost when it has run; once `is_down`,
    so are all others.
    """

    def __init__(self, lost: int, *, is_down: bool = False) -> None:
        super().__init__()
        self.counters = Counters()
        self.slots = 1
        self.lost = lost
        self.is_down = is_down
        self.has_lost = False

    async def base(self, task: Task) -> str:
        return task.image

    @asynccontextmanager
    async def open(self, task: Task, files: Files) -> AsyncIterator[Container]:
        yield Lost(self, has_script="given/response.sh" in files)


class Lost(Container):
    def __init__(self, containers: Losing, *, has_script: bool) -> None:
        self._containers = containers
        self._has_script = has_script

    async def run(
        self, command: Sequence[str], limits: TaskLimits | None = None, *, report: str | None = None, prepared: str = ""
    ) -> Ended:
        if self._containers.has_lost and self._containers.is_down and not self._has_script:
            raise SandboxUnavailable("the daemon does not answer")
        return Ended(End.EXITED, 0, b"", 0.0, 0.0)

    async def give(self, files: Files) -> None:
        return

    async def fetch(self, name: str, *, max_bytes: int) -> bytes | None:
        return None

    async def met_limit(self) -> End | None:
        return None

    async def read(
        self, path: str, *, max_bytes: int, is_wanted: Callable[[str], bool] = lambda _: True
    ) -> Mapping[str, bytes]:
        return {"": b"0"} if path.endswith("reward.txt") else {}

    async def fill(self, folder: str, files: Mapping[str, bytes]) -> None:
        return

    async def end_others(self) -> bool:
        if self._containers.lost:
            self._containers.lost -= 1
            self._containers.has_lost = True
            raise SandboxUnavailable("the daemon does not answer")
        return True


async def judged(containers: Losing) -> Verdict:
    params = HarborParams.model_validate({"reference": {"image": "example:1", "files": TASK}})
    workers = Workers(1)
    verifier = create(Resources(workers, containers=containers))
    await workers.start()
    try:
        (verdict,) = await verifier.score([Item("```bash\ntrue\n```", params)])
    finally:
        await workers.stop()
    return verdict


async def test_a_container_that_is_lost_once_is_tried_again() -> None:
    verdict = await judged(Losing(1))
    assert (verdict.status, verdict.reason) == (Status.OK, "tests_failed")


async def test_a_response_that_loses_each_container_is_judged() -> None:
    verdict = await judged(Losing(2))
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "container_lost")


async def test_a_daemon_that_is_down_judges_nothing() -> None:
    verdict = await judged(Losing(1, is_down=True))
    assert (verdict.status, verdict.score) == (Status.FAILED, None)
