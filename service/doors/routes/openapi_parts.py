"""Describes our own routes in the OpenAPI document, from the types that decode and answer them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import msgspec

JSON: TypeAlias = dict[str, Any]
Refusal: TypeAlias = Callable[[str], JSON]
"""Makes the answer of a refused request from a description."""
Kind: TypeAlias = Any
"""A type that is read or written as JSON; or, by media type, such a type or a schema."""
_NO_KEY: Final = {401: "No API key, or an unknown one"}
_OF_BODIES: Final = {
    400: "Not JSON",
    408: "The body stopped coming",
    413: "More bytes than a request may have",
    415: "Not JSON, or an unknown Content-Encoding",
    422: "Not of this shape; `errors` names the field",
    429: "Too much in flight; Retry-After says when to try again",
    503: "Shutting down",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of a path, and its description."""

    method: str
    path: str
    tag: str
    name: str
    summary: str
    about: str
    answers: Mapping[int, tuple[str, Kind]]
    """By status: what it means, and what is answered. None: nothing."""
    body: Kind = None
    """What the body holds. None: there is none."""
    example: Any = None
    """A body in JSON."""
    query: type[msgspec.Struct] | None = None
    parameters: Sequence[JSON] = ()
    """Those in the path and in headers."""
    refusals: Mapping[int, str] = field(default_factory=dict)
    """What a status means that only this route has, or that means another thing here; without a text it does not occur."""

    def kinds(self) -> Iterator[Kind]:
        """All types."""
        for kind in (self.query, self.body, *(kind for _, kind in self.answers.values())):
            for part in kind.values() if isinstance(kind, dict) else [kind]:
                if part is not None and not isinstance(part, dict):
                    yield part


def describe(operations: Sequence[Operation], refusal: Refusal, *more_types: type) -> tuple[JSON, JSON]:
    """The paths, and the schemas that they refer to."""
    kinds = [*more_types, *(kind for operation in operations for kind in operation.kinds())]
    shapes, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    by_type = {id(kind): shape for kind, shape in zip(kinds, shapes, strict=True)}
    queries: dict[int, JSON] = {}
    for kind in {operation.query for operation in operations if operation.query is not None}:
        queries[id(kind)] = schemas.pop(by_type[id(kind)]["$ref"].rpartition("/")[2])
    paths: JSON = {}
    for operation in operations:
        described = _described(operation, by_type, queries.get(id(operation.query), {}), refusal)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    return paths, schemas


def _described(operation: Operation, by_type: Mapping[int, JSON], query: JSON, refusal: Refusal) -> JSON:
    refusals = _NO_KEY | ({} if operation.body is None else _OF_BODIES) | dict(operation.refusals)
    answers: JSON = {}
    for status, (about, kind) in operation.answers.items():
        answers[str(status)] = {"description": about} | ({} if kind is None else {"content": _content(kind, by_type)})
    if "202" in answers:
        location = {"description": "Where it is looked at", "schema": {"type": "string"}}
        answers["202"]["headers"] = {"Location": location}
    described: JSON = {
        "tags": [operation.tag],
        "operationId": operation.name,
        "summary": operation.summary,
        "description": operation.about,
        "security": [{}, {"key": []}],
        "responses": answers | refused({status: about for status, about in refusals.items() if about}, refusal),
    }
    if parameters := [*operation.parameters, *parameters_of(query)]:
        described["parameters"] = parameters
    if operation.body is not None:
        described["requestBody"] = {"required": True, "content": _content(operation.body, by_type, operation.example)}
    return described


def _content(kind: Kind, by_type: Mapping[int, JSON], example: Any = None) -> JSON:
    kinds = kind if isinstance(kind, dict) else {"application/json": kind}
    content: JSON = {
        media: {"schema": part if isinstance(part, dict) else by_type[id(part)]} for media, part in kinds.items()
    }
    if example is not None:
        content["application/json"]["example"] = example
    return content


def parameters_of(query: JSON) -> list[JSON]:
    """The options of a query, from its schema. Null cannot be written there."""
    parameters = []
    for name, schema in query.get("properties", {}).items():
        kinds = [kind for kind in schema.get("anyOf", ()) if kind.get("type") != "null"]
        merged = {**schema, **kinds[0]} if len(kinds) == 1 else dict(schema)
        if len(kinds) == 1:
            del merged["anyOf"]
        if merged.get("default", ...) is None:
            del merged["default"]
        about: JSON = {key: merged.pop(key) for key in ("description",) if key in merged}
        if "examples" in merged:
            (about["example"],) = merged.pop("examples")
        parameters.append(parameter(name, "query", merged, required=False, **about))
    return parameters


def refused(refusals: Mapping[int, str], refusal: Refusal) -> JSON:
    """The answers of refused requests, from a description for each status."""
    return {str(status): refusal(about) for status, about in refusals.items()}


def parameter(name: str, location: str, schema: JSON, *, required: bool = True, **fields: Any) -> JSON:
    return {"name": name, "in": location, "required": required, "schema": schema, **fields}


def documented(shape: type[msgspec.Struct], types: Mapping[Any, Any], name: str | None = None) -> type[msgspec.Struct]:
    """The type for a schema, which cannot hold the defaults of raw bytes: with plain JSON in their place.

    Args:
        shape: The type as it is decoded.
        types: What stands in the place of a type that a required field has.
        name: Its name in the document; default: its own.
    """
    fields: list[Any] = []
    for member in msgspec.structs.fields(shape):
        if member.type is msgspec.Raw:
            fields.append((member.name, Any, msgspec.field(default_factory=object)))
        elif member.required:
            fields.append((member.name, types.get(member.type, member.type)))
        elif member.default is msgspec.NODEFAULT:
            fields.append((member.name, member.type, msgspec.field(default_factory=member.default_factory)))
        else:
            fields.append((member.name, member.type, member.default))
    namespace = {"__doc__": shape.__doc__}
    return msgspec.defstruct(
        name or shape.__name__, fields, namespace=namespace, forbid_unknown_fields=True, kw_only=True
    )
