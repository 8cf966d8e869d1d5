"""The service's side of one zygote: starts it, orders forks, receives its reports, ends it."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeAlias

import msgspec

from sandbox import process_handles
from sandbox.workers.base import Task, WorkersUnavailable
from sandbox.workers.frames import END, FORK, ORDER, PACKET_BYTES, Broken, Order, Ready, Report

_BOOT: Final = """\
import json, sys
sys.path[:] = json.loads(sys.argv[3])
from sandbox.workers.zygote import main
main(int(sys.argv[1]), int(sys.argv[2]))
"""

_ENVIRONMENT: Final = {
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # a verdict must not depend on the order of sets
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "SYMPY_GROUND_TYPES": "python",  # another package on this machine must not decide how sympy counts
}
"""The zygote's whole environment. Nothing is inherited, so no secret can be."""

_END_PATIENCE_S: Final = 5.0

_decoder: Final = msgspec.msgpack.Decoder(Report)
_begun: "Final[list[_Process]]" = []
"""The process that was begun before its order was known, if none has opened it yet."""


def begin(*tasks: Task) -> None:
    """Begin the process of the first zygote. It loads these tasks while the service makes its order, which has them, too.

    To be called on the loop's own thread: the kernel's parent-death signal watches that thread.
    """
    with suppress(OSError):  # the same error meets the order, and is told there
        _begun.append(_start())
        loads = [(task.module, task.function, list(task.warm), task.output_bytes) for task in tasks]
        give(_begun[-1][1], Order(loads, 0, is_early=True))


def give(control: socket.socket, order: Order) -> None:
    """Give a zygote an order.

    Raises:
        OSError: the zygote is gone.
    """
    with open(os.memfd_create("order"), "w+b") as file:
        file.write(msgspec.msgpack.encode(order))
        file.seek(0)
        socket.send_fds(control, [b"o"], [file.fileno()])


class Link:
    """One running zygote. Made by `Link.open`. `close` must always be awaited."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self._process = process
        self._control = control
        self._pidfd = process_handles.open_pidfd(process.pid)
        self._loop = asyncio.get_running_loop()
        self._on_report: Callable[[Report, int], None] = self._on_first_report
        self._first: asyncio.Future[None] = self._loop.create_future()
        self.gone: asyncio.Future[None] = self._loop.create_future()
        """Done when the zygote can no longer be heard."""
        self._loop.add_reader(control, self._read)

    @classmethod
    async def open(cls, order: Order, timeout_s: float) -> "Link":
        """Start a zygote and wait until every task is imported and warm.

        Raises:
            WorkersUnavailable: it did not get ready; the message has the zygote's own traceback if there is one.
        """
        try:
            link = cls(*_launch(order))
        except OSError as error:
            raise WorkersUnavailable(f"the zygote process could not be started: {error}") from error
        try:
            async with asyncio.timeout(timeout_s):
                await link._first
        except TimeoutError as error:
            link.kill()
            await link.close()
            raise WorkersUnavailable(f"the zygote was not ready within {timeout_s:g} s") from error
        except BaseException:
            link.kill()
            await link.close()
            raise
        return link

    @property
    def pid(self) -> int:
        return self._process.pid

    def listen(self, on_report: Callable[[Report, int], None]) -> None:
        """Call `on_report(report, pidfd)` for each report from now on. `pidfd` is -1 when none came with it."""
        self._on_report = on_report

    def fork(self, number: int, connection: socket.socket) -> None:
        """Order a worker on this end of a socket pair. The caller may close its copy afterwards.

        Raises:
            OSError: the zygote is gone, or does not read.
        """
        socket.send_fds(self._control, [ORDER.pack(FORK, number)], [connection.fileno()])

    def end_worker(self, number: int) -> None:
        """Order the end of a worker without a pidfd. A worker whose end was reported is ignored."""
        with suppress(OSError):  # the zygote is gone, and its workers too; or it does not read, which is noticed later
            self._control.send(ORDER.pack(END, number))

    def kill(self) -> None:
        if self._pidfd == process_handles.NONE:
            self._process.kill()  # safe: only this Popen object reaps the process
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    async def close(self) -> None:
        """End the zygote, and with it every worker that it still has."""
        self._lose()
        self._control.close()
        try:
            async with asyncio.timeout(_END_PATIENCE_S):
                await self._ended()
        except TimeoutError:
            self.kill()
            await self._ended()
        finally:
            self.kill()
            self._process.wait()
            process_handles.close(self._pidfd)

    async def _ended(self) -> None:
        if self._pidfd == process_handles.NONE:
            await process_handles.wait_by_polling(lambda: self._process.poll() is not None)
        else:
            await process_handles.wait(self._pidfd)

    def _read(self) -> None:
        try:
            packet, fds, _, _ = socket.recv_fds(self._control, PACKET_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except OSError:
            packet, fds = b"", []
        if not packet:
            self._lose()
            return
        self._on_report(_decoder.decode(packet), fds[0] if fds else -1)

    def _on_first_report(self, report: Report, _pidfd: int) -> None:
        if self._first.done():
            return
        if isinstance(report, Ready):
            self._first.set_result(None)
        elif isinstance(report, Broken):
            self._first.set_exception(WorkersUnavailable(f"the workers' tasks cannot be loaded:\n{report.message}"))

    def _lose(self) -> None:
        if self.gone.done():
            return
        self._loop.remove_reader(self._control)
        self.gone.set_result(None)
        if not self._first.done():
            self._first.set_exception(WorkersUnavailable("the zygote ended before it was ready; see standard error"))
            self._first.exception()  # marks it as retrieved: no task may be waiting for it any more


_Process: TypeAlias = tuple[subprocess.Popen[bytes], socket.socket]
"""A zygote, and the service's end of its control."""


def _launch(order: Order) -> _Process:
    """Start a zygote, or take the one that was begun, and give it the order.

    Raises:
        OSError: there is none.
    """
    was_begun = bool(_begun)
    process, control = _begun.pop() if was_begun else _start()
    try:
        give(control, order)
    except OSError:
        process.kill()
        process.wait()
        control.close()
        if was_begun:  # it has died since
            return _launch(order)
        raise
    control.setblocking(False)
    return process, control


def _start() -> _Process:
    """Start the interpreter, on the loop's own thread: the kernel's parent-death signal watches that thread."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    paths = [os.path.abspath(path) for path in sys.path]
    try:
        with theirs:
            fd = theirs.fileno()
            numbers = [str(fd), str(os.getpid())]
            process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own code
                [sys.executable, "-s", "-P", "-c", _BOOT, *numbers, msgspec.json.encode(paths).decode()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                cwd="/",
                pass_fds=[fd],
                start_new_session=True,
            )
    except BaseException:
        ours.close()
        raise
    return process, ours
