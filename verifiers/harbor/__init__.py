"""Judges responses to tasks of Harbor and Terminal-Bench by the tests of the task, in a container of its image.

    reference ──► folder, tar or texts ──► task.toml, tests, image              (reference.py, tasks.py)
    response  ──► script or change                                              (responses.py)
                   ▼
    base run      without a response, once per task                             (judging.py)
                   ▼
    container ► the response acts ► its processes end ► tests come and run ► reward.json or reward.txt
                                                     (scripts.py)               (rewards.py)

`invalid`: a task that cannot be read or is not supported, or whose tests give no reward or the full one without a response.
`failed`: no container, no image, a lost daemon. What is wrong after a response alone is the response's doing: 0.

What a script can still do to the image that its tests run in is in docs/harbor.md.
"""

import asyncio
import os
from shlex import quote
from typing import Any, Final

import msgspec

from sandbox.workers import Exit, Task
from verifiers.base import Example, InvalidItem, Item, Resources, Status, Verdict
from verifiers.boxed import BoxVerifier, read_in_worker, unread
from verifiers.harbor import responses, tasks
from verifiers.harbor.judging import REWARD, HarborTask, Judging
from verifiers.harbor.reference import MAX_TASK_BYTES, HarborParams, HarborReference
from verifiers.long_texts import INLINE_CHARS, ask_workers, sendable
from verifiers.repository.changes import MAX_CHANGE_BYTES, Change, of_worker
from verifiers.repository.given import EDIT

READ: Final = Task("verifiers.harbor.responses", "read_in_worker", time_limit_s=20.0, output_bytes=2 * MAX_CHANGE_BYTES)
TAR: Final = Task("verifiers.harbor.tasks", "of_tar_in_worker", time_limit_s=20.0, output_bytes=2 * MAX_TASK_BYTES)


class Harbor(BoxVerifier[HarborParams]):
    name = "harbor"
    version = "5"
    params = HarborParams
    summary = "The tests of a Harbor task reward what the response did, in a container of the task's image"

    def __init__(self, resources: Resources) -> None:
        self._workers = resources.workers
        self._containers = resources.containers
        self._root = resources.task_root
        self._judging = Judging(resources.containers, resources.workers)
        self.concurrency = resources.containers.slots + 1

    def own_answer(self, params: HarborParams) -> str | None:
        if params.form == "change":
            return None
        try:
            files = self._files_now(params.reference)
        except InvalidItem:
            return None
        solution = tasks.part(files, "solution")
        if "solve.sh" not in solution:
            return None
        lines = ["(mkdir -p /solution && cd /solution"]
        for path, content in solution.items():
            try:
                text = content.decode()
            except UnicodeDecodeError:
                return None
            lines.append(f"mkdir -p -- {quote(os.path.dirname(path) or '.')} && printf %s {quote(text)} >{quote(path)}")
        lines.append(") && chmod +x /solution/solve.sh && /solution/solve.sh")
        return "<think>\n</think>\n" + msgspec.json.encode({"script": "\n".join(lines)}).decode()

    async def _judge(self, item: Item[HarborParams]) -> Verdict:
        reference = item.params.reference
        files = await self._files(reference)
        config = tasks.config(files)
        workdir = reference.workdir or config.environment.workdir or ""
        response = await self._read(item, workdir)
        image = reference.image or config.environment.docker_image or await self._build(reference, files)
        task = HarborTask(reference, files, config, image)
        return await self._judging.verdict(task, response, explain=item.explain, owner=item.owner)

    async def _build(self, reference: HarborReference, files: tasks.Files) -> str:
        """The image of the task's Dockerfile.

        Raises:
            InvalidItem: there is no Dockerfile, or it is not the operator's.
        """
        context = tasks.part(files, "environment")
        if "Dockerfile" not in context:
            raise InvalidItem("bad_task", "the task names no image, and has no environment/Dockerfile")
        if reference.path is None:
            raise InvalidItem(
                "build_not_allowed",
                "images are built for tasks below the server's folder only; name an image with docker_image",
            )
        return await self._containers.build(context)

    async def _files(self, reference: HarborReference) -> tasks.Files:
        if reference.tar is None or len(reference.tar) <= INLINE_CHARS:
            return await asyncio.to_thread(self._files_now, reference)
        (outcome,) = await ask_workers(self._workers, TAR, [reference.tar])
        if outcome.exit is not Exit.OK:
            raise unread(outcome)
        files, message = outcome.value
        if message:
            raise InvalidItem("bad_task", message)
        return dict(files)

    def _files_now(self, reference: HarborReference) -> tasks.Files:
        if reference.tar is not None:
            return tasks.of_tar(reference.tar)
        if reference.files is not None:
            return {path: text.encode(errors="replace") for path, text in reference.files.items()}
        if self._root is None or reference.path is None:
            raise InvalidItem("no_task", "this server has no folder of tasks (setting `harbor_root`)")
        return tasks.of_folder(self._root, reference.path)

    async def _read(self, item: Item[HarborParams], workdir: str) -> str | Change:
        """The script or the change of the response.

        Raises:
            WrongResponse: there is none.
            Unavailable: it could not be read.
        """
        form, think = item.params.form, item.params.think
        if len(item.response) <= INLINE_CHARS:
            return responses.read(item.response, form, think, workdir)
        payload = [sendable(item.response), form, think, workdir]
        script, change = await read_in_worker(self._workers, READ, item.response, payload)
        return of_worker(change) if script is None else str(script)


def create(resources: Resources) -> Harbor:
    resources.workers.register(READ)
    resources.workers.register(TAR)
    resources.workers.register(REWARD)
    resources.workers.register(EDIT)
    return Harbor(resources)


_TASK: dict[str, Any] = {
    "image": "rewardline-example",
    "workdir": "/testbed",
    "files": {
        "task.toml": "[verifier]\ntimeout_sec = 60.0\n",
        "tests/test.sh": (
            "#!/bin/sh\n"
            'if python3 -c "from total import total; assert total([1, 2]) == 3"\n'
            "then echo 1 >/logs/verifier/reward.txt\n"
            "else echo 0 >/logs/verifier/reward.txt\n"
            "fi\n"
        ),
    },
}
_PARAMS: dict[str, Any] = {"reference": _TASK, "form": "change"}
_RIGHT = """\
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
    Example(_RIGHT, _PARAMS, 1.0, "correct", "The change makes the tests write the full reward."),
    Example(
        _RIGHT.replace("+    return sum(numbers)", "+    return sum(numbers[:1])"),
        _PARAMS,
        0.0,
        "tests_failed",
        "The change applies, and the tests write 0.",
    ),
    Example("Sum all numbers.", _PARAMS, 0.0, "no_patch", "The response has nothing that could be done."),
    Example(
        _RIGHT,
        {"reference": {"files": {"task.toml": ""}}},
        None,
        "bad_task",
        "A task needs tests.",
        Status.INVALID,
    ),
    Example(
        _RIGHT,
        {"reference": {**_TASK, "files": {**_TASK["files"], "task.toml": '[environment]\nos = "windows"\n'}}},
        None,
        "unsupported_task",
        "What a task asks for and cannot get is said.",
        Status.INVALID,
    ),
]
