"""Who may call, and what each call is known by: API keys, request ids, the access log and the request metrics.

Both doors ask here, so that they agree. Keys are compared as SHA-256 digests in constant time, each candidate against
every key; a key's name, never the key, appears in metrics and logs.
"""

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

from service import logs
from service.errors import Unauthenticated
from service.metrics import Metrics

ANONYMOUS = "anonymous"
CURRENT_REQUEST: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being served."""
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


class Keys:
    """The API keys, as digests by name; none means that everyone may call."""

    def __init__(self, digests: Mapping[str, bytes]) -> None:
        self._digests = dict(digests)

    def name_of(self, authorization: str | None) -> str:
        """The name of the key in an `Authorization` header: `Bearer <key>`, or `Basic` with the key as password, which
        is what clients that cannot set a header make of `http://any:<key>@host`.

        Raises:
            Unauthenticated: keys are configured and this is none of them.
        """
        if not self._digests:
            return ANONYMOUS
        token = _token(authorization or "")
        if not token:
            raise Unauthenticated("send an API key: Authorization: Bearer <key>")
        digest = hashlib.sha256(token).digest()
        matches = [name for name, known in self._digests.items() if hmac.compare_digest(digest, known)]
        if not matches:
            raise Unauthenticated("unknown API key")
        return matches[0]


def _token(authorization: str) -> bytes:
    """The key in the header; empty when there is none."""
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return given.strip().encode("utf-8", "surrogateescape")
    if scheme.lower() != "basic":
        return b""
    try:
        return base64.b64decode(given.strip(), validate=True).partition(b":")[2]
    except ValueError:
        return b""


def request_id(given: str | None, traceparent: str | None) -> str:
    """The caller's own id where it is printable and short, else the trace id, else a new one."""
    if given and _REQUEST_ID.fullmatch(given):
        return given
    if traceparent and (trace := _TRACEPARENT.fullmatch(traceparent)):
        return trace[1]
    return secrets.token_hex(8)


@dataclass(slots=True)
class Call:
    """One request as the access log and the metrics see it."""

    door: str
    method: str
    """A route or RPC of ours, never what the caller made up."""
    request_id: str
    key: str = ANONYMOUS
    items: int = 0
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        CURRENT_REQUEST.set(self.request_id)

    def finish(self, metrics: Metrics, code: str) -> None:
        """Log and count the call; nothing of its content."""
        seconds = time.perf_counter() - self.started
        metrics.observe_request(self.door, self.method, code, self.key, seconds)
        logs.access(
            {
                "door": self.door,
                "method": self.method,
                "code": code,
                "key": self.key,
                "items": self.items,
                "request_id": self.request_id,
                "elapsed_ms": round(seconds * 1000, 3),
            }
        )
