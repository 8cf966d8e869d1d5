"""Certificates of an authority that belongs to a test."""

import ssl
import subprocess
from pathlib import Path

_CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


class Authority:
    """An authority that signs certificates for this machine."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.ca = folder / f"{name}.pem"
        self._key = folder / f"{name}.key"
        _openssl(
            *("req", "-x509", *_CURVE, "-days", "2", "-subj", f"/CN={name}"),
            *("-keyout", str(self._key), "-out", str(self.ca)),
        )

    def issue(self, name: str, alternatives: str = "IP:127.0.0.1,DNS:localhost") -> tuple[Path, Path]:
        """Write a certificate and its key into files with this name. The alternatives are the names that it is for."""
        cert, key, request = (self.folder / f"{name}.{kind}" for kind in ("crt", "key", "csr"))
        extensions = self.folder / "extensions"
        extensions.write_text(f"subjectAltName={alternatives}")
        _openssl("req", *_CURVE, "-subj", f"/CN={name}", "-keyout", str(key), "-out", str(request))
        _openssl(
            *("x509", "-req", "-in", str(request), "-CA", str(self.ca), "-CAkey", str(self._key), "-CAcreateserial"),
            *("-days", "2", "-extfile", str(extensions), "-out", str(cert)),
        )
        return cert, key

    def server(self, pair: tuple[Path, Path], *, asks_callers: bool = False) -> ssl.SSLContext:
        """The TLS settings of a server with this certificate. It may require that callers show one of the same
        authority.
        """
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(*pair)
        if asks_callers:
            made.verify_mode = ssl.CERT_REQUIRED
            made.load_verify_locations(self.ca)
        return made


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
