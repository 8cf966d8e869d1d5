"""Describes OpenEnv's HTTP routes in the OpenAPI document. OpenAPI cannot describe the websocket `ws` beside them."""

from typing import Final

import msgspec

from service.doors.compat.openenv import BASE
from service.doors.compat.openenv_schemas import (
    OpenEnvHealth,
    OpenEnvMetadata,
    OpenEnvOwn,
    OpenEnvResult,
    OpenEnvSchema,
    OpenEnvState,
    OpenEnvStep,
)
from service.doors.routes.interactions_openapi import creation_shape
from service.doors.routes.openapi_parts import JSON, Operations, Refusal, answer_of, body_of, parameter
from service.interactions.schemas import ID_PATTERN

_EPISODE: Final = "row-17-sample-4"
_TASK: Final = {"prompt": "What is 7 times 8?", "reference": "56", "max_turns": 3, "episode_id": _EPISODE}
_STEP: Final = {"action": {"message": "It is \\boxed{56}."}, "episode_id": _EPISODE}
_KIND: Final = parameter("kind", "path", {"enum": ["verifier", "recipe", "tag"]})
_NAME: Final = parameter(
    *("name", "path", {"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$"}), example="math"
)
_ID: Final = parameter("episode_id", "query", {"type": "string", "pattern": ID_PATTERN}, example=_EPISODE)
_UNREADABLE: Final = {
    400: "Not JSON",
    408: "The body stopped coming",
    409: "There is such an episode, begun with other fields, or it has no more turns",
    413: "More bytes than an episode may have",
    415: "Not JSON, or an unknown Content-Encoding",
    422: "Not of this shape, or nothing can be judged by it",
    429: "Too much in flight; Retry-After says when to try again",
    503: "Could not be judged now, or shutting down; nothing is lost",
}
_NONE: Final = {
    404: "It was never begun, or not used for as long as it is kept",
    410: "Its record is damaged: begin it anew",
}


def paths(refusal: Refusal) -> tuple[JSON, JSON]:
    """The paths, and the schemas that they refer to. `refusal` makes the answer of a refused request from a
    description.
    """
    own_fields = [(field.name, field.type, field.default) for field in msgspec.structs.fields(OpenEnvOwn)]
    reset_shape = creation_shape("OpenEnvReset", *own_fields)
    answers = (OpenEnvResult, OpenEnvState, OpenEnvHealth, OpenEnvSchema, OpenEnvMetadata)
    (reset, step, result, state, health, schema, metadata), schemas = msgspec.json.schema_components(
        (reset_shape, OpenEnvStep, *answers), ref_template="#/components/schemas/{name}"
    )

    # Fields without a value are left out of a row.
    properties = schemas["OpenEnvReset"]["properties"]
    properties |= {name: {"anyOf": [shape, {"type": "null"}]} for name, shape in properties.items()}

    described = Operations("doors", refusal, {401: "No API key, or an unknown one"})

    def operation(name: str, summary: str, about: str, answer: JSON, refusals: dict[int, str]) -> JSON:
        return described.operation(f"openenv_{name}", summary, about, {"200": answer_of("Done", answer)}, refusals)

    def resetting(name: str, about: str, *parameters: JSON, example: JSON) -> JSON:
        document = operation(name, "Begin an episode of OpenEnv", about, result, _UNREADABLE)
        return {**document, "parameters": list(parameters), "requestBody": body_of(reset, example)}

    reset_operation = resetting(
        "reset",
        "With the fields that open an interaction, or, without a reference, a task of the server's own by its `seed`.",
        example={**_TASK, "verifier": "math"},
    )
    named_reset = resetting(
        "reset_by",
        "As without a name, judged by what is named here; step, state and the others are below this path, too.",
        *(_KIND, _NAME),
        example={**_TASK, "episode_id": f"{_EPISODE}-by-name"},
    )
    named_reset["responses"]["404"] = refusal("No such path")
    stepping = operation("step", "Take a turn of an episode of OpenEnv", "", result, {**_UNREADABLE, **_NONE})
    stepping["requestBody"] = body_of(step, _STEP)
    showing = operation(
        "state", "What became of an episode so far", "", state, {**_NONE, 422: "No episode is named", 503: "No Redis"}
    )
    showing["parameters"] = [_ID]
    return {
        f"{BASE}/reset": {"post": reset_operation},
        f"{BASE}/{{kind}}/{{name}}/reset": {"post": named_reset},
        f"{BASE}/step": {"post": stepping},
        f"{BASE}/state": {"get": showing},
        f"{BASE}/health": {"get": operation("health", "Whether the environment is there", "", health, {})},
        f"{BASE}/schema": {
            "get": operation("schema", "What an action, an observation and a state are", "", schema, {})
        },
        f"{BASE}/metadata": {"get": operation("metadata", "What the environment is", "", metadata, {})},
    }, schemas
