"""Describes OpenEnv's HTTP routes in the OpenAPI document. OpenAPI cannot describe the websocket `ws` beside them."""

from typing import Any, Final

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
from service.doors.routes.interactions import creation_shape
from service.doors.routes.openapi_parts import JSON, Operation, Refusal, describe, parameter
from service.interactions.schemas import ID_PATTERN

_EPISODE: Final = "row-17-sample-4"
_TASK: Final = {"prompt": "What is 7 times 8?", "reference": "56", "max_turns": 3, "episode_id": _EPISODE}
_STEP: Final = {"action": {"message": "It is \\boxed{56}."}, "episode_id": _EPISODE}
_KIND: Final = parameter("kind", "path", {"enum": ["verifier", "recipe", "tag"]})
_NAME: Final = parameter(
    *("name", "path", {"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$"}), example="math"
)
_ID: Final = parameter("episode_id", "query", {"type": "string", "pattern": ID_PATTERN}, example=_EPISODE)
_NONE: Final = {
    404: "It was never begun, or not used for as long as it is kept",
    410: "Its record is damaged: begin it anew",
}
_UNREADABLE: Final = {
    409: "There is such an episode, begun with other fields, or it has no more turns",
    413: "More bytes than an episode may have",
    422: "Not of this shape, or nothing can be judged by it",
    503: "Could not be judged now, or shutting down; nothing is lost",
}
_BY_NAME: Final = f"{BASE}/{{kind}}/{{name}}/reset"


def _operation(method: str, path: str, name: str, summary: str, about: str, answer: type, **fields: Any) -> Operation:
    return Operation(method, path, "doors", f"openenv_{name}", summary, about, {200: ("Done", answer)}, **fields)


def paths(refusal: Refusal) -> tuple[JSON, JSON]:
    """The paths, and the schemas that they refer to. `refusal` makes the answer of a refused request from a
    description.
    """
    own_fields = [(field.name, field.type, field.default) for field in msgspec.structs.fields(OpenEnvOwn)]
    reset = creation_shape("OpenEnvReset", *own_fields)
    begin = "Begin an episode of OpenEnv"
    operations = (
        _operation(
            *("POST", f"{BASE}/reset", "reset", begin),
            "With the fields that open an interaction, or, without a reference, a task of the server's own by its `seed`.",
            OpenEnvResult,
            body=reset,
            example={**_TASK, "verifier": "math"},
            refusals=_UNREADABLE,
        ),
        _operation(
            *("POST", _BY_NAME, "reset_by", begin),
            "As without a name, judged by what is named here; step, state and the others are below this path, too.",
            OpenEnvResult,
            body=reset,
            example={**_TASK, "episode_id": f"{_EPISODE}-by-name"},
            parameters=[_KIND, _NAME],
            refusals={**_UNREADABLE, 404: "No such path"},
        ),
        _operation(
            *("POST", f"{BASE}/step", "step", "Take a turn of an episode of OpenEnv", "", OpenEnvResult),
            body=OpenEnvStep,
            example=_STEP,
            refusals={**_UNREADABLE, **_NONE},
        ),
        _operation(
            *("GET", f"{BASE}/state", "state", "What became of an episode so far", "", OpenEnvState),
            parameters=[_ID],
            refusals={**_NONE, 422: "No episode is named", 503: "No Redis"},
        ),
        _operation("GET", f"{BASE}/health", "health", "Whether the environment is there", "", OpenEnvHealth),
        _operation(
            "GET", f"{BASE}/schema", "schema", "What an action, an observation and a state are", "", OpenEnvSchema
        ),
        _operation("GET", f"{BASE}/metadata", "metadata", "What the environment is", "", OpenEnvMetadata),
    )
    described, schemas = describe(operations, refusal)

    # Fields without a value are left out of a row.
    properties = schemas["OpenEnvReset"]["properties"]
    properties |= {name: {"anyOf": [shape, {"type": "null"}]} for name, shape in properties.items()}
    return described, schemas
