"""Reads files of recipes: those that ship, and the user's. Every mistake is reported with its place."""

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from service.recipes.model import BookSpec
from verifiers.mistakes import sentences

_MAX_FILE_BYTES: Final = 4_000_000
_SHIPPED: Final = "service.recipes.shipped"
Kind = TypeVar("Kind", bound=BaseModel)


class BadRecipes(Exception):
    """A file of recipes cannot be used. There is one line for each mistake, with its place."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def shipped() -> Iterator[tuple[str, str]]:
    for file in sorted(resources.files(_SHIPPED).iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".yaml"):
            yield file.name, file.read_text(encoding="utf-8")


def read(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise BadRecipes([f"{path}: larger than {_MAX_FILE_BYTES} bytes"])
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecipes([f"{path}: {error}"]) from error


class _Loader(yaml.CSafeLoader):
    """A safe YAML loader. A key that occurs twice is a mistake."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in keys:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"{key.value!r} occurs twice; remove one", key.start_mark
                    )
                keys.add(key.value)
        return super().construct_mapping(node, deep)


def parsed(origin: str, text: str) -> BookSpec:
    return parsed_as(BookSpec, origin, text)


def parsed_as(kind: type[Kind], origin: str, text: str) -> Kind:
    """The content of a file in YAML.

    Raises:
        BadRecipes: it has mistakes.
    """
    try:
        content = yaml.load(text, Loader=_Loader)  # noqa: S506 - it is a safe loader
    except (yaml.YAMLError, RecursionError) as error:
        raise BadRecipes([f"{origin}: not YAML: {' '.join(str(error).split())}"]) from error
    content = {} if content is None else content
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise BadRecipes(
            [f"{origin}: {line}" for line in sentences(error, content, fields=kind.model_fields)]
        ) from error
