"""Pages in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page

from tests.waiting import PATIENCE_S


class Opened:
    """A page with everything that the browser complained of."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.goto(url)


@contextmanager
def window(browser: Browser, scheme: Any, width: int) -> Iterator[BrowserContext]:
    """A window of this width, in light or dark colours."""
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        context.set_default_timeout(PATIENCE_S * 1000)
        yield context


def check_accessible(opened: Opened, width: int) -> None:
    """Axe finds no fault with a page, and the page is no wider than its window."""
    violations = Axe().run(opened.page).response["violations"]
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in violations] == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
