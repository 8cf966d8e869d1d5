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
from service.doors.routes import audits, groups, live
from service.doors.routes import audits_openapi as audits_document
from service.doors.routes import interactions as interactions_door
from service.doors.routes import jobs as jobs_door
from service.doors.routes import usage as usage_door
from service.doors.routes import watch as watch_door
from service.doors.routes.openapi_parts import JSON, Operation, Refusal, describe, documented, parameter, refused
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
                (_documented_request(), Problem), ref_template="#/components/schemas/{name}"
            )
            # No types here: a wrong type makes only that item `invalid`, and is not a reason to refuse the request.
            components["ScoreItem"]["properties"] |= {
                "reference": {"description": "What the response is judged against; its shape is the verifier's"},
                "params": {"description": "The verifier's own parameters, an object; see /v1/verifiers/{name}"},
            }
            batch = _any_form(shapes[0], components)
            components |= document.get("components", {}).get("schemas", {})
            document["components"] = {
                "schemas": components,
                "securitySchemes": {
                    "key": {"type": "http", "scheme": "bearer", "description": "An API key, if any are set"}
                },
            }
            refusal = partial(_refusal, shapes[1])
            for path, operations in document["paths"].items():
                for operation in operations.values():
                    _add_refusals(operation, path, refusal, needs_key=path not in open_paths)
            paths, more = describe(_operations(score_path, batch), refusal, audits.FixView, ShownMention, groups.GROUP)
            more["Result"]["properties"]["detail"] |= _DETAIL
            document["paths"] |= paths
            components |= more
            for paths, schemas in (chat.paths(refusal), openenv_openapi.paths(refusal), routes.document(refusal)):
                components |= schemas
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


def _operations(score_path: str, batch: JSON) -> Sequence[Operation]:
    """The operations of our own routes. `batch` is the schema of a batch."""
    return (
        *(_score_operation(score_path, batch), _RUN_CODE, *groups.OPERATIONS, usage_door.OPERATION),
        *(*watch_door.OPERATIONS, *reward_models.OPERATIONS, *live.OPERATIONS, *interactions_door.OPERATIONS),
        *(*jobs_door.operations(batch), *audits_document.OPERATIONS),
    )


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


def _score_operation(path: str, batch: JSON) -> Operation:
    return Operation(
        *("POST", path, "score", "score", "Judge a batch"),
        "`results[i]` belongs to `items[i]`. One item, or a list of items, is a batch too. With "
        "`Accept: application/x-ndjson` each result is a line as soon as it is ready, with its `index`, and the summary is the "
        "last line.",
        {200: ("Every item has its verdict", {"application/json": ScoreResponse, NDJSON: {"type": "string"}})},
        {"application/json": batch},
        {
            "items": [{"verifier": "math", "response": "so it is \\boxed{\\frac12}", "reference": "0.5"}],
            "deadline_s": 10,
        },
        refusals={413: "More bytes or items than one request may hold"},
    )


_RUN_CODE: Final = Operation(
    *("POST", run_code.PATHS[0], "sandbox", "run_code", "Run a program"),
    "In the shape of SandboxFusion: 200 whatever the program does; `SandboxError` when it could not be run. Requests wait for "
    "a box instead of being refused.",
    {200: ("How it ended", run_code.RunCodeResponse)},
    run_code.RunCodeRequest,
    {"code": "print(input()[::-1])", "language": "python", "stdin": "abc", "run_timeout": 5},
    refusals={
        415: "A Content-Type or Content-Encoding that is not known",
        422: "Not of the shape below, or a language that is not known",
        429: "",
        504: "No box was free for as long as the caller waits",
    },
)
