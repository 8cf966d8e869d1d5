"""Audits that the service runs for callers.

    arriving ──begin──► running ──► done | failed | cancelled ──an hour──► forgotten

They are few, and kept in memory. They must not slow down trainers: an audit judges a few dozen items at a time, waits
for room like a background job, and has one line in each fair queue. A process that drains cancels them.
"""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import IO, Any, Final, Self

from fairness import TENANT, Room
from service.cancellation import cancel
from service.dataset_audit.audit import audited
from service.dataset_audit.report import EXAMPLES, Report
from service.dataset_audit.rows import Columns, rows_of
from service.errors import Overloaded, ShuttingDown
from service.limits.admission import Admission
from service.limits.keys import CALLER
from service.row_files.reading import BadData, DataFile
from service.scoring.engine import Engine

log = logging.getLogger("rewardline.audits")

KEPT_S: Final = 3600.0
"""How long an audit is kept after its end."""
MAX_KEPT: Final = 20
_BATCH_ITEMS: Final = 64
_RETRY_S: Final = 10.0


class State(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(slots=True)
class Audit:
    """One audit. It is shown while it runs, and for a while after."""

    id: str
    tenant: str
    name: str
    """Of the file, as the caller calls it."""
    file: DataFile
    started: float
    report: Report = field(default_factory=lambda: Report(kept=EXAMPLES))
    state: State = State.RUNNING
    problem: str = ""
    """Why it did not come to its end."""
    ended: float | None = None
    version: int = 0
    """It grows with each change."""
    task: asyncio.Task[None] | None = None


class Audits:
    """The audits of this process. Use it as an async context manager; leaving it cancels them."""

    def __init__(
        self,
        engine: Engine,
        admission: Admission,
        *,
        max_under_way: int,
        batch_items: int = _BATCH_ITEMS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._room = Room(max_under_way)
        self._batch_items = min(batch_items, _BATCH_ITEMS)
        self._clock = clock
        self._held: dict[str, Audit] = {}
        self._is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Begin no more audits, and cancel those that run."""
        self._is_closed = True
        for audit in self._running():
            self._end(audit, State.CANCELLED, "the service is shutting down; begin it again on another replica")
        await cancel(*(audit.task for audit in self._held.values()))

    @contextlib.contextmanager
    def arriving(self) -> Iterator[None]:
        """Hold a place for an audit whose file is on its way.

        Raises:
            Overloaded: as many audits as may be are under way, or of this tenant.
            ShuttingDown
        """
        self._check_open()
        tenant, room = TENANT.get(), self._room
        if not room.fits(tenant, 1):
            raise Overloaded(
                f"{room.all} audits are under way, {room.held(tenant)} of them yours; at most {room.most} may be, and no "
                "more of yours; wait, or DELETE one",
                retry_after_s=_RETRY_S,
            )
        room.take(tenant, 1)
        try:
            yield
        finally:
            room.take(tenant, -1)

    def begin(
        self, name: str, file: DataFile, columns: Columns, limit: int | None, spooled: IO[bytes] | None = None
    ) -> Audit:
        """Begin an audit, inside `arriving`.

        Args:
            name: Of the file, as the caller calls it.
            file: What is audited.
            columns: What its columns are for.
            limit: The most rows that are read.
            spooled: A temporary copy of the file. It is closed, and so removed, at the end.

        Raises:
            ShuttingDown
        """
        self._check_open()
        audit = Audit(secrets.token_hex(16), TENANT.get(), name, file, self._clock())
        self._room.take(audit.tenant, 1)
        self._held[audit.id] = audit
        audit.task = asyncio.create_task(self._run(audit, columns, limit, spooled))
        self._forget()
        return audit

    def all(self) -> list[Audit]:
        """The audits that are kept, the newest first."""
        self._forget()
        return [*self._held.values()][::-1]

    def count(self) -> int:
        """How many audits are kept."""
        return len(self._held)

    def find(self, audit_id: str) -> Audit | None:
        """An audit. None: there is none, or its time is over."""
        self._forget()
        return self._held.get(audit_id)

    def seconds(self, audit: Audit) -> float:
        """How long it has run."""
        return (self._clock() if audit.ended is None else audit.ended) - audit.started

    async def cancel(self, audit: Audit) -> None:
        """Cancel an audit that runs. One that has ended is forgotten."""
        if audit.state is State.RUNNING:
            self._end(audit, State.CANCELLED, "it was cancelled")
            await cancel(audit.task)
        else:
            self._held.pop(audit.id, None)

    async def _run(self, audit: Audit, columns: Columns, limit: int | None, spooled: IO[bytes] | None) -> None:
        rows = rows_of(audit.file, columns, limit)
        try:
            async for _ in audited(
                self._engine, rows, audit.report, batch_items=self._items_at_once(), admit=self._admit
            ):
                audit.version += 1
            self._end(audit, State.DONE)
        except BadData as error:
            self._end(audit, State.FAILED, str(error))
        except Exception:
            log.exception("audit %s raised", audit.id)
            self._end(audit, State.FAILED, "a fault of the service; its log has the traceback")
        finally:
            audit.file.stop()
            if spooled is not None:
                spooled.close()

    def _items_at_once(self) -> int:
        """Few enough that the caller's key may ask for them."""
        limit = CALLER.get().max_items_in_flight
        return self._batch_items if limit is None else max(1, min(limit, self._batch_items))

    @contextlib.asynccontextmanager
    async def _admit(self, items: int) -> AsyncIterator[Any]:
        with self._admission.permit() as permit:
            await permit.add_when_possible(items=items)
            yield

    def _end(self, audit: Audit, state: State, problem: str = "") -> None:
        if audit.state is State.RUNNING:
            audit.state, audit.problem, audit.ended = state, problem, self._clock()
            audit.version += 1
            self._room.take(audit.tenant, -1)

    def _running(self) -> list[Audit]:
        return [audit for audit in self._held.values() if audit.state is State.RUNNING]

    def _forget(self) -> None:
        """Forget what has ended long ago, and the oldest of what there is too much of."""
        now = self._clock()
        ended = [audit for audit in self._held.values() if audit.ended is not None]
        too_many = max(0, len(self._held) - MAX_KEPT)
        for index, audit in enumerate(sorted(ended, key=lambda ended_audit: ended_audit.ended or 0.0)):
            if index < too_many or now - (audit.ended or 0.0) > KEPT_S:
                del self._held[audit.id]

    def _check_open(self) -> None:
        if self._is_closed:
            raise ShuttingDown("this replica is shutting down; send the data set to another replica", retry_after_s=1.0)
