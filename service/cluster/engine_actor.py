"""An engine with its workers and boxes, as an async actor: `ray.remote(EngineActor)`.

This module needs no Ray, and what its methods take and return are plain values and errors of the client. So a process
that only has the handle of such an actor needs neither the server nor its dependencies.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from rewardline import FieldError, InvalidRequest, TooLarge, Unavailable

from service import errors, settings
from service.observe import logs
from service.recipes.files import BadRecipes
from service.run.core import CannotStart, Core, open_core
from service.settings import Settings
from service.tenant import RUN
from service.wire import BatchRequest, CacheMode, decode_request, encode

Json = dict[str, Any]


class EngineActor:
    """Judges batches. The engine begins with `start`, or with the first call, and ends with `drain`.

    All methods belong to one event loop.
    """

    def __init__(self, chosen: Settings | None = None, *, workers: int | None = None) -> None:
        """
        Args:
            chosen: The settings. None: those of the environment where the actor runs.
            workers: Worker processes, in place of what the settings say.
        """
        base = settings.read(None, {"log_level": "warning"}) if chosen is None else chosen
        self._settings = base if workers is None else base.model_copy(update={"workers": workers})
        self._life: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[Core] | None = None
        self._leaving = asyncio.Event()
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def start(self) -> None:
        """Open the engine, unless this was done.

        Raises:
            Unavailable: the settings demand what cannot be had here. The message says what.
        """
        await self._core()

    async def score(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        deadline_s: float = 300.0,
        cache: CacheMode = "use",
        explain: bool = False,
        run_id: str = "",
    ) -> list[Json]:
        """Judge a batch. `results[i]` belongs to `items[i]`, with the fields of `POST /v1/score`.

        Raises:
            InvalidRequest, TooLarge: the batch is refused as a whole, as the HTTP door would. Nothing was judged.
            Unavailable: the engine is gone, or about to go. Another one may judge the batch.
        """
        core = await self._core()
        if self._leaving.is_set():
            raise Unavailable("unavailable", "this engine is about to end; ask another one")
        RUN.set(run_id)
        self._under_way += 1
        self._idle.clear()
        try:
            request = await decode_request(_body(items), len(items))
            deadline = asyncio.get_running_loop().time() + deadline_s
            scored = await core.engine.score(BatchRequest(request.items, {}, cache, explain, deadline))
        except errors.RequestError as error:
            raise _as_client_error(error) from error
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()
        return [msgspec.structs.asdict(result) for result in scored.results]

    async def health(self) -> Json:
        """What is wrong, by the part that has it: `problems` stop everything, `lacks` only some items. `under_way` counts
        calls, and `queued_s` is the work that waits, in seconds by verifier.

        Raises:
            Unavailable: there is no engine.
        """
        core = await self._core()
        readiness = core.readiness()
        problems = dict(readiness.problems) | ({"draining": "about to end"} if self._leaving.is_set() else {})
        return {
            "problems": problems,
            "lacks": dict(readiness.lacks),
            "under_way": self._under_way,
            "queued_s": dict(core.engine.queued_s()),
        }

    async def drain(self) -> None:
        """Refuse new batches, finish those under way, and end the engine."""
        self._leaving.set()
        await self._idle.wait()
        if self._life is not None:
            await asyncio.wait([self._life])

    async def _core(self) -> Core:
        """The engine, opened with the first call.

        Its life is one task, because what it opens must be closed by the task that opened it.
        """
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._life = asyncio.create_task(self._live(self._opened))
        core = await asyncio.shield(self._opened)
        if self._life is None or self._life.done():
            raise Unavailable("unavailable", "the engine has ended; ask another one")
        return core

    async def _live(self, core_future: "asyncio.Future[Core]") -> None:
        try:
            logs.configure(self._settings)
            async with open_core(self._settings) as core:
                core_future.set_result(core)
                await self._leaving.wait()
                await self._idle.wait()
        except BaseException as error:
            if core_future.done():
                raise
            core_future.set_exception(Unavailable("unavailable", f"the engine cannot start: {error}"))
            if not isinstance(error, (BadRecipes, CannotStart)):
                raise


def _body(items: Sequence[Mapping[str, Any]]) -> bytes:
    """The items as a request. Python's own JSON takes lone surrogates and numbers of any size, too."""
    try:
        return encode({"items": items})
    except (ValueError, OverflowError):
        return json.dumps({"items": items}, default=str).encode()


def _as_client_error(error: errors.RequestError) -> InvalidRequest | TooLarge | Unavailable:
    if error.http_status in (429, 503, 504):
        return Unavailable("overloaded", error.detail, retry_after_s=error.retry_after_s)
    kind = TooLarge if isinstance(error, errors.TooLarge) else InvalidRequest
    complaints = [FieldError(tuple(fault.loc), fault.msg) for fault in error.errors]
    return kind(error.title, status=error.http_status, detail=error.detail, errors=complaints)
