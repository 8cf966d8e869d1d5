"""The process that workers are forked from: it imports and warms every task once, then forks on request.

It stays single-threaded and never sees untrusted data. Only the zygote reaps workers, so a pid that it has reported
means that worker until it has reported the worker's end.
"""

import gc
import os
import select
import signal
import socket
from contextlib import suppress
from typing import NoReturn

import msgspec

import memory
from sandbox import process_handles
from sandbox.workers import confine
from sandbox.workers.frames import END, ORDER, Broken, Ended, Forked, Order, Ready, Refused, Report
from sandbox.workers.functions import Function, find
from sandbox.workers.serve import describe, serve

_MANY_BYTES = 65536


def main(control_fd: int, service_pid: int) -> None:
    """Run until the service closes its end of `control_fd`. Orders come over it."""
    confine.ignore_polite_signals()
    confine.die_with_parent(service_pid)
    control = socket.socket(fileno=control_fd)
    gc.disable()  # objects made at import live on, and repeated collections of them take a fifth of the start
    try:
        while (order := _next_order(control)) is not None and order.is_early:
            _load(order)
        if order is None:
            return
        functions = _load(order)
    except BaseException as error:  # noqa: BLE001 - the service must be told of any error at import
        _report(control, Broken(describe(error).decode("utf-8", "replace")))
        return
    memory.find_libraries()
    confine.leave_network()
    gc.enable()
    # Keeps the collector from touching, and so copying, the pages that workers share. There is no collection before it:
    # it would take a tenth of the start, to free the few hundred objects that modules leave behind.
    gc.freeze()
    memory.trimming()()  # what was only needed to load goes back to the system, so that no fork counts it
    _report(control, Ready())
    _Zygote(control, functions, order).run()


def _next_order(control: socket.socket) -> Order | None:
    """None: the service has closed its end."""
    _, fds, _, _ = socket.recv_fds(control, 1, 1, socket.MSG_CMSG_CLOEXEC)
    if not fds:
        return None
    with open(fds[0], "rb") as file:
        return msgspec.msgpack.decode(file.read(), type=Order)


def _load(order: Order) -> list[Function]:
    functions = [find(module, name) for module, name, *_ in order.tasks]
    for function, (_, _, payloads, _) in zip(functions, order.tasks, strict=True):
        for payload in payloads:
            function(payload)
    return functions


def _report(control: socket.socket, report: Report, *fds: int) -> None:
    socket.send_fds(control, [msgspec.msgpack.encode(report)], fds)


class _Zygote:
    def __init__(self, control: socket.socket, functions: list[Function], order: Order) -> None:
        self._control = control
        self._functions = functions
        self._order = order
        self._deaths = _wake_descriptor()
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(self._deaths, select.POLLIN)
        self._workers: dict[int, int] = {}
        """Worker numbers by pid, until they are reaped."""

    def run(self) -> None:
        try:
            while True:
                for fd, _ in self._poll.poll():
                    if fd == self._deaths:
                        self._reap()
                    elif not self._obey():
                        return
        except (BrokenPipeError, ConnectionResetError):
            return
        finally:
            self._kill_all()

    def _obey(self) -> bool:
        """Follow one order; False when the service has closed its end."""
        packet, fds, _, _ = socket.recv_fds(self._control, ORDER.size, 1, socket.MSG_CMSG_CLOEXEC)
        if not packet:
            return False
        order, number = ORDER.unpack(packet)
        if order == END:
            self._kill(number)
        else:
            self._fork(number, fds[0])
        return True

    def _fork(self, number: int, fd: int) -> None:
        zygote_pid = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            os.close(fd)
            _report(self._control, Refused(number, str(error)))
            return
        if pid == 0:
            self._become_worker(fd, zygote_pid)
        os.close(fd)
        self._workers[pid] = number
        pidfd = process_handles.open_pidfd(pid)
        try:
            _report(self._control, Forked(number, pid), *(() if pidfd == process_handles.NONE else (pidfd,)))
        finally:
            process_handles.close(pidfd)

    def _become_worker(self, fd: int, zygote_pid: int) -> NoReturn:
        try:
            confine.die_with_parent(zygote_pid)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            connection = socket.socket(fileno=confine.keep_only(fd))
            limits = [output_bytes for *_, output_bytes in self._order.tasks]
            serve(connection, self._functions, self._order.memory_mb, limits)
        finally:
            os._exit(1)  # a worker must never run on into the zygote's own loop

    def _reap(self) -> None:
        os.read(self._deaths, _MANY_BYTES)
        with suppress(ChildProcessError):  # there are no workers
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                pid, status = ended
                if pid in self._workers:
                    _report(self._control, Ended(self._workers.pop(pid), status))

    def _kill(self, number: int) -> None:
        """Kill by pid: no other process can have that pid until the worker is reaped."""
        for pid, worker_number in self._workers.items():
            if worker_number == number:
                os.kill(pid, signal.SIGKILL)

    def _kill_all(self) -> None:
        for pid in self._workers:
            os.kill(pid, signal.SIGKILL)
        for pid in self._workers:
            os.waitpid(pid, 0)


def _wake_descriptor() -> int:
    """A descriptor that becomes readable when a child has ended; works on kernels without pidfds too."""
    readable, writable = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    return readable
