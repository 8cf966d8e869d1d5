"""Describes the routes of background jobs in the OpenAPI document, from the types that answer them."""

from collections.abc import Callable
from typing import Any

import msgspec

from service.doors.routes import jobs

JSON = dict[str, Any]

_ID = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": jobs.ID_PATTERN},
    "example": "6d1f0c6a86c34a1e9d3a1f5e0b7c2d48",
}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "pattern": jobs.KEY_PATTERN},
    "description": "With the same key the same body is the same job, for as long as that is kept: a submission that may have "
    "been lost can be sent again.",
}
_WAIT = {
    "name": "wait_s",
    "in": "query",
    "required": False,
    "schema": {"type": "number", "minimum": 0, "maximum": jobs.MOST_S, "default": 0},
    "description": f"Answer when the job has ended (with `after`: or has newer results), or so many seconds are over, "
    f"{jobs.MAX_WAIT_S:g} at most.",
}
_AFTER = {
    "name": "after",
    "in": "query",
    "required": False,
    "schema": {"type": "integer", "minimum": 0, "maximum": jobs.MOST_RESULTS},
    "description": "How many results the caller has already: they are left out.",
}
_UNAVAILABLE = {401: "No API key, or an unknown one", 503: "Shutting down, or Redis cannot be asked; ask again"}
_NONE = {404: "There was none of this id, or its time is over"}


def paths(request: JSON, refusal: Callable[[str], JSON]) -> tuple[JSON, JSON]:
    """The paths, and the schemas that they refer to.

    Args:
        request: The schema of a batch.
        refusal: Makes the answer of a refused request from what it is about.
    """
    (accepted, view, cancelled), schemas = msgspec.json.schema_components(
        (jobs.JobAccepted, jobs.JobView, jobs.JobCancelled), ref_template="#/components/schemas/{name}"
    )

    def operation(name: str, summary: str, description: str, answers: JSON, refusals: dict[int, str]) -> JSON:
        errors = {str(status): refusal(about) for status, about in (refusals | _UNAVAILABLE).items()}
        return {
            "tags": ["jobs"],
            "operationId": name,
            "summary": summary,
            "description": description,
            "security": [{}, {"key": []}],
            "responses": answers | errors,
        }

    queued = _answer("Queued, or known already by its idempotency key", accepted)
    queued["headers"] = {"Location": {"description": "Where the job is looked at", "schema": {"type": "string"}}}
    submitting = operation(
        "submit_job",
        "Hand in a batch to be judged in the background",
        "The body is that of /v1/score and is checked in the same way. Without `deadline_s` the job has the longest there is; "
        "it counts from when the job begins to run.",
        {"202": queued},
        {
            400: "Not JSON",
            408: "The body stopped coming",
            409: "The idempotency key came with another body before",
            413: "More bytes or items than one request may hold",
            415: "Not JSON, or an unknown Content-Encoding",
            422: "Not of this shape; `errors` names the field",
            429: "Too many jobs are kept, or too much is in flight; Retry-After says when to try again",
        },
    )
    submitting["parameters"] = [_KEY]
    example = {"items": [{"verifier": "math", "response": "so it is \\boxed{\\frac12}", "reference": "0.5"}]}
    submitting["requestBody"] = {
        "required": True,
        "content": {"application/json": {"schema": request, "example": example}},
    }
    showing = operation(
        "show_job",
        "Its state, and the results that exist",
        "Results stand in the order in which they came to be; one that has been shown never changes.",
        {"200": _answer("So far", view)},
        _NONE | {422: "The query has a wrong option or value"},
    )
    showing["parameters"] = [_ID, _WAIT, _AFTER]
    cancelling = operation(
        "cancel_job",
        "Cancel it",
        "Its results so far are kept for a while. A job that is done is removed.",
        {"200": _answer("Cancelled, or removed", cancelled)},
        _NONE,
    )
    cancelling["parameters"] = [_ID]
    return {jobs.ALL: {"post": submitting}, jobs.ONE: {"get": showing, "delete": cancelling}}, schemas


def _answer(about: str, schema: JSON) -> JSON:
    return {"description": about, "content": {"application/json": {"schema": schema}}}
