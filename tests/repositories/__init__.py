"""Twelve small repositories, each with a task and responses of every kind to it.

data/NAME.toml    tools        which image has its tools: python, or toolchains (go, java, javascript, rust)
                  history      the files of the commits before the base, oldest first
                  files        the files of the base
                  task         the fields of the reference, but for image and commit
                  swebench     how swebench's parsers read the same tests; see `SweBench`
                  responses    what each changes, and what it earns
"""

import re
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import docker

from tests.task_images import git, make_repository, repository_image, write_files

_DATA: Final = Path(__file__).with_name("data")
KINDS: Final = (
    "right",
    "wrong",
    "partial",
    "edits its tests",
    "fakes its exit",
    "wastes time",
    "reaches for the network",
    "is a fork bomb",
)
"""The kinds of responses that each repository has."""
HONEST: Final = KINDS[:3]


@dataclass(frozen=True, slots=True)
class Response:
    kind: str
    files: Mapping[str, str]
    """The whole text of each file that is changed."""
    reasons: Sequence[str]
    """Those that the verdict may have: how a fork bomb ends is not the same each time."""
    fraction: float
    """The score where a share of the tests counts."""

    @property
    def score(self) -> float:
        return float(self.kind == "right")


@dataclass(frozen=True, slots=True)
class SweBench:
    """How a parser of swebench reads the tests of a repository, and what it calls them."""

    parser: str
    test_command: str
    without: str
    prefix: str
    names: Mapping[str, str]
    otherwise: Sequence[str]
    """Tests that the parser does not see, or whose skip it reads as a pass."""

    def name(self, test: str) -> str:
        return self.names.get(test, self.prefix + re.sub(f"^{self.without}", "", test))


@dataclass(frozen=True, slots=True)
class Repository:
    name: str
    tools: str
    history: Sequence[Mapping[str, str]]
    files: Mapping[str, str]
    task: Mapping[str, Any]
    swebench: SweBench | None
    responses: Mapping[str, Response]
    """By kind."""

    def __str__(self) -> str:
        return self.name


@cache
def repositories() -> tuple[Repository, ...]:
    """All of them, first those that need no compilers."""
    loaded = (load(path.stem) for path in _DATA.glob("*.toml"))
    return tuple(sorted(loaded, key=lambda repository: (repository.tools, repository.name)))


def image_of(client: docker.APIClient, repository: Repository) -> tuple[str, str]:
    """The image of a repository, and its commit; made if it is not there."""
    return repository_image(
        client, repository.files, history=repository.history, has_toolchains=repository.tools == "toolchains"
    )


def diff(repository: Repository, changed: Mapping[str, str]) -> str:
    """The unified diff of a change, as git writes it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_repository(repository.files, folder)
        write_files(folder, changed)
        git(folder, "add", "--all", "--force")
        return git(folder, "diff", "--cached")


def load(name: str) -> Repository:
    given = tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))
    files, task = given["files"], given["task"]
    responses = [_response(files, response) for response in given["responses"]]
    return Repository(
        name=name,
        tools=given["tools"],
        history=given["history"],
        files=files,
        task=task,
        swebench=_swe_bench(given["swebench"], task) if "swebench" in given else None,
        responses={response.kind: response for response in responses},
    )


def _response(base: Mapping[str, str], given: Mapping[str, Any]) -> Response:
    files = dict(given.get("files", {}))
    for path, old, new in given.get("edits", ()):
        text = files.get(path, base[path])
        if text.count(old) != 1:
            raise ValueError(f"{given['kind']}: {path} must have {old!r} once")
        files[path] = text.replace(old, new)
    passed, tests = given.get("fraction", (given["kind"] == "right", 1))
    return Response(given["kind"], files, given["reasons"], passed / tests)


def _swe_bench(given: Mapping[str, Any], task: Mapping[str, Any]) -> SweBench:
    return SweBench(
        parser=given["parser"],
        test_command=given.get("test_command", task["test_command"]),
        without=given.get("without", ""),
        prefix=given.get("prefix", ""),
        names=given.get("names", {}),
        otherwise=given.get("otherwise", ()),
    )
