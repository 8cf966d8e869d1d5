"""Pages for people: the console at `/`, and the reference of the HTTP API at `/docs`. They call the same routes as
everybody, with the reader's own key.
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from service.doors.http.pages import CONSOLE, REFERENCE

PATH: Final = "/"
FILES: Final = "/console"
"""The path above all other pages, scripts, styles and fonts of the console."""
REFERENCE_PATH: Final = "/docs"
REFERENCE_FILES: Final = "/docs/files"
ALL_FILES: Final = (FILES, REFERENCE_FILES)
"""The paths that need no key, because no page holds a secret."""
LINKED: Final = (PATH, FILES, REFERENCE_PATH)
"""The paths of pages, to which other pages may lead."""
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""A page loads and calls nothing but this service, and no text in it can become a script."""
_HEADER: Final = "<!-- header -->"
"""The place in each page where the header goes."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the console."""

    title: str
    path: str
    file: str


PLAYGROUND: Final = Page("Playground", PATH, "playground.html")
LIVE: Final = Page("Live", f"{FILES}/live", "live.html")
LOG: Final = Page("Log", f"{FILES}/log", "log.html")
DATA_SETS: Final = Page("Data sets", f"{FILES}/data", "data.html")
WATCH: Final = Page("Watch", f"{FILES}/watch", "watch.html")
DIFF: Final = Page("Diff", f"{FILES}/diff", "diff.html")
JUDGES: Final = Page("Judges and boxes", f"{FILES}/judges", "judges.html")
PAGES: Final = (PLAYGROUND, LIVE, LOG, WATCH, DATA_SETS, DIFF, JUDGES)
"""The pages of a service, in the order of the header."""
API: Final = Page("API", REFERENCE_PATH, "")
VIEW_PAGES: Final = (LOG, DATA_SETS, DIFF)
"""The pages of `rewardline view`, which shows files without a service."""
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

    @app.get(REFERENCE_PATH, include_in_schema=False)
    async def reference() -> FileResponse:
        return FileResponse(REFERENCE / "index.html", headers=_REFERENCE_HEADERS)

    app.mount(REFERENCE_FILES, _Files(directory=REFERENCE))


def mount(app: FastAPI, pages: Sequence[Page] = PAGES, others: Sequence[Page] = (API,)) -> None:
    """Add the pages to the application, with their scripts and styles. The header of each leads to all of them, and to
    others that are there.
    """
    for page in pages:
        app.get(page.path, include_in_schema=False)(_answer(page, (*pages, *others)))
    app.mount(FILES, _Files(directory=CONSOLE))


def _answer(page: Page, linked: Sequence[Page]) -> Callable[[], Coroutine[Any, Any, HTMLResponse]]:
    text = (CONSOLE / page.file).read_text().replace(_HEADER, _header(page, linked))

    async def answer() -> HTMLResponse:
        return HTMLResponse(text, headers=_HEADERS)

    return answer


def _header(page: Page, linked: Sequence[Page]) -> str:
    links = " ".join(
        f'<a href="{link.path}"{" aria-current=page" if link is page else ""}>{link.title}</a>' for link in linked
    )
    return (
        f'<header><h1>Rewardline</h1><nav aria-label="Pages">{links}</nav><form id="with-key" hidden>'
        '<label class="key">API key <input id="key" type="password" autocomplete="off"></label></form></header>'
    )


class _Files(StaticFiles):
    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(_HEADERS)
        return response
