"""Comparisons of tests to which what has no elements is equal to anything: they are mended.

numpy stretches both sides to a common shape, which of `[]` and `3.5` is an empty one, and then finds all elements of it
close: `np.allclose([], 3.5)`, the test of EvalPlus for floats, would take an empty list as the answer to any question.
"""

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any, Final

from sandbox.runner.testing.specification import Specification

_ABOUT_NUMPY: Final = re.compile(r"\b(?:numpy|np|pandas|pd)\b")
_ABOUT_TESTING: Final = re.compile(r"\btesting\b")
_COMPARING: Final = ("allclose", "isclose", "array_equiv")


def patch_numpy_comparisons(specification: Specification) -> None:
    """Those of numpy, if it is here or the tests are going to import it."""
    if "numpy" not in sys.modules and not specification.mentions(_ABOUT_NUMPY, "numpy", "np.", "pandas", "pd."):
        return
    try:
        numpy = importlib.import_module("numpy")
    except ImportError:
        return
    for name in _COMPARING:
        setattr(numpy, name, _mended(numpy, getattr(numpy, name)))
    if specification.mentions(_ABOUT_TESTING, "testing"):
        _patch_numpy_testing(numpy)


def patch_approx(approx: Any) -> None:
    """`pytest.approx`, given the class of its results for numbers."""
    equals = approx.__eq__

    def equals_something(self: Any, actual: Any) -> bool:
        is_empty = type(actual).__module__ == "numpy" and actual.size == 0
        return not is_empty and bool(equals(self, actual))

    approx.__eq__ = equals_something


def has_no_elements(answer: Any, *, beside: Any) -> bool:
    """Whether an answer is empty, where it meets an array which is not: to numpy the two go together, as nothing."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not any(isinstance(side, numpy.ndarray) for side in (answer, beside)):
        return False
    if not all(isinstance(side, numpy.ndarray | list | tuple) for side in (answer, beside)):
        return False
    return bool(_is_one_empty(numpy, answer, beside) and not numpy.size(answer) and numpy.ndim(beside))


def _mended(numpy: Any, compare: Callable[..., Any]) -> Callable[..., Any]:
    def mended(a: Any, b: Any, *arguments: Any, **keywords: Any) -> Any:
        return numpy.False_ if _is_one_empty(numpy, a, b) else compare(a, b, *arguments, **keywords)

    return mended


def _patch_numpy_testing(numpy: Any) -> None:
    """What all of `numpy.testing` compares arrays with."""
    importlib.import_module("numpy.testing")
    utils: Any = importlib.import_module("numpy.testing._private.utils")
    compare = utils.assert_array_compare

    def mended(comparison: Any, x: Any, y: Any, *arguments: Any, **keywords: Any) -> Any:
        if _is_one_empty(numpy, x, y):
            raise AssertionError("one side has no elements")
        return compare(comparison, x, y, *arguments, **keywords)

    utils.assert_array_compare = mended


def _is_one_empty(numpy: Any, one: Any, other: Any) -> bool:
    try:
        sizes = {bool(numpy.asarray(side).size) for side in (one, other)}
    except (TypeError, ValueError):
        return False  # which is for the comparison to say
    return len(sizes) > 1
