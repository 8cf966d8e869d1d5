"""Describes the routes of audits of data sets in the OpenAPI document, from the types that answer them."""

from typing import Final

from service.doors.routes import audits
from service.doors.routes.openapi_parts import Operation, parameter
from service.wire import NDJSON

_ID = parameter(
    *("id", "path", {"type": "string", "pattern": audits.ID_PATTERN}), example="6d1f0c6a86c34a1e9d3a1f5e0b7c2d48"
)
_TAG = parameter(
    *("If-None-Match", "header", {"type": "string", "maxLength": 100}),
    required=False,
    description="The ETag of the last answer: nothing is sent while nothing has changed.",
)
_FORBIDDEN = {403: "The key lacks the scope `admin`", 503: "Shutting down"}
_NONE = {404: "This replica has no audit of this id, or its hour is over"} | _FORBIDDEN
_LINES = 'Lines of JSON objects, such as `{"id": "q1", "answer": "There are $\\boxed{4}$ such integers."}`'
_TEXT = {"type": "string"}

OPERATIONS: Final = (
    Operation(
        *("GET", audits.ALL, "data sets", "list_audits", "The audits that are kept"),
        "They are kept by the replica that ran them, for an hour after their end. Says, too, which files can be sent.",
        {200: ("The newest first", audits.AuditList)},
        refusals=_FORBIDDEN,
    ),
    Operation(
        *("POST", audits.ALL, "data sets", "begin_audit", "Audit a data set"),
        "The body is the file, as JSON lines or Parquet, and the query says what its columns are for; or the body is JSON "
        "that names a file below `dataset_root`. Each row is judged on right responses: its own, and one made of its "
        "reference.",
        {202: ("Begun", audits.AuditBegun)},
        {
            NDJSON: _TEXT | {"minLength": 1, "description": _LINES},
            audits.PARQUET: _TEXT | {"format": "binary"},
            "application/json": audits.PathRequest,
        },
        {"path": "train.jsonl", "verifier": "math"},
        query=audits.AuditOptions,
        refusals={
            400: "An empty file, or not JSON",
            404: "There is no file at the path",
            408: "The file stopped coming",
            413: "A larger file than may be sent",
            415: "Neither JSON lines nor Parquet nor JSON, or packed",
            422: "A wrong option, verifier, recipe or path; Parquet, and pyarrow is not installed",
            429: "As many audits as may be are under way; Retry-After says when to try again",
        }
        | _FORBIDDEN,
    ),
    Operation(
        *("GET", audits.ONE, "data sets", "show_audit", "Progress and findings so far"),
        "Ask again with the ETag of the last answer.",
        {200: ("So far", audits.AuditView), 304: ("Nothing has changed", None)},
        parameters=[_ID, _TAG],
        refusals=_NONE,
    ),
    Operation(
        *("DELETE", audits.ONE, "data sets", "cancel_audit", "Cancel it"),
        "An audit that has ended is forgotten.",
        {200: ("Cancelled, or forgotten", audits.AuditEnded)},
        parameters=[_ID],
        refusals=_NONE,
    ),
    Operation(
        *("GET", audits.REPORT, "data sets", "report_audit", "The report as one HTML file"),
        "It holds no script and loads nothing.",
        {200: ("The page", {"text/html": _TEXT})},
        parameters=[_ID],
        refusals=_NONE,
    ),
    Operation(
        *("GET", audits.FIXES, "data sets", "fixes_of_audit", "Plainer values for parts of rows"),
        "The first 50,000 of them, in the order of the rows.",
        {200: ("A `FixView` in each line", {NDJSON: _TEXT})},
        parameters=[_ID],
        refusals=_NONE,
    ),
)
