"""Builds all doors for other systems, and their part of the OpenAPI document.

`/run_code` and the chat proxy are older than the code that the other doors share. They are listed where they are built.
"""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final

import msgspec

from service.backends.boxes import Boxes
from service.doors.compat.door import Door, Parts, Route
from service.doors.compat.kimina import Kimina
from service.doors.compat.nemo_gym import NeMoGym
from service.doors.compat.nemo_gym_sessions import open_sessions
from service.doors.compat.open_instruct import OpenInstruct
from service.doors.compat.open_r1 import OpenR1
from service.doors.compat.openrlhf import OpenRlhf
from service.doors.compat.retries import RetryingScorer
from service.doors.compat.roll import Roll, open_tasks
from service.doors.compat.run_jupyter import RunJupyter
from service.doors.compat.slime import Slime
from service.doors.compat.submit import Submit
from service.doors.routes.openapi_parts import JSON, Refusal, parameters_of, refused
from service.groups.scoring import GroupScorer
from service.groups.singles import Singles
from service.limits.admission import Admission
from service.observe.metrics import Metrics
from service.scoring.engine import Engine
from service.settings import Settings

DOORS: Final[tuple[type[Door], ...]] = (
    OpenRlhf,
    Slime,
    Roll,
    NeMoGym,
    OpenInstruct,
    OpenR1,
    RunJupyter,
    Submit,
    Kimina,
)
_ROUTES: Final[tuple[Route, ...]] = tuple(route for door in DOORS for route in door.routes)
PATHS: Final = frozenset(path for route in _ROUTES for path in route.paths)


@contextlib.asynccontextmanager
async def open_doors(
    settings: Settings,
    engine: Engine,
    admission: Admission,
    metrics: Metrics,
    boxes: Boxes,
    groups: GroupScorer,
    singles: Singles,
) -> AsyncIterator[Mapping[str, Door]]:
    """The doors by path. Leaving the block ends their work."""
    scorer = RetryingScorer(engine, admission, metrics.observe_asked_again, lambda: boxes.state != "unavailable")
    parts = Parts(settings, admission, metrics, engine, scorer, boxes, groups, singles)
    async with open_tasks(parts) as tasks, open_sessions(settings) as sessions:
        metrics.watch("roll_tasks", "Tasks of ROLL that this process is judging", lambda: tasks.under_way)
        further_doors = [kind(parts) for kind in DOORS if kind not in (Roll, NeMoGym)]
        doors = [Roll(parts, tasks), NeMoGym(parts, sessions), *further_doors]
        yield {path: door for door in doors for route in door.routes for path in route.paths}


def document(refusal: Refusal) -> tuple[JSON, JSON]:
    """The paths and the schemas that they refer to. `refusal` makes the answer of a refused request from a
    description.
    """
    bodies = [route.body for route in _ROUTES if route.body is not None]
    bodies += [
        body_type
        for route in _ROUTES
        if route.newer is not None
        for body_type in (route.newer.body, route.newer.answer)
    ]
    types = [*bodies, *(route.answer for route in _ROUTES), *(route.options for route in _ROUTES)]
    shapes, schemas = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    by_type = {id(kind): shape for kind, shape in zip(types, shapes, strict=True)}
    paths = {route.paths[0]: {route.method.lower(): _operation(route, by_type, schemas, refusal)} for route in _ROUTES}
    for route in _ROUTES:
        schemas.pop(by_type[id(route.options)]["$ref"].rpartition("/")[2], None)
    return paths, schemas


def _operation(route: Route, by_type: Mapping[int, JSON], schemas: JSON, refusal: Refusal) -> JSON:
    wrong = {401: "No API key, or an unknown one", 422: "Not of the shape below, or it cannot be judged"}
    wrong[503] = "Shutting down, or not judged for as long as the caller waits"
    if route.body is not None:
        wrong |= {
            400: "Not JSON",
            408: "The body stopped coming",
            413: "A larger body than a request may have",
            415: "A Content-Type or Content-Encoding that is not known",
            504: "No box was free for as long as the caller waits",
        }
    wrong |= route.refusals
    answers = [route.answer, *([] if route.newer is None else [route.newer.answer])]
    schema = _any_of([by_type[id(answer_type)] for answer_type in answers])
    answer = {"description": "Judged", "content": {"application/json": {"schema": schema}}}
    operation: JSON = {
        "tags": ["doors"],
        "operationId": route.name,
        "summary": route.summary,
        "description": route.about,
        "security": [{}, {"key": []}],
        "parameters": _parameters(schemas[by_type[id(route.options)]["$ref"].rpartition("/")[2]]),
        "responses": {"200": answer, **refused(wrong, refusal)},
    }
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": _content(route, by_type)}}
    return operation


def _content(route: Route, by_type: Mapping[int, JSON]) -> JSON:
    """The content of a body, in each of its forms."""
    if route.newer is None:
        return {"schema": by_type[id(route.body)], "example": route.example}
    forms = {"row": (route.body, route.example), "episode": (route.newer.body, route.newer.example)}
    return {
        "schema": _any_of([by_type[id(body)] for body, _ in forms.values()]),
        "examples": {name: {"value": example} for name, (_, example) in forms.items()},
    }


def _any_of(schemas: Sequence[JSON]) -> JSON:
    different = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
    return different[0] if len(different) == 1 else {"anyOf": different}


def _parameters(options: JSON) -> list[JSON]:
    return [{**option, **_EXAMPLES.get(option["name"], {})} for option in parameters_of(options)]


_EXAMPLES: Final[Mapping[str, JSON]] = {"verifier": {"example": "math"}}
"""Example values of options. With them the examples of the bodies can be judged."""
