"""The verifier `harbor` over containers of a daemon, for tests that wait."""

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, Final

from sandbox.containers.docker import DockerContainers
from sandbox.containers.images import ImageRules
from sandbox.workers import Workers
from verifiers.base import Item, Resources, Verdict
from verifiers.harbor import Harbor, create
from verifiers.harbor.reference import HarborParams

_WAIT_S: Final = 600

FILES: Final = {"names.txt": "Ann\nBob\n", "README.md": "# names\n"}
TESTS: Final = """\
#!/bin/bash
cd /testbed
if python3 -s /tests/check.py; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
"""
CHECK: Final = 'assert open("sorted.txt").read() == "Bob\\nAnn\\n"\n'
TASK: Final[Mapping[str, str]] = {
    "task.toml": (
        'version = "1.0"\n[agent]\ntimeout_sec = 20.0\n[verifier]\ntimeout_sec = 60.0\n'
        '[environment]\nworkdir = "/testbed"\nmemory = "512M"\nstorage = "64M"\n'
    ),
    "instruction.md": "Write the names in reverse order to sorted.txt.\n",
    "tests/test.sh": TESTS,
    "tests/check.py": CHECK,
    "solution/solve.sh": "#!/bin/bash\nsort -r names.txt >sorted.txt\n",
}


class HarborJudge:
    """One verifier, on an event loop of its own."""

    def __init__(self, address: str, image: str, root: Path, runtime: str | None = None) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._workers = Workers(1)
        self.root = root
        self.image = image
        rules = ImageRules(may_build=True)
        self.containers = DockerContainers(address, slots=2, runtime=runtime, owner="harbor-tests", rules=rules)
        resources = Resources(self._workers, containers=self.containers, task_root=root)
        self.verifier: Harbor = create(resources)
        self.run(self._workers.start())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_WAIT_S)

    def close(self) -> None:
        self.run(self.containers.stop())
        self.run(self._workers.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def params(self, files: Mapping[str, str] | None = None, **reference: Any) -> HarborParams:
        if not {"path", "tar"} & set(reference):
            reference["files"] = {**TASK, **(files or {})}
        return HarborParams.model_validate({"reference": {"image": self.image, **reference}})

    def verdict(self, response: str, files: Mapping[str, str] | None = None, **reference: Any) -> Verdict:
        """The verdict on a response; `files` are other files of the task, `reference` other fields."""
        return self.judge(response, self.params(files, **reference))

    def judge(self, response: str, params: HarborParams) -> Verdict:
        (verdict,) = self.run(self.verifier.score([Item(response, params, explain=True)]))
        assert isinstance(verdict, Verdict)
        return verdict
