"""The certificates of a client: which servers it trusts on `https://` and `grpcs://`, and what it shows them."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TlsFiles:
    """Paths of PEM files. They can be pickled, and are read when a connection is opened."""

    ca: str | None = None
    """The authorities that sign the servers' certificates; None: those of this machine."""
    cert: str | None = None
    """The client's certificate chain, for servers that ask for one."""
    key: str | None = None
    """The key of `cert`."""

    def __post_init__(self) -> None:
        if (self.cert is None) is not (self.key is None):
            raise ValueError("tls_cert and tls_key go together")

    def context(self) -> ssl.SSLContext:
        """What HTTP needs.

        Raises:
            OSError: A file cannot be read, or holds something else (ssl.SSLError).
        """
        context = ssl.create_default_context(cafile=self.ca)
        if self.cert is not None:
            context.load_cert_chain(self.cert, self.key)
        return context

    def pem(self) -> tuple[bytes | None, bytes | None, bytes | None]:
        """What gRPC needs: authorities, key and certificate. Raises as `context`."""
        return _content(self.ca), _content(self.key), _content(self.cert)


def _content(path: str | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()
