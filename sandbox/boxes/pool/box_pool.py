"""The boxes of a pool: made ahead, lent to one program at a time, replaced when they are old, dead or suspect.

                     ┌── acquire ◄── waiters: tenants in turn, each first come first served, if there is a box
    make ──► ready ──┤               at most `slots` boxes are lent at once
      ▲              └── release ──► ready, or ──► discard ──► destroyed
      └────────────────────── another in its place ◄───┘

A `_ProfilePool` holds the boxes of one profile. It is filled up to the largest number wanted at once so far (plain
boxes: from the start). It wants one box less whenever a box grew old in it unused. Boxes are made and destroyed in the
background, so programs do not wait for it.

When boxes of a profile cannot be made, waiters get the error after the third failure. New callers get it at once, while
the pool goes on trying.
"""

import asyncio
import random
from collections import deque
from collections.abc import Coroutine, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from fairness import TENANT, Turns, weight_of
from sandbox.base import SandboxUnavailable
from sandbox.boxes.backend import Backend, Profile
from sandbox.boxes.link import Question
from sandbox.boxes.pool.cores import Cores
from sandbox.boxes.pool.counters import Counters, Reason
from sandbox.boxes.pool.job import Loss
from sandbox.boxes.pool.messages import Hello, frame, read_pong
from sandbox.boxes.pool.pooled_box import PooledBox

STARTS_AT_ONCE: Final = 4
MAX_FAILURES: Final = 3
RETRY_S: Final = 0.2
MAX_RETRY_S: Final = 5.0
TICK_S: Final = 0.25
PING_AFTER_S: Final = 30.0
PING_PATIENCE_S: Final = 10.0
MAX_SUSPICIONS: Final = 2
_CHANCE: Final = random.SystemRandom()
"""Does not change the state of `random`, which other code in this process depends on."""
_AGE_SPREAD: Final = 0.2
"""Boxes made together must not all be replaced together: each one's life is shortened by up to this part."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How many boxes there are, and how long they live."""

    slots: int
    ready: int
    fresh: bool
    """Each box is lent once. Boxes in use do not count towards `ready`."""
    jobs_per_box: int
    box_max_age_s: float
    queue_limit_s: float
    """Seconds of work that may wait, for each slot."""


@dataclass(eq=False, slots=True)
class _Waiter:
    """A caller that waits for a box."""

    number: int
    """Its position in the queue."""
    profile: Profile
    tenant: str
    work_s: float
    got: asyncio.Future[PooledBox]
    standing: PooledBox | None = None
    """The box that it wants. None: any of the profile, or a new one."""


