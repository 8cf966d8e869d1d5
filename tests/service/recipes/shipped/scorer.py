"""Scores items by the shipped recipes, through the engine, without a door."""

import asyncio
import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from service.run.core import Core, open_core
from service.settings import Settings
from service.wire import BatchRequest, Result, decode_request

_MAX_ITEMS = 4096
_WAIT_S = 240


class Scorer:
    """An engine with all shipped recipes, in a thread of its own, so that synchronous tests can use it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._started: Future[tuple[Core, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()))
        self._thread.start()
        self.core, self._loop, self._stop = self._started.result(_WAIT_S)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def score(self, *items: Mapping[str, Any], **request: Any) -> list[Result]:
        """One result per item, in order. Items are as in a request's body; `request` has its other fields."""
        body = json.dumps({"items": items, **request}).encode()
        return asyncio.run_coroutine_threadsafe(self._scored(body), self._loop).result(_WAIT_S)

    def rewards(self, *items: Mapping[str, Any]) -> list[float | None]:
        """The reward of each item. None if it is invalid or failed."""
        return [result.reward for result in self.score(*items)]

    async def _live(self) -> None:
        try:
            async with open_core(self._settings) as core:
                await core.boxes.settled()
                stop = asyncio.Event()
                self._started.set_result((core, asyncio.get_running_loop(), stop))
                await stop.wait()
        except BaseException as error:
            if not self._started.done():
                self._started.set_exception(error)
            raise

    async def _scored(self, body: bytes) -> list[Result]:
        request = await decode_request(body, _MAX_ITEMS)
        deadline = asyncio.get_running_loop().time() + _WAIT_S
        scored = await self.core.engine.score(
            BatchRequest(request.items, request.references, request.cache, request.explain, deadline)
        )
        return list(scored.results)
