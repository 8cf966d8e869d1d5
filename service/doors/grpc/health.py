"""The standard health service (grpc.health.v1). It always agrees with `/readyz`.

The service that comes with gRPC has three faults, so this is a new one. That service must be told of changes instead of
asking for the state. It writes to its watchers under a lock, so that one watcher that does not read holds up all
others. It answers bytes that are not a message with a traceback.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2
from grpc_health.v1.health_pb2 import HealthCheckResponse

from service.doors.grpc.ending import end_call
from service.observe.readiness import Readiness

NAME: Final = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
_POLL_S: Final = 0.5

Parse = Callable[[type[Any], bytes, Any], Awaitable[Any]]
"""Parses the message in the bytes. Refuses the call and returns None if there is none."""


class Health:
    """The health of this server. All its services have the same health, because one engine is behind them."""

    def __init__(self, readiness: Callable[[], Readiness], services: Collection[str], parse: Parse) -> None:
        """`services` holds the names that callers can ask for."""
        self._readiness = readiness
        self._services = frozenset(services) | {""}
        self._parse = parse
        self._last_status = self._status()
        self._changed = asyncio.Event()

    @property
    def handlers(self) -> "grpc.GenericRpcHandler[Any, Any]":
        answer = HealthCheckResponse.SerializeToString
        handlers = {
            "Check": grpc.unary_unary_rpc_method_handler(self._check, response_serializer=answer),
            "Watch": grpc.unary_stream_rpc_method_handler(self._watch, response_serializer=answer),
        }
        return grpc.method_handlers_generic_handler(NAME, handlers)

    async def follow(self) -> None:
        """Keep watchers informed. It never returns."""
        while True:
            self.notify_watchers()
            await asyncio.sleep(_POLL_S)

    def notify_watchers(self) -> None:
        """Tell watchers of a change at once."""
        if self._status() != self._last_status:
            self._last_status = self._status()
            self._changed.set()
            self._changed = asyncio.Event()

    def _status(self) -> Any:
        return HealthCheckResponse.NOT_SERVING if self._readiness().problems else HealthCheckResponse.SERVING

    async def _check(self, body: bytes, context: Any) -> Any:
        request = await self._parse(health_pb2.HealthCheckRequest, body, context)
        if request is not None and request.service not in self._services:
            detail = f"no service of that name; there are {sorted(self._services)}"
            await end_call(context, grpc.StatusCode.NOT_FOUND, detail)
        return HealthCheckResponse(status=self._status())

    async def _watch(self, body: bytes, context: Any) -> None:
        request = await self._parse(health_pb2.HealthCheckRequest, body, context)
        if request is None:
            return
        if request.service not in self._services:  # by the protocol it may appear later, and the caller waits
            await context.write(HealthCheckResponse(status=HealthCheckResponse.SERVICE_UNKNOWN))
            await asyncio.Event().wait()
        self.notify_watchers()
        reported = None
        while True:
            changed = self._changed
            if self._last_status != reported:
                reported = self._last_status
                await context.write(HealthCheckResponse(status=reported))
            else:
                await changed.wait()
