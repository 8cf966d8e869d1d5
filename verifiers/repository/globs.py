"""Globs of paths: `*` and `?` stay within a folder, `**` goes through folders. Searched by RE2, whatever they are."""

from collections.abc import Sequence
from typing import Any, Final

import re2

from memory import remember

MAX_CHARS: Final = 20_000
"""Of all globs that are matched together."""
MAX_STARS: Final = 1_000
"""The same. A star takes longer to compile than other characters."""
_PIECES: Final = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches(path: str, globs: Sequence[str]) -> bool:
    """Whether a path is one of those. `tests/**` is also `tests` itself."""
    return bool(globs) and _compiled(tuple(globs)).fullmatch(path) is not None


@remember(1024)
def _compiled(globs: tuple[str, ...]) -> Any:
    return re2.compile("|".join(map(_pattern, globs)))


def _pattern(glob: str) -> str:
    pattern, remaining = "", glob
    while remaining:
        piece = next((piece for piece in _PIECES if remaining.startswith(piece)), None)
        pattern += re2.escape(remaining[0]) if piece is None else _PIECES[piece]
        remaining = remaining[len(piece or remaining[0]) :]
    return pattern
