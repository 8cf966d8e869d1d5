"""What a test that is turned around calls: does an assertion hold for a wrong value, too? It runs in the container.

It stands behind the test's own text, from Python 3.6 on.
"""

import os
import sys
from typing import Any

_CONTROL_WORDS: Any = "@WORDS@"
"""The names in the test's file. What compares loosely, as `mock.ANY` does, is the test's own if the file names it."""
_CONTROL_TOP = os.getcwd() + os.sep
_CONTROL_FAR = 1_000_000
"""So many times the value: beyond any tolerance."""


_control_found: Any = []


def _control_note(holds: Any) -> None:
    """Note that an assertion of the test that runs holds for a wrong value."""
    if holds:
        _control_found.append(holds)


def _control_other(value: Any) -> Any:
    """A value that differs from this one, of the same kind where that is simple."""
    kind = type(value)
    if kind is bool:
        return not value
    if kind in (int, float, complex):
        return value + _CONTROL_FAR * (1 + abs(value))
    if kind in (str, bytes):
        return value + ("x" if kind is str else b"x")
    if kind in (list, tuple):
        return value + kind((object(),))
    if kind in (set, frozenset):
        return value | kind((object(),))
    if kind is dict:
        return {**value, object(): 0}
    return object()


def _control_differs(value: Any, other: Any) -> bool:
    """Whether the other value is another one: infinity is not. What cannot be compared is."""
    try:
        return type(value) is not type(other) or bool(other != value and other == other)
    except Exception:  # noqa: BLE001 - the values are the tests'
        return True


def _control_is_ours(value: Any) -> bool:
    """Whether the test itself brought a value that may compare loosely."""
    kind = type(value)
    code = getattr(getattr(kind, "__eq__", None), "__code__", None)
    path = code.co_filename if code is not None else getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    if path.startswith(_CONTROL_TOP) and "-packages" not in path:
        folders = path[len(_CONTROL_TOP) :].split(os.sep)
        name = folders.pop()
        return "test" in folders or "tests" in folders or name.startswith(("test", "conftest.")) or "_test." in name
    return kind.__name__.strip("_") in _CONTROL_WORDS


def _control_holds(check: Any, left: Any, right: Any) -> bool:
    """Whether a check of two equal values holds when one of them is another one."""
    for kept, value, is_left in ((left, right, True), (right, left, False)):
        other = _control_other(value)
        try:
            if (
                _control_differs(value, other)
                and (check(kept, other) if is_left else check(other, kept))
                and not (_control_equal(kept, other) and _control_is_ours(kept))
            ):
                return True
        except BaseException:  # noqa: BLE001, S112 - as it should be
            continue
    return False


def _control_equal(left: Any, right: Any) -> bool:
    return bool(left == right)


def _control_passes(check: Any) -> bool:
    """Whether a call raises nothing that must raise."""
    try:
        check()
    except BaseException:  # noqa: BLE001
        return False
    return True


def _control_misses(make: Any) -> bool:
    """Whether a context raises nothing if nothing happens in it."""
    try:
        with make():
            pass
    except BaseException:  # noqa: BLE001
        return False
    return True
