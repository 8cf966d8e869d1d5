"""Pages for people: the console at `/`, and the reference of the HTTP API at `/docs`. They call the same routes as
everybody, with the reader's own key.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from service.doors.http.pages import CONSOLE, REFERENCE

PATH: Final = "/"
FILES: Final = "/console"
REFERENCE_PATH: Final = "/docs"
REFERENCE_FILES: Final = "/docs/files"
ALL_FILES: Final = (FILES, REFERENCE_FILES)
"""The paths above all scripts, styles and fonts of the pages."""
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""A page loads and calls nothing but this service, and no text in it can become a script."""
_REFERENCE_HEADERS: Final = _HEADERS | {
    "Content-Security-Policy": _HEADERS["Content-Security-Policy"]
    .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
    .replace("img-src 'self'", "img-src 'self' data:")
}
"""The component that shows the reference writes styles and an icon into its elements. Like all styles and pictures here,
they load nothing from elsewhere.
"""


def mount_reference(app: FastAPI) -> None:
    """Add the reference, where everything in the application's OpenAPI document can be tried."""
    _mount(app, REFERENCE_PATH, REFERENCE_FILES, REFERENCE, _REFERENCE_HEADERS)


def mount(app: FastAPI) -> None:
    """Add the console to the application."""
    _mount(app, PATH, FILES, CONSOLE, _HEADERS)


def _mount(app: FastAPI, path: str, files: str, folder: Path, headers: Mapping[str, str]) -> None:
    @app.get(path, include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(folder / "index.html", headers=headers)

    app.mount(files, _Files(directory=folder))


class _Files(StaticFiles):
    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(_HEADERS)
        return response
