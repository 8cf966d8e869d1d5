"""Sends spans to a collector with OpenTelemetry's SDK, by OTLP over HTTP. It needs the extra `otel`, and only
`service.observe.tracing` imports it.

    Tracer ──► span ends ──► queue of `QUEUE_SPANS` ──► a thread ──► the collector
                               full: the oldest go       slow, away or broken: only the thread waits

The tracer provider is our own, never that of the process. Spans that libraries (such as FastAPI) send to the process's
provider are not reported.
"""

import logging
import socket
import threading
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tracing import spans
from tracing.lines import Log

QUEUE_SPANS: Final = 16_384
"""The length of the queue of spans. A span is about a kilobyte."""
_BATCH_SPANS: Final = 512
_DELAY_MS: Final = 1000
_SEND_S: Final = 5.0
_CLOSE_S: Final = 3.0
_MAX_LINKS: Final = 1024
_PATH: Final = "/v1/traces"
_KINDS: Final = {
    "internal": trace.SpanKind.INTERNAL,
    "server": trace.SpanKind.SERVER,
    "client": trace.SpanKind.CLIENT,
}
_PROPAGATOR: Final = TraceContextTextMapPropagator()

log = Log("rewardline.tracing")


class Exporter:
    """A tracer, and the thread that sends its spans."""

    def __init__(self, endpoint: str, share: float, version: str) -> None:
        """
        Args:
            endpoint: The collector's URL, with or without `/v1/traces`.
            share: The share of traced requests among those that bring no `traceparent`.
            version: The version of this service.
        """
        # The SDK would log a line for each lost batch.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        self._sending = _Sending(OTLPSpanExporter(endpoint=url_of(endpoint), timeout=_SEND_S))
        self._batches = _Batches(self._sending)
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(share)),
            resource=_resource(version),
            shutdown_on_exit=False,
            span_limits=SpanLimits(max_links=_MAX_LINKS),
        )
        self._provider.add_span_processor(self._batches)
        self.tracer: spans.Tracer = _Tracer(self._provider.get_tracer("rewardline", version))

    @property
    def sent(self) -> int:
        return self._sending.sent

    @property
    def lost(self) -> int:
        return self._sending.refused + self._batches.dropped

    def close(self) -> None:
        """Send the spans that are left, for at most `_CLOSE_S`."""
        closing = threading.Thread(target=self._provider.shutdown, name="tracing-close", daemon=True)
        closing.start()
        closing.join(_CLOSE_S)


def url_of(endpoint: str) -> str:
    """The URL to which spans are sent."""
    path = urlsplit(endpoint).path.rstrip("/")
    return endpoint if path.endswith(_PATH) else endpoint.rstrip("/") + _PATH


def _resource(version: str) -> Resource:
    """The name of this service in spans. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, which the SDK reads, come
    first.
    """
    ours = {"service.name": "rewardline", "service.version": version, "host.name": socket.gethostname()}
    return Resource.create(ours).merge(OTELResourceDetector().detect())


class _Span:
    """An OpenTelemetry span as a `tracing.spans.Span`."""

    __slots__ = ("_headers", "inner", "is_recorded")

    def __init__(self, span: trace.Span) -> None:
        self.inner = span
        self.is_recorded = span.is_recording()
        self._headers: dict[str, str] | None = None

    @property
    def trace_id(self) -> str:
        return trace.format_trace_id(self.inner.get_span_context().trace_id)

    @property
    def headers(self) -> spans.Headers:
        if self._headers is None:
            self._headers = {}
            _PROPAGATOR.inject(self._headers, trace.set_span_in_context(self.inner, Context()))
        return self._headers

    def set(self, attributes: Mapping[str, spans.Value]) -> None:
        if self.inner.is_recording():
            self.inner.set_attributes(attributes)

    def link(self, span: spans.Span) -> None:
        if self.inner.is_recording() and span.is_recorded and isinstance(span, _Span):
            self.inner.add_link(span.inner.get_span_context())

    def fail(self, why: str) -> None:
        if self.inner.is_recording():
            self.inner.set_status(trace.StatusCode.ERROR, why)
            self.inner.set_attribute("error.type", why)

    def end(self) -> None:
        if self.inner.is_recording():
            self.inner.end()


class _Tracer:
    """An OpenTelemetry tracer as a `tracing.spans.Tracer`."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._inner = tracer

    def begin_request(self, name: str, carrier: spans.Headers) -> spans.Span:
        context = _PROPAGATOR.extract(carrier, Context())
        return _Span(self._inner.start_span(name, context, trace.SpanKind.SERVER))

    def begin(self, name: str, kind: spans.Kind, parent: spans.Span, links: Sequence[spans.Span]) -> spans.Span:
        assert isinstance(parent, _Span)
        context = trace.set_span_in_context(parent.inner, Context())
        span_links = [trace.Link(link.inner.get_span_context()) for link in links if isinstance(link, _Span)]
        return _Span(self._inner.start_span(name, context, _KINDS[kind], links=span_links))


class _Batches(BatchSpanProcessor):
    """The SDK's queue and thread, with a count of the spans that a full queue loses."""

    def __init__(self, sending: "_Sending") -> None:
        super().__init__(
            sending,
            max_queue_size=QUEUE_SPANS,
            max_export_batch_size=_BATCH_SPANS,
            schedule_delay_millis=_DELAY_MS,
        )
        self._sending = sending
        self._queued = 0
        self.dropped = 0
        """The queue. The oldest spans make room for new ones."""

    def on_end(self, span: ReadableSpan) -> None:
        if self._queued - self.dropped - self._sending.taken >= QUEUE_SPANS:
            self.dropped += 1
        self._queued += 1
        super().on_end(span)


class _Sending(SpanExporter):
    """An exporter that counts spans, and logs once when the collector begins or stops to take them."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._inner = exporter
        self._works = True
        self.taken = 0
        """Spans that were taken off the queue."""
        self.sent = 0
        self.refused = 0

    def export(self, batch: Sequence[ReadableSpan]) -> SpanExportResult:
        self.taken += len(batch)
        result = self._inner.export(batch)
        works = result is SpanExportResult.SUCCESS
        if works:
            self.sent += len(batch)
        else:
            self.refused += len(batch)
        if works is not self._works:
            self._works = works
            (log.info if works else log.warning)("the collector of traces changed", takes_spans=works)
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()
