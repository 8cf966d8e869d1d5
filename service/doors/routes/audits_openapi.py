"""Describes the routes of audits of data sets in the OpenAPI document, from the types that answer them."""

import msgspec

from service.doors.routes import audits
from service.doors.routes.openapi_parts import JSON, Operations, Refusal, answer_of, parameter
from service.wire import NDJSON

_ID = parameter(
    *("id", "path", {"type": "string", "pattern": audits.ID_PATTERN}), example="6d1f0c6a86c34a1e9d3a1f5e0b7c2d48"
)
_TAG = parameter(
    *("If-None-Match", "header", {"type": "string", "maxLength": 100}),
    required=False,
    description="The ETag of the last answer: nothing is sent while nothing has changed.",
)
_UNAVAILABLE = {401: "No API key, or an unknown one", 403: "The key lacks the scope `admin`", 503: "Shutting down"}
_NONE = {404: "This replica has no audit of this id, or its hour is over"}
_LINES = 'Lines of JSON objects, such as `{"id": "q1", "answer": "There are $\\boxed{4}$ such integers."}`'


def paths(refusal: Refusal) -> tuple[JSON, JSON]:
    """The paths, and the schemas that they refer to."""
    shapes = (
        *(audits.AuditList, audits.AuditBegun, audits.AuditView, audits.AuditEnded),
        *(audits.PathRequest, audits.AuditOptions, audits.FixView),
    )
    (listed, started_type, view, ended, path, *_), schemas = msgspec.json.schema_components(
        shapes, ref_template="#/components/schemas/{name}"
    )
    operation = Operations("data sets", refusal, _UNAVAILABLE).operation
    started = answer_of("Begun", started_type)
    started["headers"] = {"Location": {"description": "Where the audit is looked at", "schema": {"type": "string"}}}
    listing = operation(
        "list_audits",
        "The audits that are kept",
        "They are kept by the replica that ran them, for an hour after their end. Says, too, which files can be sent.",
        {"200": answer_of("The newest first", listed)},
        {},
    )
    beginning = operation(
        "begin_audit",
        "Audit a data set",
        "The body is the file, as JSON lines or Parquet, and the query says what its columns are for; or the body is JSON "
        "that names a file below `dataset_root`. Each row is judged on right responses: its own, and one made of its "
        "reference.",
        {"202": started},
        {
            400: "An empty file, or not JSON",
            404: "There is no file at the path",
            408: "The file stopped coming",
            413: "A larger file than may be sent",
            415: "Neither JSON lines nor Parquet nor JSON, or packed",
            422: "A wrong option, verifier, recipe or path; Parquet, and pyarrow is not installed",
            429: "As many audits as may be are under way; Retry-After says when to try again",
        },
        parameters=[
            parameter(name, "query", _option(schema), required=False)
            for name, schema in schemas["AuditOptions"]["properties"].items()
        ],
        requestBody={
            "required": True,
            "content": {
                NDJSON: {"schema": {"type": "string", "minLength": 1, "description": _LINES}},
                audits.PARQUET: {"schema": {"type": "string", "format": "binary"}},
                "application/json": {"schema": path, "example": {"path": "train.jsonl", "verifier": "math"}},
            },
        },
    )
    showing = operation(
        "show_audit",
        "Progress and findings so far",
        "Ask again with the ETag of the last answer.",
        {"200": answer_of("So far", view), "304": {"description": "Nothing has changed"}},
        _NONE,
        parameters=[_ID, _TAG],
    )
    cancelling = operation(
        "cancel_audit",
        "Cancel it",
        "An audit that has ended is forgotten.",
        {"200": answer_of("Cancelled, or forgotten", ended)},
        _NONE,
        parameters=[_ID],
    )
    page = {"description": "The page", "content": {"text/html": {"schema": {"type": "string"}}}}
    reporting = operation(
        *("report_audit", "The report as one HTML file", "It holds no script and loads nothing."),
        *({"200": page}, _NONE),
        parameters=[_ID],
    )
    lines = {"description": "A `FixView` in each line", "content": {NDJSON: {"schema": {"type": "string"}}}}
    fixing = operation(
        *("fixes_of_audit", "Plainer values for parts of rows", "The first 50,000 of them, in the order of the rows."),
        *({"200": lines}, _NONE),
        parameters=[_ID],
    )
    return {
        audits.ALL: {"get": listing, "post": beginning},
        audits.ONE: {"get": showing, "delete": cancelling},
        audits.REPORT: {"get": reporting},
        audits.FIXES: {"get": fixing},
    }, schemas


def _option(schema: JSON) -> JSON:
    """The schema of an option in a query, where null cannot be written."""
    (kind,) = (option for option in schema["anyOf"] if option.get("type") != "null")
    return kind if "description" not in schema else {**kind, "description": schema["description"]}
