"""Judges changes to a repository by the repository's own tests, in a container of the task's own image.

    response ──► change: a diff, files, a tar                                           (changes.py, diffs.py)
    reference ──► task: image, tests, limits                                            (reference.py)
                   ▼
    base run       without a change, once per task: it must fail as the task says       (judging.py)
                   ▼
    fresh container ► change applied ► protected files restored ► test patch ► tests ► report, read from outside
                                      (protection.py, scripts.py)                        (reports/)

A change that does not apply, breaks tests, or uses up a limit is judged: 0. `invalid`: the image, the base commit, the
test patch, or a base run that does not fail as the task says. `failed`: no container, no space, a lost daemon.

Code under test runs in the same process as most test runners. What that means, and what is done about it, is in
docs/repository-tasks.md.
"""

from sandbox.workers import Task
from verifiers.base import Example, Item, Resources, Status, Verdict
from verifiers.boxed import BoxVerifier, read_in_worker
from verifiers.long_texts import INLINE_CHARS, sendable
from verifiers.repository import changes, reports
from verifiers.repository.changes import Change
from verifiers.repository.given import EDIT
from verifiers.repository.judging import NEGATE, STATES, Judging
from verifiers.repository.reference import RepositoryParams

READ = Task(
    "verifiers.repository.changes", "read_in_worker", time_limit_s=20.0, output_bytes=2 * changes.MAX_CHANGE_BYTES
)


class Repository(BoxVerifier[RepositoryParams]):
    name = "repository"
    version = "9"
    params = RepositoryParams
    summary = "The response's patch makes the failing tests of a repository pass, in a container of the task's image"

    def __init__(self, resources: Resources) -> None:
        self._workers = resources.workers
        self._judging = Judging(resources.containers, resources.workers, resources.sandbox)
        self.concurrency = resources.containers.slots + 1

    def own_answer(self, params: RepositoryParams) -> str | None:
        patch = params.reference.patch
        return None if patch is None else f"<think>\n</think>\n<patch>\n{patch}\n</patch>"

    async def _judge(self, item: Item[RepositoryParams]) -> Verdict:
        reference = item.params.reference
        reports.check(reference.log_format, reference.log_options)
        change = await self._read(item)
        return await self._judging.verdict(
            reference,
            change,
            explain=item.explain,
            owner=item.owner,
            may_be_unguarded=item.params.unguarded == "allow",
            may_inspect=item.params.inspects_tests == "allow",
        )

    async def _read(self, item: Item[RepositoryParams]) -> Change:
        """The change of the response.

        Raises:
            WrongResponse: there is none.
            Unavailable: it could not be read.
        """
        think, workdir = item.params.think, item.params.reference.workdir
        if len(item.response) <= INLINE_CHARS:
            return changes.read(item.response, think, workdir)
        payload = [sendable(item.response), think, workdir]
        return changes.of_worker(await read_in_worker(self._workers, READ, item.response, payload))


def create(resources: Resources) -> Repository:
    resources.workers.register(READ)
    resources.workers.register(STATES)
    resources.workers.register(NEGATE)
    resources.workers.register(EDIT)
    return Repository(resources)


_TASK = {
    "image": "rewardline-example",
    "workdir": "/testbed",
    "test_command": "python3 -m pytest -q test_total.py",
    "test_files": {"test_total.py": "from total import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"},
    "fail_to_pass": ["test_total.py::test_total"],
}
_RIGHT = """\
The loop leaves out the first number.

```diff
--- a/total.py
+++ b/total.py
@@ -1,2 +1,2 @@
 def total(numbers):
-    return sum(numbers[1:])
+    return sum(numbers)
```
"""
EXAMPLES = [
    Example(_RIGHT, {"reference": _TASK}, 1.0, "correct", "The patch applies, and the test that failed passes."),
    Example(
        _RIGHT.replace("+    return sum(numbers)", "+    return sum(numbers[:1])"),
        {"reference": _TASK},
        0.0,
        "tests_failed",
        "The patch applies, and the test still fails.",
    ),
    Example(
        '{"files": {"test_total.py": "def test_total():\\n    pass\\n"}}',
        {"reference": _TASK},
        0.0,
        "tests_failed",
        "Files may be given whole. What a response does to tests is undone before they run.",
    ),
    Example(
        _RIGHT.replace("numbers[1:]", "numbers[2:]"),
        {"reference": _TASK},
        0.0,
        "patch_failed",
        "The line that the patch removes is not there.",
    ),
    Example(
        _RIGHT.replace("a/total.py", "a/../total.py"),
        {"reference": _TASK},
        0.0,
        "forbidden_path",
        "A path must stay within the repository, and out of `.git`.",
    ),
    Example(
        "Sum all numbers.", {"reference": _TASK}, 0.0, "no_patch", "The response has no diff, no files and no tar."
    ),
    Example(
        _RIGHT,
        {"reference": {**_TASK, "log_format": "grep"}},
        None,
        "bad_reference",
        "There is no such format of results.",
        Status.INVALID,
    ),
]
