"""Patches numpy and pytest comparisons that find an empty array equal to anything.

numpy broadcasts both sides to a common shape. For `[]` and `3.5` that shape is empty, so all its elements are close:
`np.allclose([], 3.5)`, EvalPlus's test for floats, would accept an empty list as the answer to any question.
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
    """Patch numpy's comparisons, if numpy is loaded or the tests will import it."""
    if "numpy" not in sys.modules and not specification.mentions(_ABOUT_NUMPY, "numpy", "np.", "pandas", "pd."):
        return
    try:
        numpy = importlib.import_module("numpy")
    except ImportError:
        return
    for name in _COMPARING:
        setattr(numpy, name, _patched(numpy, getattr(numpy, name)))
    if specification.mentions(_ABOUT_TESTING, "testing"):
        _patch_numpy_testing(numpy)


def patch_approx(approx: Any) -> None:
    """Patch `pytest.approx`, given the class of its results for numbers."""
    equals = approx.__eq__

    def equals_something(self: Any, actual: Any) -> bool:
        is_empty = type(actual).__module__ == "numpy" and actual.size == 0
        return not is_empty and bool(equals(self, actual))

    approx.__eq__ = equals_something


def has_no_elements(answer: Any, *, partner: Any) -> bool:
    """Whether the answer is empty and is combined with an array that is not.

    numpy would broadcast the two to an empty result.
    """
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not any(isinstance(side, numpy.ndarray) for side in (answer, partner)):
        return False
    if not all(isinstance(side, numpy.ndarray | list | tuple) for side in (answer, partner)):
        return False
    return bool(_is_one_empty(numpy, answer, partner) and not numpy.size(answer) and numpy.ndim(partner))


def _patched(numpy: Any, compare: Callable[..., Any]) -> Callable[..., Any]:
    def patched(a: Any, b: Any, *arguments: Any, **keywords: Any) -> Any:
        return numpy.False_ if _is_one_empty(numpy, a, b) else compare(a, b, *arguments, **keywords)

    return patched


def _patch_numpy_testing(numpy: Any) -> None:
    """Patch the function with which all of `numpy.testing` compares arrays."""
    importlib.import_module("numpy.testing")
    utils: Any = importlib.import_module("numpy.testing._private.utils")
    compare = utils.assert_array_compare

    def patched(comparison: Any, x: Any, y: Any, *arguments: Any, **keywords: Any) -> Any:
        if _is_one_empty(numpy, x, y):
            raise AssertionError("one side has no elements")
        return compare(comparison, x, y, *arguments, **keywords)

    utils.assert_array_compare = patched


def _is_one_empty(numpy: Any, first: Any, second: Any) -> bool:
    try:
        sizes = {bool(numpy.asarray(side).size) for side in (first, second)}
    except (TypeError, ValueError):
        return False  # the comparison itself will raise
    return len(sizes) > 1
