"""Tasks for the workers' tests, most of them hostile. They are named by module, so this folder is on the workers'
sys.path.
"""

import ctypes
import gc
import logging
import os
import signal
import socket
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import memory
from memory import remember
from sandbox.workers import worker_function
from sandbox.workers.pool import SLOW_AFTER_S

_warmed: list[Any] = []


@worker_function
def echo(payload: Any) -> Any:
    return payload


@worker_function
def warm(payload: Any) -> Any:
    """Remembers its arguments. What it knows before a worker's first item came from the zygote."""
    seen = list(_warmed)
    _warmed.append(payload)
    return seen


@lru_cache(maxsize=8)
def _read(text: str) -> str:
    _warmed.append(text)
    return text


@worker_function
def times_read(text: str) -> int:
    """How often this worker has read a text, although it remembers what it read."""
    return _warmed.count(_read(text))


@remember(1000, max_bytes=8_000_000)
def _upper(text: str) -> str:
    return text.upper()


@worker_function
def remember_text(text: str) -> int:
    """Remembers a text. What all memories of this worker hold."""
    if text != "held?":
        _upper(text)
    return memory.total_bytes()


@worker_function
def burn(cpu_s: float) -> str:
    end = time.process_time() + cpu_s
    while time.process_time() < end:
        pass
    return f"burnt {cpu_s}"


@worker_function
def behave(deed: Any) -> Any:
    """Does what the payload names. It returns any other payload."""
    if isinstance(deed, dict) and "knock" in deed:
        return knock(deed["knock"])
    if not isinstance(deed, str) or deed not in _DEEDS:
        return deed
    return _DEEDS[deed]()


@worker_function
def look(what: str) -> Any:
    """What a task can see from inside."""
    if what == "environment":
        return dict(os.environ)
    if what == "files":
        return {name: os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if _is_open(name)}
    if what == "signals":
        return [signal.getsignal(number) == signal.SIG_IGN for number in (signal.SIGINT, signal.SIGTERM)]
    if what == "pids":
        return [os.getpid(), os.getppid()]
    if what == "collector":
        return gc.isenabled()
    if what == "interfaces":
        return [name for _, name in socket.if_nameindex()]
    return Path("/proc/self/status").read_text()


@worker_function
def write_file(path: str) -> None:
    with open(path, "w") as file:
        file.write("written")


@worker_function
def run_program(path: str) -> None:
    os.execv(path, [path])


@worker_function
def hold(megabytes: int) -> int:
    """Allocates this much memory and never frees it."""
    _warmed.append(b"x" * (megabytes * 1024 * 1024))
    return os.getpid()


@worker_function
def allocate(megabytes: int) -> int:
    return len(bytearray(megabytes * 1024 * 1024))


@worker_function
def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@worker_function
def read_file(path: str) -> bytes:
    return Path(path).read_bytes()


def knock(path: str) -> str:
    """Sends our pid and our parent's to a test's server, and continues when the server says so."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(f"{os.getpid()} {os.getppid()}\n".encode())
        return connection.recv(100).decode()


def _is_open(name: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{name}")


def _hang() -> None:
    while True:
        pass


def _hang_in_c() -> int:
    return len(str(3 ** (10**9)))


def _segfault() -> None:
    ctypes.string_at(0)


def _leave() -> None:
    os._exit(7)


def _exit_politely() -> None:
    sys.exit("leaving")


def _eat_memory() -> int:
    blocks = []
    while True:
        blocks.append(bytearray(16 * 1024 * 1024))


def _eat_memory_in_one_bite() -> int:
    return len(bytearray(1 << 40))


def _huge_result() -> str:
    return "x" * 10**9


def _many_results() -> list[str]:
    return ["a" * 100] * 100_000


def _raise() -> None:
    raise ValueError("a reason " + "!" * 10_000)


def _raise_unprintable() -> None:
    class Spiteful(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    raise Spiteful


def _raise_surrogate() -> None:
    raise ValueError("\ud800")


def _return_object() -> object:
    return object()


def _return_surrogate() -> str:
    return "\ud800"


def _print_for_ever() -> None:
    while True:
        print("x" * 1000)
        logging.getLogger().error("y" * 1000)


def _recurse() -> None:
    _recurse()


def _recurse_in_c() -> None:
    sys.setrecursionlimit(10**9)
    one: Any = []
    other: Any = []
    for _ in range(250_000):
        one, other = [one], [other]
    assert one == other


def _sleep() -> None:
    while True:
        time.sleep(60)


def _pause() -> None:
    """Takes no CPU, but longer than the pool lets an item take before it looks at the worker's clocks."""
    time.sleep(2 * SLOW_AFTER_S)


def _fork() -> int:
    return os.fork()


def _talk_nonsense() -> None:
    os.write(3, b"\xff" * 64)
    _hang()


def _close_everything() -> None:
    os.closerange(0, 100)
    _hang()


_DEEDS = {
    "hang": _hang,
    "hang in C": _hang_in_c,
    "segfault": _segfault,
    "leave": _leave,
    "exit politely": _exit_politely,
    "eat memory": _eat_memory,
    "bite memory": _eat_memory_in_one_bite,
    "huge result": _huge_result,
    "many results": _many_results,
    "raise": _raise,
    "raise unprintable": _raise_unprintable,
    "raise surrogate": _raise_surrogate,
    "return object": _return_object,
    "return surrogate": _return_surrogate,
    "print for ever": _print_for_ever,
    "recurse": _recurse,
    "recurse in C": _recurse_in_c,
    "sleep": _sleep,
    "pause": _pause,
    "fork": _fork,
    "talk nonsense": _talk_nonsense,
    "close everything": _close_everything,
}
