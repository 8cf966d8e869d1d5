"""The sandbox of a service without boxes: every run raises `SandboxUnavailable`."""

from collections.abc import Callable, Sequence

from sandbox.base import Built, Program, Run, RunResult, Sandbox, SandboxUnavailable


class NoSandbox(Sandbox):
    """Runs nothing, ever."""

    def __init__(self, why: str = "this service was started without boxes for programs") -> None:
        self.why = why

    async def start(self) -> None:
        """There is nothing to start."""

    async def stop(self) -> None:
        """There is nothing to stop."""

    @property
    def languages(self) -> frozenset[str]:
        return frozenset()

    @property
    def slots(self) -> int:
        return 0

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        raise SandboxUnavailable(self.why)
