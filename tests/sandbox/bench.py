"""The real `code` verifier over boxes that a test provides, for tests of faults around a program."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sandbox.boxes.backend import Backend
from sandbox.boxes.pool import PooledSandbox
from sandbox.workers import Workers
from verifiers.base import Item, Resources, Verdict
from verifiers.code import Code, CodeParams, create

CASES = [{"input": f"{n} {n}\n", "expected_output": str(2 * n)} for n in range(1, 5)]
SUM: dict[str, Any] = {"case_type": "stdio", "test_cases": CASES}
RIGHT = "```python\nprint(sum(map(int, input().split())))\n```"
SLOWLY_RIGHT = "```python\nimport time\ntime.sleep(0.05)\nprint(sum(map(int, input().split())))\n```"
WRONG = "```python\nimport time\ntime.sleep(0.05)\nprint(input())\n```"


def python(source: str) -> str:
    return f"```python\n{source}\n```"


class Bench:
    """Judges responses."""

    def __init__(self, verifier: Code, sandbox: PooledSandbox) -> None:
        self._verifier = verifier
        self.sandbox = sandbox

    async def judge(self, response: str, reference: Any = SUM, **params: Any) -> Verdict:
        (verdict,) = await self.judge_all([response], reference, **params)
        return verdict

    async def judge_all(self, responses: Sequence[str], reference: Any = SUM, **params: Any) -> Sequence[Verdict]:
        """Judge several items. If there is no box, the verdict is `failed`."""
        known = CodeParams.model_validate({"reference": reference, **params})
        items = [Item(response, known) for response in responses]
        # a single item would raise instead
        return (await self._verifier.score([*items, items[0]]))[:-1]


@asynccontextmanager
async def bench(backend: Backend, slots: int = 2, **terms: Any) -> AsyncIterator[Bench]:
    workers = Workers(1)
    sandbox = PooledSandbox(backend, slots=slots, **terms)
    verifier = create(Resources(workers, sandbox))
    await workers.start()
    try:
        await sandbox.start()
        yield Bench(verifier, sandbox)
    finally:
        await sandbox.stop()
        await workers.stop()
