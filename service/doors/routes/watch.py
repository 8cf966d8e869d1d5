"""`GET /v1/watch/alarms` tells a tenant where a policy seems to game its reward."""

from typing import Final
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from fairness import TENANT
from service.doors.asgi import asgi_response
from service.doors.routes.openapi_parts import JSON, Refusal, answer_of, parameter, refused
from service.errors import FieldError, MethodNotAllowed, Unprocessable
from service.watch.alarms import Alarm, Alarms
from service.wire import encode

PATH: Final = "/v1/watch/alarms"
_OPTIONS: Final = ("run", "after")
_MAX_CHARS: Final = 128


class AlarmReport(msgspec.Struct, frozen=True):
    """The alarms of a tenant, the oldest first."""

    alarms: list[Alarm]


class WatchDoor:
    """The route as an ASGI application."""

    def __init__(self, alarms: Alarms) -> None:
        self._alarms = alarms

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            raise MethodNotAllowed(f"{scope['method']} {PATH}; it takes GET", allow="GET")
        options = _options(scope["query_string"])
        report = AlarmReport(self._alarms.of(TENANT.get(), options.get("run"), options.get("after")))
        await asgi_response.respond(send, 200, encode(report))


def _options(query: bytes) -> dict[str, str]:
    """
    Raises:
        Unprocessable: the query has another parameter, one of them twice, or a value that is too long.
    """
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    for name, value in pairs:
        if name not in _OPTIONS or len(value) > _MAX_CHARS or len(dict(pairs)) < len(pairs):
            message = f"expected {' and '.join(_OPTIONS)}, each at most once and of {_MAX_CHARS} characters at most"
            raise Unprocessable(f"the query of {PATH}: {message}", errors=[FieldError(["query", name[:100]], message)])
    return dict(pairs)


def operation(components: JSON, refusal: Refusal) -> JSON:
    """Describes the route in the OpenAPI document. Its schemas are added to `components`."""
    (report,), schemas = msgspec.json.schema_components((AlarmReport,), ref_template="#/components/schemas/{name}")
    components |= schemas
    text = {"type": "string", "maxLength": _MAX_CHARS}
    return {
        "tags": ["operation"],
        "summary": "Where a policy seems to game its reward",
        "description": "The latest alarms of the caller's tenant at this replica; with `admin` and `X-Tenant`, of another one.",
        "operationId": "alarms",
        "parameters": [
            parameter("run", "query", text, required=False, description="Of this run alone"),
            parameter(
                "after", "query", text, required=False, description="The id of an alarm: those that came after it"
            ),
        ],
        "responses": {
            "200": answer_of("Alarms, the oldest first", report),
            **refused({422: "Another parameter in the query"}, refusal),
        },
    }
