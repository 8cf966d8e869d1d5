"""Faults that the lane `chaos` does not have: processes that stop and go on, and what else may be wrong with Redis."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import redis

from tests.chaos.scenarios import Scenario
from tests.chaos.servers import command_line, workers
from tests.chaos.stand import Stand
from tests.load.generator import PATIENT, more
from tests.load.ledger import Ledger
from tests.load.mix import SHARES
from tests.processes import children, gone
from tests.service.fault_proxy import Fault

_CALM: Final = 100
_PROGRAMS: Final = {"rules": 0.3, "math": 0.1, "code": 0.6}


def _children(pid: int, *, of_workers: bool) -> list[int]:
    return [child for child in children(pid) if (b"sandbox.workers" in command_line(child)) is of_workers]


def _stopping(pids: Callable[[Stand], Sequence[int]]) -> Callable[[Stand, Ledger, int], Any]:
    """Stop processes, and have them go on when others have done some work."""

    async def stop(stand: Stand, ledger: Ledger, times: int) -> None:
        for _ in range(times):
            stopped = pids(stand)
            assert stopped
            _send(stopped, signal.SIGSTOP)
            try:
                await more(ledger, _CALM)
            finally:
                _send(stopped, signal.SIGCONT)
            await stand.whole_again()

    return stop


def _send(pids: Sequence[int], number: int) -> None:
    for pid in pids:
        with gone():
            os.kill(pid, number)


def _linked_badly(fault: Fault) -> Callable[[Stand, Ledger, int], Any]:
    async def spoil(stand: Stand, ledger: Ledger, times: int) -> None:
        for _ in range(times):
            stand.redis_proxy.fault = fault
            try:
                await more(ledger, _CALM)
            finally:
                stand.redis_proxy.fault = "none"
            await stand.whole_again()

    return spoil


@contextmanager
def _client(stand: Stand) -> Iterator[redis.Redis]:
    with redis.Redis(port=stand.redis.port, protocol=2, single_connection_client=True) as client:
        yield client


async def _read_only(stand: Stand, ledger: Ledger, times: int) -> None:
    for _ in range(times):
        stand.redis.call("REPLICAOF", "127.0.0.1", "1")
        try:
            await more(ledger, _CALM)
        finally:
            stand.redis.call("REPLICAOF", "NO", "ONE")
        await stand.whole_again()


async def _locked(stand: Stand, ledger: Ledger, times: int) -> None:
    """Redis asks for a password that nobody has."""
    for _ in range(times):
        with _client(stand) as client:
            client.config_set("requirepass", "siege")
            try:
                client.client_kill_filter(_type="normal", skipme=True)
                await more(ledger, _CALM)
            finally:
                client.config_set("requirepass", "")
        await stand.whole_again()


async def _flushed(stand: Stand, ledger: Ledger, times: int) -> None:
    for _ in range(times):
        stand.redis.call("FLUSHALL")
        await more(ledger, _CALM)


async def _spoiled_values(stand: Stand, ledger: Ledger, times: int) -> None:
    """Each value is exchanged for that of another key, cut, or made a list."""
    for _ in range(times):
        with _client(stand) as client:
            names = list(client.scan_iter())
            assert names
            for number, (name, other) in enumerate(zip(names, names[1:] + names[:1], strict=True)):
                if client.type(name) != b"string":
                    continue
                value = client.get(name) or b""
                if number % 3 == 0 and client.type(other) == b"string":
                    client.set(name, client.get(other) or b"")
                elif number % 3 == 1:
                    client.set(name, value[: len(value) // 2])
                else:
                    client.delete(name)
                    client.rpush(name, value)
        await more(ledger, 2 * _CALM)


_LINKS: Final[Mapping[Fault, str]] = {
    "drop": "connections are closed",
    "black_hole": "answers never come",
    "reset": "answers are cut",
    "garbage": "bytes are others",
    "insert": "answers are doubled",
}
FAULTS: Final[Mapping[str, Scenario]] = {
    "workers": Scenario("workers: SIGSTOP", _stopping(lambda stand: workers(stand.fronts[0].pid)), SHARES, PATIENT),
    "zygote": Scenario(
        "the process that workers are forked from: SIGSTOP",
        _stopping(lambda stand: _children(stand.fronts[0].pid, of_workers=True)),
        SHARES,
        PATIENT,
    ),
    "keepers": Scenario(
        "the keepers of boxes: SIGSTOP",
        _stopping(lambda stand: _children(stand.hosts[0].pid, of_workers=False)),
        _PROGRAMS,
        PATIENT,
    ),
    "server": Scenario("one of two services: SIGSTOP", _stopping(lambda stand: [stand.fronts[0].pid]), SHARES, PATIENT),
    "redis_read_only": Scenario("Redis: read-only", _read_only, SHARES, PATIENT),
    "redis_locked": Scenario("Redis: asks for a password", _locked, SHARES, PATIENT),
    "redis_flushed": Scenario("Redis: flushed", _flushed, SHARES, PATIENT),
    "redis_values": Scenario("Redis: values exchanged, cut, or lists", _spoiled_values, SHARES, PATIENT),
    **{
        f"redis_{fault}": Scenario(f"the link to Redis: {about}", _linked_badly(fault), SHARES, PATIENT)
        for fault, about in _LINKS.items()
    },
}
