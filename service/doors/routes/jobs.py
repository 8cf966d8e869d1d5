"""The HTTP routes of background jobs: parse ► store ► render.

POST   /v1/jobs        202 queued, or known by its idempotency key
GET    /v1/jobs/{id}   200 its state and results; waits for them when asked to
DELETE /v1/jobs/{id}   200 cancelled; what is done is removed
"""

import asyncio
import hashlib
import re
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from starlette.types import Receive, Scope

from service import asked
from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.doors.routes.openapi_parts import JSON, Operation, parameter
from service.doors.routes.resource import Answer, Resource, ResourceDoor, query_of
from service.errors import FieldError, NotFound, Unprocessable
from service.jobs.job import JobStore, Snapshot, State, pack
from service.jobs.owned_jobs import OwnedJobs
from service.limits.admission import Admission
from service.limits.keys import ANONYMOUS
from service.settings import Settings
from service.tenant import owned
from service.wire import IndexedResult, Summary, decode_request, encode, with_options

ALL: Final = "/v1/jobs"
ONE: Final = f"{ALL}/{{id}}"
MAX_WAIT_S: Final = 60.0
MOST_S: Final = 86_400
MOST_RESULTS: Final = 2**31 - 1
ID_PATTERN: Final = r"^[0-9a-f]{32}$"
KEY_PATTERN: Final = r"^[!-~]{1,255}$"
RESOURCE: Final = Resource("job", ALL, re.compile(rf"{ALL}/(?P<id>.*)", re.DOTALL), ID_PATTERN)


_WAITS: Final = f"Answer when the job has ended (with `after`: or has newer results), or so many seconds are over, {MAX_WAIT_S:g} at most."
_LEFT_OUT: Final = "How many results the caller has already: they are left out."


class JobAccepted(msgspec.Struct):
    """The answer to a submission."""

    job_id: str


class JobCancelled(msgspec.Struct):
    """The answer to a DELETE. `state` is the state of the job now, or the state that it had when it was removed."""

    job_id: str
    state: State


class JobView(msgspec.Struct):
    """A job with the requested ones of its results, in the order in which they were made. `index` is the position of
    the item.
    """

    job_id: str
    state: State
    items: int
    done: int
    """The number of results that exist, requested or not."""
    results: list[IndexedResult]
    summary: Summary | None
    """Present when the state is `done`."""


class Query(msgspec.Struct, forbid_unknown_fields=True):
    """The query of a request for a job."""

    wait_s: Annotated[float, msgspec.Meta(ge=0, le=MOST_S, description=_WAITS)] = 0.0
    after: Annotated[int, msgspec.Meta(ge=0, le=MOST_RESULTS, description=_LEFT_OUT)] | msgspec.UnsetType = (
        msgspec.UNSET
    )


_TAKES: Final = "wait_s and after, numbers from 0 on"


