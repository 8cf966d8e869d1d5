"""Locks: the versions that a run is pinned to, and what differs here.

    {"lock": 1, "date": "2026-11-29", "release": "0.2.0", "on_difference": "refuse",
     "versions": {"math": "28", "judge": "7-3f9a0c11d2e4", "recipe think_math": "5f0c…"}}

The version of `judge` stands for the prompts, the profiles, and the models with their revisions. A request names a lock of
`pins_dir` by its file's name or by a date (the newest lock made by then), or brings the lock itself.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Final, Literal, Protocol

import msgspec

from service.recipes.book import Book
from service.recipes.recipe import Recipe, describe
from service.rollouts.verdict_file import fingerprint
from service.scoring.prepared_item import ConfiguredVerifier
from service.wire import BatchRequest, Result
from tracing.lines import Log
from verifiers.base import Verdict
from verifiers.registry import Registry

log = Log("rewardline")

DIFFERS: Final = "pin_differs"
"""The reason of items that are pinned to other versions."""
UNKNOWN: Final = "pin_unknown"
UNSERVED: Final = "pin_unserved"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_MAX_SHOWN: Final = 5
_MAX_LOCK_BYTES: Final = 1_000_000

_Short = Annotated[str, msgspec.Meta(max_length=256)]


class Lock(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Versions by the names of verifiers, and of recipes (`recipe NAME`)."""

    lock: Literal[1]
    date: Annotated[str, msgspec.Meta(pattern=_DATE.pattern + "$")]
    release: _Short
    versions: dict[_Short, _Short]
    on_difference: Literal["refuse", "serve"] = "refuse"
    """Whether items of other versions are refused, or judged by the release, from its wheel."""


class Served(Protocol):
    """Judges items by another release."""

    async def __call__(self, lock: Lock, request: BatchRequest) -> Sequence[Result]: ...


def versions_of(registry: Registry, book: Book) -> dict[str, str]:
    """The versions of everything that judges here."""
    versions = {name: entry.verifier.version for name, entry in registry.items()}
    return versions | {f"recipe {name}": version_of(recipe) for name, recipe in book.recipes.items()}


def version_of(recipe: Recipe) -> str:
    return fingerprint(describe(recipe))


class Locks:
    """Finds the locks that requests name."""

    def __init__(self, folder: Path | None, served: Served) -> None:
        self._folder = folder
        self._served = served
        self._strays: set[Path] = set()
        """Files of the folder that are no locks, which the log has told of."""

    def of(self, text: str) -> "Pin | Verdict":
        """The pin of a request: a lock as JSON, or the name of one. A verdict says why there is none."""
        try:
            if text.lstrip().startswith("{"):
                return Pin(msgspec.json.decode(text, type=Lock), self._served)
            return Pin(self._named(text), self._served)
        except (msgspec.MsgspecError, ValueError, OSError) as error:
            return Verdict.failed(UNKNOWN, f"pin: {error}")

    def _named(self, name: str) -> Lock:
        if self._folder is None:
            raise ValueError("this service has no folder of locks (pins_dir); send the lock itself")
        if not _NAME.fullmatch(name):
            raise ValueError("expected the name of a lock, a date, or a lock as JSON")
        path = self._folder / (name if name.endswith(".json") else f"{name}.json")
        if path.is_file():
            return read(path)
        locks = self._all(self._folder)
        if _DATE.fullmatch(name):
            if date.fromisoformat(name) >= datetime.now(UTC).date():
                newest = max(locks, key=lambda stem: (locks[stem].date, stem), default="NAME")
                message = f"{name} is not over (UTC), and a lock that comes later would change what the date means"
                raise ValueError(f"{message}; write the name of a lock, such as {newest!r}, or a day before today")
            if damaged := [path.name for path in self._strays if b'"lock"' in path.read_bytes()[:_MAX_LOCK_BYTES]]:
                raise ValueError(
                    f"{sorted(damaged)[0]} in the folder of locks cannot be read, and might be the one of {name}"
                )
            newest = max((lock.date for lock in locks.values() if lock.date <= name), default="")
            same_day = {stem: lock for stem, lock in locks.items() if lock.date == newest}
            if len({msgspec.json.encode(lock, order="sorted") for lock in same_day.values()}) > 1:
                raise ValueError(f"{' and '.join(same_day)} are different locks of {newest}; name one of them")
            if same_day:
                return next(iter(same_day.values()))
        available = ", ".join([*locks][:20]) or "none"
        raise ValueError(f"there is no lock {name!r}, nor one made by then; there are {available}")

    def _all(self, folder: Path) -> dict[str, Lock]:
        """The locks of the folder by name. Another file among them is told of once, and not a reason to refuse them."""
        locks: dict[str, Lock] = {}
        files = [path for path in sorted(folder.glob("*.json")) if _NAME.fullmatch(path.name)]
        self._strays &= {*files}
        for path in files:
            try:
                locks[path.stem] = read(path)
                self._strays.discard(path)
            except (ValueError, OSError) as error:
                if path not in self._strays:
                    log.warning("a file among the locks is not one", file=path.name, error=str(error))
                self._strays.add(path)
        return locks


def read(path: Path) -> Lock:
    """The lock in a file.

    Raises:
        ValueError: it is not a lock.
        OSError
    """
    if path.stat().st_size > _MAX_LOCK_BYTES:
        raise ValueError(f"{path.name} is too large to be a lock")
    try:
        return msgspec.json.decode(path.read_bytes(), type=Lock)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path.name} is not a lock: {error}") from error


@dataclass(slots=True)
class Pin:
    """The lock of one batch."""

    lock: Lock
    served: Served
    _known: dict[tuple[object, ...], tuple[Recipe | None, Verdict | None]] = field(default_factory=dict)

    @property
    def serves(self) -> bool:
        return self.lock.on_difference == "serve"

    def difference(self, verifiers: Sequence[ConfiguredVerifier], recipe: Recipe | None) -> Verdict | None:
        """The verdict of an item that is judged so, if its lock has other versions. Its response has no part in this."""
        key = (*(verifier.prefix for verifier in verifiers), id(recipe))
        if key not in self._known:  # the recipe is held, so that no other gets its id
            problems = differences(self.lock, _used(verifiers, recipe))
            verdict = Verdict.failed(DIFFERS, "; ".join(problems[:_MAX_SHOWN])) if problems else None
            self._known[key] = (recipe, verdict)
        return self._known[key][1]

    async def judge(self, request: BatchRequest) -> Sequence[Result]:
        """Have the items judged by the release of the lock. One result for each, in order."""
        return await self.served(self.lock, request)


def differences(lock: Lock, used: Mapping[str, str]) -> list[str]:
    """What a lock says otherwise of these versions, in words."""
    problems = []
    for name, version in used.items():
        pinned = lock.versions.get(name)
        if pinned is None:
            problems.append(f"{name} is not in the lock of {lock.date}")
        elif pinned != version:
            problems.append(f"{name} is pinned to version {pinned}, and is {version} here")
    return problems


def _used(verifiers: Sequence[ConfiguredVerifier], recipe: Recipe | None) -> dict[str, str]:
    used: dict[str, str] = {}
    for configured in verifiers:
        used[configured.name] = configured.version
        for helper in configured.entry.verifier.judged_with(configured.params):
            used[helper.name] = helper.version
    if recipe is not None and recipe.name is not None:
        used[f"recipe {recipe.name}"] = version_of(recipe)
    return used
