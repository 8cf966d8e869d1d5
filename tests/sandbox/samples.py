"""Programs in each language: `polyglot/<language>.toml`.

    sum            reads two numbers and writes their sum
    crash          ends with code 3
    broken         cannot be compiled, or not be parsed; the message has the words of `broken_says`
    forever        never ends
    hungry         takes ever more memory
    [[tasks]]      tests in the language's usual way, where `@SOLUTION@` stands for `right` or `wrong`

Programs for a test framework read nothing, so they have no `sum`. Where nothing can be run, only `broken` and tasks are
there; a wrong solution does not compile.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).with_name("polyglot")
_PLACE = "@SOLUTION@"


@dataclass(frozen=True)
class Sample:
    broken: str
    broken_says: str
    tasks: list[dict[str, str]]
    sum: str | None = None
    crash: str | None = None
    forever: str | None = None
    hungry: str | None = None

    def solved(self, which: str) -> list[str]:
        """The tasks' programs with their `right` or their `wrong` solutions."""
        return [task["tests"].replace(_PLACE, task[which]) for task in self.tasks]


@cache
def samples() -> dict[str, Sample]:
    """The programs by language."""
    return {path.stem: Sample(**_read(path)) for path in sorted(_FOLDER.glob("*.toml"))}


def having(kind: str) -> dict[str, str]:
    """The programs of one kind by language."""
    return {name: getattr(sample, kind) for name, sample in samples().items() if getattr(sample, kind) is not None}


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
