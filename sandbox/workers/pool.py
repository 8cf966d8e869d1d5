"""The asyncio side of the workers: a queue of items, workers that take small windows of it, and a clock for each.

    queue ──► window of a fast worker ──► answered
      ▲             │ head used SLOW_AFTER_S of CPU: its worker is no longer a fast one, the rest goes back to the front
      ├─────────────┘
      │             │ head's worker died: the head is suspect, the rest goes back to the front
      └─────────────┤
    suspects ──► a fresh worker of its own ──► answered, or died again: CRASHED or KILLED. There is no third attempt.

A worker answers its window in order. So it is working on the first unanswered item (the head), and only that item can
be blamed for its death. An item costs nothing but the moves between queues: no task, future or timer.
"""

import asyncio
import os
import signal
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum, auto
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fairness import TENANT
from memory import resident_bytes
from sandbox import process_handles
from sandbox.workers.base import Exit, Outcome, Task, WorkersUnavailable
from sandbox.workers.frames import (
    ANSWER,
    CODES,
    EXIT_MEMORY,
    EXITS,
    FORGET,
    HALVE,
    HELLO,
    MAX_MESSAGE_BYTES,
    MAX_PAYLOAD_BYTES,
    QUESTION,
    Ended,
    Forked,
    Order,
    Refused,
    Report,
)
from sandbox.workers.link import Link
from tracing import spans

WINDOW_ITEMS: Final = 16
WINDOW_BYTES: Final = 512 * 1024
SEND_BUFFER_BYTES: Final = 2 * WINDOW_BYTES
"""Requested from the kernel, which may give less. With it, a worker need not wait for the loop to send the rest of a
window.
"""
WINDOW_CPU_S: Final = 0.005
"""A window holds about this much work, estimated from the task's items so far, but at least two items."""

SLOW_AFTER_S: Final = 0.1
"""CPU time after which an item may no longer occupy a fast worker."""
SLOW_NICENESS: Final = 10

CANCEL_AFTER_S: Final = 0.05
"""An item of a cancelled call is killed if it has run longer than this. Other items end by themselves sooner."""

STALL_FACTOR: Final = 12
MIN_STALL_S: Final = 4.0
"""The least wall time that an item may take. Otherwise it may take its CPU limit times STALL_FACTOR. Time in which other
processes had the CPU is not counted.
"""

ZYGOTE_PATIENCE_S: Final = 10.0
"""A zygote that takes longer to fork, or to report an end, is killed and replaced."""
ORPHAN_PATIENCE_S: Final = 5.0
"""For the workers of a dead zygote that have no pidfd."""
RETRY_S: Final = 0.2
MAX_RETRY_S: Final = 5.0
MAX_FAILURES: Final = 3
"""After this many failures in a row the pool is unavailable, while it goes on trying."""
MAX_INTERRUPTIONS: Final = 3
"""How many zygotes may die under one item before it ends as STALLED."""

_MIN_TICK_S: Final = 0.005
_RUNNABLE_TICK_S: Final = 0.1
"""Between two looks at a worker that others have kept from the CPU for longer than an item may take without it."""
_READ_BYTES: Final = 65536
_GUESSED_CPU_S: Final = 0.0005
_COST_WEIGHT: Final = 0.1
_COST_CAP_S: Final = 0.02

_encode: Final = msgspec.msgpack.Encoder().encode
_LARGE_CHARS: Final = 500_000
"""A payload with a text of this length is written in a thread: it takes a millisecond or more."""
_decode: Final = msgspec.msgpack.Decoder().decode


class _Call:
    """One call of `map`."""

    __slots__ = ("abandoned", "done", "missing", "on_outcome", "outcomes")

    def __init__(
        self, items: int, done: asyncio.Future[None], on_outcome: Callable[[int, Outcome], None] | None
    ) -> None:
        self.on_outcome = on_outcome
        self.outcomes: list[Outcome | None] = [None] * items
        self.missing = items
        self.done = done
        self.abandoned = False
        """The caller no longer waits for the outcomes."""

    def settle(self, index: int, outcome: Outcome) -> None:
        self.outcomes[index] = outcome
        self.missing -= 1
        if self.on_outcome is not None and not self.abandoned:
            try:
                self.on_outcome(index, outcome)
            except Exception as error:  # noqa: BLE001  # not hidden: it ends the caller's call
                if not self.done.done():
                    self.done.set_exception(error)
        if self.missing == 0 and not self.done.done():
            self.done.set_result(None)


