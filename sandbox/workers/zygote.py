"""The process workers are forked from: it imports and warms every task once, then forks on request.

It stays single-threaded, never sees untrusted data, and is the only one to reap workers, so that a pid it has
reported means that worker until it has reported the end too.
"""

import gc
import importlib
import os
import select
import signal
import socket
import sys
from typing import NoReturn

import msgspec

from sandbox.workers import confine
from sandbox.workers.frames import Broken, Ended, Forked, Order, Ready, Refused, Report
from sandbox.workers.serve import Function, describe, serve

_NUMBER_BYTES = 8


def main(control_fd: int, service_pid: int) -> None:
    """Run until the service closes its end of `control_fd`; the order is read from standard input."""
    confine.ignore_polite_signals()
    confine.die_with(service_pid)
    control = socket.socket(fileno=control_fd)
    order = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Order)
    try:
        functions = _load(order)
    except BaseException as error:  # noqa: BLE001 - whatever a module does at import, the service must be told
        _report(control, Broken(describe(error).decode("utf-8", "replace")))
        return
    confine.leave_network()
    gc.collect()
    gc.freeze()  # keeps the collector from touching, and so copying, the pages workers share
    _report(control, Ready())
    _Zygote(control, functions, order).run()


def _load(order: Order) -> list[Function]:
    functions: list[Function] = [getattr(importlib.import_module(module), name) for module, name, *_ in order.tasks]
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
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._workers: dict[int, tuple[int, int]] = {}
        """pidfd -> number, pid"""

    def run(self) -> None:
        try:
            while True:
                for fd, _ in self._poll.poll():
                    if fd in self._workers:
                        self._reap(fd)
                    elif not self._obey():
                        return
        except (BrokenPipeError, ConnectionResetError):
            return
        finally:
            self._kill_all()

    def _obey(self) -> bool:
        """Fork once, as ordered; false when the service has closed its end."""
        packet, fds, _, _ = socket.recv_fds(self._control, _NUMBER_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
        if not packet:
            return False
        number = int.from_bytes(packet, "little")
        zygote_pid = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            os.close(fds[0])
            _report(self._control, Refused(number, str(error)))
            return True
        if pid == 0:
            self._become_worker(fds[0], zygote_pid)
        os.close(fds[0])
        pidfd = os.pidfd_open(pid)
        self._workers[pidfd] = number, pid
        self._poll.register(pidfd, select.POLLIN)
        _report(self._control, Forked(number, pid), pidfd)
        return True

    def _become_worker(self, fd: int, zygote_pid: int) -> NoReturn:
        try:
            confine.die_with(zygote_pid)
            connection = socket.socket(fileno=confine.keep_only(fd))
            limits = [output_bytes for *_, output_bytes in self._order.tasks]
            serve(connection, self._functions, self._order.memory_mb, limits)
        finally:
            os._exit(1)  # a worker must never run on into the zygote's own loop

    def _reap(self, pidfd: int) -> None:
        number, pid = self._workers.pop(pidfd)
        self._poll.unregister(pidfd)
        os.close(pidfd)
        _, status = os.waitpid(pid, 0)
        _report(self._control, Ended(number, status))

    def _kill_all(self) -> None:
        for pidfd in self._workers:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        for _, pid in self._workers.values():
            os.waitpid(pid, 0)
