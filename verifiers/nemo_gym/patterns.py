"""Patterns of a row, by RE2, whose work grows with the text and no faster."""

from collections.abc import Sequence
from typing import Any, Final

import re2

from verifiers.base import InvalidItem

MAX_PATTERNS: Final = 64
_MAX_PATTERN_BYTES: Final = 2 << 20


def compile_all(sources: Sequence[str], name: str, *, dot_all: bool = False) -> list[Any]:
    """The compiled patterns.

    Args:
        sources: The patterns.
        name: The row's field that they are from.
        dot_all: A dot matches the end of a line, too.

    Raises:
        InvalidItem: there are too many, or RE2 does not take one of them.
    """
    if len(sources) > MAX_PATTERNS:
        raise InvalidItem("bad_row", f"the row's {name!r} has more than {MAX_PATTERNS} patterns")
    options = re2.Options()
    options.max_mem = _MAX_PATTERN_BYTES
    options.log_errors = False
    options.dot_nl = dot_all
    try:
        return [re2.compile(source, options) for source in sources]
    except (re2.error, UnicodeEncodeError) as error:
        raise InvalidItem("bad_row", f"the row's {name!r} has a pattern that RE2 does not take: {error}") from error
