"""Makes a request part of the trainer's trace, if the trainer keeps traces with OpenTelemetry.

The module imports OpenTelemetry only if the trainer has imported it: otherwise there is no span.
"""

from __future__ import annotations

import importlib
import sys

_PROPAGATION = "opentelemetry.trace.propagation.tracecontext"


def headers() -> dict[str, str]:
    """`traceparent` and, if there is one, `tracestate` of the active span; empty without a span.

    They leave out the baggage, which is the trainer's own.
    """
    carrier: dict[str, str] = {}
    if "opentelemetry.trace" in sys.modules:
        importlib.import_module(_PROPAGATION).TraceContextTextMapPropagator().inject(carrier)
    return carrier
