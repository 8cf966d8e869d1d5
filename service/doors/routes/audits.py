"""The HTTP routes of audits of data sets: parse ► run ► render.

GET    /v1/audits               200 those that are kept, and what files are taken
POST   /v1/audits               202 begun; the body is the file, or names one that the service may read
GET    /v1/audits/{id}          200 progress and findings so far; 304 if nothing has changed
DELETE /v1/audits/{id}          200 cancelled; what has ended is forgotten
GET    /v1/audits/{id}/report   200 one HTML file
GET    /v1/audits/{id}/fixes    200 a line for each part of a row that has a plainer value

Callers poll with the ETag of the last answer. A stream of events would hold a connection open for as long as an audit
takes, which proxies cut and a draining service must wait for; a poll each second costs less than a row.
"""

import asyncio
import contextlib
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from starlette.types import Receive, Scope

from service.dataset_audit.fixes import advice
from service.dataset_audit.page import html
from service.dataset_audit.report import EARNED, Example, Kind, Report, Severity
from service.dataset_audit.rows import Columns
from service.dataset_audit.running import Audit, Audits, State
from service.doors.asgi.request_body import read_body
from service.doors.asgi.spooling import no_room, spool
from service.doors.routes.resource import Answer, Resource, ResourceDoor, query_of
from service.errors import FieldError, NotFound, Unprocessable, UnsupportedMedia
from service.limits.admission import Admission
from service.row_files.reading import NO_PYARROW, DataFile, has_parquet
from service.scoring.engine import Engine
from service.settings import Settings
from service.wire import NDJSON, encode, parse
from verifiers.near_names import near

ALL: Final = "/v1/audits"
ONE: Final = f"{ALL}/{{id}}"
REPORT: Final = f"{ONE}/report"
FIXES: Final = f"{ONE}/fixes"
ROUTES: Final = (ALL, ONE, REPORT, FIXES)
ID_PATTERN: Final = r"^[0-9a-f]{32}$"
RESOURCE: Final = Resource("audit", ALL, re.compile(rf"{ALL}/(?P<id>[^/]*)(/(report|fixes))?", re.DOTALL), ID_PATTERN)
PARQUET: Final = "application/vnd.apache.parquet"
FILE_TYPES: Final = (NDJSON, PARQUET)
_FILE_TYPES: Final = frozenset({*FILE_TYPES, "application/jsonl", "application/octet-stream"})
"""A file says by its first bytes whether it is Parquet."""
MOST_ROWS: Final = 10**9
_HTML: Final = b"text/html; charset=utf-8"
REPORT_HEADERS: Final = (
    (b"content-disposition", b'attachment; filename="audit.html"'),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'"),
    (b"x-content-type-options", b"nosniff"),
)

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]


class AuditOptions(msgspec.Struct, forbid_unknown_fields=True):
    """What the columns of a data set are for, and how its rows are judged. What is not given is guessed, or said by the
    rows.
    """

    verifier: Name | None = None
    """Judges every row."""
    recipe: Name | None = None
    """Judges every row."""
    reference: Name | None = None
    """The column of the reference; `a.b` is the part b of column a, and `.` the whole row."""
    solution: Name | None = None
    """The column of a right response, which must earn 1."""
    prompt: Name | None = None
    """The column of the prompt, for verifiers that read it."""
    params: Name | None = None
    """The column of the verifier's parameters."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)] | None = None
    """The most rows that are read."""
    name: Name | None = None
    """The name of the file, to be shown."""

    def columns(self) -> Columns:
        return Columns(self.reference, self.solution, self.prompt, self.params, self.recipe, self.verifier)


class PathRequest(AuditOptions, kw_only=True, forbid_unknown_fields=True):
    """Names a file that the service may read."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    """Below the folder of the setting `dataset_root`."""


class AuditBegun(msgspec.Struct):
    """The answer to a POST."""

    audit_id: str


class AuditEnded(msgspec.Struct):
    """The answer to a DELETE, with the state that the audit has, or had when it was forgotten."""

    audit_id: str
    state: State


class AuditHead(msgspec.Struct):
    """An audit in the list."""

    audit_id: str
    name: str
    state: State
    rows: int
    bad_rows: int


class AuditList(msgspec.Struct):
    """The audits of this replica that are kept, the newest first, and what may be sent."""

    audits: list[AuditHead]
    max_mb: float
    """The largest file."""
    takes_paths: bool
    """Whether a file may be named instead of sent."""
    takes_parquet: bool
    takes_files: bool = True
    """Whether audits can be begun here. `rewardline view` only shows those that are stored."""


class FixView(msgspec.Struct):
    """A plainer value for a part of a row."""

    row: int
    path: list[str]
    """The columns that lead to the part."""
    value: Any


class ExampleView(msgspec.Struct):
    """A row with a finding."""

    row: int
    """The number of its line from 1."""
    id: str | None
    check: str | None
    message: str
    told: dict[str, Any]
    """The row's labels and reference; long texts are cut."""
    item: dict[str, Any] | None
    """An item for /v1/score that shows it. Null: there is none, or it is long."""
    fix: FixView | None


