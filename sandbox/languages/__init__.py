"""The languages programs may be written in: one small module each, found by name, listed nowhere.

A module of this package holds `LANGUAGE`. Names and aliases are lower case and unique over all of them.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module


@dataclass(frozen=True, slots=True)
class Language:
    """How a program of one language is compiled and run in a box."""

    name: str
    source_file: str
    """What the source text is called, such as main.cpp."""
    run: tuple[str, ...]
    """The command, with `{program}` for the directory that holds the source and what was compiled.
    Empty for Python: the runner's own warm interpreter runs it."""
    aliases: tuple[str, ...] = ()
    """Other names in requests and on code fences."""
    compile: tuple[str, ...] = ()
    """The command, run in a directory with the source; empty when nothing is compiled."""
    keep: tuple[str, ...] = ()
    """Files the compiler makes and runs need, as patterns of `fnmatch` on names relative to the directory."""
    needs: tuple[str, ...] = ()
    """Programs that must be on the box's PATH."""
    packages: tuple[str, ...] = ()
    """Debian packages that bring them, for the box image."""
    environment: Mapping[str, str] = field(default_factory=dict)
    data_limit: bool = True
    """Whether the memory limit can also be set as RLIMIT_DATA, which gives programs a clean out-of-memory error.
    Not for run times that reserve far more than they use."""
    handles_children: bool = False
    """Whether the run time learns of the end of its children by a handler of SIGCHLD. Others have no say about that
    signal: who has it ignored is not charged for the CPU time of children."""
    cpu_factor: float = 1.0
    """CPU limits are multiplied by this: what the run time needs more than a compiled program."""
    start_cpu_s: float = 0.0
    """CPU seconds the run time takes before it comes to the program; added to CPU limits."""
    call_suffix: str = ""
    """Source text after the program that makes function tests possible, with `{function}` for the name: it reads
    `[positional, keywords]` as JSON from descriptor 3 and writes the value as JSON to descriptor 4.
    Empty where there are none."""


@cache
def all_languages() -> Mapping[str, Language]:
    """By name."""
    found: dict[str, Language] = {}
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        language: Language = import_module(module.name).LANGUAGE
        found[language.name] = language
    return found


@cache
def find(name: str) -> Language | None:
    """The language of this name or alias, in whatever case."""
    wanted = name.strip().lower()
    for language in all_languages().values():
        if wanted == language.name or wanted in language.aliases:
            return language
    return None
