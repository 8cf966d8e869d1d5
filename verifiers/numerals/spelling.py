"""Brings the text of a number into one form, without LaTeX and layout."""

import re
import unicodedata

from memory import remember

MAX_CHARS = 160
_SHAPE_IS_MEANING = ("<super>", "<sub>", "<fraction>", "<circle>")
_WRAPPER = re.compile(
    r"\\(?:text|textrm|textbf|textit|textsf|textnormal|mathrm|mathbf|mathsf|mbox|hbox|rm)(?![A-Za-z])"
)
_NEGATIVE_SPACE = "\\!"
_SPACING = re.compile(r"\\(?:[,;:> ]|(?:quad|qquad|enspace|thinspace)(?![A-Za-z]))|~")
_BLANKS = re.compile(r"\s+")
_SIGN_MARKS = str.maketrans({"−": "-", "‐": "-", "’": "'", "‘": "'", "＇": "'"})
_PER_CENT = re.compile(r"\bper cent\b", re.IGNORECASE)


@remember(64)
def spoken(text: str) -> str | None:
    """The text in compatibility form, with single blanks and without LaTeX's wrappers and spacing; None if too long.

    Characters whose shape is their meaning (², ½, ③) stay as they are: 5² is not 52.
    """
    if len(text) > MAX_CHARS:
        return None
    if not text.isascii():
        text = unicodedata.normalize("NFC", "".join(_compatible(c) for c in text)).translate(_SIGN_MARKS)
    if "\\" in text or "~" in text:
        text = _SPACING.sub(" ", _WRAPPER.sub("", text.replace(_NEGATIVE_SPACE, "")))
    if "\\" not in text:
        text = text.replace("{", "").replace("}", "").strip()
        if text.count("$") == 2 and text[0] == text[-1] == "$":
            text = text[1:-1]
    text = _PER_CENT.sub("percent", _BLANKS.sub(" ", text).strip())
    return text.removesuffix(".") if len(text) <= MAX_CHARS else None


def _compatible(character: str) -> str:
    if character in "\u00ad\u200b\u200c\u200d\u2060\ufeff":
        return ""
    if unicodedata.decomposition(character).startswith(_SHAPE_IS_MEANING):
        return character
    return unicodedata.normalize("NFKC", character)
