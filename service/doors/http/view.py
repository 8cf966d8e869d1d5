"""The pages of `rewardline view`: stored results on this machine, without a service.

Only this machine's browser can ask: the address is 127.0.0.1, and pages of others are kept out (`page_guard`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import RedirectResponse

from service.doors.http import console, problems
from service.doors.http.page_guard import GuardedFromPages, PageGuard
from service.doors.routes import log, stored_audits
from service.doors.routes.log_asking import AskedLog
from service.observe.audit_log.corrections import Corrections
from service.observe.audit_log.desk import Desk

HOST = "127.0.0.1"


def build_view(
    desk: Desk, reports: Callable[[], Sequence[Path]], first: console.Page, corrections: Corrections | None
) -> FastAPI:
    """The application. `reports` gives the files with reports of audits. The first page is at the root, too."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.include_router(log.router(AskedLog(desk), corrections))
    app.include_router(stored_audits.router(reports))
    console.mount(app, console.VIEW_PAGES, others=())

    @app.get("/")
    async def root() -> RedirectResponse:
        return RedirectResponse(first.path)

    problems.speak(app)
    app.add_middleware(GuardedFromPages, guard=PageGuard(linked=console.LINKED))
    return app
