"""The console: pages for people, at `/`. They call the same routes as everybody, with the reader's own key."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from service.doors.http.pages import CONSOLE

PATH: Final = "/"
FILES: Final = "/console"
"""The path above all scripts, styles and fonts of the pages."""
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""A page loads and calls nothing but this service, and no text in it can become a script."""


def mount(app: FastAPI) -> None:
    """Add the pages to the application."""

    @app.get(PATH, include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(CONSOLE / "index.html", headers=_HEADERS)

    app.mount(FILES, _Files(directory=CONSOLE))


class _Files(StaticFiles):
    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(_HEADERS)
        return response
