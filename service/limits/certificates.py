"""The name of a caller in the certificate that it showed: a URI, such as a SPIFFE ID, else the common name."""

from collections.abc import Iterable, Mapping
from typing import Any


def of_peer(certificate: Mapping[str, Any] | None) -> str | None:
    """The name in a certificate as Python's `getpeercert` shows it. None: there is none, or it is ambiguous."""
    if not certificate:
        return None
    common = [value for part in certificate.get("subject", ()) for name, value in part if name == "commonName"]
    return _name(common, [value for kind, value in certificate.get("subjectAltName", ()) if kind == "URI"])


def of_grpc(auth: Mapping[str, Iterable[bytes]]) -> str | None:
    """The name in a certificate as gRPC's context shows it."""

    def texts(name: str) -> list[str]:
        return [value.decode("utf-8", "replace") for value in auth.get(name, ())]

    return _name(texts("x509_common_name"), [uri for uri in texts("x509_subject_alternative_name") if "://" in uri])


def _name(common: list[str], uris: list[str]) -> str | None:
    names = uris or common
    return names[0] if len(names) == 1 else None
