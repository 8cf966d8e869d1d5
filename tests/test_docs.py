"""The pages of the documentation lead to each other, and the README stays short."""

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = sorted(
    page
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/*.md"), *ROOT.glob("client/*.md"))
)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```[\s\S]*?^```$|^    .*$|`[^`\n]*`", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target in links(page):
        file, _, anchor = target.partition("#")
        found = (page.parent / file).resolve() if file else page
        assert found.exists(), f"{page}: {target}"
        if anchor:
            assert anchor in anchors(found), f"{page}: {target}"


def test_the_readme_leads_to_every_page() -> None:
    assert pages_from(ROOT / "README.md") >= set(ROOT.glob("docs/**/*.md"))


def test_the_readme_is_read_in_a_few_minutes() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


@pytest.mark.parametrize(
    ("original", "translated"), [("README.md", "README.zh.md"), ("docs/start.md", "docs/zh/start.md")]
)
def test_a_translation_has_the_same_blocks_headings_and_links(original: str, translated: str) -> None:
    pages = [ROOT / original, ROOT / translated]
    one, other = (re.findall(r"^```[\s\S]*?^```$", page.read_text(), re.MULTILINE) for page in pages)
    assert one == other
    one, other = (re.findall(r"^(#+) ", page.read_text(), re.MULTILINE) for page in pages)
    assert one == other
    one, other = (sorted(_led_to(page) - set(pages)) for page in pages)
    assert one == other
    for page, opposite in (pages, pages[::-1]):
        assert opposite in pages_from(page)


def _led_to(page: Path) -> set[Path]:
    """Where the links of a page lead; a translated page counts as its original."""
    found = ((page.parent / target.partition("#")[0]).resolve() for target in links(page))
    return {Path(str(path).replace("/zh/", "/").replace(".zh.md", ".md")) for path in found}


def links(page: Path) -> list[str]:
    """The targets of a page's links within the repository."""
    found = _LINK.findall(_BLOCK.sub("", page.read_text()))
    return [target for target in found if not target.startswith(("http:", "https:", "mailto:"))]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = _HEADING.findall(page.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def pages_from(start: Path) -> set[Path]:
    """The pages that links lead to, from a page on."""
    found, waiting = {start}, [start]
    while waiting:
        page = waiting.pop()
        for target in links(page):
            file = (page.parent / target.partition("#")[0]).resolve()
            if file.suffix == ".md" and file.exists() and file not in found:
                found.add(file)
                waiting.append(file)
    return found
