"""The verifier `repository` over containers of a daemon, for tests that wait."""

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from sandbox.containers import Containers
from sandbox.containers.docker import DockerContainers
from sandbox.workers import Workers
from verifiers.base import Item, Resources, Verdict
from verifiers.repository import Repository, create
from verifiers.repository.reference import RepositoryParams

_WAIT_S = 900
OWNER = "repository-tests"

FILES: Mapping[str, str] = {
    "calc/__init__.py": "def add(a, b):\n    return a - b\n\n\ndef double(x):\n    return 2 * x\n",
    "tests/test_calc.py": (
        "from calc import add, double\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
        "def test_add_negative():\n    assert add(-1, -2) == -3\n\n\ndef test_double():\n    assert double(4) == 8\n"
    ),
    "setup.cfg": "[tool:pytest]\ntestpaths = tests\n",
    "README.md": "# calc\n",
}
FIX = "\n".join(
    (
        "diff --git a/calc/__init__.py b/calc/__init__.py",
        "--- a/calc/__init__.py",
        "+++ b/calc/__init__.py",
        "@@ -1,5 +1,5 @@",
        " def add(a, b):",
        "-    return a - b",
        "+    return a + b",
        " ",
        " ",
        " def double(x):",
        "",
    )
)


class Judge:
    """One verifier, on an event loop of its own."""

    def __init__(self, address: str, image: str, commit: str, runtime: str | None = None, **options: Any) -> None:
        self.address = address
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._workers = Workers(1)
        settings: dict[str, Any] = {"slots": 2, "runtime": runtime, "owner": OWNER, **options}
        self.containers: Containers = DockerContainers(address, **settings)
        self.verifier: Repository = create(Resources(self._workers, containers=self.containers))
        self.task = {
            "image": image,
            "base_commit": commit,
            "test_command": "python3 -m pytest -q -p no:cacheprovider tests/test_calc.py",
            "fail_to_pass": ["tests/test_calc.py::test_add", "tests/test_calc.py::test_add_negative"],
            "pass_to_pass": ["tests/test_calc.py::test_double"],
            "cpu_s": 60.0,
            "memory_mb": 512,
            "disk_mb": 64,
        }
        self.run(self._workers.start())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_WAIT_S)

    def close(self) -> None:
        self.run(self.containers.stop())
        self.run(self._workers.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def item(self, response: str, *, explain: bool = False, **changes: Any) -> Item[RepositoryParams]:
        params = RepositoryParams.model_validate({"reference": {**self.task, **changes}})
        return Item(response, params, explain=explain)

    def verdict(self, response: str, *, explain: bool = False, **changes: Any) -> Verdict:
        """The verdict on a response; `changes` are other fields of the task."""
        verdicts: Sequence[Verdict] = self.run(self.verifier.score([self.item(response, explain=explain, **changes)]))
        return verdicts[0]

    def judge_row(self, row: Mapping[str, Any], response: str) -> Verdict:
        """The verdict on a response to a row of a data set."""
        item = Item(response, RepositoryParams.model_validate({"reference": row}))
        verdicts: Sequence[Verdict] = self.run(self.verifier.score([item]))
        return verdicts[0]
