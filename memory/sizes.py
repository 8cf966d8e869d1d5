"""The bytes that a value and all that it alone could hold take.

What is shared is counted with each that holds it, so a sum of sizes is an upper bound. Classes, functions and modules are not
counted: a value does not keep them alive.
"""

import gc
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any, Final

_NOT_COUNTED: Final = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodDescriptorType, CodeType, FrameType)
_PLAIN: Final = (str, bytes, int, float, bool, complex, type(None))
_SHARED: Final = "FactRules"
"""What sympy's values share: the rules by which one of their properties follows from others."""
_MOST_PARTS: Final = 4_000
"""Parts of a value that are walked. A larger value counts as if the rest were as large as what was seen."""


def size_of(value: object) -> int:
    """The bytes of a value with all that it refers to."""
    if isinstance(value, _PLAIN):
        return sys.getsizeof(value)
    counted = 0
    known = {id(value)}
    waiting: list[object] = [value]
    walked = not_walked = 0
    while waiting and walked < _MOST_PARTS:
        part = waiting.pop()
        walked += 1
        counted += _own_size(part)
        inners = gc.get_referents(part)
        if isinstance(part, dict):
            inners += dict.keys(part)  # those that are texts are not among the referents
        not_walked += max(0, len(inners) - _MOST_PARTS)
        del inners[_MOST_PARTS:]
        for inner in inners:
            if id(inner) in known:
                continue
            known.add(id(inner))
            if isinstance(inner, _PLAIN):
                walked += 1
                counted += sys.getsizeof(inner)
            elif not isinstance(inner, _NOT_COUNTED) and type(inner).__name__ != _SHARED:
                waiting.append(inner)
    return counted + (len(waiting) + not_walked) * counted // walked


def _own_size(part: object) -> int:
    kind = type(part)
    size = sys.getsizeof(part)
    if kind.__module__ in _FOREIGN_MODULES and (foreign := _FOREIGN.get((kind.__module__, kind.__qualname__))):
        size += foreign(part)
    return size


def _of_re2(expression: Any) -> int:
    """RE2 keeps about 28 bytes for each instruction, and the states that its automata went through beside them: 60 more
    for each after a thousand characters, by RSS.
    """
    return 100 * max(0, int(expression.programsize))


def _of_regex(expression: Any) -> int:
    """A node of `regex` takes about 40 bytes, by RSS, and most characters of a pattern make one."""
    return 40 * len(str(expression.pattern))


_FOREIGN: Final[dict[tuple[str, str], Callable[[Any], int]]] = {
    ("re2", "_Regexp"): _of_re2,
    ("_regex", "Pattern"): _of_regex,
}
"""What objects of other languages hold, which Python does not know."""
_FOREIGN_MODULES: Final = frozenset(module for module, _ in _FOREIGN)
