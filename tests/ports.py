"""Ports for those who have to know theirs before they listen, or come back to it."""

import random
import socket
from pathlib import Path

_FIRST = 10_000


def free_ports(count: int) -> list[int]:
    """Ports on which nobody listens now, and which the kernel gives to nobody who does not ask for them by number.

    Those that it gives out by itself would be another test's between two servers on one of ours.
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
    """One of them."""
    return free_ports(1)[0]
