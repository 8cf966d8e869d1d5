"""Serves objects of the tests' own classes to the judged program: they stay here, and the program sends its operations.

When tests make a linked list or a tree of a class that they define, the program gets numbers instead of the objects.
Each operation of the program comes back as a call of `ServedObject`: to get or set an attribute, to compare, to
iterate.

The program may do with them what any program can, but nothing that would let it judge itself. Names with two
underscores are refused, because everything in the tests can be reached through them. So are replacing a method and
changing a class. A value that the program stores in an attribute is plain data, or an object known by a number, which
equals no plain value.
"""

import copy
import operator
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from sandbox.runner.testing.protocol import COMPUTED, TOLD


def _special_method(name: str) -> Callable[..., Any]:
    """Calls a special method as it is, so that it may give `NotImplemented`."""
    return lambda target, *operands, **keywords: getattr(type(target), name)(target, *operands, **keywords)


SPECIAL: Final[Mapping[str, Callable[..., Any]]] = {
    **{
        f"__{name}__": _special_method(f"__{name}__")
        for name in (*TOLD, *COMPUTED, "next", "call", "enter", "exit", "format", "bytes", "missing", "length_hint")
    },
    **{f"__{name}__": getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "contains", "getitem")},
    **{f"__{name}__": getattr(operator, name) for name in ("setitem", "delitem", "neg")},
    "__len__": len,
    "__bool__": bool,
    "__hash__": hash,
    "__str__": str,
    "__repr__": repr,
}
"""Operations that programs may use on objects whose class defines them, besides iteration."""

NAMESPACE: Final = "tests"
"""The module name of tests that are not files."""


