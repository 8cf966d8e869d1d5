"""Our gRPC contract behind the gRPC proxy of Ray Serve, which calls methods of a replica by the names of the contract."""

from collections.abc import AsyncIterator
from typing import Any

import grpc

from service.doors.grpc.server import SERVICE, Door


def add_verifier(servicer: Any, server: Any) -> None:
    """Register `rewardline.v1.Verifier`, for Serve's `grpc_servicer_functions`. Messages stay bytes: the door parses them."""
    kinds = {
        "Score": grpc.unary_unary_rpc_method_handler,
        "ScoreStream": grpc.stream_stream_rpc_method_handler,
        "ScoreGroups": grpc.unary_unary_rpc_method_handler,
        "ListVerifiers": grpc.unary_unary_rpc_method_handler,
    }
    handlers = {name: kind(getattr(servicer, name)) for name, kind in kinds.items()}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))


class GrpcDoor:
    """Calls the door as gRPC's own server does."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def score(self, body: bytes, context: Any) -> "Raw":
        return Raw(await self._door.score(body, _context(context)))

    async def score_groups(self, body: bytes, context: Any) -> "Raw":
        return Raw(await self._door.score_groups(body, _context(context)))

    async def list_verifiers(self, body: bytes, context: Any) -> "Raw":
        return Raw(await self._door.list_verifiers(body, _context(context)))

    async def score_stream(self, bodies: AsyncIterator[bytes], context: Any) -> AsyncIterator["Raw"]:
        async for answer in self._door.score_stream(bodies, _context(context)):
            yield Raw(answer)


class Raw:
    """A message that is bytes already, for a caller that wants to make bytes of it."""

    __slots__ = ("_body",)

    def __init__(self, body: bytes) -> None:
        self._body = body

    def SerializeToString(self) -> bytes:  # noqa: N802 - the name that messages of protobuf have
        return self._body


def _context(context: Any) -> Any:
    return Context(context)


class Aborted(Exception):
    """Ends a call whose status is set."""


class Context:
    """The context of a call with the methods that the door uses. Serve tells neither deadlines nor certificates."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def invocation_metadata(self) -> Any:
        return self._context.invocation_metadata()

    def auth_context(self) -> dict[str, Any]:
        return {}

    def time_remaining(self) -> float | None:
        return None

    async def abort(self, code: grpc.StatusCode, details: str = "", trailing_metadata: Any = ()) -> None:
        self._context.set_code(code)
        self._context.set_details(details)
        self._context.set_trailing_metadata(list(trailing_metadata))
        raise Aborted(details)
