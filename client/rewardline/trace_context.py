"""Which trace a request is part of: that of the trainer's span around it, when the trainer keeps traces by OpenTelemetry.

Nothing is imported that the trainer has not imported: without OpenTelemetry there is no span, and nothing to say.
"""

from __future__ import annotations

import importlib
import sys

_PROPAGATION = "opentelemetry.trace.propagation.tracecontext"


def headers() -> dict[str, str]:
    """`traceparent`, and `tracestate` if there is one, of the span that is active here; empty where none is.

    Baggage stays at home: it is the trainer's own.
    """
    carrier: dict[str, str] = {}
    if "opentelemetry.trace" in sys.modules:
        importlib.import_module(_PROPAGATION).TraceContextTextMapPropagator().inject(carrier)
    return carrier
