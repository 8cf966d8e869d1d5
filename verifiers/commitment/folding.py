"""Characters that look or mean the same made the same."""

import unicodedata


def fold(text: str) -> str:
    """NFKC, without invisible format characters: for comparing answers, never for locating them."""
    if text.isascii():
        return text
    normal = unicodedata.normalize("NFKC", text)
    hidden = {ord(char): None for char in set(normal) if unicodedata.category(char) == "Cf"}
    return normal.translate(hidden) if hidden else normal
