"""Describes the routes of background jobs in the OpenAPI document, from the types that answer them."""

import msgspec

from service.doors.routes import jobs
from service.doors.routes.openapi_parts import JSON, Operations, Refusal, answer_of, body_of, parameter

_ID = parameter(
    *("id", "path", {"type": "string", "pattern": jobs.ID_PATTERN}), example="6d1f0c6a86c34a1e9d3a1f5e0b7c2d48"
)
_KEY = parameter(
    *("Idempotency-Key", "header", {"type": "string", "pattern": jobs.KEY_PATTERN}),
    required=False,
    description="With the same key the same body is the same job, for as long as that is kept: a submission that may have "
    "been lost can be sent again.",
)
_WAIT = parameter(
    *("wait_s", "query", {"type": "number", "minimum": 0, "maximum": jobs.MOST_S, "default": 0}),
    required=False,
    description=f"Answer when the job has ended (with `after`: or has newer results), or so many seconds are over, "
    f"{jobs.MAX_WAIT_S:g} at most.",
)
_AFTER = parameter(
    *("after", "query", {"type": "integer", "minimum": 0, "maximum": jobs.MOST_RESULTS}),
    required=False,
    description="How many results the caller has already: they are left out.",
)
_UNAVAILABLE = {401: "No API key, or an unknown one", 503: "Shutting down, or Redis cannot be asked; ask again"}
_NONE = {404: "There was none of this id, or its time is over", 410: "What is kept of it is damaged: DELETE it"}


def paths(request: JSON, refusal: Refusal) -> tuple[JSON, JSON]:
    """The paths, and the schemas that they refer to.

    Args:
        request: The schema of a batch.
        refusal: Makes the answer of a refused request from what it is about.
    """
    (accepted, view, cancelled), schemas = msgspec.json.schema_components(
        (jobs.JobAccepted, jobs.JobView, jobs.JobCancelled), ref_template="#/components/schemas/{name}"
    )
    operation = Operations("jobs", refusal, _UNAVAILABLE).operation
    queued = answer_of("Queued, or known already by its idempotency key", accepted)
    queued["headers"] = {"Location": {"description": "Where the job is looked at", "schema": {"type": "string"}}}
    example = {"items": [{"verifier": "math", "response": "so it is \\boxed{\\frac12}", "reference": "0.5"}]}
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
        parameters=[_KEY],
        requestBody=body_of(request, example),
    )
    showing = operation(
        "show_job",
        "Its state, and the results that exist",
        "Results stand in the order in which they came to be; one that has been shown never changes.",
        {"200": answer_of("So far", view)},
        _NONE | {422: "The query has a wrong option or value"},
        parameters=[_ID, _WAIT, _AFTER],
    )
    cancelling = operation(
        "cancel_job",
        "Cancel it",
        "Its results so far are kept for a while. A job that is done is removed.",
        {"200": answer_of("Cancelled, or removed", cancelled)},
        _NONE,
        parameters=[_ID],
    )
    return {jobs.ALL: {"post": submitting}, jobs.ONE: {"get": showing, "delete": cancelling}}, schemas
