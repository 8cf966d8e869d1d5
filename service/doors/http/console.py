"""The console: pages for people, at `/`. They call the same routes as everybody, with the reader's own key."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from service.doors.http.pages import CONSOLE

PATH: Final = "/"
FILES: Final = "/console"
"""The path above all other pages, scripts, styles and fonts."""
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
LOG: Final = Page("Log", f"{FILES}/log", "log.html")
PAGES: Final = (PLAYGROUND, LOG)
"""The pages of a service, in the order of the header."""
API: Final = Page("API", "/docs", "")
VIEW_PAGES: Final = (LOG,)
"""The pages of `rewardline view`, which shows files without a service."""


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
        f'<a href="{each.path}"{" aria-current=page" if each is page else ""}>{each.title}</a>' for each in linked
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
