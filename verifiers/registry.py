"""Finds verifiers: the modules of this package, then the entry points `rewardline.verifiers`.

There is no list to edit. A module of this package (or of one of its family folders) that has a `create` function is a
verifier; so is a folder whose `__init__` has one. An entry point names a module of the same form, or its `create`. The
service does not start if a module fails to load, lacks examples, or uses a name twice: a verifier that is silently
absent would cause `unknown_verifier` in the middle of a training run.
"""

import hashlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from propcache.api import cached_property

import verifiers
from verifiers.base import Example, InvalidItem, Params, Resources, Verifier
from verifiers.near_names import near

ENTRY_POINT_GROUP = "rewardline.verifiers"


class BrokenVerifier(Exception):
    """A verifier cannot be loaded as it stands; the service must not start."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A verifier that was found, with the information of its module."""

    verifier: Verifier[Any]
    examples: Sequence[Example]
    origin: str


class Registry(Mapping[str, Entry]):
    """The verifiers by name, in the order of their names."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = dict(sorted(entries.items()))

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @cached_property
    def edition(self) -> str:
        """A short name for these verifiers in these versions. Others judge otherwise, and have another name."""
        versions = "\n".join(f"{name}={entry.verifier.version}" for name, entry in self._entries.items())
        return hashlib.sha256(versions.encode()).hexdigest()[:12]

    def find(self, name: str) -> Entry:
        """The entry of this name.

        Raises:
            InvalidItem: there is none. The message names the nearest ones.
        """
        entry = self._entries.get(name)
        if entry is None:
            hint = near(name, self._entries) or f"; GET /v1/verifiers lists all {len(self._entries)}"
            raise InvalidItem("unknown_verifier", f"no verifier {name[:100]!r}{hint}")
        return entry


def load_alone(name: str, resources: Resources) -> Registry | None:
    """The verifier of this name, if a module of this package has that name and the verifier judges without others. No other
    verifier is imported, and resources are asked for none that it does not use.

    Raises:
        BrokenVerifier: the verifier does not load; the cause is chained.
    """
    for origin in _named_modules(name):
        module = _import(origin, origin)
        if not hasattr(module, "create"):
            continue
        entry = _create(origin, module, resources)
        if entry.verifier.name == name and type(entry.verifier).meet is Verifier.meet:
            return Registry({name: entry})
    return None


def load(resources: Resources) -> Registry:
    """Find and create every verifier.

    Raises:
        BrokenVerifier: a verifier does not load; the cause is chained.
    """
    entries: dict[str, Entry] = {}
    for origin, module in _modules():
        entry = _create(origin, module, resources)
        name = entry.verifier.name
        if name in entries:
            raise BrokenVerifier(f"verifier {name!r} is defined twice: {entries[name].origin} and {origin}")
        entries[name] = entry
    verifiers_by_name = {name: entry.verifier for name, entry in entries.items()}
    for verifier in verifiers_by_name.values():
        verifier.meet(verifiers_by_name)
    return Registry(entries)


def _modules() -> Iterator[tuple[str, ModuleType]]:
    yield from _package_modules(verifiers.__name__, verifiers.__path__)
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name):
        yield f"entry point {point.name} = {point.value}", _import(point.module, point.value)


def _package_modules(package: str, path: Sequence[str]) -> Iterator[tuple[str, ModuleType]]:
    """The modules with a `create`. A folder without one is a family; its modules are searched, but no deeper."""
    for info in pkgutil.iter_modules(path):
        name = f"{package}.{info.name}"
        if name == __name__:
            continue
        module = _import(name, name)
        if hasattr(module, "create"):
            yield name, module
        elif info.ispkg and package == verifiers.__name__:
            yield from _package_modules(name, module.__path__)


def _named_modules(name: str) -> Iterator[str]:
    """Modules of this package, and of its families, whose name is that of a verifier."""
    if not name.isidentifier():
        return
    for folder in verifiers.__path__:
        for pattern in (name, f"{name}.py", f"*/{name}", f"*/{name}.py"):
            for path in sorted(Path(folder).glob(pattern)):
                yield ".".join([verifiers.__name__, *path.relative_to(folder).with_suffix("").parts])


def _import(module: str, origin: str) -> ModuleType:
    try:
        return import_module(module)
    except Exception as error:
        raise BrokenVerifier(f"{origin} does not load: {error!r}") from error


def _create(origin: str, module: ModuleType, resources: Resources) -> Entry:
    create: Callable[[Resources], Verifier[Any]] | None = getattr(module, "create", None)
    examples: Sequence[Example] = getattr(module, "EXAMPLES", ())
    if create is None:
        raise BrokenVerifier(f"{origin} has no function create(resources)")
    if not {1.0, 0.0} <= {example.score for example in examples}:
        raise BrokenVerifier(f"{origin}: EXAMPLES must show at least one pass (1.0) and one fail (0.0)")
    try:
        verifier = create(resources)
    except Exception as error:
        raise BrokenVerifier(f"{origin}: create(resources) raised {error!r}") from error
    if not issubclass(verifier.params, Params):
        raise BrokenVerifier(f"{origin}: params of {verifier.name!r} is not a verifiers.base.Params")
    return Entry(verifier, tuple(examples), origin)
