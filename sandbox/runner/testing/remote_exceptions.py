"""Exceptions of the judged program, as its tests see them.

Builtin exceptions and those of the standard library keep their class. For a class that the program defines, a class of
the same name and bases is made here. An instance knows its text, and asks the program for attributes. Exceptions that
would end a loop, a generator or the test run by themselves (`StopIteration`, `KeyboardInterrupt`, ...) become a
`RuntimeError` here.
"""

import builtins
import sys
from typing import Any, Final

from sandbox.runner.testing.object_server import NAMESPACE
from sandbox.runner.testing.remote_objects import Owner

_MAX_NAME_CHARS: Final = 100
_UNTRUSTED_MODULES: Final = frozenset({"unittest", "bdb", "doctest", "asyncio", "concurrent"})
"""Exceptions of these modules have a meaning for test runners."""


class _RemoteClass(type):
    """The metaclass of classes that the program defines: the program makes their instances."""

    _class_number: int | None
    _owner: Owner

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        number = class_number(cls)
        if number is None:
            return super().__call__(*arguments, **keywords)
        return cls._owner.call(number, arguments, keywords)


class RemoteException(metaclass=_RemoteClass):
    """Base of all exception classes made here."""

    _owner: Owner
    _number: int | None = None
    _text = ""

    def __init__(self, *arguments: object) -> None:
        if type(self).__init__ is RemoteException.__init__ and is_shared(type(self)):
            Exception.__init__(self, *arguments)  # type: ignore[arg-type]  # what the tests' class adds, the program has
            return
        try:
            super().__init__(*arguments)
        except (TypeError, ValueError):
            return

    def __str__(self) -> str:
        return super().__str__() if self._number is None else self._text

    def __eq__(self, other: object) -> bool:
        if self is other or self._number is None or not isinstance(other, RemoteException):
            return self is other
        other_number = vars(other).get("_number")
        return type(other_number) is int and self._owner.operate("eq", self._number, other) is True

    __hash__ = Exception.__hash__

    def __getattr__(self, name: str) -> Any:
        if self._number is None or name.startswith("__"):
            raise AttributeError(name)
        return self._owner.get(self._number, name)


def is_shared(kind: type) -> bool:
    """Whether the tests define the class, too."""
    return any(is_shareable(base) for base in kind.__mro__)


def is_shareable(kind: object) -> bool:
    """Whether it is an exception that tests define in one file with the program, and ends no loop or test by itself."""
    if not isinstance(kind, type) or kind.__module__ != NAMESPACE or class_number(kind) is not None:
        return False
    return issubclass(kind, Exception) and not issubclass(kind, (StopIteration, StopAsyncIteration, AssertionError))


def builtin_class(name: Any) -> type:
    """The builtin class of this name.

    Raises:
        LookupError: there is none.
    """
    kind = vars(builtins)[name]
    if not isinstance(kind, type):
        raise LookupError("not a class")
    return kind


def named_class(
    owner: Owner, number: int, name: str, module: str, bases: tuple[type[BaseException], ...]
) -> type[BaseException]:
    """The standard library's class of this name, or else a class made for the program's."""
    library_class = _of_standard_library(module, name)
    if library_class is not None:
        return library_class
    mixed = bases if any(issubclass(base, RemoteException) for base in bases) else (RemoteException, *bases)
    members = {"_class_number": number, "_owner": owner}
    try:
        return _made(name, mixed, members)
    except TypeError:
        return _made(name, (RemoteException, Exception), members)


def number_of(error: object) -> int | None:
    """The number, in the program, of an exception that it has raised."""
    return vars(error).get("_number") if isinstance(error, RemoteException) else None


def class_number(kind: object) -> int | None:
    """The number, in the program, of a class made by `named_class`."""
    number = vars(kind).get("_class_number") if isinstance(kind, type) else None
    return number if type(number) is int else None


def harmless(kind: type[BaseException]) -> type[BaseException]:
    """The class, or a substitute that can end only a test."""
    if issubclass(kind, (StopIteration, StopAsyncIteration)) or not issubclass(kind, (Exception, SystemExit)):
        return _of_program(kind.__name__, RuntimeError)
    return kind


def instance(kind: type[BaseException], arguments: list[Any], text: str, owner: Owner, number: int) -> BaseException:
    """An exception that the program raised."""
    if kind.__module__ == "builtins":
        error = _builtin(kind, arguments)
        if error is not None and str(error) == text:
            return error
    if not issubclass(kind, RemoteException):
        kind = _of_program(kind.__name__, kind)
    raised: Any = type.__call__(kind, *arguments)
    raised._owner, raised._number, raised._text = owner, number, text
    return raised  # type: ignore[no-any-return]


def _builtin(kind: type[BaseException], arguments: list[Any]) -> BaseException | None:
    try:
        return kind(*arguments)
    except (TypeError, ValueError):
        return None


def _of_program(name: str, base: type[BaseException]) -> type[BaseException]:
    return _made(name, (RemoteException, base), {})


def _made(name: str, bases: tuple[Any, ...], members: dict[str, Any]) -> type[BaseException]:
    kind: Any = _RemoteClass(name[:_MAX_NAME_CHARS], bases, members)
    return kind  # type: ignore[no-any-return]


def _of_standard_library(module: str, name: str) -> type[BaseException] | None:
    """The class, if its module is loaded; nothing is imported."""
    package = module.partition(".")[0]
    if package not in sys.stdlib_module_names or package in _UNTRUSTED_MODULES or module not in sys.modules:
        return None
    kind = vars(sys.modules[module]).get(name)
    return kind if isinstance(kind, type) and issubclass(kind, Exception) else None
