"""Objects of the judged program, as its tests see them: each stands for one that stays in the program's process.

    Remote ──┬── RemoteObject      whatever has an identity ──── Computation
             └── an immutable value (int, str, tuple, ...) of a class of the program, with its value
    RemoteModule                   the program itself, to be imported as `solution`

Their classes (`sandbox.runner.testing.remote_classes`) have the special methods that the class in the program has.
Plain requests (call, attribute, item, length, text, truth) give an answer like any other. So does a comparison of two
objects of the program: it could have returned plain values that compare so. But an object that a function returns
instead of a number must not decide that it is right:

    f(x) == 2.5     never, and `2.5 in f(x)` looks at the items
    f(x) < 2.5      is refused
    f(x) - 2.5      is a `Computation`, of which nothing can be asked; it is done once the program needs it, so that
                    `abs(f(x) - 2.5) < 0.1` never tells the program 2.5, and `f(x) + 1 == f(y)` tells it 1

All of that is the program's to say for an object that tests have made themselves (`own_objects`), or if the task says
`objects`. An object of a class derived from a list, a number, a text and so on is compared by that value, which is told.
"""

import types
from collections.abc import Callable
from typing import Any, Final, NoReturn, Protocol

_SPECIAL_ATTRIBUTES: Final = frozenset(
    {
        *("__name__", "__qualname__", "__dict__", "__annotations__", "__wrapped__", "__func__", "__self__"),
        *("__slots__", "__match_args__", "__dataclass_fields__", "__dataclass_params__", "__abstractmethods__"),
        *("__members__", "__notes__", "__defaults__", "__kwdefaults__", "__origin__", "__args__", "__parameters__"),
        *("__version__", "__all__", "__author__", "__objclass__", "__isabstractmethod__", "__get__", "__missing__"),
        *(
            "__init__",
            "__post_init__",
            "__code__",
            "__signature__",
            "__text_signature__",
            "__type_params__",
            "__orig_bases__",
            "__total__",
            "__required_keys__",
        ),
    }
)
_OWN_ATTRIBUTES: Final = tuple(f"_rewardline_{name}" for name in ("owner", "number", "is_own", "is_told"))
"""Names that no program has; all others are looked up in the program."""


