"""Reads TOML 1.0, with dates and times as text. The length of the document limits the cost."""

import re
import tomllib
from datetime import date, datetime, time
from typing import Any

from verifiers.rules.documents import MAX_DEPTH, Unreadable, check_depth


def read_toml(text: str) -> Any:
    if _has_long_key(text):  # tomllib would take quadratic time for it, only to find it too deep
        raise Unreadable("too_deep")
    try:
        value = tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError as error:
        raise Unreadable("too_deep") from error
    except ValueError as error:
        raise Unreadable("not_readable", str(error)) from error
    check_depth(value)
    return _plain(value)


def _has_long_key(text: str) -> bool:
    """Whether a key may have more than `MAX_DEPTH` parts. A key stands on one line."""
    if text.count(".") < MAX_DEPTH:
        return False
    return any(line.count(".") >= MAX_DEPTH and _LONG_KEY.search(line) for line in text.split("\n"))


_LONG_KEY = re.compile(rf"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){{{MAX_DEPTH}}}[\w"'-]""")


def _plain(value: Any) -> Any:
    """The value with dates and times as text."""
    match value:
        case dict():
            return {key: _plain(entry) for key, entry in value.items()}
        case list():
            return [_plain(entry) for entry in value]
        case float() if value - value != 0:
            raise Unreadable("not_readable", f"{value} is not a number of JSON")
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return value
