"""Watches a run from outside until nothing of it is left.

    fork ──► the run's pipes are drained up to their caps ──► the process ends, or a limit ends it
         ──► the rest of the box is emptied ──► what is still in the pipes is read ──► `End`

CPU time is the limit that counts: the CPU time of all processes of the run together, checked no earlier than it can
have been used up. Wall time is the backstop, without the time that the machine kept the run waiting. Only SIGKILL ends
a run, and nothing depends on the program's cooperation. One function decides how a run ended: `reason_of_end`.
"""

import math
import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from sandbox.runner.frames import Closed
from sandbox.runner.process import measures
from sandbox.runner.process.later_input import LaterInput
from sandbox.runner.process.limits import RunLimits
from sandbox.runner.process.process_reaper import ProcessReaper, ResourceUsage, has_ended
from sandbox.runner.process.shared_page import SharedPage

_PIECE_BYTES: Final = 1 << 16
_MEMORY_LOOK_S: Final = 0.02
_SHORTEST_LOOK_S: Final = 0.005
_HARD_WALL_FACTOR: Final = 10
"""A run is killed after this many times its wall limit, however long the machine kept it waiting."""
_STARVED_CPU_SHARE: Final = 0.2
_STARVED_DELAY_SHARE: Final = 0.5
_NOTABLE_WALL_S: Final = 0.1
_UNHEARD_S: Final = 0.005
"""The pipes of a run are not polled before this time. Most runs are over by then, and wake-ups for their output would
slow them down.
"""
_KILL_AGAIN_S: Final = 0.5
_WAITING_LOOK_S: Final = 0.25
"""How often a run that waits for its input is looked at, at most."""


class Reason(StrEnum):
    """Why a run did not end by itself."""

    CPU = "cpu"
    WALL = "wall"
    MEMORY = "memory"
    OUTPUT = "output"
    FILE_SIZE = "file_size"
    KILLED = "killed"
    STARVED = "starved"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class End:
    """How a run ended and what it used."""

    code: int | None
    signal: int
    reason: Reason | None
    cpu_s: float
    wall_s: float
    delay_s: float
    peak_kb: int
    left: int
    """Processes that it left behind."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """How a run ended and its output."""

    end: End
    stdout: bytes
    stderr: bytes
    value: bytes | None = None
    tests: bytes | None = None
    fetched: Mapping[str, bytes] = field(default_factory=dict)


class Stream:
    """The runner's end of a pipe; closed once it has been read to its end."""

    __slots__ = ("_cap", "data", "descriptor", "ends_run", "overflowed")

    def __init__(self, descriptor: int, cap: int, *, ends_run: bool) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.data = bytearray()
        self.overflowed = False
        self.ends_run = ends_run
        """Whether writing more than the cap ends the run; otherwise the excess is dropped."""
        self._cap = cap

    def read(self) -> bool:
        """Read what is there at once; False at the end of the stream."""
        try:
            piece = os.read(self.descriptor, _PIECE_BYTES)
        except BlockingIOError:
            return True
        room = self._cap - len(self.data)
        if len(piece) > room:
            self.overflowed = True
            piece = piece[:room]
            self.data += piece
            return True
        self.data += piece
        return bool(piece)

    def finish(self) -> None:
        """Read the rest, when no writer is left, and close."""
        try:
            while piece := os.read(self.descriptor, _PIECE_BYTES):
                room = self._cap - len(self.data)
                self.overflowed = self.overflowed or len(piece) > room
                self.data += piece[:room]
        except BlockingIOError:
            pass  # another copy of the pipe's end is still in a socket that is being closed
        os.close(self.descriptor)


@dataclass(slots=True, eq=False, repr=False)
class StartedRun:
    """A run that is being started."""

    shared_page: SharedPage
    """Where its pid will be told."""
    uid: int
    since: float
    """time.monotonic() before the fork."""
    limits: RunLimits
    base_bytes: int
    """Resident memory that each of its processes shares with the runner."""
    watch_memory: bool
    streams: Sequence[Stream] = ()
    place: int = 0
    """On the shared page."""
    waits: bool = False
    """For the rest of its input. Until that comes, wall time does not count."""

    @property
    def pid(self) -> int:
        """0: it is still to be forked."""
        return self.shared_page.pid(self.place)