class JobsDoor(ResourceDoor):
    """The routes as an ASGI application."""

    def __init__(self, settings: Settings, admission: Admission, store: JobStore) -> None:
        methods = {"GET": self._show, "DELETE": self._cancel}
        super().__init__(RESOURCE, {ALL: {"POST": self._submit}, ONE: methods})
        self._settings = settings
        self._admission = admission
        self._jobs = OwnedJobs(store)

    async def _submit(self, scope: Scope, receive: Receive) -> Answer:
        headers, call = scope["state"]["headers"], scope["state"]["call"]
        key = _key_of(headers.get(b"idempotency-key"))
        with self._admission.enter() as permit:
            body = await read_body(self._settings, headers, receive, permit.reserve)
            request = await decode_request(body, self._settings.max_items_per_request, permit.hold)
            call.items = len(request.items)
            permit.charge(call.items)
            options = asked.beside(request)
            if request.run_id is None and call.run_id:
                options["run_id"] = call.run_id
            if options:
                body = with_options(body, options)
            call.is_of_run(request.run_id, "run_id")
            del request
            submission = await pack(body, call.items, key)
            del body
            job_id = await self._jobs.submit(submission)
        return self._answer(encode(JobAccepted(job_id)), 202, (b"location", f"{ALL}/{job_id}".encode()))

    async def _show(self, scope: Scope, receive: Receive) -> Answer:
        job_id, query = RESOURCE.id_of(scope["path"]), query_of(scope["query_string"], Query, _TAKES)
        async with cancelled_on_disconnect(receive):
            if query.wait_s:
                await self._wait(job_id, query)
            snapshot = await self._jobs.read(job_id, query.after if isinstance(query.after, int) else 0)
        if snapshot is None:
            raise _unknown(job_id)
        return self._answer(_rendered(job_id, snapshot))

    async def _wait(self, job_id: str, query: Query) -> None:
        """Wait until the job has ended, or has more results than the caller has seen, or the time is over."""
        until = asyncio.get_running_loop().time() + min(query.wait_s, MAX_WAIT_S)
        result_count = query.after
        try:
            async with asyncio.timeout_at(until):
                with self._jobs.waiting(job_id, for_news=isinstance(result_count, int)) as rung:
                    while not self._jobs.is_closed:
                        rung.clear()
                        head = await self._jobs.read(job_id, self._settings.max_items_per_request)
                        if (
                            head is None
                            or head.state.is_last
                            or (isinstance(result_count, int) and head.done > result_count)
                        ):
                            return
                        await rung.wait()
        except TimeoutError:
            return

    async def _cancel(self, scope: Scope, receive: Receive) -> Answer:
        job_id = RESOURCE.id_of(scope["path"])
        async with cancelled_on_disconnect(receive):
            state = await self._jobs.cancel(job_id)
        if state is None:
            raise _unknown(job_id)
        return self._answer(encode(JobCancelled(job_id, State.DONE if state is State.DONE else State.CANCELLED)))

    def _answer(self, body: bytes, status: int = 200, *headers: tuple[bytes, bytes]) -> Answer:
        if self._jobs.is_closed:
            # A caller that asks again at once should reach another replica.
            headers = (*headers, (b"connection", b"close"))
        return Answer(body, status, headers)


def _unknown(job_id: str) -> NotFound:
    return NotFound(f"no job {job_id}: there was none, or its time is over")


def _key_of(idempotency_key: bytes | None) -> str:
    """The name under which a submission is known: the idempotency key of its tenant. The keys of other tenants never
    collide with it.

    Raises:
        Unprocessable: the header does not hold a valid key.
    """
    if idempotency_key is None:
        return ""
    if not re.fullmatch(KEY_PATTERN.encode(), idempotency_key):
        message = "expected 1 to 255 printable ASCII characters without a space"
        raise Unprocessable(f"Idempotency-Key: {message}", errors=[FieldError(["idempotency-key"], message)])
    return owned(hashlib.sha256(ANONYMOUS.name.encode() + b"\0" + idempotency_key).hexdigest())


def _rendered(job_id: str, snapshot: Snapshot) -> bytes:
    """Render a `JobView`. Its results are JSON already."""
    head = b'{"job_id":"%s","state":"%s","items":%d,"done":%d,"results":[' % (
        job_id.encode(),
        snapshot.state.encode(),
        snapshot.items,
        snapshot.done,
    )
    return b"".join((head, b",".join(snapshot.lines), b'],"summary":', snapshot.summary or b"null", b"}"))


_ID = parameter(*("id", "path", {"type": "string", "pattern": ID_PATTERN}), example="6d1f0c6a86c34a1e9d3a1f5e0b7c2d48")
_KEY = parameter(
    *("Idempotency-Key", "header", {"type": "string", "pattern": KEY_PATTERN}),
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
            *("POST", ALL, "jobs", "submit_job", "Hand in a batch to be judged in the background"),
            "The body is that of /v1/score and is checked in the same way. Without `deadline_s` the job has the longest there "
            "is; it counts from when the job begins to run.",
            {202: ("Queued, or known already by its idempotency key", JobAccepted)},
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
            *("GET", ONE, "jobs", "show_job", "Its state, and the results that exist"),
            "Results stand in the order in which they came to be; one that has been shown never changes.",
            {200: ("So far", JobView)},
            query=Query,
            parameters=[_ID],
            refusals=_NONE | {422: "The query has a wrong option or value"} | _UNAVAILABLE,
        ),
        Operation(
            *("DELETE", ONE, "jobs", "cancel_job", "Cancel it"),
            "Its results so far are kept for a while. A job that is done is removed.",
            {200: ("Cancelled, or removed", JobCancelled)},
            parameters=[_ID],
            refusals=_NONE | _UNAVAILABLE,
        ),
    )
