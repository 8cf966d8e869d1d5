"""Objects of the judged program, as its tests see them: each is a proxy for one that stays in the program's process.

    Remote ──┬── RemoteCallable ── RemoteClass      can also be asked whether something is an instance
             └── RemoteIterator                     stays exhausted once it has ended
    RemoteModule                                    the program itself, to be imported as `solution`

Plain requests (call, attribute, item, length, text, truth) give an answer like any other. So does a comparison of two
objects of the program: it could have returned plain values that compare so. But an object that a function returns
instead of a number must not decide that it is right:

    f(x) == 2.5     never, and `2.5 in f(x)` looks at the items
    f(x) < 2.5      is refused
    f(x) - 2.5      must be an object again, of which nothing can be asked: it has been told what is expected

All of that is the program's to say for an object that tests have made themselves (`own_objects`), or if the task says
`objects`.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, Protocol

from sandbox.runner.testing.rpc import Kind

_SPECIAL_ATTRIBUTES: Final = frozenset({"__name__", "__qualname__", "__dict__", "__annotations__", "__wrapped__"})

_OWN_ATTRIBUTES: Final = tuple(f"_rewardline_{name}" for name in ("owner", "number", "type_name", "is_own", "is_told"))
"""Names that no program has; all others are looked up in the program."""


class Owner(Protocol):
    """The program that owns the objects; `sandbox.runner.testing.remote_program` describes the methods."""

    def get(self, target: int, name: str) -> Any: ...
    def set(self, target: int, name: str, value: object) -> None: ...
    def delete(self, target: int, name: str) -> None: ...
    def call(self, target: int, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any: ...
    def operate(self, operator: str, target: int, *operands: object) -> Any: ...
    def compute(self, operator: str, remote: "Remote", *operands: object) -> Any: ...
    def allow_judging(self, *remotes: object) -> None: ...
    def may_judge(self, *remotes: object) -> bool: ...
    def give_up(self, reason: str) -> NoReturn: ...
    def public_names(self) -> list[str]: ...


def _told(operator: str) -> Callable[..., Any]:
    """A method whose result is an answer like any other."""

    def method(self: "Remote", *operands: object) -> Any:
        return _tell(self, operator, *operands)

    return method


def _computed(operator: str) -> Callable[..., Any]:
    """A method that makes the program compute with two values."""

    def method(self: "Remote", *operands: object) -> Any:
        return self._rewardline_owner.compute(operator, self, *operands)

    return method


def _compared(operator: str) -> Callable[..., Any]:
    """A method that makes the program compare."""

    def method(self: "Remote", other: object) -> bool:
        if not isinstance(other, Remote):
            self._rewardline_owner.allow_judging(self)
        return self._rewardline_owner.operate(operator, self._rewardline_number, other) is True

    return method


_TEXT: Final[Any] = property(lambda remote: remote._rewardline_owner.get(remote._rewardline_number, "__doc__"))
"""The docstring of an object of the program. A class without one of its own would hide that of its base."""


class Remote:
    # An object of the program.

    __doc__ = _TEXT
    __slots__ = ("__weakref__", *_OWN_ATTRIBUTES)

    _rewardline_owner: Owner
    _rewardline_number: int
    _rewardline_type_name: str
    _rewardline_is_own: bool
    """Whether this operand is an object that the tests have made themselves."""
    _rewardline_is_told: bool
    """Whether the program has computed it from plain data of the tests."""

    def __init__(self, owner: Owner, number: int, type_name: str) -> None:
        values = owner, number, type_name, False, False
        for name, value in zip(_OWN_ATTRIBUTES, values, strict=True):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        _demand_untold(self)
        if name.startswith("__") and name.endswith("__") and name not in _SPECIAL_ATTRIBUTES:
            raise AttributeError(f"'{self._rewardline_type_name}' object has no attribute '{name}' here")
        return self._rewardline_owner.get(self._rewardline_number, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._rewardline_owner.set(self._rewardline_number, name, value)

    def __delattr__(self, name: str) -> None:
        self._rewardline_owner.delete(self._rewardline_number, name)

    def __repr__(self) -> str:
        return _text(self, "repr")

    def __str__(self) -> str:
        return _text(self, "str")

    def __format__(self, form: str) -> str:
        return _text(self, "format", form)

    def __dir__(self) -> list[str]:
        return [*_tell(self, "dir")]

    def __copy__(self) -> Any:
        return _tell(self, "copy")

    def __deepcopy__(self, memo: object) -> Any:
        return _tell(self, "deepcopy")

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("objects of the program cannot be pickled")

    def __enter__(self) -> Any:
        return self._rewardline_owner.get(self._rewardline_number, "__enter__")()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> bool:
        leave = self._rewardline_owner.get(self._rewardline_number, "__exit__")
        if error is None or isinstance(error, AssertionError) or not isinstance(error, Exception):
            leave(None, None, None)
            return False
        if leave(kind, error, None) is not True:
            return False
        self._rewardline_owner.allow_judging(self)
        return True

    def __eq__(self, other: object) -> bool:
        return _may_equal(self, other) and self._rewardline_owner.operate("eq", self._rewardline_number, other) is True

    def __ne__(self, other: object) -> bool:
        return (
            not _may_equal(self, other) or self._rewardline_owner.operate("ne", self._rewardline_number, other) is True
        )

    def __hash__(self) -> int:
        return int(_tell(self, "hash"))

    def __bool__(self) -> bool:
        return _tell(self, "bool") is True

    def __contains__(self, item: object) -> bool:
        if not self._rewardline_owner.may_judge(self) and not isinstance(item, Remote):
            return any(item is one or item == one for one in self)
        return _tell(self, "contains", item) is True

    def __iter__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = _tell(self, "iter")
        return iterator

    __lt__ = _compared("lt")
    __le__ = _compared("le")
    __gt__ = _compared("gt")
    __ge__ = _compared("ge")
    __len__ = _told("len")
    __getitem__ = _told("getitem")
    __setitem__ = _told("setitem")
    __delitem__ = _told("delitem")
    __reversed__ = _told("reversed")
    __abs__ = _told("abs")
    __int__ = _told("int")
    __float__ = _told("float")
    __complex__ = _told("complex")
    __index__ = _told("index")
    __round__ = _told("round")
    __neg__ = _told("neg")
    __pos__ = _told("pos")
    __invert__ = _told("invert")
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
    __rlshift__ = _computed("reflected lshift")
    __rshift__ = _computed("rshift")
    __rrshift__ = _computed("reflected rshift")
    __rdivmod__ = _computed("reflected divmod")
    __iadd__ = _computed("iadd")
    __isub__ = _computed("isub")
    __imul__ = _computed("imul")
    __itruediv__ = _computed("itruediv")
    __ifloordiv__ = _computed("ifloordiv")
    __imod__ = _computed("imod")
    __ipow__ = _computed("ipow")
    __iand__ = _computed("iand")
    __ior__ = _computed("ior")
    __ixor__ = _computed("ixor")
    __trunc__ = _told("trunc")
    __floor__ = _told("floor")
    __ceil__ = _told("ceil")


def is_own(remote: Remote) -> bool:
    """Whether this operand is an object that the tests have made themselves."""
    return remote._rewardline_is_own


def as_own(remote: Remote) -> Remote:
    """The same object as an operand that tests have made themselves."""
    return remote if isinstance(remote, RemoteIterator) else _marked(remote, "_rewardline_is_own")


def as_told(remote: Remote) -> Remote:
    """The same object as the result of a computation with what may be expected."""
    return _marked(remote, "_rewardline_is_told")


def _marked(remote: Remote, mark: str) -> Remote:
    if remote._rewardline_is_told:
        return remote
    marked = type(remote)(remote._rewardline_owner, remote._rewardline_number, remote._rewardline_type_name)
    object.__setattr__(marked, mark, True)
    return marked


def _tell(remote: Remote, operator: str, *operands: object) -> Any:
    """What the program says; nothing is asked of an object that knows what is expected."""
    _demand_untold(remote)
    return remote._rewardline_owner.operate(operator, remote._rewardline_number, *operands)


def _demand_untold(remote: Remote) -> None:
    if remote._rewardline_is_told:
        remote._rewardline_owner.allow_judging(remote)


def _text(remote: Remote, operator: str, *operands: object) -> str:
    if remote._rewardline_is_told and not remote._rewardline_owner.may_judge(remote):
        return f"<{remote._rewardline_type_name} object>"
    return str(remote._rewardline_owner.operate(operator, remote._rewardline_number, *operands))


def _may_equal(remote: Remote, other: object) -> bool:
    return isinstance(other, Remote) or remote._rewardline_is_own


class RemoteCallable(Remote):
    __doc__ = _TEXT
    __slots__ = ()

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        _demand_untold(self)
        return self._rewardline_owner.call(self._rewardline_number, arguments, keywords)


class RemoteClass(RemoteCallable):
    __doc__ = _TEXT
    __slots__ = ()

    def __mro_entries__(self, bases: tuple[object, ...]) -> NoReturn:
        self._rewardline_owner.give_up("a class of the program cannot be a base of one of the tests'")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = object.__hash__

    def __instancecheck__(self, instance: object) -> bool:
        return (
            isinstance(instance, Remote)
            and self._rewardline_owner.operate("has instance", self._rewardline_number, instance) is True
        )

    def __subclasscheck__(self, subclass: object) -> bool:
        return (
            isinstance(subclass, Remote)
            and self._rewardline_owner.operate("has subclass", self._rewardline_number, subclass) is True
        )

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the members of an enumeration."""
        iterator: Iterator[Any] = self._rewardline_owner.operate("iter", self._rewardline_number)
        return iterator

    def __getitem__(self, name: object) -> Any:
        return self._rewardline_owner.operate("getitem", self._rewardline_number, name)


