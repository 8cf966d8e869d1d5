"""Names for callers who wrote another: the known names that an unknown one may stand for."""

from collections.abc import Iterable
from difflib import get_close_matches

_MAX_CHARS = 100


def near(name: str, known_names: Iterable[str]) -> str:
    """The end of a message about an unknown name: "; did you mean `math`?". Empty if no known name is near."""
    close = get_close_matches(name[:_MAX_CHARS], dict.fromkeys(known_names))
    return f"; did you mean {' or '.join(f'`{close_name}`' for close_name in close)}?" if close else ""
