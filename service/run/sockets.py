"""Binds the ports of the doors. This comes before anything else is loaded, so that a port that is taken is reported at
once. gRPC binds its port itself, later; here the port is tried.
"""

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass

from service.run.cannot_start import CannotStart
from service.settings import Settings

BACKLOG = 4096


class CannotBind(CannotStart):
    """A port is taken, or the address is not one of this machine."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of the doors after they are bound."""

    http: str
    grpc: str
    ops: str | None = None


@dataclass(frozen=True, slots=True)
class Sockets:
    """The sockets on which HTTP is served. They listen: who connects early waits for an answer."""

    http: socket.socket
    ops: socket.socket | None


@contextlib.contextmanager
def bound(settings: Settings) -> Iterator[Sockets]:
    """Bind the ports. Leaving the block closes them.

    Raises:
        CannotBind: a port is taken, that of gRPC included, or the address is not one of this machine.
    """
    with contextlib.ExitStack() as stack:
        http = stack.enter_context(_bind("http_port", settings.host, settings.http_port))
        ops = None
        if settings.ops_port is not None:
            ops = stack.enter_context(_bind("ops_port", settings.ops_host or settings.host, settings.ops_port))
        _bind("grpc_port", settings.host, settings.grpc_port).close()
        yield Sockets(http, ops)


def port_of(bound_socket: socket.socket) -> int:
    return int(bound_socket.getsockname()[1])


def _bind(setting: str, host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound_socket = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound_socket.bind((host, port))
        bound_socket.listen(BACKLOG)
    except OSError as error:
        bound_socket.close()
        raise CannotBind(f"cannot listen on {host}:{port} (setting `{setting}`): {_reason(error)}") from error
    bound_socket.setblocking(False)
    return bound_socket


def _reason(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "the host name has no address here; write an IP address of this machine, or 0.0.0.0 for all"
    return error.strerror or str(error)