class RemoteIterator(Remote):
    __doc__ = _TEXT
    __slots__ = ("_rewardline_at_end",)

    _rewardline_at_end: bool

    def __init__(self, owner: Owner, number: int, type_name: str) -> None:
        super().__init__(owner, number, type_name)
        object.__setattr__(self, "_rewardline_at_end", False)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if not self._rewardline_at_end:
            items = _tell(self, "next item")
            if type(items) is tuple and len(items) == 1:
                return items[0]
            object.__setattr__(self, "_rewardline_at_end", True)
        raise StopIteration

    def __bool__(self) -> bool:
        _demand_untold(self)
        return True


REMOTES: Final[Mapping[str, type[Remote]]] = {
    Kind.CLASS: RemoteClass,
    Kind.CALLABLE: RemoteCallable,
    Kind.ITERATOR: RemoteIterator,
    Kind.COROUTINE: Remote,
    Kind.OTHER: Remote,
}


def class_of(remote: Remote) -> Any:
    """The class of an object of the program: there, not here."""
    kind = _tell(remote, "class")
    return kind if isinstance(kind, RemoteClass) else type(remote)


async def awaited(coroutine: Remote) -> Any:
    """The result of a coroutine of the program; it runs there, in an event loop of its own."""
    return coroutine._rewardline_owner.operate("run", coroutine._rewardline_number)


def number_of(remote: Remote) -> int:
    """The object's number in the program."""
    return remote._rewardline_number


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
