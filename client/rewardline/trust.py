"""Whom a client trusts on `https://` and `grpcs://`, and what it shows of itself."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Trust:
    """Paths of PEM files; picklable, and read when a connection is opened."""

    ca: str | None = None
    """Authorities that servers' certificates are signed by; None: those of this machine."""
    cert: str | None = None
    """The client's own certificate chain, for servers that ask for one."""
    key: str | None = None

    def __post_init__(self) -> None:
        if (self.cert is None) is not (self.key is None):
            raise ValueError("tls_cert and tls_key go together")

    def context(self) -> ssl.SSLContext:
        """For HTTP.

        Raises:
            OSError: a file cannot be read, or holds something else (ssl.SSLError).
        """
        made = ssl.create_default_context(cafile=self.ca)
        if self.cert is not None:
            made.load_cert_chain(self.cert, self.key)
        return made

    def pem(self) -> tuple[bytes | None, bytes | None, bytes | None]:
        """Authorities, key and certificate, for gRPC. Raises as `context`."""
        return _content(self.ca), _content(self.key), _content(self.cert)


def _content(path: str | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()
