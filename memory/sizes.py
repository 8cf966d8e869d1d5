"""The bytes that a value and all that it alone could hold take.

What is shared is counted with each that holds it, so a sum of sizes is an upper bound. Classes, functions and modules are not
counted: a value does not keep them alive.
"""

import gc
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any, Final, TypeAlias

_NOT_COUNTED: Final = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodDescriptorType, CodeType, FrameType)
_PLAIN: Final = frozenset((str, bytes, int, float, bool, complex, type(None)))
_Walk: TypeAlias = bool | Callable[[Any], int]
_SHARED: Final = "FactRules"
"""What sympy's values share: the rules by which one of their properties follows from others."""
_MOST_PARTS: Final = 2_000
"""Parts of a value that are walked: 2 ms. A larger value counts as if the rest were as large as what was seen."""


def size_of(value: object) -> int:
    """The bytes of a value with all that it refers to."""
    if type(value) in _PLAIN:
        return sys.getsizeof(value)
    counted = 0
    seen_ids = {id(value)}
    waiting: list[object] = [value]
    walked = not_walked = 0
    kinds: dict[type, _Walk] = {type(value): _walk_of(type(value))}
    getsizeof, referents = sys.getsizeof, gc.get_referents
    while waiting and walked < _MOST_PARTS:
        part = waiting.pop()
        walked += 1
        counted += getsizeof(part)
        walk = kinds[type(part)]
        if callable(walk):
            counted += walk(part)
        inners = referents(part)
        if isinstance(part, dict):
            inners += dict.keys(part)  # those that are texts are not among the referents
        not_walked += max(0, len(inners) - _MOST_PARTS)
        del inners[_MOST_PARTS:]
        for child in inners:
            if (number := id(child)) in seen_ids:
                continue
            seen_ids.add(number)
            kind = type(child)
            if kind in _PLAIN:
                walked += 1
                counted += getsizeof(child)
                continue
            if kind not in kinds:
                kinds[kind] = _walk_of(kind)
            if kinds[kind]:
                waiting.append(child)
    return counted + (len(waiting) + not_walked) * counted // walked


def exact(content: bytes) -> bytes:
    """The same bytes in memory of their length, to be kept.

    msgspec's encoders grow a buffer by half, and shorten it without giving the rest back (`FAST_BYTES_SHRINK` in its
    `_core.c`): what they return is to be short-lived. Neither `sys.getsizeof` nor a bound of lengths sees the rest.
    """
    return bytes(memoryview(content))


def _walk_of(kind: type) -> "_Walk":
    """Whether values of a kind are walked, and what measures what they hold that Python does not know."""
    if issubclass(kind, _NOT_COUNTED) or kind.__name__ == _SHARED:
        return False
    return _FOREIGN.get((kind.__module__, kind.__qualname__), True)


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
