"""Objects of the judged program, as its tests see them: each is a proxy for one that stays in the program's process.

    Remote ──┬── RemoteCallable ── RemoteClass      can also be asked whether something is an instance
             └── RemoteIterator                     stays exhausted once it has ended
    RemoteModule                                    the program itself, to be imported as `solution`

Plain requests (call, attribute, next item, text, truth) give an answer like any other. So does the question whether one
object of the program equals another: the program could have returned the same plain value twice. Any other comparison
or computation would let the program decide the result of a test, so `Owner.compute` refuses or counts it. An object of
the program never equals plain data.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, Protocol

from sandbox.runner.testing.rpc import Kind

_SPECIAL_ATTRIBUTES: Final = frozenset({"__name__", "__qualname__", "__dict__", "__annotations__", "__wrapped__"})


class Owner(Protocol):
    """The program that owns the objects; `sandbox.runner.testing.remote_program` describes the methods."""

    def get(self, target: int, name: str) -> Any: ...
    def set(self, target: int, name: str, value: object) -> None: ...
    def delete(self, target: int, name: str) -> None: ...
    def call(self, target: int, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any: ...
    def operate(self, operator: str, target: int, *operands: object) -> Any: ...
    def compute(self, operator: str, target: int, *operands: object) -> Any: ...
    def hash_of(self, target: int) -> int: ...
    def allow_judging(self) -> None: ...
    def give_up(self, reason: str) -> NoReturn: ...
    def public_names(self) -> list[str]: ...


def _computed(operator: str) -> Callable[..., Any]:
    """A method that makes the program compute something."""

    def method(self: "Remote", *operands: object) -> Any:
        return self._owner.compute(operator, self._number, *operands)

    return method


def _compared(operator: str) -> Callable[..., Any]:
    """A method that makes the program compare two objects of its own."""

    def method(self: "Remote", other: object) -> Any:
        if not isinstance(other, Remote):
            return NotImplemented
        return self._owner.compute(operator, self._number, other) is True

    return method


class Remote:
    """An object of the program."""

    __slots__ = ("__weakref__", "_number", "_owner", "_type_name")

    _owner: Owner
    _number: int
    _type_name: str

    def __init__(self, owner: Owner, number: int, type_name: str) -> None:
        object.__setattr__(self, "_owner", owner)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_type_name", type_name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in _SPECIAL_ATTRIBUTES:
            raise AttributeError(f"'{self._type_name}' object has no attribute '{name}' here")
        return self._owner.get(self._number, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._owner.set(self._number, name, value)

    def __delattr__(self, name: str) -> None:
        self._owner.delete(self._number, name)

    def __repr__(self) -> str:
        return self._text("repr")

    def __str__(self) -> str:
        return self._text("str")

    def __format__(self, form: str) -> str:
        return self._text("format", form)

    def _text(self, operator: str, *operands: object) -> str:
        return str(self._owner.operate(operator, self._number, *operands))

    def __dir__(self) -> list[str]:
        return [*self._owner.operate("dir", self._number)]

    def __copy__(self) -> Any:
        return self._owner.operate("copy", self._number)

    def __deepcopy__(self, memo: object) -> Any:
        return self._owner.operate("deepcopy", self._number)

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("objects of the program cannot be pickled")

    def __enter__(self) -> Any:
        return self._owner.get(self._number, "__enter__")()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> bool:
        leave = self._owner.get(self._number, "__exit__")
        if error is None or isinstance(error, AssertionError) or not isinstance(error, Exception):
            leave(None, None, None)
            return False
        if leave(kind, error, None) is not True:
            return False
        self._owner.allow_judging()
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and self._owner.operate("eq", self._number, other) is True

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, Remote) or self._owner.operate("ne", self._number, other) is True

    def __hash__(self) -> int:
        return self._owner.hash_of(self._number)

    def __bool__(self) -> bool:
        return self._owner.operate("bool", self._number) is True

    def __contains__(self, item: object) -> bool:
        return self._owner.compute("contains", self._number, item) is True

    def __iter__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = self._owner.compute("iter", self._number)
        return iterator

    __lt__ = _compared("lt")
    __le__ = _compared("le")
    __gt__ = _compared("gt")
    __ge__ = _compared("ge")
    __len__ = _computed("len")
    __getitem__ = _computed("getitem")
    __setitem__ = _computed("setitem")
    __delitem__ = _computed("delitem")
    __reversed__ = _computed("reversed")
    __abs__ = _computed("abs")
    __int__ = _computed("int")
    __float__ = _computed("float")
    __complex__ = _computed("complex")
    __index__ = _computed("index")
    __round__ = _computed("round")
    __neg__ = _computed("neg")
    __pos__ = _computed("pos")
    __invert__ = _computed("invert")
    __add__ = _computed("add")
    __radd__ = _computed("reflected add")
    __sub__ = _computed("sub")
    __rsub__ = _computed("reflected sub")
    __mul__ = _computed("mul")
    __rmul__ = _computed("reflected mul")
    __truediv__ = _computed("truediv")
    __rtruediv__ = _computed("reflected truediv")
    __floordiv__ = _computed("floordiv")
    __rfloordiv__ = _computed("reflected floordiv")
    __mod__ = _computed("mod")
    __rmod__ = _computed("reflected mod")
    __divmod__ = _computed("divmod")
    __pow__ = _computed("pow")
    __rpow__ = _computed("reflected pow")
    __matmul__ = _computed("matmul")
    __rmatmul__ = _computed("reflected matmul")
    __and__ = _computed("and_")
    __rand__ = _computed("reflected and_")
    __or__ = _computed("or_")
    __ror__ = _computed("reflected or_")
    __xor__ = _computed("xor")
    __rxor__ = _computed("reflected xor")
    __lshift__ = _computed("lshift")
    __rshift__ = _computed("rshift")


class RemoteCallable(Remote):
    __slots__ = ()

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._owner.call(self._number, arguments, keywords)

    def __bool__(self) -> bool:
        return True


class RemoteClass(RemoteCallable):
    __slots__ = ()

    def __mro_entries__(self, bases: tuple[object, ...]) -> NoReturn:
        self._owner.give_up("a class of the program cannot be a base of one of the tests'")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = object.__hash__

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, Remote) and self._owner.operate("has instance", self._number, instance) is True

    def __subclasscheck__(self, subclass: object) -> bool:
        return isinstance(subclass, Remote) and self._owner.operate("has subclass", self._number, subclass) is True

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the members of an enumeration."""
        iterator: Iterator[Any] = self._owner.operate("iter", self._number)
        return iterator

    def __getitem__(self, name: object) -> Any:
        return self._owner.operate("getitem", self._number, name)


