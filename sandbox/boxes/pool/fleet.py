"""Which boxes there are: made ahead, lent to one program at a time, waited for in order, taken out of service.

                     ┌── lend ◄── waiting, first come first served among those a box is there for
    make ──► ready ──┤                    at most `slots` are lent at once
      ▲              └── give_back ──► ready, or ──► discard ──► destroyed
      └────────────────────── another in its place ◄───┘

A shelf holds the boxes of one profile. It is filled up to what was wanted at once so far (plain boxes: from the start),
and wants one less whenever a box grew old there unused. Making and destroying happen beside the programs' way.

When boxes of a profile cannot be made, whoever waits for one is told after the third failure, and whoever comes is
told at once, while the attempts go on.
"""

import asyncio
import random
from collections import deque
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from sandbox.base import SandboxUnavailable
from sandbox.boxes.backend import Backend, Profile
from sandbox.boxes.link import Question
from sandbox.boxes.pool.cores import Cores
from sandbox.boxes.pool.counters import Counters, Reason
from sandbox.boxes.pool.job import Loss
from sandbox.boxes.pool.messages import Hello, frame, read_pong
from sandbox.boxes.pool.seat import Seat

STARTS_AT_ONCE: Final = 4
MAX_FAILURES: Final = 3
RETRY_S: Final = 0.2
MAX_RETRY_S: Final = 5.0
TICK_S: Final = 0.25
PING_AFTER_S: Final = 30.0
PING_PATIENCE_S: Final = 10.0
MAX_SUSPICIONS: Final = 2
_CHANCE: Final = random.SystemRandom()
"""Which changes no state that others in this process count on."""
_AGE_SPREAD: Final = 0.2
"""Boxes made together must not all be replaced together: each lives shorter by up to this part."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How many boxes there are, and for how long."""

    slots: int
    ready: int
    fresh: bool
    """Each box is lent once; those in use do not count as being there."""
    jobs_per_box: int
    box_max_age_s: float
    queue_limit_s: float
    """Work that may be waiting, for each slot."""


@dataclass(eq=False, slots=True)
class _Ticket:
    """Somebody who waits for a box."""

    number: int
    """Its place in the line."""
    profile: Profile
    work_s: float
    got: asyncio.Future[Seat]


@dataclass(eq=False, slots=True)
class _Shelf:
    """The boxes of one profile, and those who wait for one."""

    profile: Profile
    wanted: int = 0
    ready: list[Seat] = field(default_factory=list)
    starting: int = 0
    lent: int = 0
    """Without those made for one program."""
    waiting: deque[_Ticket] = field(default_factory=deque)
    failures: int = 0
    """In a row."""
    last_failure: SandboxUnavailable | None = None
    retry: asyncio.TimerHandle | None = None

    @property
    def is_hopeless(self) -> bool:
        """There is no box, nor will be soon."""
        return self.failures >= MAX_FAILURES and not self.ready and not self.lent


