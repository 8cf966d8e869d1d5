"""Globs of paths: `*` and `?` stay within a folder, `**` goes through folders. Searched by RE2, whatever they are."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import re2

_PIECES = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a path is one of those. `tests/**` is also `tests` itself."""
    return any(_compiled(glob).fullmatch(path) for glob in globs)


@lru_cache(4096)
def _compiled(glob: str) -> Any:
    pattern, rest = "", glob
    while rest:
        piece = next((piece for piece in _PIECES if rest.startswith(piece)), None)
        pattern += re2.escape(rest[0]) if piece is None else _PIECES[piece]
        rest = rest[len(piece or rest[0]) :]
    return re2.compile(pattern)