class Supervisor:
    """Watches one run at a time."""

    def __init__(
        self,
        reaper: ProcessReaper,
        oom: measures.OomCounter,
        shared_page: SharedPage,
        *,
        control: int,
        wake: int,
        cpus: int,
    ) -> None:
        """Begin with nothing to watch.

        Args:
            reaper: Of the box.
            oom: Its counter of out-of-memory kills.
            shared_page: Shared with runs, which set a flag on it when they are about to become the program.
            control: The connection to the service.
            wake: Becomes readable whenever a child ends.
            cpus: How fast CPU time can be used up.
        """
        self._reaper = reaper
        self._oom = oom
        self._oom_kills = 0
        self._shared_page = shared_page
        self._control = control
        self._wake = wake
        self._cpus = cpus
        self._streams: dict[int, Stream] = {}
        self._later: LaterInput | None = None
        self._listens_from = math.inf
        self._poll = select.poll()
        self._poll.register(control, 0)  # reports only the end of the connection
        self._poll.register(wake, select.POLLIN)

    def prepare(self) -> None:
        """Call it before each fork."""
        self._oom_kills = self._oom.read()
        self._shared_page.clear()

    def watch(
        self, run: StartedRun, fork: Callable[[], None], descriptors: Sequence[int], later: LaterInput | None = None
    ) -> End:
        """Fork, and watch until the run has ended and the box is empty.

        All preparation happens before the fork: pages that both sides write to after it must be copied.

        Args:
            run: What is to be watched.
            fork: Has it forked, now or soon.
            descriptors: Its descriptors, which are closed once it has them.
            later: Its standard input, if the rest of that is still to come.

        Raises:
            BoxUnusable: the box cannot be emptied, or the service asks for something else than the input.
            Closed: the service is gone.
        """
        run.waits = later is not None
        watchdog = _Watchdog(run, self._reaper, self._cpus)
        self._open(run.streams)
        self._open_input(later)
        fork()
        while not (self._poll_once(watchdog) and has_ended(run.pid)):
            watchdog.reap_orphans(run.pid)
        watchdog.reap()
        self._empty(watchdog, run.uid)
        for descriptor in descriptors:
            os.close(descriptor)
        self._close_input()
        self._close()
        return self._end(watchdog)

    def watch_tests(self, candidate: StartedRun, tester: StartedRun) -> tuple[End, End]:
        """Watch until the tester has ended and the box is empty. Returns how candidate and tester ended.

        The candidate is killed when the tester has ended. That is not an end of its own, and counts as exit code 0.

        Raises:
            BoxUnusable: the box cannot be emptied.
            Closed: the service is gone.
        """
        candidates = _Watchdog(candidate, self._reaper, self._cpus, tester_pid=tester.pid)
        testers = _Watchdog(tester, self._reaper, self._cpus, alone=True)
        self._open([*candidate.streams, *tester.streams])
        may_have_ended = True  # the wait for their forks may have consumed the wake-up
        while not (may_have_ended and has_ended(tester.pid)):
            candidates.reap_orphans(candidate.pid, tester.pid)
            if candidates.status is None and has_ended(candidate.pid):
                candidates.reap()
                self._reaper.kill_all_but(tester.pid, candidate.uid)
            may_have_ended = self._poll_once(candidates, testers)
        testers.reap()
        if candidates.status is None and has_ended(candidate.pid):
            candidates.reap()
        if candidates.status is None:
            self._reaper.kill_and_reap(candidate.pid, candidates.usage)
            candidates.wall_s = testers.wall_s
        self._empty(candidates, candidate.uid, tester.uid)
        self._close()
        return self._end(candidates), self._end(testers)

    def _poll_once(self, *watchdogs: "_Watchdog") -> bool:
        """Wait for an event and handle it. Returns whether a child may have ended."""
        now = time.monotonic()
        if now >= self._listens_from:
            self._listen()
        wait_s = min(self._listens_from, *(watchdog.next_check for watchdog in watchdogs)) - now
        has_woken = False
        for descriptor, events in self._poll.poll(max(0, int(wait_s * 1000) + 1)):
            if descriptor == self._wake:
                os.read(self._wake, _PIECE_BYTES)
                has_woken = True
            elif descriptor == self._control:
                if self._later is None or not events & select.POLLIN:
                    raise Closed("the service is gone")
                self._take_input(self._later, watchdogs[0])
            elif self._later is not None and descriptor == self._later.descriptor:
                self._write_input(self._later)
            else:
                self._read(self._streams[descriptor], watchdogs[0])
        now = time.monotonic()
        for watchdog in watchdogs:
            if now >= watchdog.next_check:
                watchdog.check_limits(now)
        return has_woken

    def _read(self, stream: Stream, watchdog: "_Watchdog") -> None:
        if not stream.read():
            self._poll.unregister(stream.descriptor)
            del self._streams[stream.descriptor]
            os.close(stream.descriptor)
        elif stream.overflowed and stream.ends_run:
            watchdog.kill(Reason.OUTPUT)

    def _open_input(self, later: LaterInput | None) -> None:
        self._later = later
        if later is not None:
            self._poll.register(self._control, select.POLLIN)
            self._poll.register(later.descriptor, select.POLLOUT)

    def _take_input(self, later: LaterInput, watchdog: "_Watchdog") -> None:
        later.receive(self._control)
        self._poll.register(self._control, 0)
        self._poll.register(later.descriptor, select.POLLOUT)
        watchdog.go_on(time.monotonic())

    def _write_input(self, later: LaterInput) -> None:
        if later.write():
            return
        self._poll.unregister(later.descriptor)
        if later.is_complete:
            self._later = None
            os.close(later.descriptor)

    def _close_input(self) -> None:
        """End the input of a run that has ended."""
        if self._later is None:
            return
        self._poll.register(self._control, 0)
        with suppress(KeyError):
            self._poll.unregister(self._later.descriptor)
        os.close(self._later.descriptor)
        self._later = None

    def _open(self, streams: Sequence[Stream]) -> None:
        for stream in streams:
            self._streams[stream.descriptor] = stream
        self._listens_from = time.monotonic() + _UNHEARD_S

    def _listen(self) -> None:
        self._listens_from = math.inf
        for descriptor in self._streams:
            self._poll.register(descriptor, select.POLLIN)

    def _close(self) -> None:
        """Read what is left in the pipes; no process can write to them any more."""
        for stream in self._streams.values():
            if self._listens_from == math.inf:
                self._poll.unregister(stream.descriptor)
            stream.finish()
        self._streams.clear()
        self._listens_from = math.inf

    def _empty(self, watchdog: "_Watchdog", *uids: int) -> None:
        reaped = watchdog.usage.count
        self._reaper.kill_and_reap_all(watchdog.usage, uids)
        watchdog.left = watchdog.usage.count - reaped

    def _end(self, watchdog: "_Watchdog") -> End:
        status, usage = watchdog.status or 0, watchdog.usage
        code = os.waitstatus_to_exitcode(status)
        has_overflowed = any(stream.overflowed and stream.ends_run for stream in watchdog.run.streams)
        reason = reason_of_end(
            code,
            watchdog.reason,
            has_started=self._shared_page.has_started(watchdog.run.place),
            is_over_cpu=usage.cpu_s > watchdog.run.limits.cpu_s,
            has_overflowed=has_overflowed,
            oom_kills=self._oom.read() - self._oom_kills if code else 0,
            oom=self._oom,
        )
        return End(
            code=code if code >= 0 else None,
            signal=max(0, -code),
            reason=reason,
            cpu_s=usage.cpu_s,
            wall_s=watchdog.wall_s,
            delay_s=watchdog.delay_s,
            peak_kb=max(usage.peak_kb, watchdog.peak_bytes >> 10),
            left=watchdog.left,
        )