class KindView(msgspec.Struct):
    """All findings of a verifier and a reason, with some of their rows."""

    verifier: str | None
    reason: str
    severity: Severity
    rows: int
    advice: str
    examples: list[ExampleView]


class EarnedView(msgspec.Struct):
    """Right responses that earn scores up to `up_to`, and more than those of the bin before."""

    up_to: str
    responses: int


class AuditView(msgspec.Struct):
    """An audit so far."""

    audit_id: str
    name: str
    state: State
    problem: str
    """Why it did not come to its end. Empty: it did, or will."""
    rows: int
    total_rows: int | None
    """Null: not known. Then `fraction` goes by bytes."""
    fraction: float
    """The part of the file that has been read."""
    elapsed_s: float
    rows_per_s: float
    bad_rows: int
    checks: int
    own_answers: int
    """Checks for which a right response was at hand."""
    unjudged: int
    """Checks that the service could not judge. They say nothing about the rows."""
    unjudged_reasons: dict[str, int]
    recipes: dict[str, int]
    references: dict[str, int]
    """References of mathematics by their kind."""
    earned: list[EarnedView]
    """What right responses earn: the rows' own solutions, and answers made of their references."""
    kinds: list[KindView]
    """The worst first. Hints come last, and are not findings."""
    fixes: int
    """Parts of rows with a plainer value."""


_path_decoder = msgspec.json.Decoder(PathRequest)


class AuditsDoor(ResourceDoor):
    """The routes as an ASGI application."""

    def __init__(self, settings: Settings, engine: Engine, admission: Admission, audits: Audits) -> None:
        super().__init__(
            RESOURCE,
            {
                ALL: {"GET": self._list, "POST": self._begin},
                ONE: {"GET": self._show, "DELETE": self._cancel},
                REPORT: {"GET": self._report},
                FIXES: {"GET": self._fixes},
            },
        )
        self._settings = settings
        self._engine = engine
        self._admission = admission
        self._audits = audits

    async def _list(self, scope: Scope, receive: Receive) -> Answer:
        heads = [
            AuditHead(audit.id, audit.name, audit.state, audit.report.rows, audit.report.bad_rows)
            for audit in self._audits.all()
        ]
        root = self._settings.dataset_root
        return Answer(encode(AuditList(heads, self._settings.max_dataset_mb, root is not None, has_parquet())))

    async def _begin(self, scope: Scope, receive: Receive) -> Answer:
        headers = scope["state"]["headers"]
        media = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        with self._admission.enter(), self._audits.arriving():
            if media == "application/json":
                audit = await self._begin_path(headers, receive)
            elif media in _FILE_TYPES:
                audit = await self._begin_upload(scope, media, receive)
            else:
                raise UnsupportedMedia(
                    f"Content-Type {media[:60]!r}; send the file with {NDJSON} or {PARQUET} (curl --data-binary @FILE), "
                    'or name one with application/json and {"path": ...}'
                )
        body = encode(AuditBegun(audit.id))
        return Answer(body, 202, ((b"location", f"{ALL}/{audit.id}".encode()),))

    async def _begin_path(self, headers: Mapping[bytes, bytes], receive: Receive) -> Audit:
        with self._admission.permit() as permit:
            body = await read_body(self._settings, headers, receive, permit.reserve)
        request = parse(_path_decoder, body, [])
        self._check(request)
        path = await asyncio.to_thread(_below, self._settings.dataset_root, request.path)
        return self._audits.begin(request.name or path.name, DataFile(path), request.columns(), request.limit)

    async def _begin_upload(self, scope: Scope, media: str, receive: Receive) -> Audit:
        options = query_of(scope["query_string"], AuditOptions, ", ".join(AuditOptions.__struct_fields__))
        self._check(options)
        if media == PARQUET and not has_parquet():
            raise Unprocessable(f"{NO_PYARROW}, or send JSON lines")
        try:
            spooled = tempfile.NamedTemporaryFile(prefix="rewardline-audit-")  # noqa: SIM115 - its audit closes it
        except OSError as error:
            raise no_room(error) from error
        try:
            await spool(
                scope["state"]["headers"],
                receive,
                spooled,
                max_bytes=int(self._settings.max_dataset_mb * 1_000_000),
                part_timeout_s=self._settings.body_timeout_s,
            )
            file = DataFile(Path(spooled.name))
            return self._audits.begin(options.name or "data set", file, options.columns(), options.limit, spooled)
        except BaseException:
            with contextlib.suppress(OSError):  # what could not be written is tried once more
                spooled.close()
            raise

    def _check(self, options: AuditOptions) -> None:
        """Check that the named verifier or recipe exists.

        Raises:
            Unprocessable
        """
        if options.verifier and options.recipe:
            raise Unprocessable("name a verifier or a recipe, not both")
        for kind, name, names in (
            ("verifier", options.verifier, self._engine.registry),
            ("recipe", options.recipe, self._engine.book.recipes),
        ):
            if name is not None and name not in names:
                message = f"no {kind} {name!r}{near(name, names) or f'; GET /v1/{kind}s lists them'}"
                raise Unprocessable(message, errors=[FieldError([kind], message)])

    async def _show(self, scope: Scope, receive: Receive) -> Answer:
        audit = self._found(scope)
        tag = b'"%d"' % audit.version
        if scope["state"]["headers"].get(b"if-none-match") == tag:
            return Answer(b"", 304, ((b"etag", tag),))
        view = self._view(audit)
        report = audit.report.copy()
        return Answer(await asyncio.to_thread(rendered, view, report), 200, ((b"etag", tag),))

    async def _cancel(self, scope: Scope, receive: Receive) -> Answer:
        audit = self._found(scope)
        await self._audits.cancel(audit)
        return Answer(encode(AuditEnded(audit.id, audit.state)))

    async def _report(self, scope: Scope, receive: Receive) -> Answer:
        audit = self._found(scope)
        states = {State.DONE: "", State.RUNNING: "The audit is not finished."}
        state = states.get(audit.state, f"Not the whole data set: {audit.problem}.")
        page = await asyncio.to_thread(html, audit.name, audit.report.copy(), state=state)
        return Answer(page.encode(), 200, REPORT_HEADERS, _HTML)

    async def _fixes(self, scope: Scope, receive: Receive) -> Answer:
        audit = self._found(scope)
        lines = await asyncio.to_thread(fix_lines, audit.report.copy())
        return Answer(lines, media=NDJSON.encode())

    def _found(self, scope: Scope) -> Audit:
        audit_id = RESOURCE.id_of(scope["path"])
        audit = self._audits.find(audit_id)
        if audit is None:
            raise NotFound(f"no audit {audit_id} on this replica: there was none, or its hour is over; begin it again")
        return audit

    def _view(self, audit: Audit) -> AuditView:
        report, file = audit.report, audit.file
        seconds = self._audits.seconds(audit)
        view = view_of(audit.id, audit.name, report)
        view.state, view.problem = audit.state, audit.problem
        view.total_rows = file.total_rows
        if audit.state is not State.DONE:
            view.fraction = min(1.0, file.position / max(1, file.size))
        view.elapsed_s = round(seconds, 3)
        view.rows_per_s = round(report.rows / max(seconds, 1e-3), 1)
        return view


