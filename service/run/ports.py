"""Binds the ports of the doors. This comes first, so that a port that is taken is reported at once."""

import contextlib
import ipaddress
import socket
from dataclasses import dataclass
from typing import Any

from service.run import tls
from service.run.core import CannotStart
from service.run.tls import BadCertificate
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


def bind(host: str, port: int) -> socket.socket:
    bound = socket.socket(_family(host), socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise CannotBind(f"cannot listen on {host}:{port}: {error.strerror}") from error
    bound.setblocking(False)
    return bound


def bind_ops(host: str, port: int) -> list[socket.socket]:
    """Sockets for operators. If `host` is a name, they are at 127.0.0.1 and at those of its addresses that this machine has.

    Containers of several replicas share a name on one of their networks. Their other networks do not reach these sockets.
    """
    try:
        ipaddress.ip_address(host)
        return [bind(host, port)]
    except ValueError:
        addresses = _addresses_of(host)
    own = [address for address in addresses if _is_own(address)]
    if not own:
        raise CannotBind(f"cannot listen on {host}:{port}: it names {addresses}, and none of them is this machine")
    with contextlib.ExitStack() as undo:
        bound = [undo.enter_context(bind(_LOOPBACK, port))]
        bound += [undo.enter_context(bind(address, _port(bound[0]))) for address in own if address != _LOOPBACK]
        undo.pop_all()
    return bound


def _addresses_of(name: str) -> list[str]:
    try:
        return sorted({str(entry[4][0]) for entry in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)})
    except OSError as error:
        raise CannotBind(f"cannot listen on {name}: {error.strerror}") from error


def _is_own(address: str) -> bool:
    with socket.socket(_family(address)) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def bind_grpc(server: Any, settings: Settings) -> int:
    address = _join(settings.host, settings.grpc_port)
    try:
        credentials = tls.grpc_credentials(settings)
        if credentials is not None:
            return int(server.add_secure_port(address, credentials))
        return int(server.add_insecure_port(address))
    except BadCertificate as error:
        raise CannotStart(str(error)) from error
    except RuntimeError as error:
        raise CannotBind(f"cannot listen on {address}: {error}") from error


def addresses_of(
    settings: Settings, http_socket: socket.socket, grpc_port: int, ops_socket: socket.socket | None = None
) -> Addresses:
    scheme = "http" if settings.tls_cert is None else "https"
    ops = None if ops_socket is None else f"http://{_join(settings.ops_host or settings.host, _port(ops_socket))}"
    return Addresses(f"{scheme}://{_join(settings.host, _port(http_socket))}", _join(settings.host, grpc_port), ops)


def _join(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _port(bound: socket.socket) -> int:
    return int(bound.getsockname()[1])