_LENT: Final[Mapping[str, tuple[str, ...]]] = {
    "builtins": ("object",),
    "_io": ("StringIO", "BytesIO", "TextIOWrapper", "BufferedReader", "BufferedWriter", "BufferedRandom"),
    "tempfile": ("_TemporaryFileWrapper",),
    "types": ("SimpleNamespace",),
    "random": ("Random",),
    "_thread": ("lock", "RLock"),
    "threading": ("Event", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"),
    "queue": ("Queue", "LifoQueue", "PriorityQueue"),
    "_queue": ("SimpleQueue",),
    "re": ("Pattern", "Match"),
    "collections": ("ChainMap", "UserDict", "UserList", "UserString"),
    "decimal": ("Context",),
    "_struct": ("Struct",),
}
"""Classes of the library whose objects are lent, too: nothing in them but names with underscores leads to the tests."""
_CHANGEABLE: Final = frozenset({"SimpleNamespace", "Context"})
"""Those of them whose attributes programs may set."""
_OF_OBJECTS: Final = (types.FunctionType, types.MemberDescriptorType)
"""Attributes of classes that give a method, or what the object holds."""
_stand_ins: dict[type, type] = {}


def lent_class(kind: type) -> type | None:
    """The class that the program sees of an object that is lent; None: objects of this class are not."""
    if is_of_tests(kind) or _is_enumeration(kind):
        return kind
    if kind.__name__ not in _LENT.get(kind.__module__, ()):
        return None
    if kind not in _stand_ins:
        _stand_ins[kind] = type(f"{kind.__module__}.{kind.__name__}", (), {"__module__": NAMESPACE})
    return _stand_ins[kind]


def _is_enumeration(kind: type) -> bool:
    """Whether the tests define the class with `Enum`, and not with another class that has values."""
    enum: Any = sys.modules.get("enum")
    if enum is None or type(kind) is not enum.EnumType:
        return False
    own_bases = [base for base in kind.__mro__ if base not in (enum.Enum, enum.Flag, object)]
    return [*filter(_is_defined_by_tests, own_bases)] == own_bases and bool(own_bases)


class LentIterator:
    """An iterator of the tests, called back for each item."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.thing = iterator

    def __call__(self) -> tuple[Any] | None:
        return _next_of(self.thing)


class ServedObject:
    """Performs the program's operations on an object or class of the tests. It is called back like a function."""

    def __init__(self, target: Any) -> None:
        self.thing = target

    def __call__(self, action: str, /, *operands: Any, **keywords: Any) -> Any:
        return _ACTIONS[action](self.thing, *operands, **keywords)


def is_plain_access(function: object, operands: Sequence[Any]) -> bool:
    """Whether a call gets or sets an attribute, and runs nothing of the tests."""
    if not isinstance(function, ServedObject) or operands[0] not in ("get", "set") or isinstance(function.thing, type):
        return False
    kind: Any = type(function.thing)
    if kind.__getattribute__ is not object.__getattribute__ or kind.__setattr__ is not object.__setattr__:
        return False
    members = [vars(one)[operands[1]] for one in kind.__mro__ if operands[1] in vars(one)]
    if not members:
        return not hasattr(kind, "__getattr__")
    return isinstance(members[0], _OF_OBJECTS) or not hasattr(type(members[0]), "__get__")


def is_of_tests(kind: type) -> bool:
    """Whether the tests define the class and it is plain: everything in it comes from the tests or from `object`.

    `ABC`, `Generic` and `Protocol` add nothing to its objects.
    """
    if not _is_defined_by_tests(kind) or (type(kind).__module__, type(kind).__name__) not in _METACLASSES:
        return False
    return all(_is_defined_by_tests(base) or (base.__module__, base.__name__) in _EMPTY_BASES for base in kind.__mro__)


_METACLASSES: Final = (("builtins", "type"), ("abc", "ABCMeta"), ("typing", "_ProtocolMeta"))
_EMPTY_BASES: Final = (("builtins", "object"), ("abc", "ABC"), ("typing", "Generic"), ("typing", "Protocol"))


def lent_bases(kind: type) -> list[type]:
    """The bases of a class that the tests define, too."""
    return [base for base in kind.__bases__ if is_of_tests(base)] if is_of_tests(kind) else []


def named_tuple_class(kind: Any) -> tuple[str, Sequence[str], list[Any]] | None:
    """The name, fields and defaults of a class that `namedtuple` has made for the tests; None for another class."""
    fields = getattr(kind, "_fields", None) if isinstance(kind, type) and issubclass(kind, tuple) else None
    if type(fields) is not tuple or kind.__module__ != NAMESPACE:
        return None
    return kind.__name__, fields, [*kind._field_defaults.values()]


def has_more_than_data(value: Any) -> bool:
    """Whether the tests have made plain data of a class of their own that adds to it: `class Scores(dict): best = 3`.

    A program gets the data alone. Members of an enumeration are their values, and tuples with names are passed whole.
    """
    kind = type(value)
    own_kinds = [base for base in kind.__mro__ if _is_defined_by_tests(base)]
    if not own_kinds or type(kind) is not type or named_tuple_class(kind) is not None:
        return False
    return bool(getattr(value, "__dict__", None)) or any(vars(base).keys() - _OF_EVERY_CLASS for base in own_kinds)


_OF_EVERY_CLASS: Final = vars(type("Empty", (dict,), {"__slots__": (), "__annotations__": {}})).keys() | {
    *("__dict__", "__weakref__", "__orig_bases__", "__parameters__", "__qualname__", "__firstlineno__"),
    "__static_attributes__",
}


class TupleMember:
    """A method or property of a named tuple's class of the tests. The program has the items, and calls this with them."""

    def __init__(self, kind: Any, name: str, sort: str) -> None:
        self._kind = kind
        self.name = name
        self.sort = sort
        """`property`, `static` or `method`"""

    def __call__(self, items: Any, /, *operands: Any, **keywords: Any) -> Any:
        member = getattr(self._kind if self.sort == "static" else self._kind._make(items), self.name)
        return member if self.sort == "property" else member(*operands, **keywords)


def tuple_members(kind: Any) -> list[TupleMember]:
    """What the tests have written into the class of a named tuple."""
    members: dict[str, TupleMember] = {}
    for base in kind.__mro__:
        for name, member in vars(base).items() if _is_defined_by_tests(base) else ():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            is_written = isinstance(function, types.FunctionType) and function.__module__ == base.__module__
            if is_written and (name in SPECIAL or not name.startswith("_")):
                sort = _SORTS.get(type(member), "method")
                members.setdefault(name, TupleMember(kind, name, sort))
    return [*members.values()]


_SORTS: Final[Mapping[type, str]] = {property: "property", staticmethod: "static", classmethod: "static"}


def set_directory(directory: str) -> None:
    """Say where the tests' own files are."""
    _directories[:] = [os.path.join(directory, "")]


def is_file_of_tests(path: object) -> bool:
    return type(path) is str and path.startswith(tuple(_directories))


_directories: list[str] = []


def specials_of(kind: type) -> list[str]:
    """The special methods that a class has and does not inherit from `object`."""
    has = [name for name in (*SPECIAL, "__iter__") if getattr(kind, name, None) is not getattr(object, name, None)]
    return [name for name in has if getattr(kind, name) is not None]


def _is_defined_by_tests(kind: type) -> bool:
    if kind.__module__ == NAMESPACE:
        return True
    return is_file_of_tests(getattr(sys.modules.get(kind.__module__), "__file__", None))


def _checked_name(target: Any, name: Any) -> str:
    kind = target if isinstance(target, type) else type(target)
    if type(name) is not str or name.startswith("__" if is_of_tests(kind) else "_"):
        raise AttributeError(f"{name!r} of the tests' objects cannot be read by the program")
    if kind is target and hasattr(type(kind), name) and not any(name in vars(base) for base in kind.__mro__):
        # Shape.register(int) would change what the tests' isinstance says
        raise AttributeError(f"{name!r} of the tests' classes cannot be used by the program")
    return name


def _get(target: Any, name: Any) -> Any:
    if type(name) is str and name in _TOLD_OF_OBJECTS:
        return _TOLD_OF_OBJECTS[name](target)
    return getattr(target, _checked_name(target, name))


def _attributes(target: Any) -> dict[str, Any]:
    """A copy of what `vars` gives: a change of the object goes through `_set`."""
    return dict(vars(target)) if not isinstance(target, type) else {}


def _fields(kind: Any) -> list[tuple[str, bool]]:
    """The names of a dataclass's fields, and whether its initializer takes them."""
    return [(field.name, field.init) for field in sys.modules["dataclasses"].fields(kind)]


_TOLD_OF_OBJECTS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "__dict__": _attributes,
    "__dataclass_fields__": _fields,
    "__match_args__": operator.attrgetter("__match_args__"),
}
"""Names with two underscores that `vars`, `dataclasses` and `match` read: copies of what they need."""


