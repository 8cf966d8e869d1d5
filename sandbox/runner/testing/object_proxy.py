"""Proxies in the judged program for objects of the tests' own classes. The objects themselves stay with the tests.

`sandbox.runner.testing.object_server` is the other end. As far as a program can see, a proxy has the class that the
tests have: the class makes instances, and `isinstance` recognises them.
"""

import importlib
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

_NUMBER: Final = "_rewardline_number"
_ASK: Final = "_rewardline_ask"
"""Names of the proxy's own attributes; all other names are looked up in the tests."""

_FIELDS: Final = "__dataclass_fields__"

Ask = Callable[..., Any]
"""Makes the tests do something with one of their objects: `ask(number, action, ...)`."""


class ProxyClass(type):
    """A proxy for a class of the tests."""

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        return _ask_of(cls)(number_of(cls), "make", *arguments, **keywords)

    def __getattr__(cls, name: str) -> Any:
        value = _ask_of(cls)(number_of(cls), "get", name)
        return _fields_of(cls, value) if name == _FIELDS else value

    def __iter__(cls) -> Iterator[Any]:
        return _iterate(cls)

    def __getitem__(cls, name: str) -> Any:
        return _ask_of(cls)(number_of(cls), "member", name)


class _Proxy:
    __slots__ = ("__weakref__", _NUMBER)

    def __getattr__(self, name: str) -> Any:
        return _ask_of(type(self))(number_of(self), "get", name) if name != _FIELDS else getattr(type(self), name)

    __dict__ = property(lambda self: self.__getattr__("__dict__"))

    def __setattr__(self, name: str, value: object) -> None:
        _ask_of(type(self))(number_of(self), "set", name, value)

    def __delattr__(self, name: str) -> None:
        _ask_of(type(self))(number_of(self), "delete", name)

    def __copy__(self) -> Any:
        return _ask_of(type(self))(number_of(self), "copy")

    def __deepcopy__(self, memo: object) -> Any:
        return _ask_of(type(self))(number_of(self), "deepcopy")

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("objects of the tests cannot be pickled")


def proxy_class(
    number: int, name: str, specials: list[str], bases: Sequence[ProxyClass], ask: Ask, claimed: type | None = None
) -> ProxyClass:
    """A proxy for a class of the tests; its instances claim to be of another class, if the tests only lend those."""
    methods: dict[str, Any] = {special: _METHODS.get(special) or _computed(special) for special in specials}
    if claimed is not None:
        methods["__class__"] = property(lambda _: claimed)
    return ProxyClass(
        name.rpartition(".")[2],
        tuple(bases) or (_Proxy,),
        {"__slots__": (), "__module__": "tests", **methods, _NUMBER: number, _ASK: ask},
    )


def _fields_of(kind: ProxyClass, fields: list[tuple[str, bool]]) -> Any:
    """What `dataclasses` reads: the fields of a class with the same names."""
    dataclasses: Any = importlib.import_module("dataclasses")
    parts = [(name, Any, dataclasses.field(default=None, init=is_taken)) for name, is_taken in fields]
    made = dataclasses.make_dataclass(kind.__name__, parts).__dataclass_fields__
    setattr(kind, _FIELDS, made)
    return made


def adopt(kind: ProxyClass, own: type) -> None:
    """Give a proxy the methods that the program's class of the same name has, and that of the tests lacks.

    In one file with the tests, both are one class: `ListNode.__lt__ = lambda a, b: a.val < b.val`.
    """
    members = {name: member for name, member in vars(own).items() if isinstance(member, _METHOD_TYPES)}
    new = [name for name in members if name not in _OWN_METHODS and name not in type.__getattribute__(kind, "__dict__")]
    for name in _ask_of(kind)(number_of(kind), "lacking", new) if new else ():
        setattr(kind, name, members[name])


_METHOD_TYPES: Final = (types.FunctionType, property, classmethod, staticmethod)


def new_proxy(number: int, kind: ProxyClass) -> Any:
    proxy: object = object.__new__(kind)  # type: ignore[arg-type]  # any type will do
    _number_slot.__set__(proxy, number)
    return proxy


def is_proxy(value: object) -> bool:
    return type(value) is ProxyClass or type(type(value)) is ProxyClass


def number_of(proxy: object) -> int:
    """The number by which the tests know the object."""
    if type(proxy) is ProxyClass:
        number: int = type.__dict__["__dict__"].__get__(proxy)[_NUMBER]
        return number
    value: int = _number_slot.__get__(proxy)
    return value


def _ask_of(kind: type) -> Ask:
    ask: Ask = type.__dict__["__dict__"].__get__(kind)[_ASK]
    return ask


_OWN_METHODS: Final = frozenset({"__init__", "__new__", "__class_getitem__", "__init_subclass__", *vars(_Proxy)})
_number_slot: Final[Any] = _Proxy.__dict__[_NUMBER]


def _computed(special: str) -> Callable[..., Any]:
    def method(self: object, *operands: object, **keywords: object) -> Any:
        return _ask_of(type(self))(number_of(self), "compute", special, *operands, **keywords)

    return method


def _iterate(self: object) -> Iterator[Any]:
    step = _ask_of(self if type(self) is ProxyClass else type(self))(number_of(self), "go through")
    while (item := step()) is not None:
        yield item[0]


def _leave(self: object, kind: object, error: object, _: object) -> Any:
    return _ask_of(type(self))(number_of(self), "compute", "__exit__", kind, error, None)


_METHODS: Final[dict[str, Callable[..., Any]]] = {"__iter__": _iterate, "__exit__": _leave}