class Fleet:
    """All boxes of one backend. `close` must be awaited after `open`."""

    def __init__(self, backend: Backend, terms: Terms, counters: Counters) -> None:
        self._backend = backend
        self._terms = terms
        self._counters = counters
        self._shelves = {profile: _Shelf(profile) for profile in Profile}
        self._shelves[Profile.PLAIN].wanted = max(1, terms.ready)
        self._alone: deque[_Ticket] = deque()
        self._tickets: set[_Ticket] = set()
        self._tickets_made = 0
        self._waiting_s = 0.0
        self._busy = 0
        self._lent: set[Seat] = set()
        self._cores = Cores.for_slots(terms.slots)
        self._starts = asyncio.Semaphore(STARTS_AT_ONCE)
        self._starting: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._is_open = False
        self.hello: Hello | None = None
        """What the last plain box said of itself."""

    @property
    def busy(self) -> int:
        """Slots in use."""
        return self._busy

    @property
    def waiting(self) -> int:
        return len(self._tickets)

    @property
    def ready(self) -> int:
        return sum(len(shelf.ready) for shelf in self._shelves.values())

    @property
    def trouble(self) -> str:
        """Why there are no plain boxes, nor soon will be; empty while there are."""
        shelf = self._shelves[Profile.PLAIN]
        return str(shelf.last_failure) if shelf.is_hopeless else ""

    async def open(self) -> None:
        """Make the first boxes, and have at least one.

        Raises:
            SandboxUnavailable: there is none.
        """
        self._is_open = True
        try:
            await self._backend.open()
            await self._make_first()
        except BaseException:
            await self.close()
            raise
        self._tick()

    async def close(self) -> None:
        """Destroy all boxes. Whoever has or awaits one is told so."""
        self._is_open = False
        self._end_timers()
        error = SandboxUnavailable("the sandbox was stopped")
        _refuse(self._tickets, error)
        seats = [*self._lent, *(seat for shelf in self._shelves.values() for seat in shelf.ready)]
        for seat in seats:
            if seat.job is not None:
                seat.job.fail(error)
            self._withdraw(seat)
        await _all_done(self._starting, cancel=True)
        await _all_done(self._ending, cancel=False)
        await self._backend.close()

    async def lend(self, profile: Profile, work_s: float, *, alone: bool = False) -> Seat:
        """A box that nobody else has, until `give_back` or `discard`.

        Args:
            profile: Which.
            work_s: How long it will be needed, about; bounds the line.
            alone: One that nobody had before nor will have.

        Raises:
            SandboxUnavailable: the line is too long, boxes cannot be made, or the fleet was closed.
        """
        shelf = self._shelves[profile]
        if shelf.ready and not alone and self._busy < self._terms.slots:
            return self._take_ready(shelf)
        self._check(shelf)
        if not alone:  # who needs another box was in the line before
            self._check_line(work_s)
        return await self._wait(shelf, work_s, alone=alone)

    def give_back(self, seat: Seat, left_processes: bool) -> None:
        """It is empty and well."""
        if seat not in self._lent:
            return
        now_s = asyncio.get_running_loop().time()
        seat.job = None
        seat.jobs += 1
        seat.suspicions += left_processes
        reason = self._reason_to_end(seat, now_s)
        if reason is not None:
            self.discard(seat, reason)
            return
        self._release(seat)
        self._put_ready(seat, now_s)
        self._dispatch()

    def discard(self, seat: Seat, reason: Reason) -> None:
        """Destroy a box, lent or not; another takes its place. The second time: nothing."""
        shelf = self._shelves[seat.profile]
        if seat not in self._lent and seat not in shelf.ready:
            return
        self._counters.boxes_ended[reason] += 1
        self._withdraw(seat)
        self._fill(shelf)
        self._dispatch()
        self._refuse_if_hopeless(shelf)

    # ---- the line

    def _check(self, shelf: _Shelf) -> None:
        if not self._is_open:
            raise SandboxUnavailable("the sandbox is not running")
        if shelf.is_hopeless and shelf.last_failure is not None:
            raise _again(shelf.last_failure)

    def _check_line(self, work_s: float) -> None:
        if self._tickets and self._waiting_s + work_s > self._terms.queue_limit_s * self._terms.slots:
            self._counters.refused += 1
            raise SandboxUnavailable(
                f"{len(self._tickets)} programs are waiting already, about {self._waiting_s:.0f} s of work",
                "sandbox_busy",
            )

    async def _wait(self, shelf: _Shelf, work_s: float, *, alone: bool) -> Seat:
        self._tickets_made += 1
        ticket = _Ticket(self._tickets_made, shelf.profile, work_s, asyncio.get_running_loop().create_future())
        self._tickets.add(ticket)
        self._waiting_s += work_s
        if alone:
            self._alone.append(ticket)
        else:
            shelf.waiting.append(ticket)
            self._want_more(shelf)
        self._dispatch()
        try:
            return await ticket.got
        except asyncio.CancelledError:
            if not ticket.got.cancelled() and ticket.got.exception() is None:
                self._untouched(ticket.got.result())
            raise
        finally:
            self._tickets.discard(ticket)
            self._waiting_s = self._waiting_s - work_s if self._tickets else 0.0

    def _dispatch(self) -> None:
        """Give free slots to those who have waited longest, of those for whom there is a box."""
        while self._busy < self._terms.slots:
            queues = [shelf.waiting for shelf in self._shelves.values() if shelf.ready]
            heads = [queue for queue in (*queues, self._alone) if _has_head(queue)]
            if not heads:
                return
            queue = min(heads, key=lambda queue: queue[0].number)
            ticket = queue.popleft()
            if queue is self._alone:
                self._busy += 1
                self._begin(self._make_for(ticket))
            else:
                ticket.got.set_result(self._take_ready(self._shelves[ticket.profile]))

    def _take_ready(self, shelf: _Shelf) -> Seat:
        seat = shelf.ready.pop()
        shelf.lent += 1
        self._busy += 1
        self._lent.add(seat)
        seat.core = self._cores.take()
        seat.ping_ends_s = None
        seat.link.when_lost(_is_heard_later)
        if self._terms.fresh:
            self._fill(shelf)
        return seat

    def _untouched(self, seat: Seat) -> None:
        """Lent to somebody who had gone by then."""
        if seat.is_alone:
            self.discard(seat, Reason.CANCELLED)
        elif seat in self._lent:
            self._release(seat)
            self._put_ready(seat, asyncio.get_running_loop().time())
            self._dispatch()

    def _refuse_if_hopeless(self, shelf: _Shelf) -> None:
        if shelf.is_hopeless and shelf.last_failure is not None:
            _refuse(shelf.waiting, shelf.last_failure)

    # ---- boxes out of service

    def _reason_to_end(self, seat: Seat, now_s: float) -> Reason | None:
        if seat.is_alone or self._terms.fresh or seat.jobs >= self._terms.jobs_per_box:
            return Reason.JOBS
        if seat.suspicions >= MAX_SUSPICIONS:
            return Reason.LEFTOVERS
        return Reason.AGE if now_s >= seat.expires_s else None

    def _release(self, seat: Seat) -> None:
        self._lent.discard(seat)
        self._cores.give_back(seat.core)
        seat.core = None
        self._busy -= 1
        if not seat.is_alone:
            self._shelves[seat.profile].lent -= 1

    def _withdraw(self, seat: Seat) -> None:
        """Destroy it, wherever it is."""
        if seat in self._lent:
            self._release(seat)
        else:
            self._shelves[seat.profile].ready.remove(seat)
        seat.job = None
        seat.link.close()
        _keep(self._ending, seat.box.destroy())

    def _lost_idle(self, seat: Seat, why: str) -> None:
        if seat.jobs == 0:
            self._note_failure(self._shelves[seat.profile], SandboxUnavailable(f"a box ended unused: {why}"))
        self.discard(seat, Reason.DIED)

    # ---- boxes into service

    async def _make_first(self) -> None:
        shelf = self._shelves[Profile.PLAIN]
        self._fill(shelf)
        await _all_done(self._starting, cancel=False)
        if not shelf.ready:
            raise shelf.last_failure or SandboxUnavailable("no box could be started")

    def _want_more(self, shelf: _Shelf) -> None:
        at_once = len(shelf.waiting) + (0 if self._terms.fresh else shelf.lent)
        shelf.wanted = max(shelf.wanted, min(self._terms.slots, at_once))
        self._fill(shelf)

    def _fill(self, shelf: _Shelf) -> None:
        """Begin to make what is missing, unless the last attempt has just failed."""
        if not self._is_open or shelf.retry is not None:
            return
        there = len(shelf.ready) + shelf.starting + (0 if self._terms.fresh else shelf.lent)
        for _ in range(shelf.wanted - there):
            shelf.starting += 1
            self._begin(self._make_ready(shelf))

    def _begin(self, start: Coroutine[Any, Any, None]) -> None:
        _keep(self._starting, start)

    async def _make_ready(self, shelf: _Shelf) -> None:
        try:
            seat = await self._make(shelf.profile, once=self._terms.fresh)
        except SandboxUnavailable as error:
            shelf.starting -= 1
            self._note_failure(shelf, error)
            return
        except asyncio.CancelledError:
            shelf.starting -= 1
            raise
        shelf.starting -= 1
        shelf.failures = 0
        self._put_ready(seat, asyncio.get_running_loop().time())
        self._dispatch()

    async def _make_for(self, ticket: _Ticket) -> None:
        """A box for one program; its slot is taken already."""
        try:
            seat = await self._make(ticket.profile, once=True)
        except SandboxUnavailable as error:
            _refuse([ticket], error)
            self._busy -= 1
            self._dispatch()
            return
        seat.is_alone = True
        self._lent.add(seat)
        if ticket.got.done():
            self.discard(seat, Reason.CANCELLED)
        else:
            ticket.got.set_result(seat)

    async def _make(self, profile: Profile, *, once: bool) -> Seat:
        async with self._starts:
            try:
                seat = await Seat.make(self._backend, profile, once=once)
            except SandboxUnavailable:
                self._counters.starts_failed += 1
                raise
            except Exception as error:
                self._counters.starts_failed += 1
                raise SandboxUnavailable(f"a box could not be started: {error!r}") from error
        self._counters.boxes_started += 1
        if profile is Profile.PLAIN:
            self.hello = seat.hello
        max_age_s = self._terms.box_max_age_s * (1 - _AGE_SPREAD * _CHANCE.random())
        seat.expires_s = asyncio.get_running_loop().time() + max_age_s
        return seat

    def _put_ready(self, seat: Seat, now_s: float) -> None:
        seat.quiet_since_s = now_s
        seat.link.when_lost(partial(self._lost_idle, seat))
        self._shelves[seat.profile].ready.append(seat)

    def _note_failure(self, shelf: _Shelf, error: SandboxUnavailable) -> None:
        """Try again later. Attempts that fail together count as one."""
        shelf.last_failure = error
        if not self._is_open or shelf.retry is not None:
            return
        delay_s = min(MAX_RETRY_S, RETRY_S * 2**shelf.failures)
        shelf.failures += 1
        shelf.retry = asyncio.get_running_loop().call_later(delay_s, self._retry, shelf)
        self._refuse_if_hopeless(shelf)

    def _retry(self, shelf: _Shelf) -> None:
        shelf.retry = None
        self._fill(shelf)

    # ---- the clock

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(TICK_S, self._tick)
        now_s = loop.time()
        for seat in list(self._lent):
            if seat.job is not None and now_s >= seat.job.patience_ends_s:
                seat.job.lose(Loss.SILENT, "the runner did not answer")
        for shelf in self._shelves.values():
            for seat in list(shelf.ready):
                self._look_after(shelf, seat, now_s)

    def _look_after(self, shelf: _Shelf, seat: Seat, now_s: float) -> None:
        """A box that is ready: it may be old, or no longer there."""
        if now_s >= seat.expires_s:
            if seat.jobs == 0 and shelf.profile is not Profile.PLAIN:
                shelf.wanted = max(0, shelf.wanted - 1)
            self.discard(seat, Reason.AGE)
        elif seat.ping_ends_s is not None and now_s >= seat.ping_ends_s:
            self.discard(seat, Reason.SILENT)
        elif seat.ping_ends_s is None and now_s >= seat.quiet_since_s + PING_AFTER_S:
            seat.ping_ends_s = now_s + PING_PATIENCE_S
            seat.link.ask(Question(frame("ping", {}), read_pong, partial(_heard_of, seat)))

    def _end_timers(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for shelf in self._shelves.values():
            if shelf.retry is not None:
                shelf.retry.cancel()
                shelf.retry = None


def _heard_of(seat: Seat, _pong: object) -> None:
    seat.ping_ends_s = None
    seat.quiet_since_s = asyncio.get_running_loop().time()


def _is_heard_later(_why: str) -> None:
    """A box that dies before its borrower's turn comes is the borrower's, whose job is told of it."""


def _has_head(queue: deque[_Ticket]) -> bool:
    """Whether somebody waits there, without those who went away."""
    while queue and queue[0].got.done():
        queue.popleft()
    return bool(queue)


def _refuse(tickets: Iterable[_Ticket], error: SandboxUnavailable) -> None:
    for ticket in tickets:
        if not ticket.got.done():
            ticket.got.set_exception(_again(error))


def _again(error: SandboxUnavailable) -> SandboxUnavailable:
    """One for each who is told: an exception collects the traceback of whoever it is raised at."""
    return SandboxUnavailable(str(error), error.reason)


def _keep(tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _all_done(tasks: set[asyncio.Task[None]], *, cancel: bool) -> None:
    """The tasks' ends, and those of tasks that were begun meanwhile."""
    while tasks:
        for task in list(tasks):
            if cancel:
                task.cancel()
        await asyncio.wait(list(tasks))
