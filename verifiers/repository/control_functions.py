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
    """Whether the other value is another one: infinity is not. What cannot be compared is, but all elements of nothing are equal."""
    try:
        if type(value) is not type(other):
            return not hasattr(value, "__len__") or len(value) > 0
        return bool(other != value and other == other)
    except Exception:  # noqa: BLE001 - the values are the tests'
        return True


def _control_is_ours(value: Any) -> bool:
    """Whether the test itself brought a value that may compare loosely, or that has such a value in it."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset, dict):
        return any(map(_control_is_ours, value))
    code = getattr(getattr(kind, "__eq__", None), "__code__", None)
    path = code.co_filename if code is not None else getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    if path.startswith(_CONTROL_TOP) and "-packages" not in path:
        folders = path[len(_CONTROL_TOP) :].split(os.sep)
        name = folders.pop()
        return "test" in folders or "tests" in folders or name.startswith(("test", "conftest.")) or "_test." in name
    return kind.__name__.strip("_") in _CONTROL_WORDS


def _control_wrong(left: Any, right: Any, sign: str) -> Any:
    """Pairs of values for which such a comparison must fail."""
    if sign == "==":
        wrong = [(left, _control_other(right))] if _control_differs(right, _control_other(right)) else []
        return [*wrong, (_control_other(left), right)] if _control_differs(left, _control_other(left)) else wrong
    if sign in ("!=", "is not"):
        return [(value, value) for value in (left, right) if sign != "!=" or _control_equal(value, value)]
    if sign == "not in":
        return [(left, (left,))]
    if sign in ("is", "in"):
        return [(object(), right), (left, object() if sign == "is" else (object(),))]
    swapped = [(right, left)] if len(sign) == 1 or not _control_equal(left, right) else []
    nan = float("nan")
    return swapped + [(left, nan)] * (type(right) in (int, float)) + [(nan, right)] * (type(left) in (int, float))


def _control_holds(check: Any, plain: Any, left: Any, right: Any, sign: Any) -> bool:
    """Whether a check of two values holds for wrong ones. The test's own values may compare loosely without the check."""
    for one, other in _control_wrong(left, right, sign):
        kept = right if other is right else left
        try:
            if check(one, other) and not (plain(one, other) and _control_is_ours(kept)):
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