def reason_of_end(
    code: int,
    ours: Reason | None,
    *,
    has_started: bool,
    is_over_cpu: bool,
    has_overflowed: bool,
    oom_kills: int,
    oom: measures.OomCounter,
) -> Reason | None:
    """Why a run did not end by itself; None when it did.

    Args:
        code: The exit code, or minus the signal.
        ours: Why the runner killed it, if it did.
        has_started: The program had begun. Before that, any end is our fault.
        is_over_cpu: It used more than its limit, whether or not the watchdog noticed.
        has_overflowed: It wrote more than its limit, whether or not the watchdog noticed.
        oom_kills: How many processes the kernel killed meanwhile because memory ran out.
        oom: Says which processes it counts. If it counts every kill and there was none, a SIGKILL was the program's
            own.
    """
    if not has_started:  # the child could not enter its jail
        return Reason.KILLED
    if ours is not None:  # the watchdog killed it: `while True: pass`
        return ours
    if is_over_cpu or code == -signal.SIGXCPU:  # it ended by itself just after its limit
        return Reason.CPU
    if has_overflowed:  # print("x" * 10**9), noticed only at the end
        return Reason.OUTPUT
    if code == -signal.SIGXFSZ:  # a file larger than file_mb
        return Reason.FILE_SIZE
    if oom_kills > 0 and oom.is_of_box:  # the box's cgroup ran out of memory
        return Reason.MEMORY
    if code == -signal.SIGKILL and (oom_kills > 0 or not oom.is_known):  # perhaps the machine ran out of memory
        return Reason.KILLED
    return None


