"""Turns on tracing if the settings say so (docs/tracing.md): `tracing.spans` has a tracer for as long as the service
runs.

The package that makes spans is an optional extra, so it is imported only here and only if it is needed.
"""

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from service.observe.metrics import Metrics
from service.settings import Settings
from tracing import spans


class CannotTrace(Exception):
    """Tracing is on but cannot work. The message says what to install."""


@contextlib.contextmanager
def open_tracing(settings: Settings, version: str) -> Iterator["Tracing | None"]:
    """Trace until the block is left. Then the rest of the spans is sent, if the collector takes it in a few seconds.

    Raises:
        CannotTrace
    """
    if settings.otlp_endpoint is None:
        yield None
        return
    exporter = _exporter(settings.otlp_endpoint, settings.trace_share, version)
    spans.use(exporter.tracer)
    try:
        yield Tracing(exporter)
    finally:
        spans.use(None)
        exporter.close()


class Tracing:
    """Counts of the spans so far."""

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter

    def publish(self, metrics: Metrics) -> None:
        metrics.watch_total("spans_sent", "Spans that the collector of traces took", lambda: self._exporter.sent)
        metrics.watch_total("spans_lost", "Spans lost: not sent, or the queue was full", lambda: self._exporter.lost)


def _exporter(endpoint: str, share: float, version: str) -> Any:
    try:
        otlp = importlib.import_module("service.observe.otlp")
    except ImportError as error:
        raise CannotTrace(
            f"otlp_endpoint needs OpenTelemetry's SDK and exporter ({error.name} is not installed): "
            "pip install 'rewardline-server[otel]'"
        ) from error
    return otlp.Exporter(endpoint, share, version)
