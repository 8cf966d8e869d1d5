"""The verifier `harbor` over containers of a daemon, for tests that wait."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sandbox.containers.images import ImageRules
from tests.verifiers.container_judge import ContainerJudge
from verifiers.base import Item, Verdict
from verifiers.harbor import create
from verifiers.harbor.reference import HarborParams

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


class HarborJudge(ContainerJudge[HarborParams]):
    def __init__(self, address: str, image: str, root: Path, runtime: str | None = None) -> None:
        rules = ImageRules(may_build=True)
        super().__init__(create, address, runtime, task_root=root, owner="harbor-tests", rules=rules)
        self.root = root
        self.image = image

    def params(self, files: Mapping[str, str] | None = None, **reference: Any) -> HarborParams:
        if not {"path", "tar"} & set(reference):
            reference["files"] = {**TASK, **(files or {})}
        return HarborParams.model_validate({"reference": {"image": self.image, **reference}})

    def verdict(self, response: str, files: Mapping[str, str] | None = None, **reference: Any) -> Verdict:
        """The verdict on a response; `files` are other files of the task, `reference` other fields."""
        return self.judge(response, self.params(files, **reference))

    def judge(self, response: str, params: HarborParams) -> Verdict:
        return self.judged(Item(response, params, explain=True))[0]
