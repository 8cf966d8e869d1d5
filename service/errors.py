"""The errors of whole requests, with the HTTP status and the gRPC code of each.

Trouble with one item is never such an error: it is the verdict of that item. Every class holds its HTTP status and its
gRPC code, so that the doors need not decide. A test checks that the two tables are complete.

    RequestError
    ├── BadRequest        400  INVALID_ARGUMENT     not JSON, not protobuf, undecodable body
    ├── Unauthenticated   401  UNAUTHENTICATED      no key, or an unknown one
    ├── Forbidden         403  PERMISSION_DENIED    a key, but not for this
    ├── NotFound          404  NOT_FOUND
    ├── MethodNotAllowed  405  UNIMPLEMENTED
    ├── BodyTimeout       408  DEADLINE_EXCEEDED    the caller stopped sending
    ├── Conflict          409  ABORTED              what is there already says otherwise
    ├── Gone              410  DATA_LOSS            it was kept here, and is damaged
    ├── TooLarge          413  OUT_OF_RANGE         more bytes or items than one request may hold
    ├── UnsupportedMedia  415  INVALID_ARGUMENT
    ├── Unprocessable     422  INVALID_ARGUMENT     well-formed, but not of the contract's shape
    ├── Overloaded        429  RESOURCE_EXHAUSTED   try again after `retry_after_s`
    ├── ShuttingDown      503  UNAVAILABLE
    ├── NotJudged         503  UNAVAILABLE          for callers that keep state here: nothing of it has changed
    ├── StateUnavailable  503  UNAVAILABLE          what is kept for the caller cannot be read or written now
    └── NotInTime         504  DEADLINE_EXCEEDED    for callers that wait instead of being refused: it took too long
"""

from typing import ClassVar

import grpc
import msgspec


class FieldError(msgspec.Struct, frozen=True):
    """One offending field: `loc` is its path in the body, such as `["items", 3, "response"]`."""

    loc: list[str | int]
    msg: str


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of an error (RFC 9457, application/problem+json)."""

    type: str
    title: str
    status: int
    detail: str = ""
    errors: list[FieldError] = []
    request_id: str = ""


class RequestError(Exception):
    """The whole request is refused. Nothing of it was judged."""

    http_status: ClassVar[int]
    grpc_code: ClassVar[grpc.StatusCode]
    title: ClassVar[str]

    def __init__(
        self, detail: str, *, errors: list[FieldError] | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors or []
        self.retry_after_s = retry_after_s

    def problem(self, request_id: str = "") -> Problem:
        slug = self.title.lower().replace(" ", "-")
        return Problem(
            f"urn:rewardline:error:{slug}", self.title, self.http_status, self.detail, self.errors, request_id
        )


class BadRequest(RequestError):
    http_status = 400
    grpc_code = grpc.StatusCode.INVALID_ARGUMENT
    title = "Bad request"


class Unauthenticated(RequestError):
    http_status = 401
    grpc_code = grpc.StatusCode.UNAUTHENTICATED
    title = "Unauthenticated"


class Forbidden(RequestError):
    http_status = 403
    grpc_code = grpc.StatusCode.PERMISSION_DENIED
    title = "Forbidden"


class NotFound(RequestError):
    http_status = 404
    grpc_code = grpc.StatusCode.NOT_FOUND
    title = "Not found"


class MethodNotAllowed(RequestError):
    http_status = 405
    grpc_code = grpc.StatusCode.UNIMPLEMENTED
    title = "Method not allowed"

    def __init__(self, detail: str, *, allow: str = "POST") -> None:
        super().__init__(detail)
        self.allow = allow
        """The methods that the route takes, as in the header `Allow`."""


class BodyTimeout(RequestError):
    http_status = 408
    grpc_code = grpc.StatusCode.DEADLINE_EXCEEDED
    title = "Body timeout"


class Conflict(RequestError):
    http_status = 409
    grpc_code = grpc.StatusCode.ABORTED
    title = "Conflict"


class Gone(RequestError):
    http_status = 410
    grpc_code = grpc.StatusCode.DATA_LOSS
    title = "Gone"


class TooLarge(RequestError):
    http_status = 413
    grpc_code = grpc.StatusCode.OUT_OF_RANGE
    title = "Too large"


class UnsupportedMedia(RequestError):
    http_status = 415
    grpc_code = grpc.StatusCode.INVALID_ARGUMENT
    title = "Unsupported media"


class Unprocessable(RequestError):
    http_status = 422
    grpc_code = grpc.StatusCode.INVALID_ARGUMENT
    title = "Unprocessable"


class Overloaded(RequestError):
    http_status = 429
    grpc_code = grpc.StatusCode.RESOURCE_EXHAUSTED
    title = "Overloaded"


class ShuttingDown(RequestError):
    http_status = 503
    grpc_code = grpc.StatusCode.UNAVAILABLE
    title = "Shutting down"


class NotJudged(RequestError):
    http_status = 503
    grpc_code = grpc.StatusCode.UNAVAILABLE
    title = "Not judged"


class StateUnavailable(RequestError):
    http_status = 503
    grpc_code = grpc.StatusCode.UNAVAILABLE
    title = "State unavailable"


class NotInTime(RequestError):
    http_status = 504
    grpc_code = grpc.StatusCode.DEADLINE_EXCEEDED
    title = "Not in time"
