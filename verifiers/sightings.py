"""Finding what a slow regular expression matches, in the time of a fast one.

Most of a response says nothing about its answer, but alternations of words are tried at each of its characters. RE2 looks
for them in one pass, so it finds the places where a match may be, and the expression itself is asked only there. RE2 sees a
shadow of the text: one byte for each character, `?` for those that are not ASCII.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import msgspec
import re2

ASCII_SPACE = r"[\t-\r\x1c-\x20]"
r"""What `\s` is among ASCII characters; RE2's own knows fewer."""
SPACE = r"[\x00-\x20\x7F?]"
"""At least what may be space in the text, as its shadow shows it."""
_LATIN_OR_SIGNS = bytes({*range(0xD0), 0xE2})
"""The bytes, in UTF-8, of Latin, Greek and what has no letters: punctuation, arrows, mathematical signs."""

_ASCII = bytes(range(0x80))
_FIRST_BYTES, _OTHER_BYTES = _ASCII + b"?" * 0x80, bytes(range(0x80, 0xC0))
"""Of the bytes of a character in UTF-8 the first as a shadow shows it, and those to leave out."""
_ASCII_CHARS = frozenset(map(chr, _ASCII))


def beyond_ascii(text: str, encoded: bytes | None = None) -> str:
    """The characters that are not ASCII, in order: in most texts few, and ten times faster to get than to look past.

    `encoded`: the text in UTF-8 (surrogatepass), where it is at hand.
    """
    if text.isascii():
        return ""
    encoded = encoded or text.encode("utf-8", "surrogatepass")
    return encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass")


def has_other_alphabets(text: str) -> bool:
    """Whether there is a letter that is neither Latin nor Greek, or something else beyond U+0400 that is no sign."""
    return not text.isascii() and bool(text.encode("utf-8", "surrogatepass").translate(None, _LATIN_OR_SIGNS))


def hides_ascii(text: str) -> bool:
    """Whether a character that is not ASCII folds into some that are, or into nothing: ﬁ, Ａ, a no-break space."""
    return any(map(_folds, set(_MAY_FOLD.findall(beyond_ascii(text)))))


_NEVER_FOLD = "£§©¬°±¶·×÷À-ÖØ-öø-ıĴ-ľŁ-ňŊ-žƀ-ǃΆΈ-ΊΌΎ-ϏА-џ‐‒-–—‘’“”†‡•€→←↑↓⇒∀-∫∮-⋿■-◿一-鿿"
"""What most texts have, and asking is not needed for."""
_MAY_FOLD = re.compile(f"[^{_NEVER_FOLD}]")


@lru_cache(maxsize=4096)
def _folds(char: str) -> bool:
    return unicodedata.category(char) == "Cf" or not _ASCII_CHARS.isdisjoint(unicodedata.normalize("NFKC", char))


class Scan:
    """An expression of RE2 that is asked for places only: objects for matches would take as long as finding most of them."""

    __slots__ = ("_match",)

    def __init__(self, pattern: str) -> None:
        self._match = re2.compile(pattern.encode())._regexp.Match

    def find(self, text: bytes, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
        """Where the first match is, of those that do not begin before `start` and end by `end`."""
        place: tuple[int, int] = self._match(_ANYWHERE, text, start, len(text) if end is None else end)[0]
        return place if place[0] >= 0 else None

    def is_in(self, text: bytes) -> bool:
        found: int = self._match(_ANYWHERE, text, 0, len(text))[0][0]
        return found >= 0

    def begins(self, text: bytes, start: int = 0) -> int | None:
        """The end of a match that begins there."""
        place: tuple[int, int] = self._match(_AT_START, text, start, len(text))[0]
        return place[1] if place[0] >= 0 else None


_ANYWHERE, _AT_START = re2._Anchor.UNANCHORED, re2._Anchor.ANCHOR_START


class Scene(msgspec.Struct, frozen=True):
    """A text and its shadow; None where it has letters that are ASCII ones when case does not count: İ, ı, ſ and K."""

    text: str
    shadow: bytes | None
    has_other_alphabets: bool


def scene(text: str) -> Scene:
    if text.isascii():
        return Scene(text, text.encode(), False)
    encoded = text.encode("utf-8", "surrogatepass")
    has_other_alphabets = bool(encoded.translate(None, _LATIN_OR_SIGNS))
    if "\u0130" in text or "\u0131" in text or "\u017f" in text or "\u212a" in text:
        return Scene(text, None, has_other_alphabets)
    return Scene(text, encoded.translate(_FIRST_BYTES, _OTHER_BYTES), has_other_alphabets)


class Sighting:
    """An expression, and what RE2 finds inside every match of it."""

    def __init__(
        self, pattern: re.Pattern[str], core: str, *, before: int = 0, bracketed: int = 0, unless: str = ""
    ) -> None:
        """`core` begins at most `before` characters after a match does, behind a bracket `bracketed` more, and is as
        exact as it can be without looking around; `unless`: characters with which a match may begin that a shadow does
        not show.
        """
        self._pattern = pattern
        self._core = Scan(core)
        self._before = before
        self._bracketed = bracketed
        self._unless = unless
        self._unless_is_letters = has_other_alphabets(unless)

    def finditer(self, scene: Scene, start: int | None = 0) -> Iterator[re.Match[str]]:
        """As the expression's own; None: it is known that there is nothing."""
        if start is None:
            return
        text, shadow = scene.text, scene.shadow
        if shadow is None or self.hides_in(scene):
            yield from self._pattern.finditer(text, start)
            return
        position, asked = start, start
        while core := self._core.find(shadow, asked):
            match = self._at(text, position, *core)
            if match is None:
                asked = core[0] + 1
            else:
                yield match
                position = asked = max(match.end(), core[0] + 1)

    def hides_in(self, scene: Scene) -> bool:
        """Whether there are characters with which a match may begin that a shadow does not show."""
        may_hide = scene.has_other_alphabets or not self._unless_is_letters
        return may_hide and any(sign in scene.text for sign in self._unless)

    def _at(self, text: str, position: int, start: int, end: int) -> re.Match[str] | None:
        if not self._before:
            return self._pattern.match(text, start)
        before = self._before
        if self._bracketed and text[start - 1 : start] == ")":
            before += self._bracketed
        match = self._pattern.search(text, max(position, start - before), end + _AHEAD_CHARS)
        return match if match and match.start() <= start else None  # a later one is looked at with all that follows it


_AHEAD_CHARS = 32
"""How far expressions with `before` may look behind their core."""


class Ending:
    """An expression that matches up to an end, and what RE2 sees there; from an end it looks backwards, at little."""

    def __init__(self, pattern: re.Pattern[str], core: str) -> None:
        """`core` matches the shadow of whatever the expression matches."""
        self._pattern = pattern
        self._core = Scan(core)

    def search(self, scene: Scene, start: int, end: int) -> re.Match[str] | None:
        """As the expression's own."""
        if scene.shadow is not None and not self._core.is_in(scene.shadow[start:end]):
            return None
        return self._pattern.search(scene.text, start, end)