class _Queue:
    """Callers that wait for one kind of box, by tenant."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[_Waiter]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def __iter__(self) -> Iterator[_Waiter]:
        return (waiter for line in self._lines.values() for waiter in line)

    def append(self, waiter: _Waiter) -> None:
        self._lines.setdefault(waiter.tenant, deque()).append(waiter)

    def heads(self) -> list[_Waiter]:
        """The first waiter of each tenant, after dropping those that have gone."""
        for tenant, line in list(self._lines.items()):
            while line and line[0].got.done():
                line.popleft()
            if not line:
                del self._lines[tenant]
        return [line[0] for line in self._lines.values()]

    def take(self, head: _Waiter) -> None:
        """Remove one of the heads."""
        self._lines[head.tenant].popleft()


@dataclass(eq=False, slots=True)
class _ProfilePool:
    """The boxes of one profile, and the callers that wait for one."""

    profile: Profile
    wanted: int = 0
    ready: list[PooledBox] = field(default_factory=list)
    starting: int = 0
    lent: int = 0
    """Without those made for one program."""
    waiting: _Queue = field(default_factory=_Queue)
    failures: int = 0
    """Failed attempts in a row."""
    last_failure: SandboxUnavailable | None = None
    retry: asyncio.TimerHandle | None = None

    @property
    def is_failing(self) -> bool:
        """Whether there is no box, and none is likely soon."""
        return self.failures >= MAX_FAILURES and not self.ready and not self.lent


class BoxPool:
    """All boxes of one backend. After `open`, `close` must be awaited."""

    def __init__(self, backend: Backend, settings: PoolSettings, counters: Counters) -> None:
        self._backend = backend
        self._settings = settings
        self._counters = counters
        self._profiles = {profile: _ProfilePool(profile) for profile in Profile}
        self._profiles[Profile.PLAIN].wanted = max(1, settings.ready)
        self._alone = _Queue()
        self._turns = Turns()
        self._waiters: set[_Waiter] = set()
        self._waiters_made = 0
        self._waiting_s = 0.0
        self._busy = 0
        self._lent: set[PooledBox] = set()
        self._standing: set[PooledBox] = set()
        self._cores = Cores.for_slots(settings.slots)
        self._starts = asyncio.Semaphore(STARTS_AT_ONCE)
        self._starting: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._is_open = False
        self.hello: Hello | None = None
        """What the last plain box reported about itself."""

    @property
    def busy(self) -> int:
        """Slots in use."""
        return self._busy

    @property
    def waiting(self) -> int:
        return len(self._waiters)

    @property
    def ready(self) -> int:
        return sum(len(pool.ready) for pool in self._profiles.values())

    @property
    def trouble(self) -> str:
        """Why there are no plain boxes and none are likely soon; empty while there are some."""
        pool = self._profiles[Profile.PLAIN]
        return str(pool.last_failure) if pool.is_failing else ""

    async def open(self) -> None:
        """Make the first boxes; succeed if there is at least one.

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
        """Destroy all boxes. Callers that have or await one get an error."""
        self._is_open = False
        self._end_timers()
        error = SandboxUnavailable("the sandbox was stopped")
        _refuse(self._waiters, error)
        boxes = [*self._lent, *self._standing, *(box for pool in self._profiles.values() for box in pool.ready)]
        for box in boxes:
            if box.job is not None:
                box.job.fail(error)
            self._destroy(box)
        await _all_done(self._starting, cancel=True)
        await _all_done(self._ending, cancel=False)
        await self._backend.close()

    async def acquire(self, profile: Profile, work_s: float, *, alone: bool = False) -> PooledBox:
        """Borrow a box for one caller, until `release` or `discard`.

        Args:
            profile: Which kind of interpreter.
            work_s: Estimated time the box will be needed; bounds the queue.
            alone: A new box that no other program used or will use.

        Raises:
            SandboxUnavailable: the queue is too long, boxes cannot be made, or the pool was closed.
        """
        pool = self._profiles[profile]
        if pool.ready and not alone and self._busy < self._settings.slots:
            return self._take_ready(pool, TENANT.get(), work_s)
        self._check(pool)
        if not alone:  # a caller that needs a second box has already waited in the queue
            self._check_line(work_s)
        return await self._wait(pool, work_s, alone=alone)

    async def make_standing(self, profile: Profile) -> PooledBox:
        """Make a box beside the slots, for a job that waits for the rest of its input. `lend` or `discard` ends that.

        Raises:
            SandboxUnavailable: there is none, or the pool was closed.
        """
        self._check(self._profiles[profile])
        box = await self._make(profile, once=True)
        box.is_alone = True
        self._standing.add(box)
        if not self._is_open:
            self._destroy(box)
            raise SandboxUnavailable("the sandbox was stopped")
        return box

    async def lend(self, box: PooledBox, work_s: float) -> None:
        """Wait for a slot for a standing box. From then on it is like one from `acquire`.

        Raises:
            SandboxUnavailable: the queue is too long, or the pool was closed.
        """
        pool = self._profiles[box.profile]
        try:
            self._check(pool)
            if self._busy >= self._settings.slots:
                self._check_line(work_s)
            await self._wait(pool, work_s, alone=True, standing=box)
        except BaseException:
            self.discard(box, Reason.CANCELLED)
            raise

    def release(self, box: PooledBox, left_processes: bool) -> None:
        """Take back a box that is empty and healthy."""
        if box not in self._lent:
            return
        now_s = asyncio.get_running_loop().time()
        box.job = None
        box.jobs += 1
        box.suspicions += left_processes
        reason = self._reason_to_end(box, now_s)
        if reason is not None:
            self.discard(box, reason)
            return
        self._mark_free(box)
        self._put_ready(box, now_s)
        self._dispatch()

    def discard(self, box: PooledBox, reason: Reason) -> None:
        """Destroy a box, lent or not; another takes its place. Do nothing the second time."""
        pool = self._profiles[box.profile]
        if box not in self._lent and box not in self._standing and box not in pool.ready:
            return
        self._counters.boxes_ended[reason] += 1
        self._destroy(box)
        self._fill(pool)
        self._dispatch()
        self._refuse_if_failing(pool)

    # ---- the queue

    def _check(self, pool: _ProfilePool) -> None:
        if not self._is_open:
            raise SandboxUnavailable("the sandbox is not running; call `start` first")
        if pool.is_failing and pool.last_failure is not None:
            raise _again(pool.last_failure)

    def _check_line(self, work_s: float) -> None:
        limit_s = self._settings.queue_limit_s * self._settings.slots
        if self._waiters and self._waiting_s + work_s > limit_s and self._is_over_share(limit_s):
            self._counters.refused += 1
            raise SandboxUnavailable(
                f"the queue is full: {len(self._waiters)} programs are waiting, about {self._waiting_s:.0f} s of work; try again later",
                "sandbox_busy",
            )

    def _is_over_share(self, limit_s: float) -> bool:
        """Whether the tenant holds its share of a full queue already, so that others cannot be kept out."""
        tenant = TENANT.get()
        tenants = {tenant, *(waiter.tenant for waiter in self._waiters)}
        own_s = sum(waiter.work_s for waiter in self._waiters if waiter.tenant == tenant)
        return own_s >= limit_s * weight_of(tenant) / sum(map(weight_of, tenants)) or len(tenants) == 1

    async def _wait(
        self, pool: _ProfilePool, work_s: float, *, alone: bool, standing: PooledBox | None = None
    ) -> PooledBox:
        self._waiters_made += 1
        box = asyncio.get_running_loop().create_future()
        waiter = _Waiter(self._waiters_made, pool.profile, TENANT.get(), work_s, box, standing)
        self._waiters.add(waiter)
        self._waiting_s += work_s
        if alone:
            self._alone.append(waiter)
        else:
            pool.waiting.append(waiter)
            self._want_more(pool)
        self._dispatch()
        try:
            return await waiter.got
        except asyncio.CancelledError:
            if not waiter.got.cancelled() and waiter.got.exception() is None:
                self._return_unused(waiter.got.result())
            raise
        finally:
            self._waiters.discard(waiter)
            self._waiting_s = self._waiting_s - work_s if self._waiters else 0.0

    def _dispatch(self) -> None:
        """Give free slots to tenants in turn, each time to the longest-waiting caller for whom there is a box."""
        while self._busy < self._settings.slots:
            queues = (*(pool.waiting for pool in self._profiles.values() if pool.ready), self._alone)
            heads = [(head, queue) for queue in queues for head in queue.heads()]
            if not heads:
                return
            waiter, queue = min(heads, key=lambda entry: (self._turns.due(entry[0].tenant), entry[0].number))
            queue.take(waiter)
            if queue is self._alone:
                self._busy += 1
                self._turns.charge(waiter.tenant, waiter.work_s)
                if waiter.standing is None:
                    self._begin(self._make_for(waiter))
                else:
                    self._lend_standing(waiter, waiter.standing)
            else:
                pool = self._profiles[waiter.profile]
                waiter.got.set_result(self._take_ready(pool, waiter.tenant, waiter.work_s))

    def _take_ready(self, pool: _ProfilePool, tenant: str, work_s: float) -> PooledBox:
        box = pool.ready.pop()
        self._turns.charge(tenant, work_s)
        box.lent(tenant, work_s)
        pool.lent += 1
        self._busy += 1
        self._lent.add(box)
        box.core = self._cores.acquire()
        box.ping_ends_s = None
        box.link.when_lost(_ignore_loss)
        if self._settings.fresh:
            self._fill(pool)
        return box

    def _lend_standing(self, waiter: _Waiter, box: PooledBox) -> None:
        box.lent(waiter.tenant, waiter.work_s)
        self._standing.discard(box)
        self._lent.add(box)
        waiter.got.set_result(box)

    def _return_unused(self, box: PooledBox) -> None:
        """Take back a box whose caller was cancelled before it got the box."""
        if box.is_alone:
            self.discard(box, Reason.CANCELLED)
        elif box in self._lent:
            self._mark_free(box)
            self._put_ready(box, asyncio.get_running_loop().time())
            self._dispatch()

    def _refuse_if_failing(self, pool: _ProfilePool) -> None:
        if pool.is_failing and pool.last_failure is not None:
            _refuse(pool.waiting, pool.last_failure)

    # ---- boxes out of service

    def _reason_to_end(self, box: PooledBox, now_s: float) -> Reason | None:
        if box.is_alone or self._settings.fresh or box.jobs >= self._settings.jobs_per_box:
            return Reason.JOBS
        if box.suspicions >= MAX_SUSPICIONS:
            return Reason.LEFTOVERS
        return Reason.AGE if now_s >= box.expires_s else None

    def _mark_free(self, box: PooledBox) -> None:
        self._lent.discard(box)
        self._turns.correct(box.tenant, box.overran_s())
        self._cores.release(box.core)
        box.core = None
        self._busy -= 1
        if not box.is_alone:
            self._profiles[box.profile].lent -= 1

    def _destroy(self, box: PooledBox) -> None:
        """Destroy a box: lent, standing or ready."""
        if box in self._lent:
            self._mark_free(box)
        elif box in self._standing:
            self._standing.discard(box)
        else:
            self._profiles[box.profile].ready.remove(box)
        box.job = None
        box.link.close()
        _track(self._ending, box.box.destroy())

    def _on_idle_loss(self, box: PooledBox, why: str) -> None:
        if box.jobs == 0:
            self._note_failure(self._profiles[box.profile], SandboxUnavailable(f"a box ended unused: {why}"))
        self.discard(box, Reason.DIED)

    # ---- boxes into service

    async def _make_first(self) -> None:
        pool = self._profiles[Profile.PLAIN]
        self._fill(pool)
        await _all_done(self._starting, cancel=False)
        if not pool.ready:
            raise pool.last_failure or SandboxUnavailable("no box could be started")

    def _want_more(self, pool: _ProfilePool) -> None:
        at_once = len(pool.waiting) + (0 if self._settings.fresh else pool.lent)
        pool.wanted = max(pool.wanted, min(self._settings.slots, at_once))
        self._fill(pool)

    def _fill(self, pool: _ProfilePool) -> None:
        """Begin to make missing boxes, unless the last attempt has just failed."""
        if not self._is_open or pool.retry is not None:
            return
        present = len(pool.ready) + pool.starting + (0 if self._settings.fresh else pool.lent)
        for _ in range(pool.wanted - present):
            pool.starting += 1
            self._begin(self._make_ready(pool))

    def _begin(self, start: Coroutine[Any, Any, None]) -> None:
        _track(self._starting, start)

    async def _make_ready(self, pool: _ProfilePool) -> None:
        try:
            box = await self._make(pool.profile, once=self._settings.fresh)
        except SandboxUnavailable as error:
            pool.starting -= 1
            self._note_failure(pool, error)
            return
        except asyncio.CancelledError:
            pool.starting -= 1
            raise
        pool.starting -= 1
        pool.failures = 0
        self._put_ready(box, asyncio.get_running_loop().time())
        self._dispatch()

    async def _make_for(self, waiter: _Waiter) -> None:
        """Make a box for one program. Its slot is taken already."""
        try:
            box = await self._make(waiter.profile, once=True)
        except SandboxUnavailable as error:
            _refuse([waiter], error)
            self._busy -= 1
            self._dispatch()
            return
        box.is_alone = True
        box.lent(waiter.tenant, waiter.work_s)
        self._lent.add(box)
        if waiter.got.done():
            self.discard(box, Reason.CANCELLED)
        else:
            waiter.got.set_result(box)

    async def _make(self, profile: Profile, *, once: bool) -> PooledBox:
        async with self._starts:
            try:
                box = await PooledBox.make(self._backend, profile, once=once)
            except SandboxUnavailable:
                self._counters.starts_failed += 1
                raise
            except Exception as error:
                self._counters.starts_failed += 1
                raise SandboxUnavailable(f"a box could not be started: {error!r}") from error
        self._counters.boxes_started += 1
        if profile is Profile.PLAIN:
            self.hello = box.hello
        max_age_s = self._settings.box_max_age_s * (1 - _AGE_SPREAD * _CHANCE.random())
        box.expires_s = asyncio.get_running_loop().time() + max_age_s
        return box

    def _put_ready(self, box: PooledBox, now_s: float) -> None:
        box.quiet_since_s = now_s
        box.link.when_lost(partial(self._on_idle_loss, box))
        self._profiles[box.profile].ready.append(box)

    def _note_failure(self, pool: _ProfilePool, error: SandboxUnavailable) -> None:
        """Schedule another attempt. Attempts that fail together count as one."""
        pool.last_failure = error
        if not self._is_open or pool.retry is not None:
            return
        delay_s = min(MAX_RETRY_S, RETRY_S * 2**pool.failures)
        pool.failures += 1
        pool.retry = asyncio.get_running_loop().call_later(delay_s, self._retry, pool)
        self._refuse_if_failing(pool)

    def _retry(self, pool: _ProfilePool) -> None:
        pool.retry = None
        self._fill(pool)

    # ---- the clock

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(TICK_S, self._tick)
        now_s = loop.time()
        for box in list(self._lent):
            if box.job is not None and now_s >= box.job.patience_ends_s:
                box.job.lose(Loss.SILENT, "the runner did not answer")
        for pool in self._profiles.values():
            for box in list(pool.ready):
                self._check_ready_box(pool, box, now_s)

    def _check_ready_box(self, pool: _ProfilePool, box: PooledBox, now_s: float) -> None:
        """Discard a ready box that is too old or does not answer; ping it when it was quiet for long."""
        if now_s >= box.expires_s:
            if box.jobs == 0 and pool.profile is not Profile.PLAIN:
                pool.wanted = max(0, pool.wanted - 1)
            self.discard(box, Reason.AGE)
        elif box.ping_ends_s is not None and now_s >= box.ping_ends_s:
            self.discard(box, Reason.SILENT)
        elif box.ping_ends_s is None and now_s >= box.quiet_since_s + PING_AFTER_S:
            box.ping_ends_s = now_s + PING_PATIENCE_S
            box.link.ask(Question(frame("ping", {}), read_pong, partial(_on_pong, box)))

    def _end_timers(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for pool in self._profiles.values():
            if pool.retry is not None:
                pool.retry.cancel()
                pool.retry = None


def _on_pong(box: PooledBox, _pong: object) -> None:
    box.ping_ends_s = None
    box.quiet_since_s = asyncio.get_running_loop().time()


def _ignore_loss(_why: str) -> None:
    """A lent box may die before its job begins. The link then tells the job, so the pool ignores it."""


def _refuse(waiters: Iterable[_Waiter], error: SandboxUnavailable) -> None:
    for waiter in waiters:
        if not waiter.got.done():
            waiter.got.set_exception(_again(error))


def _again(error: SandboxUnavailable) -> SandboxUnavailable:
    """A copy of the error for each caller: an exception collects the traceback of every place that raises it."""
    return SandboxUnavailable(str(error), error.reason)


def _track(tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _all_done(tasks: set[asyncio.Task[None]], *, cancel: bool) -> None:
    """Wait for the tasks, and for tasks that are begun meanwhile."""
    while tasks:
        for task in list(tasks):
            if cancel:
                task.cancel()
        await asyncio.wait(list(tasks))
