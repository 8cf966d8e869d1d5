"""A verifier of tasks in containers, on an event loop of its own, for tests that wait."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from sandbox.base import Sandbox
from sandbox.boxes.absent import NoSandbox
from sandbox.containers.docker import DockerContainers
from sandbox.workers import Workers
from verifiers.base import Item, Params, Resources, Verdict, Verifier

_WAIT_S: Final = 900
P = TypeVar("P", bound=Params)


class ContainerJudge(Generic[P]):
    """The verifier that `create` makes, with containers of the daemon at `address`."""

    def __init__(
        self,
        create: Callable[[Resources], Verifier[P]],
        address: str,
        runtime: str | None,
        *,
        task_root: Path | None = None,
        sandbox: Sandbox | None = None,
        **options: Any,
    ) -> None:
        self.address = address
        self.runtime = runtime
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._workers = Workers(1)
        self.containers = DockerContainers(address, **{"slots": 2, "spares": 2, "runtime": runtime, **options})
        self._sandbox = sandbox or NoSandbox()
        resources = Resources(self._workers, self._sandbox, containers=self.containers, task_root=task_root)
        self.verifier = create(resources)
        self.run(self._workers.start())
        if sandbox is not None:
            self.run(sandbox.start())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_WAIT_S)

    def close(self) -> None:
        self.run(self.containers.stop())
        self.run(self._sandbox.stop())
        self.run(self._workers.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def judged(self, *items: Item[P]) -> Sequence[Verdict]:
        """The verdicts on items, which are judged one after the other."""
        verdicts: Sequence[Verdict] = self.run(self.verifier.score(items))
        return verdicts
