"""The routes of audits over stored reports, for `rewardline view`: what `rewardline audit FILE -o REPORT.json` wrote."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Response

from service.dataset_audit.page import html
from service.dataset_audit.report import NoReport, Report
from service.dataset_audit.running import State
from service.doors.routes.audits import (
    ALL,
    FIXES,
    ONE,
    REPORT,
    REPORT_HEADERS,
    AuditHead,
    AuditList,
    fix_lines,
    rendered,
    view_of,
)
from service.errors import NotFound
from service.wire import NDJSON, encode

MAX_BYTES = 256_000_000
_JSON = "application/json"


def load(path: Path) -> Report:
    """The report in a file.

    Raises:
        NoReport: the file cannot be read, or holds something else. The message says why.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise NoReport(f"{path} has more than {MAX_BYTES / 1e6:.0f} MB")
        content: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise NoReport(f"{path}: {error}") from error
    return Report.of(content)


def router(find: Callable[[], Sequence[Path]]) -> APIRouter:
    """The routes. `find` gives the files with reports; it is called for each request anew."""
    routes = APIRouter()

    def stored() -> Mapping[str, Path]:
        return {_id(path): path for path in find()}

    def found(audit_id: str) -> tuple[Path, Report]:
        path = stored().get(audit_id)
        if path is None:
            raise NotFound("no such report; the list has all that are there")
        try:
            return path, load(path)
        except NoReport as error:
            raise NotFound(str(error)) from error

    @routes.get(ALL)
    def audits() -> Response:
        heads = []
        for audit_id, path in stored().items():
            try:
                report = load(path)
            except NoReport:
                continue
            heads.append(AuditHead(audit_id, path.stem, State.DONE, report.rows, report.bad_rows))
        return Response(encode(AuditList(heads, 0, False, False, takes_files=False)), media_type=_JSON)

    @routes.get(ONE)
    def audit(id: str) -> Response:
        path, report = found(id)
        return Response(rendered(view_of(id, path.stem, report), report), media_type=_JSON)

    @routes.get(REPORT)
    def page(id: str) -> Response:
        path, report = found(id)
        headers = {name.decode(): value.decode() for name, value in REPORT_HEADERS}
        return Response(html(path.stem, report), media_type="text/html", headers=headers)

    @routes.get(FIXES)
    def fixes(id: str) -> Response:
        return Response(fix_lines(found(id)[1]), media_type=NDJSON)

    return routes


def _id(path: Path) -> str:
    return hashlib.blake2b(bytes(path.resolve()), digest_size=16).hexdigest()
