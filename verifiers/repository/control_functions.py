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
_CONTROL_MANY = 20


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


def _control_near(value: Any) -> Any:
    """Other values of the same kind, near this one: what claims to be all that a test may want is equal to them, too. They are
    further away than a number of few digits is exact.
    """
    kind = type(value)
    if kind in (list, tuple) and value:
        return [value[:-1] + kind((near,)) for near in _control_near(value[-1])]
    if kind is dict and value:
        key = list(value)[-1]
        return [dict(value, **{key: near}) if type(key) is str else {key: near} for near in _control_near(value[key])]
    if kind is str and value:
        code = ord(value[-1])
        return [value[:-1] + chr(code ^ 1 if value[-1].isdigit() else (code - 1 ^ 1) + 1)] if code else []
    if kind in (int, float) or (kind.__module__, kind.__name__) in (("decimal", "Decimal"), ("fractions", "Fraction")):
        return [value + 1 + abs(value) // 2, value - 1 - abs(value) // 4]
    return []


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
        return any(map(_control_is_ours, [*value, *value.values()] if kind is dict else value))
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


def _control_close(left: Any, right: Any, sign: str) -> Any:
    """Pairs of values near those of a test that must not be equal, unless the test itself allows a tolerance."""
    if sign == "in" and type(right) in (list, tuple, set, frozenset) and len(right) <= _CONTROL_MANY:
        return [(left, (near,)) for value in right for near in _control_near(value) if near not in right]
    if sign != "==":
        return []
    return [(left, near) for near in _control_near(right)] + [(near, right) for near in _control_near(left)]


def _control_holds(check: Any, plain: Any, left: Any, right: Any, sign: Any) -> bool:
    """Whether a check of two values holds for wrong ones. The test's own values may compare loosely without the check."""
    for one, other in _control_wrong(left, right, sign):
        kept = right if other is right else left
        try:
            if check(one, other) and not (plain(one, other) and _control_is_ours(kept)):
                return True
        except BaseException:  # noqa: BLE001, S112 - as it should be
            continue
    try:
        for one, other in _control_close(left, right, sign):
            kept = right if other is right else left
            if plain(one, other) and check(one, other) and not (_control_is_ours(kept) or _control_is_loose(kept)):
                return True
    except BaseException:  # noqa: BLE001, S110 - what cannot be compared is not equal
        pass
    return False


def _control_is_loose(value: Any) -> bool:
    """Whether a value has a tolerance that the test itself may have given it."""
    if type(value) in (list, tuple, dict):
        return any(map(_control_is_loose, value.values() if type(value) is dict else value))
    return "approx" in _CONTROL_WORDS and type(value).__name__.startswith("Approx")


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
