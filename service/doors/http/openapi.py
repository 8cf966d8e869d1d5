"""Completes FastAPI's OpenAPI document with the routes that do not belong to FastAPI, made from the types that decode
them, and with the refusals.
"""

from collections.abc import Sequence, Set
from functools import partial
from typing import Any, Final

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from service.doors.compat import chat, openenv_openapi, reward_models, routes, run_code
from service.doors.http.connection import MAX_HEAD_BYTES
from service.doors.routes import audits_openapi as audits_document
from service.doors.routes import groups, live
from service.doors.routes import interactions_openapi as interactions_document
from service.doors.routes import jobs_openapi as jobs_document
from service.doors.routes import usage as usage_door
from service.doors.routes import watch as watch_door
from service.doors.routes.openapi_parts import JSON, Refusal, answer_of, body_of, documented, parameter, refused
from service.errors import Problem
from service.tenant import FORM, RUN_PATTERN
from service.wire import LONE_OPTIONS, NDJSON, ScoreItem, ScoreRequest, ScoreResponse
from verifiers.commitment.extraction import ShownMention


def extend(app: FastAPI, score_path: str, open_paths: Set[str]) -> None:
    """Complete the document of `app`. Calls to `open_paths` need no key."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            shapes, components = msgspec.json.schema_components(
                (*_shapes(), ShownMention),
                ref_template="#/components/schemas/{name}",
            )
            # No types here: a wrong type makes only that item `invalid`, and is not a reason to refuse the request.
            components["ScoreItem"]["properties"] |= {
                "reference": {"description": "What the response is judged against; its shape is the verifier's"},
                "params": {"description": "The verifier's own parameters, an object; see /v1/verifiers/{name}"},
            }
            components["Result"]["properties"]["detail"] |= _DETAIL
            shapes = (_any_form(shapes[0], components), *shapes[1:])
            components |= document.get("components", {}).get("schemas", {})
            document["components"] = {
                "schemas": components,
                "securitySchemes": {
                    "key": {"type": "http", "scheme": "bearer", "description": "An API key, if any are set"}
                },
            }
            refusal = partial(_refusal, shapes[2])
            bare = {score_path: {"post": _score_operation(shapes[0], shapes[1], refusal)}}
            bare[run_code.PATHS[0]] = {"post": _run_code_operation(shapes[3], shapes[4], refusal)}
            bare |= groups.operations(components, refusal)
            bare[usage_door.PATH] = {"get": usage_door.operation(components, refusal)}
            bare |= watch_door.operations(components, refusal)
            bare |= chat.operations(refusal) | reward_models.operations(refusal)
            document["paths"] = bare | document["paths"]
            for path, operations in document["paths"].items():
                for operation in operations.values():
                    _add_refusals(operation, path, refusal, needs_key=path not in open_paths)
            for paths, schemas in (
                interactions_document.paths(refusal),
                openenv_openapi.paths(refusal),
                jobs_document.paths(shapes[0], refusal),
                audits_document.paths(refusal),
                routes.document(refusal),
                live.paths(refusal),
            ):
                document["components"]["schemas"] |= schemas
                document["paths"] |= paths
            document["components"]["parameters"] = _HEADERS
            _add_headers(document["paths"], refusal)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend the document


def _documented_request() -> type[msgspec.Struct]:
    """`ScoreRequest` with plain JSON in place of raw bytes, because a JSON schema cannot hold the defaults of raw
    bytes.
    """
    item = documented(ScoreItem, {})
    return documented(ScoreRequest, {list[ScoreItem]: list[item]})  # type: ignore[valid-type]  # made at run time


def _shapes() -> Sequence[Any]:
    return _documented_request(), ScoreResponse, Problem, run_code.RunCodeRequest, run_code.RunCodeResponse


def _any_form(request: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """The schema of a request, of one item with the options of its request, and of a list of items."""
    options = components["ScoreRequest"]["properties"]
    item = components["ScoreItem"]
    properties = item["properties"] | {name: options[name] for name in LONE_OPTIONS}
    components["SingleItem"] = item | {
        "title": "SingleItem",
        "description": "One response to judge, with the options of its request: a batch of one.",
        "properties": properties,
    }
    lone, listed = _reference("SingleItem"), {"type": "array", "items": _reference("ScoreItem")}
    return {"anyOf": [request, lone, listed]}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


_HEADERS: Final[JSON] = {
    "tenant": parameter(
        *("X-Tenant", "header", {"type": "string", "pattern": f"^{FORM.pattern}$"}),
        required=False,
        description="The tenant to act for. For another than its own the key needs `admin`, too.",
        example="maths",
    ),
    "run": parameter(
        *("X-Run-Id", "header", {"type": "string", "pattern": RUN_PATTERN}),
        required=False,
        description="The run that the request belongs to: usage is counted for it, logs and traces name it. "
        "A `run_id` in the body counts before it.",
        example="grpo-7",
    ),
}
"""Headers of all operations that need a key."""
_DETAIL: JSON = {
    "description": "What is known about the verdict, by the verifier. With `explain` it also holds the reasons.",
    "properties": {
        "message": {"type": "string", "description": "What was expected, where an item is invalid or failed"},
        "mentions": {
            "type": "array",
            "items": _reference("ShownMention"),
            "description": "With `explain`: all that was read as a possible answer, in order and apart from each other",
        },
        "asked": {
            "type": "array",
            "items": {"type": "object"},
            "description": "With `explain`, of a judge: each question (`messages`) with what each model wrote (`answers`) and why "
            "others gave no verdict (`failures`), even if the item is `failed`",
        },
    },
}


def _add_refusals(operation: JSON, path: str, refusal: Refusal, *, needs_key: bool) -> None:
    """Add the refusals that any call of a route may get, as problem+json."""
    refusals: dict[int, str] = {}
    if needs_key:
        operation["security"] = [{}, {"key": []}]
        refusals[401] = "No API key, or an unknown one"
    if "{" in path:
        refusals[404] = "There is nothing with this name"
        operation["responses"].pop("422", None)  # FastAPI's guess; any text is a name
    operation["responses"] |= refused(refusals, refusal)


def _add_headers(paths: JSON, refusal: Refusal) -> None:
    """Add what `gate` reads of the head of each request: the headers, and the refusals that they may get."""
    too_large = refusal(f"Line, headers and trailers have more than {MAX_HEAD_BYTES:,} bytes")
    lacking = refusal("The key lacks the scope")
    malformed = refusal("A header is not of its form")
    headers = [{"$ref": f"#/components/parameters/{name}"} for name in _HEADERS]
    for operations in paths.values():
        for operation in operations.values():
            operation["responses"]["431"] = too_large
            if "security" in operation:
                operation["parameters"] = [*operation.get("parameters", ()), *headers]
                operation["responses"]["403"] = lacking
                operation["responses"].setdefault("422", malformed)


def _refusal(problem: JSON, about: str) -> JSON:
    return {"description": about, "content": {"application/problem+json": {"schema": problem}}}


def _score_operation(request: JSON, response: JSON, refusal: Refusal) -> JSON:
    refusals = {
        400: "Not JSON",
        408: "The body stopped coming",
        413: "More bytes or items than one request may hold",
        415: "Not JSON, or an unknown Content-Encoding",
        422: "Not of this shape; `errors` names the field",
        429: "Too much in flight; Retry-After says when to try again",
        503: "Shutting down",
    }
    example = {
        "items": [{"verifier": "math", "response": "so it is \\boxed{\\frac12}", "reference": "0.5"}],
        "deadline_s": 10,
    }
    return {
        "tags": ["score"],
        "summary": "Judge a batch",
        "description": "`results[i]` belongs to `items[i]`. One item, or a list of items, is a batch too. With `Accept: application/x-ndjson` each result is a line "
        "as soon as it is ready, with its `index`, and the summary is the last line.",
        "operationId": "score",
        "requestBody": body_of(request, example),
        "responses": {
            "200": {
                "description": "Every item has its verdict",
                "content": {"application/json": {"schema": response}, NDJSON: {"schema": {"type": "string"}}},
            },
            **refused(refusals, refusal),
        },
    }


def _run_code_operation(request: JSON, response: JSON, refusal: Refusal) -> JSON:
    refusals = {
        400: "Not JSON",
        408: "The body stopped coming",
        413: "A larger body than a request may have",
        415: "A Content-Type or Content-Encoding that is not known",
        422: "Not of the shape below, or a language that is not known",
        503: "Shutting down",
        504: "No box was free for as long as the caller waits",
    }
    example = {"code": "print(input()[::-1])", "language": "python", "stdin": "abc", "run_timeout": 5}
    return {
        "tags": ["sandbox"],
        "summary": "Run a program",
        "description": "In the shape of SandboxFusion: 200 whatever the program does; `SandboxError` when it could not "
        "be run. Requests wait for a box instead of being refused.",
        "operationId": "run_code",
        "requestBody": body_of(request, example),
        "responses": {"200": answer_of("How it ended", response), **refused(refusals, refusal)},
    }
