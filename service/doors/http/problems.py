"""FastAPI's own errors, and ours that its routes raise, as problem+json."""

from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException

from service.doors.asgi.request_body import Disconnected
from service.errors import FieldError, Problem, RequestError, Unprocessable
from service.observe.access_log import Call
from service.wire import encode
from tracing.lines import Log

log = Log("rewardline.http")

_CLOSED_BY_CALLER = 499


def speak(app: FastAPI) -> None:
    """Render FastAPI's own errors in the same form as ours."""

    def respond(request: Request, status: int, title: str, detail: str, errors: list[FieldError]) -> Response:
        slug = title.lower().replace(" ", "-")
        problem = Problem(f"urn:rewardline:error:{slug}", title, status, detail, errors, _request_id(request))
        return Response(encode(problem), status, media_type="application/problem+json")

    @app.exception_handler(Exception)
    async def on_bug(request: Request, error: Exception) -> Response:
        log.error("a route raised", request_id=_request_id(request), exc_info=error)
        return respond(request, 500, "Internal error", "the server's log has the traceback", [])

    @app.exception_handler(RequestError)
    async def on_request_error(request: Request, error: RequestError) -> Response:
        response = respond(request, error.http_status, error.title, error.detail, error.errors)
        if error.retry_after_s is not None:
            response.headers["Retry-After"] = str(max(1, round(error.retry_after_s)))
        return response

    @app.exception_handler(Disconnected)
    async def on_disconnect(request: Request, error: Disconnected) -> Response:
        return Response(status_code=_CLOSED_BY_CALLER)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.BAD_REQUEST:  # FastAPI's word for bytes that it cannot read as JSON
            return respond(request, 422, Unprocessable.title, "the body is not JSON in UTF-8", [])
        response = respond(request, error.status_code, str(error.detail), "", [])
        response.headers.update(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            response.headers["Allow"] = ", ".join(sorted(_methods_of(request)))
        return response

    @app.exception_handler(RequestValidationError)
    async def on_validation(request: Request, error: RequestValidationError) -> Response:
        fields = [FieldError(list(item["loc"]), item["msg"]) for item in error.errors()]
        return respond(request, 422, Unprocessable.title, "the request does not have the shape of the contract", fields)


def _methods_of(request: Request) -> set[str]:
    """What the path of a request takes. Starlette itself names the methods of the first route alone."""
    path = request.scope["path"]
    routes = (route for route in iter_route_contexts(request.app.routes) if route.methods)
    return {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}


def _request_id(request: Request) -> str:
    """Empty where no gate runs before the routes."""
    call: Call | None = request.scope.get("state", {}).get("call")
    return "" if call is None else call.request_id