class Owner(Protocol):
    """The program that owns the objects; `sandbox.runner.testing.remote_program` describes the methods."""

    def get(self, target: int, name: str) -> Any: ...
    def set(self, target: int, name: str, value: object) -> None: ...
    def set_item(self, target: int, key: object, value: object) -> None: ...
    def delete(self, target: int, name: str) -> None: ...
    def call(self, target: int, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any: ...
    def operate(self, operator: str, target: int, *operands: object) -> Any: ...
    def compute(self, operator: str, remote: "Remote", *operands: object) -> Any: ...
    def decide_by(self, method: str, remote: "Remote", *operands: object) -> Any: ...
    def allow_judging(self, *remotes: object) -> None: ...
    def may_judge(self, *remotes: object) -> bool: ...
    def give_up(self, reason: str) -> NoReturn: ...
    def public_names(self) -> list[str]: ...


def text_of(remote: "Remote") -> Any:
    """The docstring of an object of the program."""
    demand_untold(remote)
    return remote._rewardline_owner.get(remote._rewardline_number, "__doc__")


class Remote:
    # An object of the program.

    __doc__ = property(text_of)  # a class without one of its own would hide that of its base
    __slots__ = ()
    __test__ = False

    _rewardline_owner: Owner
    _rewardline_number: int
    _rewardline_is_own: bool
    """Whether this operand is an object that the tests have made themselves."""
    _rewardline_is_told: bool
    """Whether it is computed from plain data of the tests."""

    def __getattr__(self, name: str) -> Any:
        return attribute(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        demand_untold(self)
        self._rewardline_owner.set(self._rewardline_number, name, value)

    def __delattr__(self, name: str) -> None:
        demand_untold(self)
        self._rewardline_owner.delete(self._rewardline_number, name)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # asked of the program
        return attribute(self, "__dict__")

    def __repr__(self) -> str:
        return text(self, "repr")

    def __str__(self) -> str:
        return text(self, "str")

    def __format__(self, form: str) -> str:
        return text(self, "format", form)

    def __dir__(self) -> list[str]:
        return [*tell(self, "dir")]

    def __copy__(self) -> Any:
        return tell(self, "copy")

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return tell(self, "deepcopy")

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("objects of the program are pickled there")

    def __init_subclass__(cls, **_: object) -> None:
        """Nothing of a library's class that is mixed in runs here."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and other._rewardline_number == self._rewardline_number

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self._rewardline_number


class RemoteObject(Remote):
    __doc__ = property(text_of)
    __slots__ = ("__weakref__", *_OWN_ATTRIBUTES)


class Computation(RemoteObject):
    """What an object of the program and plain data of the tests give. The program does not know it yet.

    It has a number, like any object of the program, as soon as the program needs it: as an operand or an argument.
    """

    __slots__ = ("_rewardline_compute", "_rewardline_result")

    _rewardline_compute: Callable[[], Remote]
    _rewardline_result: Remote | None

    @property
    def _rewardline_number(self) -> int:  # type: ignore[override]  # it has none before
        return number_of(done(self))


def done(value: Any) -> Any:
    """The value; the program's object for a computation."""
    if not isinstance(value, Computation):
        return value
    if value._rewardline_result is None:
        object.__setattr__(value, "_rewardline_result", value._rewardline_compute())
    return value._rewardline_result


def waiting(remote: Any, owner: Owner, compute: Callable[[], Remote]) -> Any:
    """A new computation, not yet done."""
    write = object.__setattr__
    for name, value in (("owner", owner), ("compute", compute), ("result", None), ("is_told", True)):
        write(remote, f"_rewardline_{name}", value)
    write(remote, "_rewardline_is_own", False)
    return remote


def filled(remote: Any, owner: Owner, number: int) -> Any:
    """A new object as the one of this number."""
    write = object.__setattr__
    write(remote, "_rewardline_owner", owner)
    write(remote, "_rewardline_number", number)
    for name in _MARKS:
        write(remote, name, False)
    return remote


_MARKS: Final = _OWN_ATTRIBUTES[2:]


def attribute(remote: Remote, name: str) -> Any:
    """What the program has under the name."""
    demand_untold(remote)
    if name.startswith("__") and name.endswith("__") and name not in _SPECIAL_ATTRIBUTES:
        raise AttributeError(f"'{type(remote).__name__}' object has no attribute '{name}' here")
    return remote._rewardline_owner.get(remote._rewardline_number, name)


def is_forwarded(name: str) -> bool:
    """Whether an attribute of a class is looked up in the program."""
    return name in _SPECIAL_ATTRIBUTES or not (name.startswith("__") and name.endswith("__"))


def is_own(remote: Remote) -> bool:
    """Whether this operand is an object that the tests have made themselves."""
    return remote._rewardline_is_own


def as_own(remote: Remote) -> Remote:
    """The same object as an operand that tests have made themselves."""
    kind: Any = type(remote)
    if remote._rewardline_is_told or hasattr(kind, "__next__"):
        return remote
    base = kind.__rewardline_value__
    blank = object.__new__(kind) if base is None else base.__new__(kind, remote)
    own_remote: Remote = filled(blank, remote._rewardline_owner, remote._rewardline_number)
    object.__setattr__(own_remote, "_rewardline_is_own", True)
    return own_remote


def tell(remote: Remote, operator: str, *operands: object) -> Any:
    """What the program says; nothing is asked of an object that knows what is expected."""
    demand_untold(remote)
    return remote._rewardline_owner.operate(operator, remote._rewardline_number, *operands)


def demand_untold(remote: Remote) -> None:
    if remote._rewardline_is_told:
        remote._rewardline_owner.allow_judging(remote)


def text(remote: Remote, operator: str, *operands: object) -> str:
    if remote._rewardline_is_told and not remote._rewardline_owner.may_judge(remote):
        return f"<{type(remote).__name__} object>"
    return str(remote._rewardline_owner.operate(operator, remote._rewardline_number, *operands))


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
        if not is_forwarded(name):
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
