"""Texts without case, letter by letter, so that a place in one is the same place in the other.

`str.lower` and `str.casefold` change the length of some texts, and see a sigma at the end of a word as another letter.
Two letters are the same here if an expression of `re` with IGNORECASE takes one for the other.
"""

import re
from typing import Final


def _bare(letter: str) -> str:
    """A letter in the form of its capital in small: ſ is s, ς is σ, and the sign K is k."""
    small = letter.lower()
    folded = letter.upper().lower()
    return folded if len(folded) == 1 else small if len(small) == 1 else "i"


_ODD: Final = {
    code: _bare(chr(code))
    for block in (
        (0x80, 0x590),
        (0x10A0, 0x1100),
        (0x13A0, 0x1400),
        (0x1C80, 0x2190),
        (0xA640, 0xA7FF),
        (0xAB30, 0xABC0),
    )
    for code in range(*block)
    if _bare(chr(code)) != chr(code).lower() or chr(code) in "Σσ"
}
"""The letters for which `str.lower` does not do: those of the blocks with more than two forms of a letter."""
_HAS_ODD: Final = re.compile(f"[{''.join(map(chr, _ODD))}]")


def caseless(text: str) -> str:
    """The text without case. It has as many characters as the text, each in the same place."""
    if text.isascii() or _HAS_ODD.search(text) is None:
        return text.lower()
    return text.translate(_ODD).lower()
