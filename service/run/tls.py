"""TLS certificates of the doors, and the authorities that sign the certificates of callers.

Both doors read files again when they have changed: HTTP within seconds, gRPC at the next handshake. Open connections
keep the certificates with which they began.
"""

import ssl
from typing import Final

import grpc

from sandbox.boxes.remote.tls import Stamp, stamp
from service.settings import Settings

LOOKS_EVERY_S: Final = 5
"""The interval between looks at the files. Certificates are usually replaced days before the old ones end."""


class BadCertificate(Exception):
    """A certificate or key cannot be read, or the two do not belong together."""


class Certificates:
    """The TLS context of the HTTP door. It holds the files as they were when they were last read without a mistake."""

    def __init__(self, settings: Settings) -> None:
        """Read the files of the settings.

        Raises:
            BadCertificate
        """
        self._settings = settings
        self._state = _files(settings)
        self._current = self.context = _context(settings)
        self._has_changed = False
        # A context in use can take another certificate, but its authorities cannot be removed.
        self.context.sni_callback = self._choose

    def look(self) -> bool:
        """Whether a file has changed since the last reading."""
        return _files(self._settings) != self._state

    def load(self) -> None:
        """Read the files. They hold for connections from now on.

        Raises:
            BadCertificate: a file has mistakes. The certificates in use have not changed.
        """
        self._state = _files(self._settings)
        self._current = _context(self._settings)
        self._has_changed = True

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> int | None:
        """Choose the context of a connection. This is called at each handshake, whether or not the caller names a host.

        A resumed session shows no certificate, and the authority of the one with which it began may be gone since. Such
        callers must begin a new session.
        """
        if self._has_changed and connection.session_reused and self.context.verify_mode is ssl.CERT_REQUIRED:
            return ssl.ALERT_DESCRIPTION_ACCESS_DENIED
        connection.context = self._current
        return None


def certificates(settings: Settings) -> Certificates | None:
    """The certificates for the HTTP door. None without TLS.

    Raises:
        BadCertificate
    """
    return None if settings.tls_cert is None else Certificates(settings)


def grpc_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    """The credentials for the gRPC door. None without TLS.

    Raises:
        BadCertificate
    """
    if settings.tls_cert is None:
        return None
    _context(settings)  # gRPC itself would only say that it cannot
    state = _files(settings)

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        """The configuration for a handshake. None: nothing has changed."""
        nonlocal state
        now = _files(settings)
        if now == state:
            return None
        try:
            _context(settings)
        except BadCertificate:
            return None  # the last good files stay in use
        state = now
        return _configuration(settings)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(settings),
        fetch,  # type: ignore[arg-type]  # the stubs do not know that None means "as before"
        require_client_authentication=settings.tls_client_ca is not None,
    )


def _context(settings: Settings) -> ssl.SSLContext:
    assert settings.tls_cert is not None
    assert settings.tls_key is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key)
        if settings.tls_client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(settings.tls_client_ca)
    except (OSError, ssl.SSLError) as error:
        raise BadCertificate(f"tls_cert {settings.tls_cert}, tls_key {settings.tls_key}: {error}") from error
    return context


def _configuration(settings: Settings) -> grpc.ServerCertificateConfiguration:
    assert settings.tls_cert is not None
    assert settings.tls_key is not None
    authorities = None if settings.tls_client_ca is None else settings.tls_client_ca.read_bytes()
    pair = (settings.tls_key.read_bytes(), settings.tls_cert.read_bytes())
    return grpc.ssl_server_certificate_configuration([pair], root_certificates=authorities)


def _files(settings: Settings) -> list[Stamp]:
    return [stamp(path) for path in (settings.tls_cert, settings.tls_key, settings.tls_client_ca) if path is not None]
