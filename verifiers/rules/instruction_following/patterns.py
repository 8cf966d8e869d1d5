"""Matches, in linear time, keywords that the published checkers use as regular expressions."""

import re
from typing import Any

import re2

from memory import remember
from verifiers.base import InvalidItem

_DANGEROUS = frozenset("*+?{}()[]|^$\\")
_MAX_PATTERN_CHARS = 4096
_MAX_MEMORY_BYTES = 2 << 20


class Pattern:
    """A compiled pattern of Python's `re` or of RE2."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def found(self, text: str) -> bool:
        return self._compiled.search(text) is not None

    def count(self, text: str) -> int:
        return sum(1 for _ in self._compiled.finditer(text))

    def findall(self, text: str) -> list[str]:
        return [match[0] for match in self._compiled.finditer(text)]


@remember(2048)
def keyword(source: str, before: str = "", after: str = "", ignore_case: bool = True) -> Pattern:
    """Compile a keyword: with Python's `re` if it holds no repetition, group or class, else with RE2.

    RE2 has no possessive repetition, which `C++` would be. At the end of a keyword, a greedy repetition finds the same.

    Raises:
        InvalidItem: the keyword is no pattern.
    """
    if _DANGEROUS.isdisjoint(source) and len(source) <= _MAX_PATTERN_CHARS:
        return Pattern(re.compile(before + source + after, re.IGNORECASE if ignore_case else 0))
    stem = source.removesuffix("++")
    if stem and stem != source and _DANGEROUS.isdisjoint(stem) and not stem[-1].isdigit():
        source = stem + "+"
    return linear(source, before, after, ignore_case)


@remember(2048)
def linear(source: str, before: str = "", after: str = "", ignore_case: bool = False) -> Pattern:
    """Compile a pattern with RE2.

    Raises:
        InvalidItem: the source is no pattern of RE2.
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
        return Pattern(re2.compile(before + source + after, options))
    except re2.error as error:
        raise InvalidItem(
            "bad_arguments", f"profile official reads {source[:80]!r} as a regular expression, which it is not: {error}"
        ) from error
