"""Makes a class of a hostile program for each class of the standard library, and uses its objects in every way.

Ends with 0 if this process lives on. It is run by `test_hostile_objects.py`.
"""

import contextlib
import copy
import gc
import math
import operator
import sys
from collections.abc import Callable
from typing import Any

from sandbox.runner.testing.remote_classes import Description, RemoteClass, library_class, made, new
from sandbox.runner.testing.remote_objects import Remote, RemoteObject

# What programs are judged with, and what has classes of many layouts.
MODULES = (
    *(
        "abc",
        "array",
        "ast",
        "asyncio",
        "collections",
        "contextlib",
        "csv",
        "ctypes",
        "dataclasses",
        "datetime",
        "decimal",
    ),
    *(
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "io",
        "ipaddress",
        "itertools",
        "json",
        "logging",
        "numbers",
        "operator",
    ),
    *(
        "pathlib",
        "pickle",
        "queue",
        "random",
        "re",
        "selectors",
        "socket",
        "sqlite3",
        "ssl",
        "string",
        "struct",
        "threading",
    ),
    *("time", "types", "typing", "uuid", "weakref", "xml.etree.ElementTree", "zipfile", "zlib", "zoneinfo"),
)


class Owner:
    """A program that refuses every question."""

    def __getattr__(self, name: str) -> Any:
        def refused(*_: object, **__: object) -> Any:
            raise LookupError(name)

        return refused


def described(kind: type, *, is_library: bool) -> Description:
    return Description("X", frozenset(), {}, "", (), (kind,), is_library)


USES: tuple[Callable[[Any], object], ...] = (
    *(repr, str, hash, len, iter, next, bool, int, float, complex, bytes, list, dict, sorted, reversed, abs, callable),
    *(operator.index, operator.neg, operator.invert, math.floor, memoryview, copy.copy, copy.deepcopy, vars, dir),
    *(lambda one: one(), lambda one: one[0], lambda one: one + one, lambda one: one + 1, lambda one: 1 + one),
    *(
        lambda one: one == one,
        lambda one: one < one,
        lambda one: 1 in one,
        lambda one: one @ one,
        lambda one: f"{one:5}",
    ),
    *(
        lambda one: one.__reduce_ex__(4),
        lambda one: one.__sizeof__(),
        lambda one: one.__init__(),
        lambda one: divmod(one, 2),
    ),
    *(
        lambda one: one.__enter__(),
        lambda one: one.__await__(),
        lambda one: one.__anext__(),
        lambda one: one.__getstate__(),
    ),
)


OF_TYPES = {"__new__", "__init__", "__init_subclass__", "__subclasshook__", "__class_getitem__"}


def members(kind: type) -> Any:
    """The class's own members, without a question to the program."""
    return type.__dict__["__dict__"].__get__(kind)


def use(one: Any) -> None:
    resolution = type.__getattribute__(type(one), "__mro__")
    for name in {name for base in resolution for name, member in members(base).items() if callable(member)} - OF_TYPES:
        owner = next(base for base in resolution if name in members(base))
        if name.startswith("__") and owner not in (Remote, RemoteObject, object):
            assert type(owner) is RemoteClass, f"{name} runs the code of {owner}"
    for function in USES:
        with contextlib.suppress(Exception):
            function(one)


def main() -> None:
    for name in MODULES:
        __import__(name)
    kinds = {
        kind
        for name in [*sys.modules]
        for kind in [*vars(sys.modules[name]).values()]
        if isinstance(kind, type) and library_class(kind.__module__, kind.__name__) is kind
    }
    count = 0
    for kind in sorted(kinds, key=lambda kind: (kind.__module__, kind.__qualname__)):
        for is_library in (False, True):
            with contextlib.suppress(TypeError):
                use(new(made(Owner(), 1, described(kind, is_library=is_library)), 1))
                count += 1
    gc.collect()
    print(count)


if __name__ == "__main__":
    main()
