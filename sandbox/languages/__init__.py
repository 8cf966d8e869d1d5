"""The languages that programs may be written in: one small module each, found by name; there is no list of them.

Each module of this package holds `LANGUAGE`. Names and aliases are lower case, and unique over all languages.
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
    """File name of the source text, such as main.cpp."""
    run: tuple[str, ...]
    """The command. `{program}` stands for the directory that holds the source and the compiled files. Empty for Python:
    the runner's own warm interpreter runs it.
    """
    aliases: tuple[str, ...] = ()
    """Other names in requests and on code fences."""
    compile: tuple[str, ...] = ()
    """The command, run in a directory with the source. Empty when nothing is compiled."""
    keep: tuple[str, ...] = ()
    """Files that the compiler makes and runs need, as `fnmatch` patterns for names relative to the directory."""
    needs: tuple[str, ...] = ()
    """Programs that must be on the box's PATH, and files that it must have, by their whole paths."""
    version: tuple[str, ...] = ()
    """The command that says the version: in its first line with a digit. Empty for Python."""
    compile_only: bool = False
    """Whether programs are compiled and never run, because boxes lack what runs them."""
    packages: tuple[str, ...] = ()
    """Debian packages that provide these programs, for the box image."""
    configuration: tuple[str, ...] = ()
    """Files and folders outside /usr that these programs read, as `glob` patterns. Local boxes show them."""
    environment: Mapping[str, str] = field(default_factory=dict)
    data_limit: bool = True
    """Whether the memory limit can also be set as RLIMIT_DATA, which gives programs a clean out-of-memory error. False
    for run times that reserve far more memory than they use.
    """
    needs_proc: bool = False
    """Whether the run time reads its own files below /proc, which boxes of Landlock forbid."""
    handles_children: bool = False
    """Whether the run time learns of the end of its children through a SIGCHLD handler. Other programs cannot change
    that signal: a process that ignores it is not charged for its children's CPU time.
    """
    compile_factor: float = 1.0
    """CPU limits of compilers are multiplied by this, because this one is slow even for short programs."""
    cpu_factor: float = 1.0
    """CPU limits are multiplied by this, because the run time needs more than a compiled program."""
    start_cpu_s: float = 0.0
    """CPU seconds that the run time needs before it starts the program; added to CPU limits."""
    tests: str = ""
    """The language of the programs that it tests, if it is one for tests. Empty: its own."""
    is_for_commands: bool = False
    """Whether its texts are mostly commands beside a program in another language: how to run it, or to query."""
    call_suffix: str = ""
    """Source text appended to the program for function tests, with `{function}` for the name. It reads `[positional,
    keywords]` as JSON from descriptor 3 and writes the value as JSON to descriptor 4. Empty for languages without
    function tests.
    """


@cache
def all_languages() -> Mapping[str, Language]:
    """All languages by name."""
    by_name: dict[str, Language] = {}
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        language: Language = import_module(module.name).LANGUAGE
        by_name[language.name] = language
    return by_name


def find(name: str) -> Language | None:
    """The language with this name or alias, in any letter case; None if there is none."""
    return _by_alias().get(name.strip().lower())


@cache
def _by_alias() -> Mapping[str, Language]:
    by_alias: dict[str, Language] = {}
    for language in all_languages().values():
        for name in (language.name, *language.aliases):
            by_alias.setdefault(name, language)
    return by_alias