class RemoteIterator(Remote):
    __slots__ = ("_at_end",)

    _at_end: bool

    def __init__(self, owner: Owner, number: int, type_name: str) -> None:
        super().__init__(owner, number, type_name)
        object.__setattr__(self, "_at_end", False)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if not self._at_end:
            items = self._owner.operate("next item", self._number)
            if type(items) is tuple and len(items) == 1:
                return items[0]
            object.__setattr__(self, "_at_end", True)
        raise StopIteration

    def __bool__(self) -> bool:
        return True


REMOTES: Final[Mapping[str, type[Remote]]] = {
    Kind.CLASS: RemoteClass,
    Kind.CALLABLE: RemoteCallable,
    Kind.ITERATOR: RemoteIterator,
    Kind.COROUTINE: Remote,
    Kind.OTHER: Remote,
}


async def awaited(coroutine: Remote) -> Any:
    """The result of a coroutine of the program; it runs there, in an event loop of its own."""
    return coroutine._owner.operate("run", coroutine._number)


def number_of(remote: Remote) -> int:
    """The object's number in the program."""
    return remote._number


class RemoteModule(types.ModuleType):
    """The program as a module.

    When tests replace something in it and then delete the replacement, the original comes back.
    """

    def __init__(self, owner: Owner) -> None:
        super().__init__("solution")
        self.__dict__["__file__"] = "solution.py"
        self.__dict__["__owner__"] = owner
        self.__dict__["__replaced__"] = {}

    def __getattr__(self, name: str) -> Any:
        owner: Owner = self.__dict__["__owner__"]
        if name == "__all__":
            return owner.public_names()
        if name.startswith("__"):
            raise AttributeError(f"module 'solution' has no attribute '{name}' here")
        return owner.get(0, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
            return
        replaced: dict[str, object] = self.__dict__["__replaced__"]
        if name not in replaced and hasattr(self, name):
            replaced[name] = getattr(self, name)
        self.__dict__["__owner__"].set(0, name, value)

    def __delattr__(self, name: str) -> None:
        replaced: dict[str, object] = self.__dict__["__replaced__"]
        if name in replaced:
            self.__dict__["__owner__"].set(0, name, replaced.pop(name))
        else:
            self.__dict__["__owner__"].delete(0, name)
