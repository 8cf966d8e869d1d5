"""Parts of the OpenAPI document that several routes have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

JSON: TypeAlias = dict[str, Any]
Refusal: TypeAlias = Callable[[str], JSON]
"""Makes the answer of a refused request from a description."""


@dataclass(frozen=True, slots=True)
class Operations:
    """Describes the operations of some routes."""

    tag: str
    refusal: Refusal
    always: Mapping[int, str]
    """The refusals that each of them may give, by status."""

    def operation(
        self, name: str, summary: str, description: str, answers: JSON, refusals: Mapping[int, str], **fields: Any
    ) -> JSON:
        return {
            "tags": [self.tag],
            "operationId": name,
            "summary": summary,
            "description": description,
            "security": [{}, {"key": []}],
            "responses": answers | refused({**refusals, **self.always}, self.refusal),
            **fields,
        }


def refused(refusals: Mapping[int, str], refusal: Refusal) -> JSON:
    """The answers of refused requests, from a description for each status."""
    return {str(status): refusal(about) for status, about in refusals.items()}


def answer_of(about: str, schema: JSON) -> JSON:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def body_of(schema: JSON, example: JSON) -> JSON:
    return {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}


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
    for field in msgspec.structs.fields(shape):
        if field.type is msgspec.Raw:
            fields.append((field.name, Any, msgspec.field(default_factory=object)))
        elif field.required:
            fields.append((field.name, types.get(field.type, field.type)))
        elif field.default is msgspec.NODEFAULT:
            fields.append((field.name, field.type, msgspec.field(default_factory=field.default_factory)))
        else:
            fields.append((field.name, field.type, field.default))
    namespace = {"__doc__": shape.__doc__}
    return msgspec.defstruct(
        name or shape.__name__, fields, namespace=namespace, forbid_unknown_fields=True, kw_only=True
    )
