"""Makes characters equal that look or mean the same."""

import unicodedata


def fold(text: str) -> str:
    """A text in NFKC, without invisible format characters. Use it to compare answers, never to locate them."""
    if text.isascii():
        return text
    normal = unicodedata.normalize("NFKC", text)
    hidden = {ord(char): None for char in set(normal) if unicodedata.category(char) == "Cf"}
    return normal.translate(hidden) if hidden else normal
