"""The door for operators: plain HTTP on its own port, without TLS. Only `/drain` may need a key.

    GET  /healthz     200 as long as the event loop runs, also while draining
    GET  /startupz    200 from the moment when the service was first ready
    GET  /readyz      200 while new work should come here, else 503 with the reasons
    GET  /metrics     Prometheus
    POST /drain       for `rewardline drain`: readiness turns false at once. The answer comes when callers have had time
                      to notice and no work is under way, or after `drain_timeout_s`. Until SIGTERM new callers are
                      still served. From another host it needs a key with the scope `admin`: whoever reads metrics
                      must not stop the service. A page in a browser of this host is refused, too.

The public door has the same paths except `/drain` and `/startupz`. There `/metrics` needs a key with the scope `admin`.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from service.doors.asgi import asgi_response
from service.errors import Forbidden, RequestError
from service.limits.admission import Admission
from service.limits.keys import ANONYMOUS, Keys, Scope
from service.observe.metrics import Metrics
from service.observe.readiness import Readiness
from service.wire import encode
from tracing.lines import Log

_LOOPBACK: Final = ("127.0.0.1", "::1", "::ffff:127.0.0.1")
"""Programs of this host. The proxies of some service meshes bring the callers of others from other addresses of loopback."""

log = Log("rewardline.ops")


def build_ops(
    admission: Admission,
    metrics: Metrics,
    readiness: Callable[[], Readiness],
    keys: Keys,
    *,
    drain_notice_s: float,
    drain_timeout_s: float,
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
        return await metrics_response(metrics)

    async def drain(request: Request) -> Response:
        asked_by = await _operator(request, keys)
        log.info("leaving: callers are sent elsewhere", asked_by=asked_by)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(drain_timeout_s):
                await admission.leave(drain_notice_s)
                await admission.idle()
        return JSONResponse({"requests": admission.requests, "items": admission.items})

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/startupz", startupz),
            Route("/readyz", readyz),
            Route("/metrics", exposed),
            Route("/drain", drain, methods=["POST"]),
        ],
        exception_handlers={RequestError: _refuse},
    )


async def _operator(request: Request, keys: Keys) -> str:
    """Who asks for a change: an address of this host, or the name of a key.

    Raises:
        Unauthenticated, Forbidden, StateUnavailable: the caller may not.
    """
    if "origin" in request.headers:
        raise Forbidden("a page in a browser must not do this; use `rewardline drain`")
    peer = request.client.host if request.client else ""
    if peer in (*_LOOPBACK, request.scope["server"][0]):
        return peer
    caller = await keys.find(request.headers.get("authorization"))
    if caller is ANONYMOUS:
        raise Forbidden(
            "from another host this needs a key, and this service has none; use `rewardline drain` on its host"
        )
    caller.check(Scope.ADMIN)
    return caller.name


def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    log.warning("refused", path=request.url.path, peer=request.client and request.client.host, why=str(error))
    return Response(encode(error.problem()), error.http_status, media_type=asgi_response.PROBLEM.decode())


def readiness_response(readiness: Readiness) -> Response:
    return Response(encode(readiness.as_json()), 503 if readiness.problems else 200, media_type="application/json")


async def metrics_response(metrics: Metrics) -> Response:
    return Response(await metrics.exposed(), media_type="text/plain; version=0.0.4; charset=utf-8")
