"""Finding what a slow regular expression matches, in the time of a fast one.

Most of a response says nothing about options, but alternations of words are tried at each of its characters. RE2 looks
for them in one pass, so it finds the places where a match may be, and the expression itself is asked only there. RE2 sees a
shadow of the text: one byte for each character, `?` for those that are not ASCII.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import re2

SPACE = r"[\x00-\x20\x7F?]"
"""At least what may be space in the text, as its shadow shows it."""
_EQUAL_ASCII = "\u0130\u0131\u017f\u212a"
"""Letters that are ASCII ones when case does not count."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A text and its shadow; None where a letter would have none of its own."""

    text: str
    shadow: bytes | None


def scene(text: str) -> Scene:
    if not text.isascii() and any(letter in text for letter in _EQUAL_ASCII):
        return Scene(text, None)
    return Scene(text, text.encode("ascii", "replace"))


class Sighting:
    """An expression, and what RE2 finds inside every match of it."""

    def __init__(self, pattern: re.Pattern[str], core: str, *, before: int = 0, unless: str = "") -> None:
        """`core` begins at most `before` characters after a match does, and is as exact as it can be without looking
        around; `unless`: characters with which a match may begin that a shadow does not show.
        """
        self._pattern = pattern
        self._core = re2.compile(core.encode())
        self._before = before
        self._unless = unless

    def finditer(self, scene: Scene, start: int = 0) -> Iterator[re.Match[str]]:
        """As the expression's own."""
        text, shadow = scene.text, scene.shadow
        if shadow is None or any(sign in text for sign in self._unless):
            yield from self._pattern.finditer(text, start)
            return
        position, asked = start, start
        while core := self._core.search(shadow, asked):
            match = self._at(text, position, core.start())
            if match is None:
                asked = core.start() + 1
            else:
                yield match
                position = asked = max(match.end(), core.start() + 1)

    def _at(self, text: str, position: int, core: int) -> re.Match[str] | None:
        if not self._before:
            return self._pattern.match(text, core)
        return self._pattern.search(text, max(position, core - self._before), core + _WINDOW_CHARS)


_WINDOW_CHARS = 200
"""Behind the core; several times what expressions with `before` look at."""