class _Item:
    __slots__ = ("body", "call", "deaths", "index", "interruptions", "limit_s", "owner", "task")

    def __init__(self, call: _Call, index: int, task: int, limit_s: float, body: bytes) -> None:
        self.call = call
        self.index = index
        self.task = task
        self.limit_s = limit_s
        self.body = body
        self.owner = TENANT.get()
        self.deaths = 0
        """How many workers died of it."""
        self.interruptions = 0
        """How often it was under way when the zygote died, which says nothing about the item."""

    def settle(self, exit_: Exit, message: str, elapsed_s: float = 0.0) -> None:
        self.call.settle(self.index, Outcome(exit_, None, message, elapsed_s))


class _Role(Enum):
    FAST = auto()
    """One of the `size` workers that take items from the queue."""
    SLOW = auto()
    """Works on a slow or suspect item, then ends."""
    LEAVING = auto()
    """Is replaced once its window is answered."""


class _Worker:
    __slots__ = (
        "answered", "asked", "closing", "connection", "cpu_s", "first_bytes", "first_rss_kb", "gone", "head_since", "incoming",
        "looked_at", "memories_kb", "must_halve", "number", "outgoing", "owner", "pid", "pidfd", "ready", "role",
        "solo", "suspect", "timer", "waited_since", "window", "window_bytes",
    )  # fmt: skip

    def __init__(self, number: int, role: _Role, connection: socket.socket, now: float, solo: _Item | None) -> None:
        self.number = number
        self.role = role
        self.connection = connection
        self.waited_since: float | None = now
        """Since when the zygote has owed a report about it."""
        self.owner: str | None = None
        """Whose the item is that it was given last. None: it has had none."""
        self.solo = solo
        """The one item it is for, until it is ready to take it."""
        self.suspect: _Item | None = None
        """The item it died of, until the zygote reports how it died."""
        self.closing = ""
        """Why it takes no more items; empty while it does."""
        self.ready = False
        self.gone = False
        self.pid = 0
        self.pidfd = process_handles.NONE
        self.window: deque[_Item] = deque()
        """Items sent and not answered, in order. The first is under way."""
        self.window_bytes = 0
        self.head_since = 0.0
        self.incoming = bytearray()
        self.outgoing = bytearray()
        self.asked = 0
        self.answered = 0
        self.cpu_s = 0.0
        """Its CPU clock at the last answer, as the worker itself reports it. The wall limit holds even if it lies."""
        self.first_rss_kb = 0
        self.first_bytes = 0
        """Its resident memory when it became ready, which it shares with the zygote."""
        self.memories_kb = 0
        """What it remembers, by its last answer."""
        self.must_halve = False
        self.timer: asyncio.TimerHandle | None = None
        self.looked_at: tuple[int, float] | None = None
        """The answers it had given at the last look, and how long it had been starved at the first look at the item after
        them. The item itself would keep its call, and so all that the caller handed over, until the next look.
        """

    def starved_s(self) -> float:
        """Seconds, since the first look at the item under way, in which the worker wanted CPU time that others had."""
        try:
            with open(f"/proc/{self.pid}/schedstat", "rb") as file:
                now_s = int(file.read(200).split()[1]) / 1e9
        except (OSError, IndexError):  # it has just ended, or the kernel does not count
            return 0.0
        if self.looked_at is None or self.looked_at[0] != self.answered:
            self.looked_at = (self.answered, now_s)
        return now_s - self.looked_at[1]

    def is_runnable(self) -> bool:
        """Whether the worker has the CPU or waits for it now. The kernel counts a wait only when it has ended."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                return file.read(200).rpartition(b")")[2].split()[0] == b"R"
        except (OSError, IndexError):  # it has just ended
            return False

    def cpu_since_answer_s(self) -> float:
        """CPU time of the item under way, from the kernel's clock of that process (see clock_getcpuclockid(3))."""
        try:
            return max(0.0, time.clock_gettime((~self.pid << 3) | 2) - self.cpu_s)
        except OSError:  # it has just ended
            return 0.0

    def close(self) -> None:
        self.connection.close()
        process_handles.close(self.pidfd)
        self.pidfd = process_handles.NONE