def _lacking(target: Any, names: list[str]) -> list[str]:
    """Those of the names that a class has not, or only from `object`."""
    return [name for name in names if getattr(target, name, None) in (None, getattr(object, name, None))]


def _set(target: Any, name: Any, value: Any) -> None:
    is_fixed = isinstance(target, type) or not (is_of_tests(type(target)) or type(target).__name__ in _CHANGEABLE)
    if is_fixed or callable(getattr(type(target), _checked_name(target, name), None)):
        raise AttributeError(f"{name!r} of the tests' objects cannot be replaced by the program")
    setattr(target, name, value)


def _delete(target: Any, name: Any) -> None:
    if isinstance(target, type) or not (is_of_tests(type(target)) or type(target).__name__ in _CHANGEABLE):
        raise AttributeError(f"{name!r} of the tests' objects cannot be deleted by the program")
    delattr(target, _checked_name(target, name))


def _make(target: Any, /, *arguments: Any, **keywords: Any) -> Any:
    if not isinstance(target, type):
        raise TypeError("not a class")
    return target(*arguments, **keywords)


def _member(target: Any, name: Any) -> Any:
    if isinstance(target, type) and is_of_tests(target) and hasattr(target, "__class_getitem__"):
        return target  # Box[int]
    if not (isinstance(target, type) and _is_enumeration(target)):
        raise TypeError("not an enumeration")
    return target[name]  # type: ignore[index]  # an enumeration can be


def _compute(target: Any, name: Any, *operands: Any, **keywords: Any) -> Any:
    if isinstance(target, type) or name not in specials_of(type(target)):
        raise TypeError(f"{name!r} of the tests' objects cannot be computed by the program")
    return SPECIAL[name](target, *operands, **keywords)


def _iterate(target: Any) -> Callable[[], tuple[Any] | None]:
    """A function that returns the next item each time it is called."""
    iterator = iter(target)
    return lambda: _next_of(iterator)


def _next_of(iterator: Iterator[Any]) -> tuple[Any] | None:
    try:
        return (next(iterator),)
    except StopIteration:
        return None


_ACTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "get": _get,
    "set": _set,
    "delete": _delete,
    "make": _make,
    "compute": _compute,
    "member": _member,
    "go through": _iterate,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "lacking": _lacking,
}
