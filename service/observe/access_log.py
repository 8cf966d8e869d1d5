"""Request ids, the access log and the metrics of requests. HTTP and gRPC both use this module, so that they agree."""

import re
import secrets
import time
from collections.abc import Set
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from fairness import DEFAULT, TENANT
from service.asked import PIN, PIN_HEADER, RECEIPT_HEADER, RECEIPTS
from service.errors import FieldError, Unprocessable
from service.limits.keys import ANONYMOUS, CALLER, Keys, Scope
from service.observe import logs
from service.observe.metrics import Metrics
from service.tenant import FORM, RUN, RUN_PATTERN
from tracing import spans

CURRENT_REQUEST: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being served."""
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_RUN: Final = re.compile(RUN_PATTERN)
_READS: Final = ("GET", "HEAD")
_POLLED: Final = frozenset(
    {
        *("/healthz", "/readyz", "/metrics", "/v1/ping", "/v1/sandbox"),
        *("/v1/series", "/v1/judges", "/v1/audits/{id}"),
    }
)
"""What fronts, proxies and monitors, and pages of the console, ask for by themselves every few seconds. The access log
shows such a call only if its answer was another than they expect, or it was for another tenant. `/v1/log` is not among
them, though its page may ask again, too: whoever reads texts leaves a line."""
_YES_OR_NO: Final = {"1": True, "true": True, "0": False, "false": False}
_EXPECTED: Final = ("200", "304")
_UNTRACED: Final = _POLLED | {"/docs", "/openapi.json"}
_ERRORS: Final = frozenset({"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"})
"""gRPC codes that are the fault of the server, by OpenTelemetry's conventions."""


def request_id(own_id: str | None, traceparent: str | None) -> str:
    """The caller's own id if it is printable and short, else the trace id, else a new one."""
    if own_id and _REQUEST_ID.fullmatch(own_id):
        return own_id
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
    verb: str = ""
    """Of HTTP."""
    key: str = ANONYMOUS.name
    tenant: str = ""
    """Empty until the caller is known."""
    run_id: str = ""
    by_admin: bool = False
    """Whether the key acts as a tenant that is not its own."""
    items: int = 0
    started: float = field(default_factory=time.perf_counter)
    span: spans.Span | None = None

    def __post_init__(self) -> None:
        CURRENT_REQUEST.set(self.request_id)
        CALLER.set(ANONYMOUS)  # a pipelined request begins in the context of the one before
        TENANT.set(DEFAULT)
        RUN.set("")
        PIN.set("")
        RECEIPTS.set(False)

    def trace(self, name: str, traceparent: str | None, tracestate: str | None) -> None:
        """Begin the span of this request, as a child of the span that its headers name."""
        if not self._reads(_UNTRACED):
            self.span = spans.enter(name, {"traceparent": traceparent, "tracestate": tracestate})

    async def admit(
        self,
        keys: Keys,
        authorization: str | None,
        scope: Scope | None,
        acts_as: str | None = None,
        certificate: str | None = None,
    ) -> None:
        """Find out which key the caller has, and check that it has the scope. Without a scope any key will do.

        `certificate` is the name in the caller's certificate. `acts_as` is the tenant that the caller wants to act as.
        For another one than its own it also needs `admin`.

        Raises:
            Unauthenticated, Forbidden, StateUnavailable
            Unprocessable: `acts_as` is not a tenant.
        """
        caller = await keys.find(authorization, certificate)
        self.key, self.tenant = caller.name, caller.tenant
        CALLER.set(caller)
        if scope is not None:
            caller.check(scope)
        if acts_as is not None and acts_as != caller.tenant:
            caller.check(Scope.ADMIN)
            if not FORM.fullmatch(acts_as):
                message = "expected 1 to 128 printable ASCII characters without a space"
                raise Unprocessable(f"X-Tenant: {message}", errors=[FieldError(["x-tenant"], message)])
            self.tenant, self.by_admin = acts_as, True
        TENANT.set(self.tenant)

    def is_of_run(self, run_id: str | None, where: str) -> None:
        """Note the run that a header or field of the request names, if any.

        Raises:
            Unprocessable: this is not a name of a run.
        """
        if run_id is None:
            return
        if not _RUN.fullmatch(run_id):
            message = f"expected a name of the form {RUN_PATTERN}"
            raise Unprocessable(f"{where}: {message}", errors=[FieldError([where], message)])
        self.run_id = run_id
        RUN.set(run_id)

    def asks(self, receipt: str | None, pin: str | None) -> None:
        """Note what headers ask for beside verdicts.

        Raises:
            Unprocessable: a header says neither yes nor no, or names no pin.
        """
        if receipt is not None:
            if receipt not in _YES_OR_NO:
                message = f"expected one of {', '.join(_YES_OR_NO)}"
                raise Unprocessable(f"X-Receipt: {message}", errors=[FieldError([RECEIPT_HEADER], message)])
            RECEIPTS.set(_YES_OR_NO[receipt])
        if pin is not None:
            if not pin.strip():
                message = "expected a lock, its name, or a date; leave the header out if nothing is pinned"
                raise Unprocessable(f"X-Pin: {message}", errors=[FieldError([PIN_HEADER], message)])
            PIN.set(pin)

    def finish(self, metrics: Metrics, code: str) -> None:
        """Log and count the call, without anything of its content."""
        seconds = time.perf_counter() - self.started
        metrics.observe_request(self.door, self.method, code, self.key, seconds)
        if self.tenant:
            metrics.observe_tenant(self.tenant)
        if self._reads(_POLLED) and code in _EXPECTED and not self.by_admin:
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
        line |= self._owner()
        if self.by_admin:
            line["by_admin"] = True
        if self.span is not None and self.span.is_recorded:
            line["trace_id"] = self.span.trace_id
            self._end(self.span, code)
        logs.access(line)

    def _reads(self, methods: Set[str]) -> bool:
        return self.method in methods and self.verb in _READS

    def _owner(self) -> dict[str, str]:
        """What is known of tenant and run."""
        return {name: value for name, value in (("tenant", self.tenant), ("run_id", self.run_id)) if value}

    def _end(self, span: spans.Span, code: str) -> None:
        owner = {f"rewardline.{name}": value for name, value in self._owner().items()}
        span.set({"rewardline.items": self.items, **owner, **_coded(self.door, self.method, code)})
        if code in _ERRORS or code.startswith("5"):
            span.fail(code)
        span.end()


def _coded(door: str, method: str, code: str) -> dict[str, spans.Value]:
    """The code of an answer by OpenTelemetry's conventions for servers."""
    if door == "http":
        return {"http.route": method, "http.response.status_code": int(code)}
    return {"rpc.system.name": "grpc", "rpc.method": method, "rpc.response.status_code": code}