def view_of(audit_id: str, name: str, report: Report) -> AuditView:
    """An audit that is done, without its kinds."""
    return AuditView(
        audit_id=audit_id,
        name=name,
        state=State.DONE,
        problem="",
        rows=report.rows,
        total_rows=None,
        fraction=1.0,
        elapsed_s=0.0,
        rows_per_s=0.0,
        bad_rows=report.bad_rows,
        checks=report.checks,
        own_answers=report.own_answers,
        unjudged=report.unjudged,
        unjudged_reasons=dict(report.unjudged_reasons),
        recipes=dict(report.recipes),
        references=dict(report.references),
        earned=[EarnedView(*earned) for earned in zip(EARNED, report.earned, strict=True)],
        kinds=[],
        fixes=report.fixes_found,
    )


def rendered(view: AuditView, report: Report) -> bytes:
    """The view with its kinds, as JSON."""
    view.kinds = [_kind(kind) for kind in report.worst_first()]
    return encode(view)


def _kind(kind: Kind) -> KindView:
    examples = [_example(example) for example in kind.examples]
    return KindView(kind.verifier, kind.reason, kind.severity, kind.rows, advice(kind.reason), examples)


def _example(example: Example) -> ExampleView:
    finding, fix = example.finding, example.fix
    view = None if fix is None else FixView(fix.row, list(fix.path), fix.value)
    return ExampleView(finding.row, finding.id, finding.check, finding.message, finding.told, example.item, view)


def fix_lines(report: Report) -> bytes:
    """A line for each fix."""
    return b"".join(encode(FixView(fix.row, list(fix.path), fix.value)) + b"\n" for fix in report.fixes)


def _below(root: Path | None, path: str) -> Path:
    """The file at a path below a folder.

    Raises:
        Unprocessable: no folder is open to callers, or the path leads out of it.
        NotFound
    """
    if root is None:
        raise Unprocessable(
            "the service reads no files by their paths (setting dataset_root); send the file as the body"
        )
    problem = f"path {path[:200]!r} leads out of the folder of data sets; give a path below it, without `..`"
    if "\0" in path or Path(path).is_absolute() or ".." in Path(path).parts:
        raise Unprocessable(problem, errors=[FieldError(["path"], problem)])
    try:
        top = root.resolve(strict=True)
        target = (top / path).resolve()
        if not target.is_relative_to(top):
            raise Unprocessable(problem, errors=[FieldError(["path"], problem)])
        is_there = target.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise NotFound(f"no file {path[:200]!r} among the data sets") from error
    if not is_there:
        raise NotFound(f"no file {path[:200]!r} among the data sets")
    return target
