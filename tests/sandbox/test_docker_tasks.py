"""The `code` verifier over containers: one task of each case type, right and wrong; and one in gVisor."""

import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from typing import Any

import docker
import pytest
import pytest_asyncio

from sandbox.base import Isolation
from sandbox.boxes.docker import DockerBackend
from tests.sandbox.bench import SUM, Bench, bench, python
from verifiers.code.cases import CaseType

ADD = python("def add(a, b):\n    return a + b")
NO_ADD = python("def add(a, b):\n    return a - b")
PRINT = python("print(sum(map(int, input().split())))")
NO_PRINT = python("print(0)")
UNITTEST = """
import unittest
from solution import add
class Test(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)
"""
PYTEST = "from solution import add\ndef test_add():\n    assert add(2, 3) == 5\n"
CHECK = "def check(candidate):\n    assert candidate(2, 3) == 5\n"
CHECKER = "import sys\nsys.exit(open(sys.argv[2]).read() != '5\\n')"
ADD_IN_SH = "```bash\nadd() { echo $(($1 + $2)); }\n```"
STARTS = "text = {response}\nassert text.startswith('Alpha')"
TASKS: Mapping[CaseType, tuple[dict[str, Any], str, str]] = {
    CaseType.STDIO: (SUM, PRINT, NO_PRINT),
    CaseType.FUNCTION: ({"fn_name": "add", "test_cases": [{"args": [2, 3], "expected": 5}]}, ADD, NO_ADD),
    CaseType.ASSERT: ({"test_cases": ["assert add(2, 3) == 5"]}, ADD, NO_ADD),
    CaseType.CHECK_BASED: ({"test_cases": [{"assert_code": CHECK, "entry_point": "add"}]}, ADD, NO_ADD),
    CaseType.UNITTEST: ({"files": {"test_add.py": UNITTEST}}, ADD, NO_ADD),
    CaseType.PYTEST: ({"files": {"test_add.py": PYTEST}}, ADD, NO_ADD),
    CaseType.TEXT: ({"test_cases": [{"assert_code": STARTS}]}, "Alpha and beta", "Beta and alpha"),
    CaseType.CHECKER: ({"checker": CHECKER, "test_cases": [{"input": "2 3\n", "output": "5"}]}, PRINT, NO_PRINT),
    CaseType.PROGRAM: ({"language": "bash", "test": '[ "$(add 2 3)" -eq 5 ]'}, ADD_IN_SH, ADD_IN_SH.replace("+", "-")),
}
assert TASKS.keys() == set(CaseType)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def judge(docker_address: str) -> AsyncIterator[Bench]:
    async with bench(DockerBackend(address=docker_address)) as judge:
        yield judge


@pytest.mark.repositories(beyond=1)
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case_type", TASKS)
async def test_a_task_of_each_case_type_is_judged_in_containers(judge: Bench, case_type: CaseType) -> None:
    task, right, wrong = TASKS[case_type]
    verdicts = await judge.judge_all([right, wrong], {**task, "case_type": case_type}, time_limit_s=10)
    assert [verdict.score for verdict in verdicts] == [1.0, 0.0], verdicts


KERNEL = python("import os\nprint(sum(map(int, input().split())) if os.uname().release != {host!r} else 'ours')")


async def test_programs_in_gvisor_have_another_kernel_and_are_judged(docker_address: str) -> None:
    with contextlib.closing(docker.APIClient(docker_address, version="auto")) as client:
        if "runsc" not in client.info()["Runtimes"]:
            assert not os.environ.get("CI"), "where all must pass, the Docker daemon has the runtime runsc"
            pytest.skip("NO TEST WITH GVISOR: this Docker daemon has no runtime runsc")
    backend = DockerBackend(runtime="runsc", address=docker_address)
    async with bench(backend, slots=1) as judge:
        assert backend.isolation is Isolation.GVISOR
        elsewhere = KERNEL.replace("{host!r}", repr(os.uname().release))
        verdicts = await judge.judge_all([elsewhere, NO_PRINT], time_limit_s=10)
        assert [verdict.score for verdict in verdicts] == [1.0, 0.0], verdicts
