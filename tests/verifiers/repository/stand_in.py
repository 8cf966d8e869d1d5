"""Containers for the examples of the verifiers `repository` and `harbor` where no Docker daemon is: folders of this machine.

Whatever runs in them is ours: the examples, and texts that are not patch.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from sandbox.containers.base import EXCHANGE, MADE, Container, Containers, Counters, End, Ended, Files, Task, TaskLimits
from tests.task_images import make_repository

_EXAMPLE = {"total.py": "def total(numbers):\n    return sum(numbers[1:])\n"}
_ENVIRONMENT = {
    "PATH": f"{Path(sys.executable).parent}:{os.defpath}",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # those of this environment take longer than the tests
}


class Folders(Containers):
    """Each container is a folder with the repository of the examples."""

    def __init__(self) -> None:
        self.counters = Counters()
        self.slots = 1

    @property
    def waiting(self) -> int:
        return 0

    @property
    def running(self) -> int:
        return 0

    @property
    def free(self) -> int:
        return self.slots

    @property
    def pulling(self) -> int:
        return 0

    async def check(self) -> None:
        return

    async def base(self, task: Task) -> str:
        return task.image

    @asynccontextmanager
    async def open(self, task: Task, files: Files) -> AsyncIterator[Container]:
        folder = Path(tempfile.mkdtemp())
        try:
            container = Folder(folder)
            (folder / "given").mkdir()
            (folder / "made").mkdir()
            await container.give(files)
            await asyncio.to_thread(make_repository, _EXAMPLE, folder / "testbed")
            yield container
        finally:
            await asyncio.to_thread(shutil.rmtree, folder)

    async def stop(self) -> None:
        return


class Folder(Container):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def run(
        self, command: Sequence[str], limits: TaskLimits | None = None, *, report: str | None = None, prepared: str = ""
    ) -> Ended:
        process = await asyncio.create_subprocess_exec(
            *[self._within(part.encode()).decode() for part in command],
            cwd=self._folder / "testbed",
            env=_ENVIRONMENT | {"HOME": str(self._folder)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        return Ended(End.EXITED, process.returncode, output, 0.0, 0.0)

    async def give(self, files: Files) -> None:
        for path, content in files.items():
            (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self._folder / path).write_bytes(self._within(content))
            (self._folder / path).chmod(0o755)

    def _within(self, content: bytes) -> bytes:
        """The content with the folder in the place of the container's own paths."""
        folder = str(self._folder).encode()
        for path in (b"/logs/", b"/tests/"):
            content = content.replace(path, folder + path)
        return content.replace(EXCHANGE.encode(), folder)

    async def fetch(self, name: str, *, max_bytes: int) -> bytes | None:
        return (await self.read(f"{MADE}/{name}", max_bytes=max_bytes)).get("")

    async def met_limit(self) -> End | None:
        return None

    async def read(
        self, path: str, *, max_bytes: int, is_wanted: Callable[[str], bool] = lambda _: True
    ) -> Mapping[str, bytes]:
        file = self._folder / "testbed" / self._within(path.encode()).decode()
        return {"": file.read_bytes()} if file.is_file() else {}

    async def fill(self, folder: str, files: Mapping[str, bytes]) -> None:
        await self.give({f"{folder[1:]}/{path}": content for path, content in files.items()})
        (self._folder / folder[1:]).mkdir(parents=True, exist_ok=True)

    async def end_others(self) -> bool:
        raise NotImplementedError("they are processes of this machine")
