"""The documentation site: it is built of the pages and the code, links hold, and nothing comes from another host."""

import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import pytest
import rewardline
from typer.core import TyperGroup
from typer.main import get_command

from deploy import docs_reference, docs_site
from service.cli.main import COMMANDS, application
from service.settings import Settings
from tests.conftest import ROOT, Served

pytestmark = pytest.mark.contract

_LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "object": "data"}
"""Elements that load something, and the attributes that say what."""
_LOADING = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
"""Kinds of `link` that load something."""


class Page(HTMLParser):
    """The links of a page, its anchors, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in _LOADED and _LOADED[tag] in given:
            self.loaded.append(given[_LOADED[tag]])
        if tag == "link" and _LOADING & set(given.get("rel", "").split()):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    docs_site.build(folder / "site", served.url, folder / "work")
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_every_link_and_anchor_of_the_site_holds(site: Path, pages: dict[Path, Page]) -> None:
    assert len(pages) > 80
    assert list(_broken(site, pages)) == []


def _broken(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links begin at the root of a host
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if (
                not target.is_file()
                or not target.is_relative_to(site.resolve())
                or (
                    parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in pages[target].anchors
                )
            ):
                yield f"{path.relative_to(site)}: {link}"


def test_nothing_is_loaded_from_another_host(site: Path, pages: dict[Path, Page]) -> None:
    loaded = [each for page in pages.values() for each in page.loaded]
    assert len(loaded) > len(pages)
    assert [each for each in loaded if urlsplit(each).netloc] == []
    for style in site.rglob("*.css"):
        assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", style.read_text()) == []
    assert 'class="mermaid"' not in "".join(path.read_text() for path in pages)  # its script would come from elsewhere


def test_every_written_page_is_in_the_site(site: Path) -> None:
    written = {path.relative_to(ROOT) for path in ROOT.glob("docs/**/*.md")}
    assert written - {Path(place) for _, section in docs_site.NAV for _, place in section} == set()
    assert [path for path in written if not (site / path).with_suffix(".html").is_file()] == []


def test_every_trainer_with_an_example_has_a_page(site: Path) -> None:
    text = "".join(path.read_text() for path in (site / "client/trainers").glob("*.html"))
    trainers = {path.name for path in (ROOT / "client/examples").iterdir()}
    assert [name for name in trainers if not re.search(rf"examples/{name}[/.]", text)] == []


def test_every_verifier_has_a_page_with_examples_that_ran(served: Served, site: Path) -> None:
    verifiers = httpx.get(f"{served.url}/v1/verifiers").json()["verifiers"]
    pages = {each["name"]: (site / f"verifiers/{each['name']}.html").read_text() for each in verifiers}
    need = {"harbor", "judge", "lean", "repository", "reward_model"} | (
        {"code", "code_quality", "sql", "reasoning_gym"} if _has_no_boxes(served) else set()
    )
    assert {name for name, text in pages.items() if "Not run for this page" in text} <= need
    for each in verifiers:
        assert all(f"<code>{name}</code>" in pages[each["name"]] for name in each["params_schema"]["properties"])


def _has_no_boxes(served: Served) -> bool:
    return "sandbox" in httpx.get(f"{served.url}/readyz").json().get("lacks", {})


def test_an_example_with_another_verdict_than_it_promises_ends_the_build(served: Served) -> None:
    described = httpx.get(f"{served.url}/v1/verifiers/math").json()
    verdicts = [{"status": "ok", "score": 0.5, "reason": "partial"}] * len(described["examples"])
    with pytest.raises(docs_reference.BrokenExample, match="math"):
        docs_reference.verifier_page(described, verdicts)


def test_the_reference_is_whole(served: Served, site: Path) -> None:
    recipes, metrics, http, grpc, client, commands, settings = (
        re.sub(r"<[^>]+>", "", (site / f"reference/{name}.html").read_text())
        for name in ("recipes", "metrics", "http", "grpc", "client", "commands", "settings")
    )
    assert [path for path in httpx.get(f"{served.url}/openapi.json").json()["paths"] if path not in http] == []
    assert http.count("All operations that need a key") == http.count("X-Run-Id") == 1
    assert "X-Tenant" in http
    assert [
        each for each in httpx.get(f"{served.url}/v1/recipes").json()["recipes"] if each["name"] not in recipes
    ] == []
    exposed = httpx.get(f"{served.url}/metrics").text
    assert [
        name for name in re.findall(r"^# HELP (rewardline_\w+?)(?:_created)? ", exposed, re.M) if name not in metrics
    ] == []
    proto = (ROOT / "proto/rewardline/v1/rewardline.proto").read_text()
    assert [name for name in re.findall(r"^(?:message|service|enum) (\w+)", proto, re.M) if name not in grpc] == []
    assert [name for name in rewardline.__all__ if name not in client] == []
    command = get_command(application(*COMMANDS))
    assert isinstance(command, TyperGroup)
    assert [name for name in command.commands if f"rewardline {name}" not in commands] == []
    assert [name for name in Settings.model_fields if name not in settings] == []


def test_a_link_to_nowhere_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.md").write_text("# Start\n\nSee [that](other.md).\n")
    with pytest.raises(docs_site.NotBuilt, match="does not exist"):
        docs_site.render(tmp_path, {"Start": [("Start", "index.md")]})


def test_what_makes_the_site_is_pinned() -> None:
    group = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["docs"]
    pinned = (ROOT / "requirements/docs.txt").read_text()
    assert [each for each in group if not re.search(rf"^{re.split('[>=<]', each)[0]}==", pinned, re.M)] == []
