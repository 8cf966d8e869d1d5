"""The verifier `repository` over containers of a daemon, for tests that wait."""

from collections.abc import Mapping
from typing import Any

from tests.verifiers.container_judge import ContainerJudge
from verifiers.base import Item, Verdict
from verifiers.repository import create
from verifiers.repository.reference import RepositoryParams

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


def small_task(image: str, commit: str) -> dict[str, Any]:
    """The reference of the task that `FIX` solves."""
    return {
        "image": image,
        "base_commit": commit,
        "test_command": "python3 -m pytest -q -p no:cacheprovider tests/test_calc.py",
        "fail_to_pass": ["tests/test_calc.py::test_add", "tests/test_calc.py::test_add_negative"],
        "pass_to_pass": ["tests/test_calc.py::test_double"],
        "cpu_s": 60.0,
        "memory_mb": 512,
        "disk_mb": 64,
    }


class Judge(ContainerJudge[RepositoryParams]):
    def __init__(self, address: str, image: str, commit: str, runtime: str | None = None, **options: Any) -> None:
        super().__init__(create, address, runtime, **{"owner": OWNER, **options})
        self.task = small_task(image, commit)

    def item(self, response: str, *, explain: bool = False, **changes: Any) -> Item[RepositoryParams]:
        params = RepositoryParams.model_validate({"reference": {**self.task, **changes}})
        return Item(response, params, explain=explain)

    def verdict(self, response: str, *, explain: bool = False, **changes: Any) -> Verdict:
        """The verdict on a response; `changes` are other fields of the task."""
        return self.judged(self.item(response, explain=explain, **changes))[0]

    def judge_row(self, row: Mapping[str, Any], response: str) -> Verdict:
        """The verdict on a response to a row of a data set."""
        return self.judged(Item(response, RepositoryParams.model_validate({"reference": row})))[0]
