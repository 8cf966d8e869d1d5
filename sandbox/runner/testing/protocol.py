"""The special methods of objects that stay in the program's process, and what a class there tells about itself."""

import collections
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any, Final

ARITHMETIC: Final = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"),
)
ORDER: Final = ("lt", "le", "gt", "ge")
TOLD: Final = (
    *("len", "getitem", "setitem", "delitem", "reversed", "abs", "int", "float", "complex", "index", "round"),
    *("neg", "pos", "invert", "trunc", "floor", "ceil"),
)
"""Operators whose result is an answer like any other."""
COMPUTED: Final = (
    *(f"{kind}{name}" for kind in ("", "r", "i") for name in ARITHMETIC),
    *("divmod", "rdivmod"),
)
_OTHERS: Final = (
    *("eq", "ne", "hash", "bool", "contains", "iter", "next", "call", "enter", "exit", "repr", "str", "format"),
    *("await", "aiter", "anext", "aenter", "aexit", "get", "set", "delete", "set_name"),
)
SPECIALS: Final = tuple(f"__{name}__" for name in (*TOLD, *COMPUTED, *ORDER, *_OTHERS))
"""All that are forwarded."""

VALUES: Final[Mapping[int, tuple[type, Callable[[Any], Any]]]] = {
    id(kind): (kind, copied)
    for kind, copied in (
        (int, lambda value: int.__add__(value, 0)),
        (float, lambda value: float.__float__(value)),
        (complex, lambda value: complex.__add__(value, 0)),
        (str, lambda value: str.__str__(value)),
        (bytes, lambda value: bytes.__add__(value, b"")),
        (tuple, lambda value: (*tuple.__iter__(value),)),
        (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
    )
}
"""Types whose instances never change, by their id: an instance of a class derived from one is told with its value."""
VALUE_TYPES: Final[Mapping[str, type]] = {kind.__name__: kind for kind, _ in VALUES.values()}

IN_PLACE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    f"i{name}": getattr(operator, f"i{name}") for name in ARITHMETIC
}

HELD: Final[Mapping[type, Callable[[Any], Any]]] = {
    types.SimpleNamespace: lambda value: {**vars(value)},
    collections.UserDict: lambda value: {**value.data},
    collections.UserList: lambda value: [*value.data],
}
"""Classes of the library whose objects may change and are compared by what they hold."""
