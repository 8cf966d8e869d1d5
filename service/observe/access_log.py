"""Request ids, the access log and the metrics of requests. HTTP and gRPC both use this module, so that they agree."""

import re
import secrets
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from service.limits.keys import ANONYMOUS, CALLER, Keys, Scope
from service.observe import logs
from service.observe.metrics import Metrics
from tracing import spans

CURRENT_REQUEST: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being served."""
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_CONSOLE: Final = ("/v1/series", "/v1/judges")
"""Methods that the console's pages call every few seconds."""
_UNTRACED: Final = frozenset(
    {"/healthz", "/readyz", "/metrics", "/docs", "/openapi.json", "/v1/ping", "/v1/sandbox", *_CONSOLE}
)
"""Methods that machines call every few seconds."""
_POLLED: Final = frozenset({"/healthz", "/readyz", "/metrics", "/v1/ping", "/v1/sandbox", *_CONSOLE})
"""Methods that fronts, proxies and monitors call again and again. The access log shows such a call only if its answer
was not 200."""
_ERRORS: Final = frozenset({"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"})
"""gRPC codes that are the fault of the server, by OpenTelemetry's conventions."""


def request_id(given: str | None, traceparent: str | None) -> str:
    """The caller's own id if it is printable and short, else the trace id, else a new one."""
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
    """One of our routes or RPCs, never a text of the caller."""
    request_id: str
    key: str = ANONYMOUS.name
    items: int = 0
    started: float = field(default_factory=time.perf_counter)
    span: spans.Span | None = None

    def __post_init__(self) -> None:
        CURRENT_REQUEST.set(self.request_id)

    def trace(self, name: str, traceparent: str | None, tracestate: str | None) -> None:
        """Begin the span of this request, as a child of the span that its headers name."""
        if self.method not in _UNTRACED:
            self.span = spans.enter(name, {"traceparent": traceparent, "tracestate": tracestate})

    def admit(self, keys: Keys, authorization: str | None, scope: Scope | None) -> None:
        """Find out which key the caller has, and check that it has the scope. Without a scope any key will do.

        Raises:
            Unauthenticated, Forbidden
        """
        caller = keys.caller_of(authorization)
        self.key = caller.name
        CALLER.set(caller)
        if scope is not None:
            caller.check(scope)

    def finish(self, metrics: Metrics, code: str) -> None:
        """Log and count the call, without anything of its content."""
        seconds = time.perf_counter() - self.started
        metrics.observe_request(self.door, self.method, code, self.key, seconds)
        if self.method in _POLLED and code == "200":
            return
        line = {
            "door": self.door,
            "method": self.method,
            "code": code,
            "key": self.key,
            "items": self.items,
            "request_id": self.request_id,
            "elapsed_ms": round(seconds * 1000, 3),
        }
        if self.span is not None and self.span.is_recorded:
            line["trace_id"] = self.span.trace_id
            self._end(self.span, code)
        logs.access(line)

    def _end(self, span: spans.Span, code: str) -> None:
        span.set({"rewardline.items": self.items, **_coded(self.door, self.method, code)})
        if code in _ERRORS or code.startswith("5"):
            span.fail(code)
        span.end()


def _coded(door: str, method: str, code: str) -> dict[str, spans.Value]:
    """The code of an answer by OpenTelemetry's conventions for servers."""
    if door == "http":
        return {"http.route": method, "http.response.status_code": int(code)}
    return {"rpc.system.name": "grpc", "rpc.method": method, "rpc.response.status_code": code}
