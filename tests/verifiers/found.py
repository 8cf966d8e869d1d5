"""All verifiers, over started workers and boxes, and an honest judge."""

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from sandbox.workers import Workers
from tests.judge_upstream.grader import Grader
from tests.verifiers.lean.stand_in import WithLean
from tests.verifiers.repository.stand_in import Folders
from tests.work import Work, counted
from verifiers import registry
from verifiers.base import Item, Resources, Verdict
from verifiers.conversation import dialects
from verifiers.judge import config, prompts
from verifiers.judge.endpoints import Gateway
from verifiers.judge.panel import Panel
from verifiers.judge.sharing import Shared
from verifiers.registry import Entry

_WAIT_S = 240


@contextmanager
def honest_panel() -> Iterator[Panel]:
    """Judge models and a reward model that a server of this process answers for."""
    with Grader() as grader, TemporaryDirectory() as folder:
        read = config.load(grader.file(Path(folder)))
        gateway = Gateway(read.endpoints, read.pools, keys={})
        yield Panel(read, gateway, Shared(1_000_000), prompts.load(), fence_secret=b"found")


class Found:
    """The registry, on an event loop of its own, so that synchronous tests can use it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._workers = Workers(1)
        self.sandbox = PooledSandbox(LocalBackend(), slots=2, standing=1)
        self._open = ExitStack()
        self._panel = self._open.enter_context(honest_panel())
        self.registry = registry.load(
            Resources(self._workers, WithLean(self.sandbox), judges=self._panel, containers=Folders())
        )
        self._run(self._workers.start())
        self._run(self.sandbox.start())

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_WAIT_S)

    def close(self) -> None:
        self._run(self.sandbox.stop())
        self._run(self._workers.stop())
        self._run(self._panel.stop())
        self._open.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def judge(self, name: str, response: str | list[Any], /, explain: bool = False, **params: Any) -> Verdict:
        """The verdict on a text or on messages. `params` are as on the wire, with the reference among them."""
        entry = self.registry[name]
        read = entry.verifier.params.model_validate_json(json.dumps(params))
        if isinstance(response, str):
            return self.score(entry, [Item(response, read, explain=explain)])[0]
        conversation = dialects.read(response)
        return self.score(entry, [Item(conversation.text("last"), read, conversation=conversation)])[0]

    def score(self, entry: Entry, items: Sequence[Item[Any]]) -> list[Verdict]:
        verdicts = list(self._run(entry.verifier.score(items)))
        assert len(verdicts) == len(items)
        return verdicts

    def work(self, entry: Entry, items: Sequence[Item[Any]]) -> Work:
        """The work on the event loop while a verifier judges items."""

        async def score() -> Work:
            with counted() as work:
                await entry.verifier.score(items)
            return work

        work: Work = self._run(score())
        return work
