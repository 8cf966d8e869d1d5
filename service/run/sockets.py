"""Binds the ports of the doors. This comes before anything else is loaded, so that a port that is taken is reported at
once. gRPC binds its port itself, later; here the port is tried.
"""

import contextlib
import ipaddress
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from service.run.cannot_start import CannotStart
from service.settings import Settings

BACKLOG = 4096
_LOOPBACK = "127.0.0.1"


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
    ops: Sequence[socket.socket]
    """Empty if there is no port for operators."""


@contextlib.contextmanager
def bound(settings: Settings) -> Iterator[Sockets]:
    """Bind the ports. Leaving the block closes them.

    Raises:
        CannotBind: a port is taken, that of gRPC included, or the address is not one of this machine.
    """
    with contextlib.ExitStack() as stack:
        http = stack.enter_context(_bind("http_port", settings.host, settings.http_port))
        ops: list[socket.socket] = []
        if settings.ops_port is not None:
            ops = bind_ops(settings.ops_host or settings.host, settings.ops_port)
            for ops_socket in ops:
                stack.enter_context(ops_socket)
        _bind("grpc_port", settings.host, settings.grpc_port).close()
        yield Sockets(http, ops)


def port_of(bound_socket: socket.socket) -> int:
    return int(bound_socket.getsockname()[1])


def bind_ops(host: str, port: int) -> list[socket.socket]:
    """Sockets for operators. If `host` is a name, they are at 127.0.0.1 and at those of its addresses that this machine has.

    Containers of several replicas share a name on one of their networks. Their other networks do not reach these sockets.
    """
    try:
        ipaddress.ip_address(host)
        return [_bind("ops_port", host, port)]
    except ValueError:
        addresses = _addresses_of(host)
    local = [address for address in addresses if _is_own(address)]
    if not local:
        raise CannotBind(
            f"cannot listen on {host}:{port} (setting `ops_host`): it names {addresses}, and none of them is this machine"
        )
    with contextlib.ExitStack() as undo:
        sockets = [undo.enter_context(_bind("ops_port", _LOOPBACK, port))]
        for address in local:
            if address != _LOOPBACK:
                sockets.append(undo.enter_context(_bind("ops_port", address, port_of(sockets[0]))))
        undo.pop_all()
    return sockets


def _addresses_of(name: str) -> list[str]:
    try:
        return sorted({str(entry[4][0]) for entry in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)})
    except OSError as error:
        raise CannotBind(f"cannot listen on {name} (setting `ops_host`): {_reason(error)}") from error


def _is_own(address: str) -> bool:
    with socket.socket(_family(address)) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _bind(setting: str, host: str, port: int) -> socket.socket:
    bound_socket = socket.socket(_family(host), socket.SOCK_STREAM)
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
