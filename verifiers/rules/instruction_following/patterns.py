"""Matches, in linear time, keywords that the published checkers use as regular expressions."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import re2

from memory import remember
from verifiers.base import InvalidItem
from verifiers.caseless import caseless

_DANGEROUS = frozenset("*+?{}()[]|^$\\")
_MAX_PATTERN_CHARS = 4096
_MAX_MEMORY_BYTES = 2 << 20


class Pattern:
    """A pattern compiled with RE2."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def found(self, text: str) -> bool:
        return self._compiled.search(text) is not None

    def count(self, text: str) -> int:
        return sum(1 for _ in self._compiled.finditer(text))

    def findall(self, text: str) -> list[str]:
        return [match[0] for match in self._compiled.finditer(text)]


class Literal:
    """A keyword that is looked for as it stands, but a dot is any character of a line, as in a pattern.

    It is not compiled, because each item has other keywords.
    """

    def __init__(self, source: str, edge: "_Edge", ignore_case: bool, *, has_dots: bool = True) -> None:
        self._ignore_case = ignore_case
        self._edge = edge
        self._parts = _parts(caseless(source) if ignore_case else source, has_dots)
        self._at, self._longest = max(self._parts, key=lambda part: len(part[1]))
        self._chars = len(source)

    def found(self, text: str) -> bool:
        return next(self._ends(text), None) is not None

    def count(self, text: str) -> int:
        return sum(1 for _ in self._ends(text))

    def _ends(self, text: str) -> Iterator[int]:
        searched = caseless_text(text) if self._ignore_case else text
        offset = 0
        while (at := searched.find(self._longest, offset + self._at)) >= 0:
            start, end = at - self._at, at - self._at + self._chars
            if end > len(text):
                return
            tail = self._edge.behind.match(text, end)
            if tail and self._edge.before.match(text, start) and self._is_at(searched, start, end):
                yield tail.end()
                offset = max(tail.end(), start + 1)
            else:
                offset = start + 1

    def _is_at(self, searched: str, start: int, end: int) -> bool:
        return len(self._parts) == 1 or (
            "\n" not in (searched[start + at - 1] for at, _ in self._parts[1:])
            and all(searched.startswith(part, start + at) for at, part in self._parts)
        )


def _parts(source: str, has_dots: bool) -> list[tuple[int, str]]:
    """The texts between the dots of a keyword, with their places."""
    literals: list[tuple[int, str]] = []
    at = 0
    for part in source.split(".") if has_dots else [source]:
        literals.append((at, part))
        at += len(part) + 1
    return literals


caseless_text = remember(1)(caseless)
"""Many keywords are looked for in one text."""


class _Edge(NamedTuple):
    """What stands before and behind a keyword."""

    before: re.Pattern[str]
    behind: re.Pattern[str]


ANYWHERE = _Edge(re.compile(""), re.compile(""))
AS_WORD = _Edge(re.compile(r"\b"), re.compile(r"\b"))
BEFORE_NUMBER = _Edge(re.compile(""), re.compile(r"\s?\d+\s?"))


def keyword(source: str, edge: _Edge = ANYWHERE, ignore_case: bool = True) -> Literal | Pattern:
    """A keyword: looked for as it stands if it holds no repetition, group or class, else compiled with RE2.

    RE2 has no possessive repetition, which `C++` would be. At the end of a keyword, a greedy repetition finds the same.

    Raises:
        InvalidItem: the keyword is not a pattern.
    """
    if not is_compiled(source):
        return Literal(source, edge, ignore_case)
    stem = source.removesuffix("++")
    if stem and stem != source and not is_pattern(stem) and not stem[-1].isdigit():
        source = stem + "+"
    return linear(source, edge.before.pattern, edge.behind.pattern, ignore_case)


def is_compiled(source: str) -> bool:
    """Whether a keyword is not simply looked for as it stands."""
    return is_pattern(source) or len(source) > _MAX_PATTERN_CHARS


def is_pattern(source: str) -> bool:
    """Whether a keyword is more than text for the published checkers."""
    return not _DANGEROUS.isdisjoint(source)


@remember(2048)
def linear(source: str, prefix: str = "", suffix: str = "", ignore_case: bool = False) -> Pattern:
    """Compile a pattern with RE2.

    Raises:
        InvalidItem: the source is not a pattern of RE2.
    """
    if len(source) > _MAX_PATTERN_CHARS:
        raise InvalidItem(
            "bad_arguments", f"a keyword has {len(source)} characters; at most {_MAX_PATTERN_CHARS} are allowed"
        )
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY_BYTES
    options.case_sensitive = not ignore_case
    try:
        return Pattern(re2.compile(prefix + source + suffix, options))
    except re2.error as error:
        raise InvalidItem(
            "bad_arguments", f"profile official reads {source[:80]!r} as a regular expression, which it is not: {error}"
        ) from error
