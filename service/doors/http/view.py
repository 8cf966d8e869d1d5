"""The pages of `rewardline view`: stored results on this machine, without a service.

Only this machine's browser can ask: the address is 127.0.0.1, and a request that names another host, as a page of
another site can cause it (DNS rebinding), is refused.
"""

from collections.abc import Sequence

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware

from service.doors.http import console, problems
from service.doors.routes import log
from service.observe.audit_log.desk import Desk

HOST = "127.0.0.1"


def build_view(desk: Desk, pages: Sequence[console.Page] = console.VIEW_PAGES) -> FastAPI:
    """The application. The first page is at the root, too."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.include_router(log.router(desk))
    console.mount(app, pages, others=())

    @app.get("/")
    async def root() -> RedirectResponse:
        return RedirectResponse(pages[0].path)

    problems.speak(app)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
    return app
