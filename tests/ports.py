"""Ports for programs that must know theirs before they listen, or that return to it."""

import random
import socket
from pathlib import Path

_FIRST = 10_000


def free_ports(count: int) -> list[int]:
    """Ports on which no process listens, and which the kernel assigns only on request.

    If a server of ours stopped and started on a port that the kernel assigns by itself, another test could get that
    port in between.
    """
    lowest_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    found: list[int] = []
    for port in random.SystemRandom().sample(range(_FIRST, lowest_given), lowest_given - _FIRST):
        if len(found) == count:
            break
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        found.append(port)
    assert len(found) == count, "no port is free"
    return found


def free_port() -> int:
    """A port of `free_ports`."""
    return free_ports(1)[0]
