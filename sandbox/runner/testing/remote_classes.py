"""Classes of the judged program, as its tests see them: one class here for each of theirs.

It has the bases and special methods that the program tells of it, so `type`, `isinstance`, `issubclass`, `match`,
`dataclasses.fields` and the abstract classes of `collections.abc` need nothing of their own. A base from the standard
library is the one that tests import: a derived class is found among its subclasses, and an instance of it (a generator,
a function) says that class when it is asked. An answer that claims a wrong class gains nothing: what is compared
is decided by the real type.
"""

import collections
import contextlib
import enum
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sandbox.runner.testing.protocol import COMPUTED, HELD, ORDER, SPECIALS, TOLD, VALUE_TYPES
from sandbox.runner.testing.remote_objects import (
    Computation,
    Owner,
    Remote,
    RemoteObject,
    attribute,
    demand_untold,
    done,
    filled,
    is_forwarded,
    tell,
    text,
    text_of,
    waiting,
)

_MAX_NAME_CHARS: Final = 100
_UNTRUSTED_MODULES: Final = frozenset({"unittest", "bdb", "doctest", "concurrent", "importlib", "pdb"})
_PLAIN: Final = frozenset({*VALUE_TYPES.values(), list, dict, set, bytearray, bool, type(None), type, object})
_CONTAINERS: Final[Mapping[str, type]] = {
    kind.__name__: kind for kind in (list, dict, set, bytearray, collections.deque)
}


@dataclass(frozen=True, slots=True)
class Description:
    """What the program tells of one of its classes."""

    name: str
    own: frozenset[str]
    """Special methods that are not those of a plain base."""
    specials: Mapping[str, bool]
    """All special methods; False for those that are None."""
    base: str
    """The plain type that it is derived from, or empty."""
    parents: tuple["RemoteClass", ...]
    """The nearest classes of the program that it is derived from."""
    library: tuple[type, ...]
    """Classes of the standard library among its bases; the first is the class itself if `is_library`."""
    is_library: bool


