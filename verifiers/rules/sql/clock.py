"""Fixes the time of SQLite's date and time functions in UTC, so that a verdict does not depend on time or place.

Functions of the same names replace the built-in ones of a connection. They call the built-in functions of another
connection, with the fixed moment in place of `now`. The modifiers `localtime` and `utc` have no effect.
"""

import sqlite3
from functools import cache, partial

from memory import remember

Value = None | int | float | str | bytes

_FUNCTIONS = ("date", "time", "datetime", "julianday", "unixepoch", "strftime")
_CONSTANTS = {"current_date": "date", "current_time": "time", "current_timestamp": "datetime"}


def fix(connection: sqlite3.Connection, now: str) -> None:
    """Set the time of a connection to `now`, such as `2025-01-01 00:00:00`."""
    for name in _FUNCTIONS:
        connection.create_function(name, -1, partial(_at, now, name), deterministic=True)
    for constant, name in _CONSTANTS.items():
        connection.create_function(constant, 0, partial(_at, now, name), deterministic=True)


@remember(4096, typed=True)
def _at(now: str, name: str, *values: Value) -> Value:
    lead = 1 if name == "strftime" else 0
    arguments = list(values) if len(values) > lead else [*values, now]
    for index, argument in enumerate(arguments[lead:], start=lead):
        word = argument.strip().lower() if isinstance(argument, str) else None
        if index == lead and word == "now":
            arguments[index] = now
        elif index > lead and word in ("localtime", "utc"):
            arguments[index] = "+0 seconds"
    result: Value = _built_in().execute(_CALLS[name, len(arguments)], arguments).fetchone()[0]
    return result


_MAX_ARGUMENTS = 100


@cache
def _built_in() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False)


_CALLS = {
    (name, count): f"SELECT {name}({', '.join('?' * count)})"
    for name in _FUNCTIONS
    for count in range(1, _MAX_ARGUMENTS + 1)
}