class _Watchdog:
    """Enforces the limits of one run."""

    __slots__ = (
        "_alone", "_cpus", "_earlier_delay_s", "_other", "_reaper", "delay_s", "left", "next_check", "peak_bytes",
        "reason", "run", "status", "usage", "wall_s",
    )  # fmt: skip

    def __init__(
        self, run: StartedRun, reaper: ProcessReaper, cpus: int, *, tester_pid: int | None = None, alone: bool = False
    ) -> None:
        """Watch one process and its descendants.

        Args:
            run: What is watched.
            reaper: Of the box. Every process in it belongs to the run, except `tester_pid`.
            cpus: On how many processors the run can use up CPU time.
            tester_pid: A process that the run works for and that does not belong to it.
            alone: Only the run's first process belongs to it.
        """
        self.run = run
        self.usage = ResourceUsage()
        self.reason: Reason | None = None
        self.status: int | None = None
        self.wall_s = self.delay_s = self._earlier_delay_s = 0.0
        self.peak_bytes = self.left = 0
        self.next_check = run.since + self._pause(min(run.limits.cpu_s / cpus, run.limits.wall_s))
        self._reaper = reaper
        self._cpus = cpus
        self._other = tester_pid
        self._alone = alone

    def check_limits(self, now: float) -> None:
        """If a limit is used up, kill the run. Otherwise decide when to check again."""
        if self.status is not None:
            self.next_check = math.inf
            return
        limits = self.run.limits
        pids = self._pids()
        left_cpu_s = limits.cpu_s - self.usage.cpu_s - sum(map(measures.cpu_s, pids))
        if self.reason is not None:
            self.kill(self.reason)
        elif left_cpu_s <= 0:
            self.kill(Reason.CPU)
        elif self.run.watch_memory and self._resident_bytes(pids) > limits.memory_bytes:
            self.kill(Reason.MEMORY)
        elif (left_wall_s := self._left_wall_s(now, pids)) <= 0:
            self.kill(self._wall_reason(now, left_cpu_s, pids))
        else:
            self.next_check = now + self._pause(min(left_cpu_s / self._cpus, left_wall_s))

    def go_on(self, now: float) -> None:
        """The run has all of its input: its wall time begins now."""
        self.run.waits = False
        self.run.since = self.next_check = now
        self._earlier_delay_s = measures.delay_s(self._pids())

    def kill(self, reason: Reason) -> None:
        self.reason = self.reason or reason
        self.next_check = time.monotonic() + _KILL_AGAIN_S
        if self._alone:
            os.kill(self.run.pid, signal.SIGKILL)
        elif self._other is not None:
            self._reaper.kill_all_but(self._other, self.run.uid)
        else:
            self._reaper.kill_all([self.run.uid])

    def reap_orphans(self, *awaited: int) -> None:
        """Reap orphans of the run that have ended."""
        self._reaper.reap_orphans(self.usage, awaited)

    def reap(self) -> None:
        """Reap the first process, which has ended."""
        self.wall_s = time.monotonic() - self.run.since
        if self.wall_s > _NOTABLE_WALL_S:
            self.delay_s = measures.leader_delay_s(self.run.pid)
        _, self.status, rusage = os.wait4(self.run.pid, 0)
        self.usage.add(rusage)

    def _pids(self) -> list[int]:
        if self._alone:
            return [self.run.pid]
        return [pid for pid in self._reaper.living_pids() if pid != self._other]

    def _resident_bytes(self, pids: Sequence[int]) -> int:
        base_bytes = self.run.base_bytes
        together = sum(max(0, measures.resident_bytes(pid) - base_bytes) for pid in pids)
        self.peak_bytes = max(self.peak_bytes, together)
        return together

    def _left_wall_s(self, now: float, pids: Sequence[int]) -> float:
        limit_s, elapsed_s = self.run.limits.wall_s, now - self.run.since
        if self.run.waits:
            return limit_s
        if elapsed_s < limit_s:
            return limit_s - elapsed_s
        if elapsed_s >= limit_s * _HARD_WALL_FACTOR:
            return 0.0
        others_s = measures.cpu_s(self._other) if self._other is not None else 0.0
        return limit_s - (elapsed_s - others_s - self._delay_s(pids))

    def _wall_reason(self, now: float, left_cpu_s: float, pids: Sequence[int]) -> Reason:
        used_share = 1 - left_cpu_s / self.run.limits.cpu_s
        delayed_share = self._delay_s(pids) / (now - self.run.since)
        is_starved = used_share < _STARVED_CPU_SHARE and delayed_share > _STARVED_DELAY_SHARE
        return Reason.STARVED if is_starved else Reason.WALL

    def _delay_s(self, pids: Sequence[int]) -> float:
        return measures.delay_s(pids) - self._earlier_delay_s

    def _pause(self, seconds: float) -> float:
        if self.run.waits:
            seconds = min(seconds, _WAITING_LOOK_S)
        elif self.run.watch_memory:
            seconds = min(seconds, _MEMORY_LOOK_S)
        return max(seconds, _SHORTEST_LOOK_S)
