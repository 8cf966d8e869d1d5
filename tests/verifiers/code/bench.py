"""The code verifier over real boxes."""

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sandbox.base import Program, Sandbox
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from sandbox.workers import Workers
from verifiers.base import Item, Resources, Verdict
from verifiers.code import Code, CodeParams, aliases, create, judging
from verifiers.code.judging import Judged


class Bench:
    """The verifier, its workers and boxes on an event loop of their own, so that synchronous tests can use it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.workers = Workers(1)
        self.sandbox: Sandbox = PooledSandbox(LocalBackend(), slots=2)
        self.verifier: Code = create(Resources(self.workers, self.sandbox))
        self.run(self.workers.start())
        self.run(self.sandbox.start())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(600)

    def close(self) -> None:
        self.run(self.sandbox.stop())
        self.run(self.workers.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def judge(self, response: str, reference: Any, *, explain: bool = False, **params: Any) -> Verdict:
        return self.judge_all([(response, {"reference": reference, **params})], explain=explain)[0]

    def judge_all(self, items: Sequence[tuple[str, Mapping[str, Any]]], *, explain: bool = False) -> list[Verdict]:
        asked = [Item(response, CodeParams.model_validate(params), None, explain) for response, params in items]
        return list(self.run(self._score(asked)))

    async def _score(self, items: Sequence[Item[CodeParams]]) -> Sequence[Verdict]:
        return await self.verifier.score(items)

    def statuses(self, source: str, params: CodeParams, *, prefers_programs: bool) -> list[str]:
        """The result of each test of a suite, by either of the two ways to run asserts."""
        terms = replace(params.terms(explain=True), prefers_programs=prefers_programs)
        suite = aliases.parse(params.reference)
        judged: Judged = self.run(judging.judge(self.sandbox, self.workers, suite, Program(source), terms))
        return [str(outcome.status) for outcome in judged.outcomes]
