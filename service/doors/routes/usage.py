"""`GET /v1/usage` tells a tenant what it and its runs have used, and what they may use."""

from typing import Final
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from fairness import TENANT
from service.doors.asgi import asgi_response
from service.doors.routes.openapi_parts import Operation, parameter
from service.errors import FieldError, MethodNotAllowed, Unprocessable
from service.limits.keys import CALLER
from service.limits.keys import Scope as KeyScope
from service.usage.usage import Usage, UsageReport
from service.wire import encode

PATH: Final = "/v1/usage"


class UsageDoor:
    """The route as an ASGI application."""

    def __init__(self, usage: Usage) -> None:
        self._usage = usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            raise MethodNotAllowed(f"{scope['method']} {PATH}; it takes GET", allow="GET")
        if _wants_all(scope["query_string"]):
            CALLER.get().check(KeyScope.ADMIN)
            report = await self._usage.of_all()
        else:
            report = await self._usage.of(TENANT.get())
        await asgi_response.respond(send, 200, encode(report))


def _wants_all(query: bytes) -> bool:
    """
    Raises:
        Unprocessable: the query has another parameter than `all`, or another value.
    """
    is_all = False
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name != "all" or value not in ("true", "false"):
            message = "expected all=true, all=false or nothing"
            raise Unprocessable(f"the query of {PATH}: {message}", errors=[FieldError(["query", "all"], message)])
        is_all = value == "true"
    return is_all


_ALL: Final = parameter(
    *("all", "query", {"type": "boolean", "default": False}),
    required=False,
    description="All tenants, without their runs. The key needs `admin`.",
)
OPERATION: Final = Operation(
    *("GET", PATH, "operation", "usage", "What a tenant has used, and what it may use"),
    "Of the caller's tenant, with its latest runs; with `admin` and `X-Tenant`, of another one.",
    {200: ("Usage, budgets, and what is used up", UsageReport)},
    parameters=[_ALL],
    refusals={403: "`all` without the scope admin", 422: "Another parameter in the query"},
)
