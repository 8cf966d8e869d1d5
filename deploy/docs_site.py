"""Makes the documentation site: `python -m deploy.docs_site [--out FOLDER] [--url SERVICE]`, or `make docs`.

    README.md, docs/, client/README.md, ... ──► copied as they are; the client's sections on trainers become pages
    files that pages link to                ──► a page that shows the file
    a running service, the code, proto/     ──► reference pages (deploy/docs_reference.py)
                                    all of it ──► zensical build --strict ──► .build/site

Sources keep their places, so links of a page hold in the repository and in the site. A broken link or anchor ends the
build. The site loads nothing from another host: no fonts, no scripts; its search is in the browser.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import rewardline

from deploy import docs_reference as reference
from deploy import version
from service.cli.main import COMMANDS, application

ROOT: Final = Path(__file__).parents[1]
SITE: Final = ROOT / ".build" / "site"
_WORK: Final = ROOT / ".build" / "site-work"
_PATIENCE_S: Final = 120

Pages = Sequence[tuple[str, str]]
"""Titles, and where the sources are."""

NAV: Final[Sequence[tuple[str, Pages]]] = (
    (
        "Start",
        (
            ("Rewardline", "README.md"),
            ("First rewards", "docs/start.md"),
            ("Install", "docs/install.md"),
            ("中文", "README.zh.md"),
            ("快速上手", "docs/zh/start.md"),
        ),
    ),
    (
        "Trainers",
        (
            ("All trainers", "client/README.md"),
            ("In a Ray cluster", "docs/ray-online.md"),
            ("Doors for other clients", "docs/doors.md"),
            ("NeMo-Gym's servers by name", "docs/nemo-gym.md"),
            ("In place of SandboxFusion", "docs/sandbox-fusion.md"),
        ),
    ),
    (
        "Verifiers",
        (
            ("What each decides", "docs/verifiers.md"),
            ("Math-Verify", "docs/math-verify.md"),
            ("Proofs in Lean", "docs/lean.md"),
            ("Repository tasks", "docs/repository-tasks.md"),
            ("Harbor tasks", "docs/harbor.md"),
        ),
    ),
    (
        "Recipes",
        (
            ("Recipes", "docs/recipes.md"),
            ("The rewards of trainers", "docs/rewards.md"),
            ("Rewards of whole groups", "docs/groups.md"),
            ("A model that learns", "docs/learning.md"),
        ),
    ),
    ("Data sets", (("Rows of known data sets", "docs/data-sets.md"), ("Audit a data set", "docs/audit.md"))),
    ("Boxes", (("Boxes", "docs/boxes.md"),)),
    ("Judges", (("Judges", "docs/judges.md"), ("Reward models", "docs/reward-models.md"))),
    (
        "Deploy",
        (
            ("Docker and Compose", "docs/deploy-docker.md"),
            ("Kubernetes", "docs/deploy-kubernetes.md"),
            ("Ray", "docs/ray.md"),
        ),
    ),
    (
        "Operate",
        (
            ("Operate", "docs/operate.md"),
            ("Upgrading", "docs/upgrade.md"),
            ("Versions", "docs/versions.md"),
            ("The console", "docs/console.md"),
            ("The watch on rewards", "docs/watch.md"),
            ("Teams and their keys", "docs/tenants.md"),
            ("Runbook", "docs/runbook.md"),
            ("Reliability", "docs/reliability.md"),
            ("Traces", "docs/tracing.md"),
            ("Security", "deploy/SECURITY.md"),
        ),
    ),
    ("Write a verifier", (("Write a verifier", "docs/write-a-verifier.md"),)),
    ("How an answer is found", (("How an answer is found", "docs/answers.md"),)),
    ("Figures", (("Figures", "docs/figures.md"), ("Graders of others", "docs/graders.md"))),
    ("Reference", (("Interactions of several turns", "docs/interactions.md"), ("Jobs", "docs/jobs.md"))),
    (
        "Contribute",
        (
            ("Contribute", "CONTRIBUTING.md"),
            ("Architecture", "docs/architecture.md"),
            ("Changes", "CHANGELOG.md"),
            ("Report a hole", "SECURITY.md"),
            ("Conduct", "CODE_OF_CONDUCT.md"),
        ),
    ),
)
"""The sections of the site, with the pages that are written. Generated ones come after them."""
_TRAINERS: Final = "client/README.md"
_TOLD: Final = re.compile(r"(^```[\s\S]*?^```$|`[^`\n]*`)", re.MULTILINE)
"""Code, in which nothing is a link."""
_LINK: Final = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
_AS_THEY_ARE: Final = frozenset([".html", ".md", ".png", ".svg"])
_LANGUAGES: Final = {".py": "python", ".sh": "sh", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}


class NotBuilt(Exception):
    """The site was not made. The message says why."""


def build(out: Path, url: str, work: Path = _WORK) -> None:
    """Make the site in a folder, with what the service at `url` says. `work` is a folder for its sources.

    Raises:
        NotBuilt: a link leads nowhere, or zensical refuses; its words are the message.
        BrokenExample: an example of a verifier got another verdict than it promises.
    """
    shutil.rmtree(work, ignore_errors=True)
    source = work / "pages"
    pages = {path: (ROOT / path).read_text(encoding="utf-8") for _, section in NAV for _, path in section}
    sections = {title: list(section) for title, section in NAV}
    generated = {
        "Trainers": _trainers(pages),
        "Verifiers": _verifiers(url),
        "Recipes": [("Recipes that ship", "reference/recipes.md", reference.recipes_page(_json(url, "/v1/recipes")))],
        "Operate": [("Metrics", "reference/metrics.md", reference.metrics_page(_asked(url, "/metrics").decode()))],
        "Reference": _reference(url),
    }
    for title, section_pages in generated.items():
        for name, path, text in section_pages:
            pages[path] = text
            sections[title].append((name, path))
    for path, text in (*pages.items(), *_files(pages)):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(_shown_links(path, text, pages), encoding="utf-8")
    for file in (*(ROOT / "docs/images").iterdir(), *(ROOT / "docs").glob("*.html")):
        (source / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, source / file.relative_to(ROOT))
    shutil.rmtree(out, ignore_errors=True)
    shutil.move(render(work, sections), out)


def make(out: Path, url: str | None = None) -> None:
    """Make the site in a folder. Without the `url` of a service, one is started.

    Raises:
        NotBuilt, BrokenExample
    """
    with nullcontext(url) if url else _served() as address:
        build(out, address)


def _trainers(pages: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Cut the sections on trainers out of the client's page, and give each a page of its own."""
    lead, head, body = pages[_TRAINERS].partition("\n### ")
    sections, tail = re.split(r"^(?=## )", head.lstrip("\n") + body, maxsplit=1, flags=re.MULTILINE)
    listed = []
    for section in re.split(r"^### ", sections, flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        path = f"client/trainers/{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')}.md"
        text = _outside_code(text, lambda part: _LINK.sub(r"../\1", part))
        listed.append(f"* [{title}]({Path(path).relative_to('client')})\n")
        yield title, path, f"# {title}\n{text}"
    pages[_TRAINERS] = f"{lead}\n{''.join(listed)}\n{tail}"


def _verifiers(url: str) -> Iterator[tuple[str, str, str]]:
    with rewardline.Client(url) as client:
        for described in _json(url, "/v1/verifiers")["verifiers"]:
            results = client.score(reference.example_items(described), deadline_s=_PATIENCE_S)
            verdicts = [{"status": result.status, "score": result.score, "reason": result.reason} for result in results]
            yield described["name"], f"verifiers/{described['name']}.md", reference.verifier_page(described, verdicts)


def _reference(url: str) -> Iterator[tuple[str, str, str]]:
    proto = (ROOT / "proto/rewardline/v1/rewardline.proto").read_text(encoding="utf-8")
    settings = (ROOT / "service/settings.py").read_text(encoding="utf-8")
    yield "HTTP", "reference/http.md", reference.http_page(_json(url, "/openapi.json"))
    yield "gRPC", "reference/grpc.md", reference.grpc_page(proto)
    yield "Python client", "reference/client.md", reference.client_page(rewardline)
    yield "Commands", "reference/commands.md", reference.command_page(application(*COMMANDS))
    yield "Settings", "reference/settings.md", reference.settings_page(settings)


def _json(url: str, path: str) -> Any:
    return json.loads(_asked(url, path))


def _asked(url: str, path: str) -> bytes:
    address = urlsplit(url)
    with closing(HTTPConnection(address.hostname or "", address.port, timeout=_PATIENCE_S)) as connection:
        connection.request("GET", path)
        return connection.getresponse().read()


def _files(pages: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Pages that show the files and folders which other pages link to."""
    targets = {target for source, text in pages.items() for target in _targets(source, text)}
    for target in sorted(targets - pages.keys()):
        path = ROOT / target
        if not path.exists():
            continue  # --strict tells the link
        if path.suffix in _AS_THEY_ARE:
            continue
        files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        visible = [file for file in files if "__pycache__" not in file.parts]
        blocks = (f"## {file.relative_to(ROOT)}\n\n{_file(file)}" for file in visible)
        yield f"{target}.md", f"# {target}\n\n" + "\n\n".join(blocks) + "\n"


def _file(path: Path) -> str:
    text = path.read_text(encoding="utf-8").rstrip("\n")
    return f"````{_LANGUAGES.get(path.suffix, 'text')}\n{text}\n````"


def _targets(source: str, text: str) -> Iterator[str]:
    for part in _TOLD.split(text)[::2]:
        for target in _LINK.findall(part):
            if "://" not in target and not target.startswith("mailto:"):
                yield _resolved(source, target)


def _resolved(source: str, target: str) -> str:
    return str((ROOT / source).parent.joinpath(target).resolve().relative_to(ROOT))


def _shown_links(source: str, text: str, pages: Mapping[str, str]) -> str:
    """The text with links to files replaced by links to the pages that show them."""

    def shown(match: re.Match[str]) -> str:
        target = match[1]
        if "://" in target or target.startswith("mailto:"):
            return target
        path = _resolved(source, target)
        is_shown = path not in pages and Path(path).suffix not in _AS_THEY_ARE and (ROOT / path).exists()
        return f"{target.rstrip('/')}.md" if is_shown else target

    return _outside_code(text, lambda part: _LINK.sub(shown, part))


def _outside_code(text: str, change: Any) -> str:
    pieces = _TOLD.split(text)
    return "".join(change(part) if index % 2 == 0 else part for index, part in enumerate(pieces))


def render(work: Path, sections: Mapping[str, Pages]) -> Path:
    """Have zensical make the site of the pages in `work/pages`.

    Returns:
        The folder of the site.

    Raises:
        NotBuilt: a link leads nowhere, or zensical refuses.
    """
    (work / "mkdocs.yml").write_text(json.dumps(_config(sections), ensure_ascii=False), encoding="utf-8")
    command = (sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", "mkdocs.yml")
    process = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=_PATIENCE_S)  # noqa: S603 - all of it is ours
    if process.returncode:
        raise NotBuilt((process.stdout + process.stderr).strip()[-6000:])
    return work / "site"


def _config(sections: Mapping[str, Pages]) -> dict[str, Any]:
    """The configuration, as JSON, which is YAML."""
    return {
        "site_name": f"Rewardline {version.version()}",
        "docs_dir": "pages",
        "site_dir": "site",
        "use_directory_urls": False,
        "nav": [{title: [{name: path} for name, path in pages]} for title, pages in sections.items()],
        "theme": {
            "font": False,
            "features": ["content.code.copy", "navigation.top", "search.highlight"],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default"},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
            ],
        },
        "plugins": ["search"],
        "extra": {"generator": False},
        "markdown_extensions": [
            "tables",
            "attr_list",
            {"toc": {"permalink": True}},
            "pymdownx.highlight",
            "pymdownx.superfences",
            "pymdownx.betterem",
        ],
    }


@contextmanager
def _served() -> Iterator[str]:
    """The address of a service that runs while the block does."""
    command = (sys.executable, "-m", "service", "serve", "--http-port", "0", "--grpc-port", "0")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:  # noqa: S603 - all of it is ours
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            match = re.search(r"HTTP on (\S+) and", line)
            if match is None:
                raise NotBuilt(f"the service did not start: {line!r}; `rewardline serve` says why")
            deadline = time.monotonic() + _PATIENCE_S
            while _json(match[1], "/readyz")["status"] != "ready" and time.monotonic() < deadline:
                time.sleep(0.1)
            yield match[1]
        finally:
            process.terminate()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Make the documentation site.")
    parser.add_argument("--out", type=Path, default=SITE, help="the folder of the site; default: .build/site")
    parser.add_argument("--url", help="a running service; default: one is started")
    options = parser.parse_args(arguments)
    try:
        make(options.out, options.url)
    except (NotBuilt, reference.BrokenExample) as error:
        sys.exit(f"the site was not made: {error}")
    sys.stdout.write(f"{options.out / 'index.html'}; with search: python3 -m http.server -d {options.out}\n")


if __name__ == "__main__":
    main()
