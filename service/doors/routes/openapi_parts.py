"""Parts of the OpenAPI document that several routes have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

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
