"""The door for operators: plain HTTP on its own port, without keys and without TLS.

    GET  /healthz     200 as long as the event loop runs, also while draining
    GET  /startupz    200 from the moment when the service was first ready
    GET  /readyz      200 while new work should come here, else 503 with the reasons
    GET  /metrics     Prometheus
    GET  /drain       (or POST) for a preStop hook: readiness turns false at once. The answer comes when callers have
                      had time to notice and no work is under way, or after `drain_timeout_s`. Until SIGTERM
                      new callers are still served.

The public door has the same paths except `/drain` and `/startupz`. There `/metrics` needs a key with the scope `admin`.
"""

import asyncio
import contextlib
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from service.limits.admission import Admission
from service.observe.metrics import Metrics
from service.observe.readiness import Readiness
from service.wire import encode

NOTICE_S = 5.0
"""Seconds until the last proxy has heard that this replica is not ready any more."""


def build_ops(
    admission: Admission, metrics: Metrics, readiness: Callable[[], Readiness], *, drain_timeout_s: float
) -> Starlette:
    """The application. `readiness` returns the current state, draining included."""
    was_ready = False

    def found() -> Readiness:
        nonlocal was_ready
        now = readiness()
        was_ready = was_ready or not now.problems
        return now

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def startupz(_: Request) -> Response:
        found()
        return JSONResponse({"status": "started" if was_ready else "starting"}, 200 if was_ready else 503)

    async def readyz(_: Request) -> Response:
        return readiness_response(found())

    async def exposed(_: Request) -> Response:
        return metrics_response(metrics)

    async def drain(_: Request) -> Response:
        admission.leaving = True
        loop = asyncio.get_running_loop()
        until = loop.time() + drain_timeout_s
        await asyncio.sleep(min(NOTICE_S, drain_timeout_s))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await admission.idle()
        return JSONResponse({"requests": admission.requests, "items": admission.items})

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/startupz", startupz),
            Route("/readyz", readyz),
            Route("/metrics", exposed),
            Route("/drain", drain, methods=["GET", "POST"]),
        ]
    )


def readiness_response(found: Readiness) -> Response:
    return Response(encode(found.as_json()), 503 if found.problems else 200, media_type="application/json")


def metrics_response(metrics: Metrics) -> Response:
    return Response(metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")