class RemoteClass(type):
    """The class of classes of the program."""

    __rewardline_owner__: Owner
    __rewardline_number__: int
    __rewardline_value__: type | None
    """The plain type whose value its instances have here."""
    __rewardline_library__: tuple[type, ...]
    __rewardline_known__: type | None
    """The same class in the standard library."""

    def __new__(mcs, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> "RemoteClass":
        if "__rewardline_number__" not in members:
            _of(bases, "__rewardline_owner__").give_up("a class of the program cannot be a base of one of the tests'")
        return super().__new__(mcs, name, bases, members)

    def mro(cls) -> list[type]:
        library: tuple[type, ...] = type.__dict__["__dict__"].__get__(cls)["__rewardline_library__"]
        *own_classes, last = super().mro()
        return [*own_classes, *(kind for kind in library if kind not in own_classes and kind is not last), last]

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        return cls.__rewardline_owner__.call(cls.__rewardline_number__, arguments, keywords)

    def __getattribute__(cls, name: str) -> Any:
        if name.startswith("__rewardline_") or name in _OF_CLASSES:
            return super().__getattribute__(name)
        if not is_forwarded(name) and name not in _TOLD_OF_CLASSES:
            return super().__getattribute__(name)
        return cls.__rewardline_owner__.get(cls.__rewardline_number__, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name in _OF_CLASSES:  # as `abc` does with its caches
            super().__setattr__(name, value)
        else:
            cls.__rewardline_owner__.set(cls.__rewardline_number__, name, value)

    def __delattr__(cls, name: str) -> None:
        cls.__rewardline_owner__.delete(cls.__rewardline_number__, name)

    def __dir__(cls) -> list[str]:
        return [*_asked(cls, "dir")]

    def __subclasses__(cls) -> list[Any]:
        return [*_asked(cls, "subclasses")]

    def __instancecheck__(cls, instance: object) -> bool:
        is_of_program = isinstance(instance, Remote) or type(instance) is RemoteClass
        return is_of_program and _asked(cls, "has instance", instance) is True

    def __subclasscheck__(cls, subclass: object) -> bool:
        return type(subclass) is RemoteClass and _asked(cls, "has subclass", subclass) is True

    def __repr__(cls) -> str:
        return str(_asked(cls, "repr"))

    def __iter__(cls) -> Iterator[Any]:
        """Iterate over the members of an enumeration."""
        iterator: Iterator[Any] = _asked(cls, "iter")
        return iterator

    def __getitem__(cls, name: object) -> Any:
        return _asked(cls, "getitem", name)

    def __len__(cls) -> Any:
        return _asked(cls, "len")

    def __bool__(cls) -> bool:
        return True

    def __contains__(cls, item: object) -> bool:
        if isinstance(item, Remote) or type(item) is RemoteClass:
            return _asked(cls, "contains", item) is True
        is_enumeration = enum.Enum in cls.__rewardline_library__
        return any(item == member or (is_enumeration and item == member.value) for member in cls)

    def __reversed__(cls) -> Any:
        return _asked(cls, "reversed")

    def __reduce_ex__(cls, protocol: object) -> Any:
        raise TypeError("classes of the program cannot be pickled")


_OF_CLASSES: Final = frozenset({"__class__", "__instancecheck__", "__subclasscheck__", "__basicsize__"})
_TOLD_OF_CLASSES: Final = frozenset(
    {*("__mro__", "__bases__", "__base__", "__doc__", "__flags__", "mro"), *SPECIALS} - {"__class_getitem__"}
)


def _of(bases: tuple[type, ...], name: str) -> Any:
    return next(type.__getattribute__(base, name) for base in bases if type(base) is RemoteClass)


def _asked(kind: RemoteClass, operator: str, *operands: object) -> Any:
    return kind.__rewardline_owner__.operate(operator, kind.__rewardline_number__, *operands)


def made(owner: Owner, number: int, facts: Description) -> RemoteClass:
    """The class here for one of the program."""
    value = VALUE_TYPES.get(facts.base)
    library = tuple(kind for kind in facts.library if _is_mixed_in(kind))
    bases: tuple[type, ...] = facts.parents or ((Remote, value) if value else (RemoteObject,))
    members = {
        "__slots__": (),
        "__doc__": property(text_of),
        "__annotations__": property(lambda self: attribute(self, "__annotations__")),
        "__module__": facts.library[0].__module__ if facts.is_library and facts.library else "solution",
        "__rewardline_owner__": owner,
        "__rewardline_number__": number,
        "__rewardline_value__": value,
        "__rewardline_known__": facts.library[0] if facts.is_library and facts.library else None,
        "__rewardline_library__": library,
        **_asked_in_the_program(library),
        **_methods(facts, value),
    }
    if value or library:
        # The interpreter takes the place of `__dict__` from any class in the order of resolution, so it must be there.
        del members["__slots__"]
    for extra in ({}, {"__rewardline_library__": ()}, {"bases": None}):
        if "bases" in extra:
            bases, extra = (RemoteObject,) if value is None else (Remote, value), {"__rewardline_library__": ()}
        with contextlib.suppress(Exception):  # a library's class may refuse in its own way
            return RemoteClass(facts.name[:_MAX_NAME_CHARS], bases, {**members, **extra})
    raise TypeError("no class can be made of what the program tells")


def _is_mixed_in(kind: type) -> bool:
    """Whether a class of the standard library may stand in the order of resolution of one that is not derived from it.

    Its members are then called with objects of another layout. What C code or `__slots__` define for the class would read
    memory that such an object does not have, and it is the program that names the class. The interpreter guards members
    that another class defines.
    """
    return not any(
        getattr(member, "__objclass__", None) is kind
        or (name == "__new__" and getattr(member, "__self__", None) is kind)
        for name, member in vars(kind).items()
        if name not in ("__dict__", "__weakref__")
    )


def new(kind: RemoteClass, number: int, value: object = None) -> Any:
    """An instance for an object of the program."""
    attribute_of = type.__getattribute__  # the class's own method would be slower
    base: Any = attribute_of(kind, "__rewardline_value__")
    made_object = object.__new__(kind) if base is None else base.__new__(kind, value)  # type: ignore[arg-type]  # any class
    return filled(made_object, attribute_of(kind, "__rewardline_owner__"), number)


def class_of(value: Any) -> Any:
    """What `type` says in the program."""
    if type(value) is RemoteClass:
        return _asked(value, "class")
    kind = type(done(value))
    return kind.__rewardline_known__ or kind


def shared(kind: RemoteClass) -> type:
    """The class itself, as an answer: that of the standard library if making its objects does nothing else."""
    known = kind.__rewardline_known__
    return known if known is not None and known.__module__.partition(".")[0] in _HARMLESS_MODULES else kind


_HARMLESS_MODULES: Final = frozenset(
    {"builtins", "collections", "datetime", "decimal", "enum", "fractions", "types", "typing", "abc", "numbers", "uuid"}
)


def library_class(module: Any, name: Any) -> type | None:
    """A class of the standard library by its module and name, if the module is loaded."""
    root = str(module).partition(".")[0]
    if root not in sys.stdlib_module_names or root in _UNTRUSTED_MODULES or module not in sys.modules:
        return None
    kind = vars(sys.modules[module]).get(name) or _UNNAMED.get(str(name))
    if not isinstance(kind, type) or kind in _PLAIN or issubclass(kind, BaseException):
        return None
    return kind if (kind.__module__, kind.__name__) == (module, name) else None


_HOLDERS: Final[tuple[Any, ...]] = ([], (), {}, "", set(), range(0), {}.values(), {}.items())
_UNNAMED: Final = {
    kind.__name__: kind
    for kind in (
        *(kind for kind in vars(types).values() if isinstance(kind, type)),
        *(type(iter(holder)) for holder in _HOLDERS),
    )
}
"""Classes of the interpreter that have no name in `builtins`."""


# Methods.


def _methods(facts: Description, value: type | None) -> dict[str, Any]:
    """The members of a class: the special methods that it has, and how its attributes are found."""
    has = [name for name, is_there in facts.specials.items() if is_there and (value is None or name in facts.own)]
    members: dict[str, Any] = {name: _METHODS[name] for name in has if name in _METHODS}
    members |= {name: None for name, is_there in facts.specials.items() if not is_there and name in SPECIALS}
    if value is not None:
        native = frozenset(name for name in dir(value) if not name.startswith("__"))
        members |= {name: _of_value(name, value) for name in has if name in _OF_VALUES}
        for name in ("__eq__", "__ne__", "__hash__"):
            members.setdefault(name, getattr(value, name))
        for name in ("__repr__", "__str__", "__format__"):
            if name not in has:
                members[name] = getattr(value, name)
        members["__getattribute__"] = _forwarding(native)
    elif facts.base and "__eq__" not in facts.own:
        members |= {"__eq__": _equal_values, "__ne__": lambda self, rival: not _equal_values(self, rival)}
        members["__hash__"] = None
    elif facts.is_library and facts.library[0] in HELD:
        members |= {"__eq__": _equal_contents, "__ne__": lambda self, rival: not _equal_contents(self, rival)}
        members["__hash__"] = None
    if value is None and any(map(_is_mixed_in, facts.library)):
        members["__getattribute__"] = _forwarding(frozenset())
    claimed = _claimed(facts) if value is None else None
    if claimed is not None:
        members["__class__"] = property(lambda _: claimed)
    if facts.is_library and "__get__" in has and "__call__" in has:  # a function as a method of a tests' class
        members["__get__"] = lambda self, instance, _=None: (
            self if instance is None else types.MethodType(self, instance)
        )
    elif facts.is_library:
        if claimed is types.GeneratorType:
            members |= {"send": _stepping("send"), "throw": _stepping("throw")}
        members = {name: member for name, member in members.items() if name not in _OF_DESCRIPTORS}
    return members


def _claimed(facts: Description) -> type | None:
    """What `x.__class__` is, if `isinstance` needs it."""
    if facts.is_library and facts.library:
        return facts.library[0]
    base = _CONTAINERS.get(facts.base) or next((kind for kind in facts.library if not _is_mixed_in(kind)), None)
    if base is None:
        return None
    try:
        return type(facts.name, (base,), {})
    except Exception:  # noqa: BLE001 - a library's class may refuse in its own way
        return base


def _asked_in_the_program(library: tuple[type, ...]) -> dict[str, Any]:
    """Special methods of a library's class: none of its own code runs here, on attributes that the program chooses."""
    defined = {name for kind in library for name, member in vars(kind).items() if callable(member) or member is None}
    special = {name for name in defined if name.startswith("__") and name.endswith("__")}
    members = {
        name: _METHODS.get(name) or _asking(name) for name in special - {*vars(Remote), *vars(RemoteObject)} - _OF_TYPES
    }
    if "__del__" in members:
        members["__del__"] = lambda _: None
    return members


_OF_TYPES: Final = frozenset({"__new__", "__init__", "__init_subclass__", "__subclasshook__", "__class_getitem__"})
"""What is called for classes, or when an object is made."""
_OF_DESCRIPTORS: Final = frozenset({"__get__", "__set__", "__delete__", "__set_name__"})


def _forwarding(native: frozenset[str]) -> Callable[[Any, str], Any]:
    """`__getattribute__` of a class that has attributes of a base here."""

    def method(self: Remote, name: str) -> Any:
        if name in native or name.startswith("_rewardline_") or (name.startswith("__") and name != "__dict__"):
            return object.__getattribute__(self, name)
        return attribute(self, name)

    return method


def _told(operator: str) -> Callable[..., Any]:
    """A method whose result is an answer like any other."""

    def method(self: Remote, *operands: object) -> Any:
        return tell(self, operator, *operands)

    return method


def _computed(operator: str) -> Callable[..., Any]:
    """A method that makes the program compute with two values."""

    def method(self: Remote, *operands: object) -> Any:
        return self._rewardline_owner.compute(operator, self, *operands)

    return method


def _compared(operator: str) -> Callable[..., Any]:
    """A method that makes the program compare."""

    def method(self: Remote, value: object) -> bool:
        if not isinstance(value, Remote):
            self._rewardline_owner.allow_judging(self)
        return self._rewardline_owner.operate(operator, self._rewardline_number, value) is True

    return method


def _textual(operator: str) -> Callable[..., str]:
    def method(self: Remote, *operands: object) -> str:
        return text(self, operator, *operands)

    return method


def _asking(name: str) -> Callable[..., Any]:
    """A method that is called in the program by its name."""

    def method(self: Remote, *arguments: Any) -> Any:
        demand_untold(self)
        return self._rewardline_owner.operate("call special", self._rewardline_number, name, *arguments)

    return method


def _may_equal(remote: Remote, value: object) -> bool:
    return isinstance(value, Remote) or remote._rewardline_is_own


def _equal(self: Remote, value: object) -> bool:
    return _may_equal(self, value) and self._rewardline_owner.operate("eq", self._rewardline_number, value) is True


def _unequal(self: Remote, value: object) -> bool:
    return not _may_equal(self, value) or self._rewardline_owner.operate("ne", self._rewardline_number, value) is True


def _equal_values(self: Remote, value: object) -> bool:
    """Compare by the value of the plain base, which the program tells without knowing the other."""
    if isinstance(value, Remote):
        if value._rewardline_number == self._rewardline_number:
            return True
        value = tell(value, "plain")
    return bool(tell(self, "plain") == value)


def _equal_contents(self: Remote, value: object) -> bool:
    """Compare objects of a library's class by what they hold, which the program tells without knowing the other."""
    kind: Any = _known(self)
    if isinstance(value, Remote):
        if value._rewardline_number == self._rewardline_number:
            return True
        if _known(value) is not kind:
            return False
        value = tell(value, "plain")
    elif type(value) is kind:
        value = HELD[kind](value)
    elif kind is types.SimpleNamespace:
        return False
    return bool(tell(self, "plain") == value)


def _known(remote: Remote) -> Any:
    return type.__getattribute__(type(remote), "__rewardline_known__")


def _hashed(self: Remote) -> int:
    return int(tell(self, "hash"))


def _is_true(self: Remote) -> bool:
    return tell(self, "bool") is True


def _contains(self: Any, item: object) -> bool:
    if not self._rewardline_owner.may_judge(self) and not isinstance(item, Remote):
        return any(item is member or item == member for member in self)
    return tell(self, "contains", item) is True


def _iterated(self: Remote) -> Any:
    return tell(self, "iter")


def _iterated_itself(self: Remote) -> Any:
    return self


def _next(self: Remote) -> Any:
    return _item_of(tell(self, "next item"))


def _stepping(name: str) -> Callable[..., Any]:
    """`send` or `throw` of a generator."""

    def method(self: Remote, *arguments: Any) -> Any:
        return _item_of(tell(self, "step", name, *arguments))

    return method


def _item_of(reply: Any) -> Any:
    """The item in a tuple, or what an iterator returns at its end, in a list."""
    if type(reply) is tuple and len(reply) == 1:
        return reply[0]
    raise StopIteration(*(reply[:1] if type(reply) is list else ()))


def _set_item(self: Remote, key: object, value: object) -> None:
    demand_untold(self)
    self._rewardline_owner.set_item(self._rewardline_number, key, value)


def _call(self: Remote, *arguments: Any, **keywords: Any) -> Any:
    demand_untold(self)
    return self._rewardline_owner.call(self._rewardline_number, arguments, keywords)


def _entered(self: Remote) -> Any:
    return self._rewardline_owner.get(self._rewardline_number, "__enter__")()


def _left(self: Remote, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> bool:
    return _end_context(self, self._rewardline_owner.get(self._rewardline_number, "__exit__"), kind, error)


def _end_context(self: Remote, leave: Any, kind: type[BaseException] | None, error: BaseException | None) -> bool:
    if error is None or isinstance(error, AssertionError) or not isinstance(error, Exception):
        leave(None, None, None)
        return False
    if leave(kind, error, None) is not True:
        return False
    self._rewardline_owner.allow_judging(self)
    return True


async def _entered_later(self: Remote) -> Any:
    return await self._rewardline_owner.get(self._rewardline_number, "__aenter__")()


async def _left_later(self: Remote, kind: Any, error: BaseException | None, traceback: object) -> bool:
    leave = self._rewardline_owner.get(self._rewardline_number, "__aexit__")
    if error is None or isinstance(error, AssertionError) or not isinstance(error, Exception):
        await leave(None, None, None)
        return False
    if await leave(kind, error, None) is not True:
        return False
    self._rewardline_owner.allow_judging(self)
    return True


def awaitable_of(coroutine: "types.CoroutineType[Any, Any, Any]") -> Remote | None:
    """The program's own object behind a coroutine of `awaited` that nobody has awaited yet; None: there is none."""
    if coroutine.cr_code is not awaited.__code__ or coroutine.cr_frame is None:
        return None
    remote = coroutine.cr_frame.f_locals["remote"]
    return remote if isinstance(remote, Remote) else None


async def awaited(remote: Remote) -> Any:
    """The result of an awaitable of the program; it runs there, in an event loop of its own.

    All that tests await at the same time runs at the same time there: each waits for its result by asking again.
    """
    owner = remote._rewardline_owner
    task = owner.operate("start", remote._rewardline_number)
    result, patience_s = None, 0.0
    try:
        while result is None:
            await _asyncio().sleep(0)
            result = owner.operate("advance", task._rewardline_number, patience_s)
            patience_s = min(_MOST_PATIENCE_S, 2 * patience_s + _LEAST_PATIENCE_S)
    except (_asyncio().CancelledError, GeneratorExit):
        owner.operate("cancel", task._rewardline_number)
        raise
    return result[0]


_LEAST_PATIENCE_S: Final = 0.0005
_MOST_PATIENCE_S: Final = 0.008


def _asyncio() -> Any:
    return importlib.import_module("asyncio")


async def _next_later(self: Remote) -> Any:
    item = await tell(self, "next item later")
    if type(item) is tuple and len(item) == 1:
        return item[0]
    raise StopAsyncIteration


_METHODS: Final[Mapping[str, Any]] = {
    **{f"__{name}__": _told(name) for name in TOLD},
    **{f"__{name}__": _computed(name) for name in COMPUTED},
    **{f"__{name}__": _compared(name) for name in ORDER},
    **{f"__{name}__": _textual(name) for name in ("repr", "str", "format")},
    **{f"__{name}__": _asking(f"__{name}__") for name in ("get", "set", "delete", "set_name")},
    "__setitem__": _set_item,
    "__eq__": _equal,
    "__ne__": _unequal,
    "__hash__": _hashed,
    "__bool__": _is_true,
    "__contains__": _contains,
    "__iter__": _iterated,
    "__next__": _next,
    "__call__": _call,
    "__enter__": _entered,
    "__exit__": _left,
    "__aenter__": _entered_later,
    "__aexit__": _left_later,
    "__await__": lambda self: awaited(self).__await__(),
    "__aiter__": _told("aiter"),
    "__anext__": _next_later,
}

_OF_VALUES: Final = frozenset({*(f"__{name}__" for name in (*COMPUTED, *ORDER)), "__eq__", "__ne__", "__contains__"})


def _of_value(name: str, value: type) -> Callable[..., Any]:
    """A binary operator of a class with a value: the program's between its own objects, else that of the value."""
    forwarded, native = _METHODS[name], getattr(value, name, None)

    def method(self: Remote, *operands: object) -> Any:
        is_forwarded_here = self._rewardline_owner.may_judge(self, *operands) or (
            bool(operands) and isinstance(operands[0], Remote)
        )
        if is_forwarded_here:
            return forwarded(self, *operands)
        return native(self, *operands) if native is not None else NotImplemented

    return method


class _Computation(Computation):
    __slots__ = ()

    locals().update(
        {
            name: _METHODS[name]
            for name in (*(f"__{name}__" for name in (*COMPUTED, *ORDER)), "__eq__", "__ne__", "__hash__", "__bool__")
        }
    )


def computation(owner: Owner, compute: Callable[[], Remote]) -> Computation:
    """An operand of tests that the program computes later, or never."""
    operand: Computation = waiting(object.__new__(_Computation), owner, compute)
    return operand
