"""The addresses of the doors, and the port that gRPC binds itself."""

from typing import Any

from service.run import tls
from service.run.cannot_start import CannotStart
from service.run.sockets import Addresses, CannotBind, Sockets, port_of
from service.run.tls import BadCertificate
from service.settings import Settings


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


def addresses_of(settings: Settings, sockets: Sockets, grpc_port: int) -> Addresses:
    scheme = "http" if settings.tls_cert is None else "https"
    ops = f"http://{_join(settings.ops_host or settings.host, port_of(sockets.ops[0]))}" if sockets.ops else None
    return Addresses(f"{scheme}://{_join(settings.host, port_of(sockets.http))}", _join(settings.host, grpc_port), ops)


def _join(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
