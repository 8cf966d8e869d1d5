"""Judges ROLL's tasks from their submission on. Every replica can find a task, and a task survives the end of its
process.

    submit ──► store: body ──► judged here ──► store: outcome
                  │                               │
    poll: judged here? wait for it     else read the outcome; wait for it; judge it here if its process is gone

With Redis every replica can answer a poll. Without it, tasks live and end with this process.
"""

import asyncio
import contextlib
import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Final, Self

import msgspec

from fairness import TENANT, Room
from service.cancellation import cancel
from service.doors.compat.retries import RetryingScorer
from service.errors import Overloaded, StateUnavailable
from service.limits.admission import Admission
from service.settings import Settings
from service.storage.record_store import VERSION, Change
from service.storage.records import open_records
from service.tenant import owned, parted
from service.wire import CacheMode, Result, ScoreItem, encode
from tracing.lines import Log

log = Log("rewardline.roll")

_PREFIX: Final = "rl1rt:"
_MAX_TASKS, _MAX_BYTES = 100_000, 512_000_000
"""Tasks that are judged here at once, or kept here without Redis."""
_BEAT_S, _SILENT_S = 2.0, 8.0
"""How often a process says that it is alive, and for how long each sign holds."""
_BEHIND_S: Final = 120.0
"""How long an outcome is kept. The client asks every two seconds, or waits here."""
_FIRST_LOOK_S, _LONGEST_LOOK_S = 0.1, 1.0
_STORE_AGAIN_S: Final = 0.5
_ID: Final = re.compile(r"[0-9a-f]{32}")
_OUTCOME, _BODY, _QUERY, _OWNER, _UNTIL = "outcome", "body", "query", "owner", "until"