class Workers:
    """A pool of `size` processes, and at most `slow_size` more for items that prove slow or deadly.

    When all `slow_size` are in use, further slow items keep their fast workers. The queue itself has no bound: callers
    have one.
    """

    def __init__(
        self,
        size: int,
        *,
        memory_mb: int = 1024,
        output_bytes: int = 1024 * 1024,
        recycle_items: int = 20_000,
        recycle_rss_mb: int = 256,
        slow_size: int | None = None,
        start_timeout_s: float = 60.0,
        parts_owners: bool = False,
        on_restart: Callable[[str], None] | None = None,
    ) -> None:
        """Store the settings. Limits are per worker; memory and RSS count from what a fresh worker has.

        `parts_owners`: before an item of another tenant a worker forgets what it remembers of texts.

        `on_restart(reason)` is called for every worker that is replaced early, with the reason that `restarts` counts.
        """
        self.size = size
        self.slow_size = size if slow_size is None else slow_size
        if self.size < 1 or self.slow_size < 1:
            raise ValueError(f"size is {self.size} and slow_size is {self.slow_size}; both must be at least 1")
        self._order = Order([], memory_mb)
        self._parts_owners = parts_owners
        self._output_bytes = output_bytes
        self._recycle_items = recycle_items
        self._recycle_rss_kb = recycle_rss_mb * 1024
        self._start_timeout_s = start_timeout_s
        self._on_restart = on_restart
        self._tasks: dict[tuple[str, str], int] = {}
        self._cost_s: list[float] = []
        """Average CPU seconds of each task's items."""
        self._restarts: Counter[str] = Counter()
        self._queue: deque[_Item] = deque()
        self._suspects: deque[_Item] = deque()
        self._calls: set[_Call] = set()
        self._workers: dict[int, _Worker] = {}
        """Every worker that is not known to be dead and reaped."""
        self._fast: set[_Worker] = set()
        self._slow: set[_Worker] = set()
        self._next_number = 0
        self._link: Link | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._started: asyncio.Future[None] | None = None
        self._unavailable = "the workers are not started"
        """Why calls are refused; empty while they are not."""
        self._failures = 0
        """Failed forks and zygotes since a worker last became ready."""
        self._retry: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None

    @property
    def queued(self) -> int:
        """Items that no worker has been given yet."""
        return len(self._queue) + len(self._suspects)

    @property
    def busy(self) -> int:
        """Workers with an item under way."""
        return sum(1 for worker in self._workers.values() if worker.window)

    @property
    def resident_bytes(self) -> int:
        """The memory of the zygote, and what workers have beside the pages that they share with it."""
        zygote = 0 if self._link is None else resident_bytes(self._link.pid)
        ready = [worker for worker in self._workers.values() if worker.ready]
        return zygote + sum(max(0, resident_bytes(worker.pid) - worker.first_bytes) for worker in ready)

    @property
    def memories_bytes(self) -> int:
        """What workers remember, by their last answers."""
        return sum(worker.memories_kb << 10 for worker in self._workers.values())

    def halve_memories(self) -> None:
        """Have each worker drop half of what it remembers, before its next item."""
        for worker in self._workers.values():
            worker.must_halve = True

    @property
    def restarts(self) -> Mapping[str, int]:
        """Workers ended and replaced, by reason; `zygote` counts the deaths of the zygote."""
        return MappingProxyType(self._restarts)

    @property
    def ready(self) -> bool:
        """Whether a worker could take an item now, or after the item it has."""
        return not self._unavailable and any(worker.ready for worker in self._fast)

    @property
    def starting(self) -> bool:
        """Whether the pool has begun to start, and items wait until it has."""
        return self._started is not None and not self._started.done()

    def register(self, task: Task) -> None:
        """Make a task known to the workers. Call it before `start`."""
        if self._supervisor is not None:
            raise RuntimeError(f"task {task.module}.{task.function} must be registered before the workers are started")
        key = (task.module, task.function)
        if key in self._tasks:
            self._order.tasks[self._tasks[key]][2].extend(task.warm)
            return
        self._tasks[key] = len(self._tasks)
        self._cost_s.append(_GUESSED_CPU_S)
        output_bytes = max(task.output_bytes, self._output_bytes)
        self._order.tasks.append((task.module, task.function, list(task.warm), output_bytes))

    async def start(self) -> None:
        """Start the pool; returns when all `size` workers are warm. A stopped pool can be started again.

        Raises:
            WorkersUnavailable: a task's module or warm payload failed, or no process could be started.
        """
        await self.begin()
        try:
            await self.settled()
        except BaseException:
            await self.stop()
            raise

    async def begin(self) -> None:
        """Begin to start the pool. The zygote's process runs when this returns. Items wait until workers are warm."""
        if self._supervisor is not None:
            raise RuntimeError("the workers are started already")
        self._failures = 0
        self._unavailable = ""
        self._started = asyncio.get_running_loop().create_future()
        self._supervisor = asyncio.create_task(self._supervise())
        await asyncio.sleep(0)  # the supervisor's first step starts the process

    async def settled(self) -> None:
        """Wait until all `size` workers are warm.

        Raises:
            WorkersUnavailable: a task's module or warm payload failed, or no process could be started.
        """
        assert self._started is not None, "the workers were never started"
        await asyncio.shield(self._started)

    async def stop(self) -> None:
        """Kill every worker and the zygote. Calls under way raise WorkersUnavailable. No process or file is left."""
        if self._supervisor is None:
            return
        self._refuse("the workers are stopped")
        if not self._supervisor.cancelling():
            self._supervisor.cancel()
        supervisor = self._supervisor
        await asyncio.wait([supervisor])
        self._supervisor = None
        if not supervisor.cancelled():
            supervisor.result()

    @spans.traced("worker")
    async def map(
        self, task: Task, payloads: Sequence[Any], on_outcome: Callable[[int, Outcome], None] | None = None
    ) -> list[Outcome]:
        """Run a registered task on each payload: one outcome per payload, in order, whatever the items do.

        `on_outcome(position, outcome)` is called as soon as each outcome exists; an exception in it ends the call. The
        time limit is that of the `task` given here. Cancelling drops queued items and kills items that have run long.

        Raises:
            WorkersUnavailable: the pool cannot work now; says nothing about any item.
        """
        number = self._tasks.get((task.module, task.function))
        if number is None:
            raise ValueError(f"task {task.module}.{task.function} is not registered; there are {sorted(self._tasks)}")
        if self._unavailable:
            raise WorkersUnavailable(self._unavailable)
        if not payloads:
            return []
        spans.note(task=task.function, items=len(payloads))
        bodies = [
            await asyncio.to_thread(_written, payload) if _is_large(payload) else _written(payload)
            for payload in payloads
        ]
        if self._unavailable:
            raise WorkersUnavailable(self._unavailable)
        call = _Call(len(payloads), asyncio.get_running_loop().create_future(), on_outcome)
        self._calls.add(call)
        for index, body in enumerate(bodies):
            if isinstance(body, Outcome):
                call.settle(index, body)
            else:
                self._queue.append(_Item(call, index, number, task.time_limit_s, body))
        del bodies
        self._fill_all()
        try:
            await call.done
        finally:
            self._calls.discard(call)
            if call.missing:
                self._abandon(call)
        return call.outcomes  # type: ignore[return-value]  # none is missing, so none is None

    # ---- items to workers

    def _fill_all(self) -> None:
        """Give out queued items, to idle workers first."""
        for worker in self._fast:
            if not worker.window:
                self._fill(worker)
        for worker in self._fast:
            if not self._queue:
                return
            self._fill(worker)

    def _fill(self, worker: _Worker) -> None:
        """If less than half of the worker's window is left, top it up with its fair share of the queue."""
        queue, window = self._queue, worker.window
        if not queue or worker.closing or not worker.ready or worker.role is not _Role.FAST:
            return
        full = max(2, min(WINDOW_ITEMS, int(WINDOW_CPU_S / self._cost_s[queue[0].task])))
        if len(window) > full // 2:
            return
        share = min(full - len(window), -(-len(queue) // len(self._fast)))
        items: list[_Item] = []
        size = worker.window_bytes
        while queue and len(items) < share:
            size += len(queue[0].body)
            if size > WINDOW_BYTES and (window or items):
                break
            items.append(queue.popleft())
        self._ask(worker, items)

    def _ask(self, worker: _Worker, items: Sequence[_Item]) -> None:
        if not items:
            return
        loop = asyncio.get_running_loop()
        if not worker.window:
            worker.head_since = loop.time()
        frames = bytearray()
        for item in items:
            worker.asked = (worker.asked + 1) & 0xFFFFFFFF
            frames += QUESTION.pack(len(item.body), worker.asked, item.task | self._orders(worker, item))
            frames += item.body
            worker.window.append(item)
            worker.window_bytes += len(item.body)
        if worker.timer is None:
            worker.timer = loop.call_later(min(worker.window[0].limit_s, SLOW_AFTER_S), self._tick, worker)
        if worker.outgoing:
            worker.outgoing += frames
            return
        worker.outgoing = frames
        self._flush(worker)
        if worker.outgoing:
            loop.add_writer(worker.connection, self._flush_rest, worker)

    def _orders(self, worker: _Worker, item: _Item) -> int:
        """What tells the worker to forget first, if it has had an item of another tenant, or to halve its memories."""
        last, worker.owner = worker.owner, item.owner
        orders = FORGET if self._parts_owners and last not in (None, item.owner) else 0
        if worker.must_halve:
            worker.must_halve = False
            orders |= HALVE
        return orders

    def _flush(self, worker: _Worker) -> None:
        try:
            count = worker.connection.send(worker.outgoing)
        except BlockingIOError:
            return
        except OSError:  # the worker has died: the reader will notice
            count = len(worker.outgoing)
        del worker.outgoing[:count]

    def _flush_rest(self, worker: _Worker) -> None:
        self._flush(worker)
        if not worker.outgoing:
            asyncio.get_running_loop().remove_writer(worker.connection)

    # ---- answers

    def _receive(self, worker: _Worker) -> bool:
        """Take what the worker has sent; False when there was nothing to read (now, or ever again)."""
        try:
            chunk = worker.connection.recv(_READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._lose(worker)
            return False
        incoming = worker.incoming
        incoming += chunk
        start = 0
        now = asyncio.get_running_loop().time()
        while len(incoming) - start >= ANSWER.size and not worker.gone:
            size, number, code, rss_kb, worker.memories_kb, cpu_s = ANSWER.unpack_from(incoming, start)
            if not self._makes_sense(worker, size, number, code):
                self._lose(worker)
                break
            end = start + ANSWER.size + size
            if end > len(incoming):
                break
            self._take(worker, code, rss_kb, cpu_s, bytes(memoryview(incoming)[start + ANSWER.size : end]), now)
            start = end
        if worker.gone:
            return False
        del incoming[:start]
        self._fill(worker)
        return True

    def _makes_sense(self, worker: _Worker, size: int, number: int, code: int) -> bool:
        if not worker.ready:
            return number == 0 and code in (HELLO, CODES[Exit.RAISED]) and size <= MAX_MESSAGE_BYTES
        if not worker.window or number != (worker.answered + 1) & 0xFFFFFFFF or code >= len(EXITS):
            return False
        most_bytes = self._order.tasks[worker.window[0].task][3]
        return size <= (most_bytes if code == CODES[Exit.OK] else MAX_MESSAGE_BYTES)

    def _take(self, worker: _Worker, code: int, rss_kb: int, cpu_s: float, body: bytes, now: float) -> None:
        if not worker.ready:
            self._greet(worker, code, rss_kb, cpu_s, body)
            return
        exit_ = EXITS[code]
        elapsed_s = max(0.0, cpu_s - worker.cpu_s)
        if exit_ is Exit.OK:
            try:
                value = _decode(body)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                self._lose(worker)
                return
            outcome = Outcome(exit_, value, "", elapsed_s)
        else:
            outcome = Outcome(exit_, None, body.decode("utf-8", "replace"), elapsed_s)
        item = worker.window.popleft()
        worker.window_bytes -= len(item.body)
        worker.answered = (worker.answered + 1) & 0xFFFFFFFF
        worker.cpu_s = cpu_s
        worker.head_since = now
        cost_s = self._cost_s[item.task]
        self._cost_s[item.task] = cost_s + _COST_WEIGHT * (min(elapsed_s, _COST_CAP_S) - cost_s)
        if exit_ is Exit.MEMORY_LIMIT:
            if worker.answered > 1 and item.deaths == 0:
                # Memory that earlier items left behind counts too. It must not decide this item.
                item.deaths = 1
                self._suspect(item)
            else:
                item.call.settle(item.index, outcome)
            self._end(worker, "memory_limit")
            return
        item.call.settle(item.index, outcome)
        if worker.role is _Role.FAST and not worker.closing:
            if worker.answered >= self._recycle_items:
                self._recycle(worker, "recycled_items")
            elif rss_kb - worker.first_rss_kb > self._recycle_rss_kb:
                self._recycle(worker, "recycled_rss")
        if not worker.window and (worker.closing or worker.role is _Role.SLOW):
            self._end(worker, worker.closing)

    def _greet(self, worker: _Worker, code: int, rss_kb: int, cpu_s: float, body: bytes) -> None:
        """Handle a worker's first answer: it is ready, or says why it cannot be."""
        if code != HELLO:
            self._fail(f"a worker could not limit itself: {body.decode('utf-8', 'replace')}")
            self._end(worker, "")
            return
        worker.ready = True
        worker.first_rss_kb = rss_kb
        worker.first_bytes = resident_bytes(worker.pid)
        worker.cpu_s = cpu_s
        worker.waited_since = None
        self._failures = 0
        if worker.solo is not None:
            item, worker.solo = worker.solo, None
            self._ask(worker, [item])
        if self._started is not None and not self._started.done():
            if sum(1 for fast in self._fast if fast.ready) < self.size:
                return
            self._started.set_result(None)
        self._unavailable = ""

    def _recycle(self, worker: _Worker, reason: str) -> None:
        """Let the worker answer its window and end; fork its successor now."""
        worker.closing = reason
        worker.role = _Role.LEAVING
        self._fast.discard(worker)
        self._fork_missing()

    # ---- the clock

    def _tick(self, worker: _Worker) -> None:
        """Check what the item under way has used, and schedule the next check."""
        worker.timer = None
        while self._receive(worker):  # the event loop may be late, and the answer already there
            pass
        if worker.gone or not worker.window or worker.timer is not None:
            return
        loop = asyncio.get_running_loop()
        item = worker.window[0]
        wall_s = loop.time() - worker.head_since
        stall_s = max(MIN_STALL_S, STALL_FACTOR * item.limit_s)
        if wall_s < min(item.limit_s, SLOW_AFTER_S):
            self._tick_in(worker, min(item.limit_s, SLOW_AFTER_S) - wall_s)
            return
        used_s = worker.cpu_since_answer_s()
        idle_s = wall_s - worker.starved_s()
        if item.call.abandoned and wall_s > CANCEL_AFTER_S:
            self._stop_head(worker, "cancelled")
        elif used_s >= item.limit_s:
            item.settle(Exit.TIME_LIMIT, f"used more than {item.limit_s:g} s of CPU", used_s)
            self._stop_head(worker, "time_limit")
        elif idle_s >= stall_s and not worker.is_runnable():
            message = f"not done after {idle_s:.3g} s in which it could have had the CPU; it used {used_s:.2f} s of it"
            item.settle(Exit.STALLED, message, used_s)
            self._stop_head(worker, "stalled")
        else:
            if used_s >= SLOW_AFTER_S and worker.closing != "slow":
                self._demote_slow_worker(worker)
            next_s = item.limit_s - used_s
            if used_s < SLOW_AFTER_S:
                next_s = min(next_s, SLOW_AFTER_S - used_s)
            self._tick_in(worker, min(next_s, stall_s - idle_s if idle_s < stall_s else _RUNNABLE_TICK_S))

    def _tick_in(self, worker: _Worker, delay_s: float) -> None:
        worker.timer = asyncio.get_running_loop().call_later(max(_MIN_TICK_S, delay_s), self._tick, worker)

    def _stop_head(self, worker: _Worker, reason: str) -> None:
        worker.window.popleft()
        self._end(worker, reason)

    def _demote_slow_worker(self, worker: _Worker) -> None:
        """The worker's item is slow: hand back the items behind it, and let another worker take its place."""
        head = worker.window.popleft()
        self._hand_back(worker.window)
        worker.window.clear()
        worker.window.append(head)
        worker.closing = "slow"
        if worker.role is not _Role.FAST or len(self._slow) < self.slow_size:
            self._fast.discard(worker)
            self._slow.add(worker)
            worker.role = _Role.SLOW
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, worker.pid, SLOW_NICENESS)
            self._fork_missing()
        self._fill_all()

    def _hand_back(self, items: Iterable[_Item]) -> None:
        self._queue.extendleft(item for item in reversed([*items]) if not item.call.abandoned)

    def _abandon(self, call: _Call) -> None:
        call.abandoned = True
        self._queue = deque(item for item in self._queue if item.call is not call)
        self._suspects = deque(item for item in self._suspects if item.call is not call)
        now = asyncio.get_running_loop().time()
        for worker in list(self._workers.values()):
            if worker.window and worker.window[0].call is call and now - worker.head_since > CANCEL_AFTER_S:
                self._stop_head(worker, "cancelled")

    # ---- the lives of workers

    def _fork_missing(self) -> None:
        """Order missing workers: fast ones up to `size`, and one for each suspect up to `slow_size`."""
        while self._link is not None and len(self._fast) < self.size:
            if not self._fork(_Role.FAST, None):
                return
        while self._link is not None and self._suspects and len(self._slow) < self.slow_size:
            if not self._fork(_Role.SLOW, self._suspects.popleft()):
                return

    def _fork(self, role: _Role, solo: _Item | None) -> bool:
        assert self._link is not None
        loop = asyncio.get_running_loop()
        self._next_number += 1
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        worker = _Worker(self._next_number, role, ours, loop.time(), solo)
        try:
            with theirs:
                self._link.fork(worker.number, theirs)
        except OSError as error:  # the zygote does not read, or has just died
            ours.close()
            if solo is not None:
                self._suspects.appendleft(solo)
            self._fail(f"the zygote does not accept orders: {error}")
            return False
        self._workers[worker.number] = worker
        (self._fast if role is _Role.FAST else self._slow).add(worker)
        self._watch_zygote()
        return True

    def _on_report(self, report: Report, pidfd: int) -> None:
        if self._link is None:  # this zygote and its workers have been given up
            process_handles.close(pidfd)
            return
        match report:
            case Forked(number, pid):
                worker = self._workers[number]
                worker.pid, worker.pidfd = pid, pidfd
                if worker.gone:
                    self._kill(worker)
                else:
                    asyncio.get_running_loop().add_reader(worker.connection, self._receive, worker)
            case Refused(number, message):
                worker = self._workers.pop(number)
                self._fail(f"no worker could be forked: {message}")
                self._end(worker, "")
                worker.close()
            case Ended(number, status):
                worker = self._workers[number]
                while not worker.gone and self._receive(worker):  # it may have answered before it died
                    pass
                if not worker.gone:  # another process holds its end of the socket open
                    self._lose(worker)
                del self._workers[number]
                worker.close()
                if worker.suspect is not None:
                    self._count_death(worker.suspect, status)

    def _suspect(self, item: _Item) -> None:
        if not item.call.abandoned:
            self._suspects.append(item)

    def _lose(self, worker: _Worker) -> None:
        """The worker died, or sent nonsense.

        Its first item is suspect until the zygote reports how the worker ended.
        """
        if worker.window:
            worker.suspect = worker.window.popleft()
        elif not worker.ready:
            self._fail("a worker ended before it was ready")
        self._end(worker, "crashed")

    def _count_death(self, item: _Item, status: int) -> None:
        """Count a worker that died of this item; `status` says how it died."""
        item.deaths += 1
        if item.deaths == 1:
            self._suspect(item)
            self._fork_missing()
            return
        code = os.waitstatus_to_exitcode(status)
        if code == EXIT_MEMORY:
            item.settle(Exit.MEMORY_LIMIT, "its worker had no memory left to answer")
            return
        how = f"signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit status {code}"
        exit_ = Exit.KILLED if code == -signal.SIGKILL else Exit.CRASHED
        item.settle(exit_, f"its worker ended with {how}, and so did another before")

    def _end(self, worker: _Worker, reason: str) -> None:
        """Kill the worker, hand back the items it has not begun, and have it replaced.

        An empty reason is not counted.
        """
        if worker.gone:
            return
        self._drop(worker)
        self._fast.discard(worker)
        self._slow.discard(worker)
        self._hand_back(worker.window)
        worker.window.clear()
        if worker.solo is not None:
            self._suspects.appendleft(worker.solo)
        if reason:
            self._count(reason)
        self._watch_zygote()
        if self._retry is None:
            self._fork_missing()
        self._fill_all()

    def _drop(self, worker: _Worker) -> None:
        """Kill the worker and stop listening to it. Its socket stays until the zygote has reported its end."""
        loop = asyncio.get_running_loop()
        worker.gone = True
        worker.waited_since = loop.time()
        if worker.timer is not None:
            worker.timer.cancel()
        loop.remove_reader(worker.connection)
        loop.remove_writer(worker.connection)
        self._kill(worker)

    def _kill(self, worker: _Worker) -> None:
        """Kill now, or as soon as the pid is known. Without the zygote, its parent, the kernel does it."""
        if worker.pidfd != process_handles.NONE:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(worker.pidfd, signal.SIGKILL)
        elif worker.pid and self._link is not None:
            self._link.end_worker(worker.number)

    def _count(self, reason: str) -> None:
        self._restarts[reason] += 1
        if self._on_restart is not None:
            self._on_restart(reason)

    # ---- the zygote, and its failures

    async def _supervise(self) -> None:
        """Keep a zygote running until cancelled."""
        try:
            while True:
                await self._run_zygote()
                await asyncio.sleep(0.0 if self._failures <= 1 else min(MAX_RETRY_S, RETRY_S * self._failures))
        finally:
            self._refuse("the workers are stopped")

    async def _run_zygote(self) -> None:
        """Start a zygote and let it work until it dies."""
        try:
            link = await Link.open(self._order, self._start_timeout_s)
        except WorkersUnavailable as error:
            self._fail(str(error))
            return
        try:
            self._link = link
            link.listen(self._on_report)
            self._fork_missing()
            await asyncio.shield(link.gone)
            self._failures += 1
            self._count("zygote")
        finally:
            self._link = None
            await _finish_despite_cancellation(_close(link, self._give_up_workers()))

    def _give_up_workers(self) -> list[_Worker]:
        """Give up all workers of a dead zygote: they are dead or dying. Their items go back to the queues."""
        for timer in (self._retry, self._watch):
            if timer is not None:
                timer.cancel()
        self._retry = self._watch = None
        orphans = list(self._workers.values())
        retried: list[_Item] = []
        for worker in orphans:
            if not worker.gone:
                self._drop(worker)
            under_way = worker.suspect or (worker.window[0] if worker.window else None)
            if under_way is not None:
                under_way.interruptions += 1
            retried += [worker.suspect] if worker.suspect is not None else []
            retried += worker.window
            if worker.solo is not None:
                self._suspects.append(worker.solo)
        self._workers.clear()
        self._fast.clear()
        self._slow.clear()
        for item in reversed(retried):
            if item.interruptions >= MAX_INTERRUPTIONS:
                item.settle(Exit.STALLED, f"the workers' zygote died {item.interruptions} times under it")
            elif not item.call.abandoned:
                (self._suspects if item.deaths else self._queue).appendleft(item)
        return orphans

    def _fail(self, message: str) -> None:
        """A fork or a zygote failed: try again later. After some failures in a row, refuse calls meanwhile."""
        self._failures += 1
        starting = self._started is not None and not self._started.done()
        if (starting or self._failures >= MAX_FAILURES) and not any(worker.ready for worker in self._fast):
            self._refuse(message)
        if self._link is not None and self._retry is None:
            self._retry = asyncio.get_running_loop().call_later(RETRY_S, self._try_again)

    def _try_again(self) -> None:
        self._retry = None
        self._fork_missing()

    def _refuse(self, message: str) -> None:
        """End every call under way with WorkersUnavailable, and refuse new ones."""
        self._unavailable = message
        if self._started is not None and not self._started.done():
            self._started.set_exception(WorkersUnavailable(message))
            self._started.exception()  # marks it as retrieved: `start` may have been cancelled
        for call in self._calls:
            if not call.done.done():
                call.done.set_exception(WorkersUnavailable(message))
                call.done.exception()  # marks it as retrieved: the caller may have been cancelled

    def _watch_zygote(self) -> None:
        if self._watch is None and self._link is not None:
            self._watch = asyncio.get_running_loop().call_later(ZYGOTE_PATIENCE_S, self._check_zygote)

    def _check_zygote(self) -> None:
        """Replace a zygote that has owed a report for too long."""
        self._watch = None
        now = asyncio.get_running_loop().time()
        since = [worker.waited_since for worker in self._workers.values() if worker.waited_since is not None]
        if self._link is None or not since:
            return
        if now - min(since) >= ZYGOTE_PATIENCE_S:
            self._link.kill()
        else:
            self._watch_zygote()


def _is_large(payload: Any) -> bool:
    """Whether a payload has a large text. Those of tasks that read texts are lists of few values."""
    return type(payload) is list and any(type(part) is str and len(part) > _LARGE_CHARS for part in payload)


def _written(payload: Any) -> bytes | Outcome:
    """The payload as it is sent, or the outcome of one that cannot be sent."""
    try:
        body = _encode(payload)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        text = f"payload: {type(error).__name__}: {error}"[:500].encode("utf-8", "replace").decode()
        return Outcome(Exit.RAISED, None, text)
    if len(body) > MAX_PAYLOAD_BYTES:
        return Outcome(Exit.RAISED, None, f"payload: {len(body)} > {MAX_PAYLOAD_BYTES} bytes")
    return body


async def _close(link: Link, workers: Sequence[_Worker]) -> None:
    """End a zygote and wait until its workers are dead too."""
    await link.close()
    for worker in workers:
        if worker.pid:
            await process_handles.wait_for_orphan(worker.pid, worker.pidfd, ORPHAN_PATIENCE_S)
        worker.close()


async def _finish_despite_cancellation(work: Coroutine[Any, Any, None]) -> None:
    """Await work that a cancellation must not leave half done; cancel afterwards."""
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError
