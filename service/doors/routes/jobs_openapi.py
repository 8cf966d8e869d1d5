"""Describes the routes of background jobs in the OpenAPI document, from the types that answer them."""

from collections.abc import Sequence

from service.doors.routes import jobs
from service.doors.routes.openapi_parts import JSON, Operation, parameter

_ID = parameter(
    *("id", "path", {"type": "string", "pattern": jobs.ID_PATTERN}), example="6d1f0c6a86c34a1e9d3a1f5e0b7c2d48"
)
_KEY = parameter(
    *("Idempotency-Key", "header", {"type": "string", "pattern": jobs.KEY_PATTERN}),
    required=False,
    description="With the same key the same body is the same job, for as long as that is kept: a submission that may have "
    "been lost can be sent again.",
)
_UNAVAILABLE = {503: "Shutting down, or Redis cannot be asked; ask again"}
_NONE = {404: "There was none of this id, or its time is over", 410: "What is kept of it is damaged: DELETE it"}


def operations(request: JSON) -> Sequence[Operation]:
    """The operations. `request` is the schema of a batch."""
    return (
        Operation(
            *("POST", jobs.ALL, "jobs", "submit_job", "Hand in a batch to be judged in the background"),
            "The body is that of /v1/score and is checked in the same way. Without `deadline_s` the job has the longest there "
            "is; it counts from when the job begins to run.",
            {202: ("Queued, or known already by its idempotency key", jobs.JobAccepted)},
            {"application/json": request},
            {"items": [{"verifier": "math", "response": "so it is \\boxed{\\frac12}", "reference": "0.5"}]},
            parameters=[_KEY],
            refusals={
                409: "The idempotency key came with another body before",
                413: "More bytes or items than one request may hold",
                429: "Too many jobs are kept, or too much is in flight; Retry-After says when to try again",
            }
            | _UNAVAILABLE,
        ),
        Operation(
            *("GET", jobs.ONE, "jobs", "show_job", "Its state, and the results that exist"),
            "Results stand in the order in which they came to be; one that has been shown never changes.",
            {200: ("So far", jobs.JobView)},
            query=jobs.Query,
            parameters=[_ID],
            refusals=_NONE | {422: "The query has a wrong option or value"} | _UNAVAILABLE,
        ),
        Operation(
            *("DELETE", jobs.ONE, "jobs", "cancel_job", "Cancel it"),
            "Its results so far are kept for a while. A job that is done is removed.",
            {200: ("Cancelled, or removed", jobs.JobCancelled)},
            parameters=[_ID],
            refusals=_NONE | _UNAVAILABLE,
        ),
    )
