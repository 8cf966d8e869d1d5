"""Every block of code in the documentation is tried: shell against a running service, Python too where it can be, and data
is parsed. What cannot run here says why, in a comment above the block, with a reason of `NOT_RUN`.
"""

import ast
import asyncio
import builtins
import inspect
import json
import os
import re
import shutil
import subprocess
import symtable
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
import rewardline
import yaml
from rewardline import Client

from tests.conftest import ROOT, Served
from tests.test_docs import PAGES
from tests.waiting import PATIENCE_S

NOT_RUN = {
    "starts the service": "the fixture `served` starts it",
    "takes minutes": "CI runs `make test`; tests/deploy/test_release.py makes a release",
    "installs packages": "tests/deploy/test_wheels.py installs them into empty environments",
    "needs a trainer": "tests/e2e runs real trainers",
    "needs Docker": "tests/deploy/test_images.py and test_compose.py",
    "needs an image of a task": "tests/verifiers/repository judges such items",
    "needs Ray": "tests/e2e/test_ray_online.py",
    "needs Lean": "tests/verifiers/lean tries a stand-in of Lean's loop",
    "needs a cluster": "tests/deploy/test_kubernetes.py and test_helm.py render and check the objects; tests/e2e/test_ray.py",
    "shows a page until Ctrl-C": "tests/service/cli/test_view.py opens it",
    "needs an audit log": "tests/service/doors/routes/test_log.py",
    "needs a judge model": "tests/service/doors/compat tests this door with a real model",
}
"""The reasons for which a block is not run, and what tests its subject instead."""
LANGUAGES = {"sh", "python", "json", "yaml", "toml", "text"}
ELSEWHERE = {"openenv", "ray"}
"""Packages of others that blocks import and that are not installed here."""
_FENCE = re.compile(r"(?:^ *<!-- not run: (.+) -->\n)?^( *)```(\w*)\n([\s\S]*?)^ *```$", re.MULTILINE)
_SERVICE = re.compile(r"(?:http://)?(?:127\.0\.0\.1|localhost|verifier):8080\b")
_CLIENT = ROOT / "client" / "rewardline"


@dataclass(frozen=True)
class Block:
    """A block of code in a page."""

    page: Path
    line: int
    language: str
    text: str
    not_run: str | None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    """All blocks in these languages. A translated page has the same blocks, which count once."""
    found = {block.text: block for page in reversed(PAGES) for block in blocks_of(page) if block.language in languages}
    assert found
    return sorted(found.values(), key=str)


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in _FENCE.finditer(text):
        line = 1 + text.count("\n", 0, found.start())
        code = re.sub(f"^{found[2]}", "", found[4], flags=re.MULTILINE)
        yield Block(page, line, found[3], code, found[1])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_says_its_language_and_why_it_is_not_run(page: Path) -> None:
    found = list(blocks_of(page))
    assert [str(block) for block in found if block.language not in LANGUAGES] == []
    assert [str(block) for block in found if block.not_run is not None and block.not_run not in NOT_RUN] == []
    assert page.read_text().count("<!-- not run:") == sum(block.not_run is not None for block in found)
    prose = _FENCE.sub("", page.read_text())
    assert re.findall(r"```", prose) == []
    paragraphs = re.split(r"\n{2,}", prose)
    assert [each for each in paragraphs if each.startswith("    ") and not _in_list(paragraphs, each)] == []


def _in_list(paragraphs: list[str], paragraph: str) -> bool:
    before = paragraphs[: paragraphs.index(paragraph)]
    beginning = next((each for each in reversed(before) if not each.startswith("    ")), "")
    return re.search(r"^(\*|\d+\.) ", beginning, re.MULTILINE) is not None


def test_every_reason_is_needed() -> None:
    assert {block.not_run for block in blocks(*LANGUAGES)} - {None} == NOT_RUN.keys()


def _shell() -> Iterator[Any]:
    """What is run by a shell. A start of our command takes seconds, so in the quick lane it is started for README alone."""
    for each in blocks("sh"):
        if each.not_run is None:
            is_slow = "rewardline " in each.text and each.page.name != "README.md"
            yield pytest.param(each, marks=[pytest.mark.contract] if is_slow else [], id=str(each))