class UnknownTask(Exception):
    """There is no task with this id, or its time is over."""


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of a task."""

    result: Result
    began: str
    ended: str
    """Times in ISO 8601, as the client reads them."""


class Task(msgspec.Struct, frozen=True):
    """A submission as it came."""

    body: bytes
    query: bytes
    timeout_s: float


class Tasks:
    """Judges and keeps tasks. Use it as an async context manager; leaving it stops the tasks under way, and other
    processes can take them over.

    `item_of(body, query)` makes the item of a submission, and says whether cached verdicts may be used. It must make
    the same item in every process.
    """

    def __init__(
        self,
        settings: Settings,
        scorer: RetryingScorer,
        admission: Admission,
        item_of: Callable[[bytes, bytes], tuple[ScoreItem, CacheMode]],
    ) -> None:
        self.is_shared = settings.redis_url is not None
        self._store = open_records(settings.redis_url, _PREFIX, max_records=_MAX_TASKS, max_bytes=_MAX_BYTES)
        self._scorer = scorer
        self._admission = admission
        self._item_of = item_of
        self._me = secrets.token_hex(8)
        self._running: dict[str, asyncio.Task[Outcome]] = {}
        """By the `owned` ids of the tasks."""
        self._tasks, self._bytes = Room(_MAX_TASKS), Room(_MAX_BYTES)
        """These tasks, and the bytes of their bodies."""
        self._beating: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self.is_shared:
            self._beating = asyncio.create_task(self._beat())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await cancel(*self._running.values(), self._beating)
        with contextlib.suppress(StateUnavailable):
            await self._say_gone()
        await self._store.close()

    @property
    def under_way(self) -> int:
        return len(self._running)

    async def submit(self, task: Task) -> str:
        """Keep a task and begin to judge it. Returns its id.

        Raises:
            StateUnavailable, Overloaded: the task was not stored.
        """
        tenant = TENANT.get()
        if not (self._tasks.fits(tenant, 1) and self._bytes.fits(tenant, len(task.body))):
            raise Overloaded(
                f"{self._tasks.all} tasks are judged here, {self._tasks.held(tenant)} of them yours, and no more of yours "
                "fit; try again later",
                retry_after_s=_BEAT_S,
            )
        task_id = secrets.token_hex(16)
        until = time.time() + task.timeout_s
        fields = {VERSION: b"0", _BODY: task.body, _QUERY: task.query, _OWNER: self._me.encode(), _UNTIL: b"%f" % until}
        try:
            await self._store.swap(task_id, None, Change(fields, task.timeout_s + _BEHIND_S))
        except Overloaded as error:
            raise Overloaded(
                "no more tasks fit in memory; try again later", retry_after_s=error.retry_after_s
            ) from error
        self._begin(task_id, b"0", task.body, task.query, until)
        return task_id

    async def outcome(self, task_id: str, until: float) -> Outcome | None:
        """The outcome of a task. None: there is none yet at `until`, on the loop's clock.

        Raises:
            UnknownTask
            StateUnavailable
        """
        if not _ID.fullmatch(task_id):
            raise UnknownTask
        now = asyncio.get_running_loop().time
        pause_s = _FIRST_LOOK_S
        while True:
            running = self._running.get(owned(task_id))
            if running is not None:
                ended, _ = await asyncio.wait([running], timeout=until - now())
                return running.result() if ended else None
            version, stored, owner = await self._store.read(task_id, (VERSION, _OUTCOME, _OWNER))
            if version is None:
                raise UnknownTask
            if stored is not None:
                return _decoded(stored)
            if not await self._is_there(owner or b"") and await self._adopt(task_id, version):
                continue
            if now() + pause_s > until:
                return None
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_LOOK_S)

    async def _adopt(self, task_id: str, version: bytes) -> bool:
        """Take over a task that another process has left. Returns whether it is ours now."""
        body, query, until = await self._store.read(task_id, (_BODY, _QUERY, _UNTIL))
        if body is None or query is None or until is None:
            return False
        try:
            left_s = max(0.0, float(until) - time.time())
        except ValueError as error:
            raise UnknownTask from error
        mine = {VERSION: secrets.token_hex(4).encode(), _OWNER: self._me.encode()}
        if not await self._store.swap(task_id, version, Change(mine, left_s + _BEHIND_S)):
            return False
        log.info("a task of another process is judged here", task=task_id)
        if owned(task_id) not in self._running:
            self._begin(task_id, mine[VERSION], body, query, float(until))
        return True

    def _begin(self, task_id: str, version: bytes, body: bytes, query: bytes, until: float) -> None:
        size = len(body)
        running = asyncio.create_task(self._see_through(task_id, version, *self._item_of(body, query), until))
        name = owned(task_id)
        self._running[name] = running
        self._count(name, 1, size)
        running.add_done_callback(lambda task: self._end(name, size, task))

    def _count(self, name: str, tasks: int, nbytes: int) -> None:
        tenant = parted(name)[0]
        self._tasks.take(tenant, tasks)
        self._bytes.take(tenant, nbytes)

    def _end(self, name: str, size: int, task: asyncio.Task[Outcome]) -> None:
        self._running.pop(name, None)
        self._count(name, -1, -size)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a task raised", task=name, exc_info=error)

    async def _see_through(
        self, task_id: str, version: bytes, item: ScoreItem, cache: CacheMode, until: float
    ) -> Outcome:
        """Judge the item within the time of the task, and store the outcome."""
        began = _now()
        deadline = asyncio.get_running_loop().time() + max(0.0, until - time.time())
        with self._admission.permit() as permit:
            try:
                async with asyncio.timeout_at(deadline):
                    await permit.add_when_possible(items=1)
                (result,) = await self._scorer.results([item], deadline=deadline, cache=cache)
            except TimeoutError:
                result = _NOT_BEGUN
            outcome = Outcome(result, began, _now())
            await self._keep(task_id, version, outcome, deadline)
        return outcome

    async def _keep(self, task_id: str, version: bytes, outcome: Outcome, deadline: float) -> None:
        """Store the outcome. Until it is stored, polls are answered from this process."""
        fields = {VERSION: b"done", _OUTCOME: encode(outcome)}
        while True:
            with contextlib.suppress(StateUnavailable, Overloaded):
                await self._store.swap(task_id, version, Change(fields, _BEHIND_S, (_BODY, _QUERY)))
                return
            if asyncio.get_running_loop().time() > deadline:
                return
            await asyncio.sleep(_STORE_AGAIN_S)

    # Signs of life

    async def _is_there(self, owner: bytes) -> bool:
        """Whether another process that judges the task is alive. Without Redis there is no other process."""
        if not self.is_shared or owner == self._me.encode():
            return False
        (version,) = await self._store.common.read(_process(owner.decode("ascii", "replace")), (VERSION,))
        return version is not None

    async def _beat(self) -> None:
        """Say regularly that this process is alive. It never returns."""
        name = _process(self._me)
        while True:
            with contextlib.suppress(StateUnavailable):
                # Read it each time: after a lost answer it is unknown what Redis has written.
                (version,) = await self._store.common.read(name, (VERSION,))
                sign = {VERSION: secrets.token_hex(4).encode()}
                await self._store.common.swap(name, version, Change(sign, _SILENT_S))
            await asyncio.sleep(_BEAT_S)

    async def _say_gone(self) -> None:
        if not self.is_shared:
            return
        name = _process(self._me)
        (version,) = await self._store.common.read(name, (VERSION,))
        await self._store.common.swap(name, version, Change({VERSION: b"gone"}, 0.001, is_over=True))


def _decoded(outcome: bytes) -> Outcome:
    """Decode a stored outcome.

    Raises:
        UnknownTask: a store may hold anything, and this is not an outcome.
    """
    try:
        return _outcomes.decode(outcome)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise UnknownTask from error


def _process(name: str) -> str:
    return f"process:{name}"


def _now() -> str:
    return datetime.now(UTC).isoformat()


_NOT_BEGUN: Final = Result(
    *(0, "failed", None, None, "deadline", None, None, None, {"message": "there was no room for it in its time"}),
    *(False, 0.0),
)
_outcomes = msgspec.json.Decoder(Outcome)