@pytest.mark.parametrize("block", list(_shell()))
def test_commands_do_what_they_are_shown_to_do(block: Block, served: Served, tmp_path: Path) -> None:
    """The commands end with 0, and the service answers none of them with an error."""
    _furnish(tmp_path)
    paths = f"{tmp_path / '.venv/bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", _SERVICE.sub(served.url, block.text)],
        cwd=tmp_path,
        env={**os.environ, "PATH": paths, "CURL_HOME": str(tmp_path), "REWARDLINE_SANDBOX": "none"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, f"{block}: {done.stdout}{done.stderr}"
    assert done.stdout
    for line in done.stdout.splitlines():
        if line.startswith('{"results":[{'):
            assert {result["status"] for result in json.loads(line)["results"]} <= _promised(block)


def _promised(block: Block) -> set[str]:
    """`invalid` only where the page shows it, and never `failed`."""
    return {"ok", "invalid"} if '"maths"' in block.text else {"ok"}


def _furnish(folder: Path) -> None:
    """The command `rewardline`, and the files that pages speak of as the reader's own."""
    programs = folder / ".venv/bin"
    programs.mkdir(parents=True)
    (programs / "rewardline").write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT}:{ROOT / "client"} exec {sys.executable} -m service "$@"\n'
    )
    (programs / "rewardline").chmod(0o755)
    (folder / ".curlrc").write_text("fail-with-body\n")
    row = {"verifier": "math", "response": "<think>2 + 2</think> \\boxed{4}", "reference": "4"}
    (folder / "rollouts.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "batch.json").write_text(json.dumps({"items": [row]}))
    (folder / "data.jsonl").write_text(json.dumps({"prompt": "2 + 2?", "reference": "4"}) + "\n")
    shutil.copytree(ROOT / "examples", folder / "examples")


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_compiles_finds_what_it_imports_and_runs_where_it_can(block: Block, served: Served) -> None:
    text = _SERVICE.sub(served.url, block.text)
    code = compile(text, str(block), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert [name for name in _named(ast.parse(block.text)) if not _is_there(name)] == []
    with Client(served.url) as client:
        offered = _offered(client)
        if _needs_no_trainer(block, offered):
            _run(code, offered)


def test_blocks_of_the_client_are_run() -> None:
    run = [block for block in blocks("python") if _needs_no_trainer(block, _offered(None))]
    assert {block.page.relative_to(ROOT).as_posix() for block in run} >= {
        "README.md",
        "client/README.md",
        "docs/start.md",
    }


def _needs_no_trainer(block: Block, offered: Mapping[str, Any]) -> bool:
    """Whether a block uses the client alone, and what the reader has."""
    ours = {f"rewardline.{name}" for name in rewardline.__all__}
    return ours.issuperset(_named(ast.parse(block.text))) and _free(block.text) <= offered.keys()


def _offered(client: Any) -> dict[str, Any]:
    """What the reader of a page has."""
    item = {"verifier": "math", "response": "\\boxed{4}", "reference": "4"}
    messages = [{"role": "user", "content": "7 times 8?"}, {"role": "assistant", "content": "\\boxed{56}"}]
    return {"pairs": [("\\boxed{4}", "4")], "items": [item], "item": item, "messages": messages, "client": client}


def _run(code: CodeType, names: dict[str, Any]) -> None:
    made = eval(code, names)
    if inspect.iscoroutine(made):
        asyncio.run(made)


def _free(text: str) -> set[str]:
    """The names that a block uses and does not make."""
    wrapped = "async def block():\n" + "\n".join(f"    {line}" for line in text.splitlines())
    (function,) = symtable.symtable(wrapped, "block", "exec").get_children()
    return {name for name in _globals(function) if not hasattr(builtins, name)}


def _globals(table: symtable.SymbolTable) -> set[str]:
    here = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return here.union(*(_globals(inner) for inner in table.get_children()))


def _named(tree: ast.AST) -> Iterator[str]:
    """The dotted names of all that is imported, and of what is used of our package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node).startswith("rewardline."):
            yield ast.unparse(node)


def _is_there(name: str) -> bool:
    """Whether a dotted name can be imported. Modules of ours are read, because they may need a trainer."""
    package, *inner = name.split(".")
    if package != "rewardline":
        return package in ELSEWHERE or find_spec(package) is not None
    place = _CLIENT
    while inner and (place / inner[0]).is_dir():
        place /= inner.pop(0)
    if inner and (place / f"{inner[0]}.py").is_file():
        place = place / f"{inner.pop(0)}.py"
    source = place if place.suffix else place / "__init__.py"
    return not inner or inner[0] in _names(source)


def _names(source: Path) -> set[str]:
    """The names that a module makes or imports at its top."""
    tree = ast.parse(source.read_text())
    return {symbol.get_name() for symbol in symtable.symtable(ast.unparse(tree), "module", "exec").get_symbols()}


@pytest.mark.parametrize("block", blocks("json", "yaml", "toml"), ids=str)
def test_data_is_well_formed(block: Block) -> None:
    """JSON that is shortened says so with `...`."""
    if block.language == "json":
        json.loads(re.sub(r",? *\.\.\.(?=[\s,}\]])", "", block.text))
    elif block.language == "toml":
        tomllib.loads(block.text)
    else:
        yaml.safe_load(block.text)
