"""Functions of the standard library that look into objects: those of the program are looked into there.

    dataclasses.asdict(f())    dataclasses.fields(Point)    typing.get_type_hints(f)

`pickle` is one of them. What the program has pickled is never unpickled here, because that would run its code.
"""

import functools
import importlib
import re
from collections.abc import Callable
from typing import Any, Final

from sandbox.runner.testing.remote_classes import RemoteClass
from sandbox.runner.testing.remote_objects import Remote
from sandbox.runner.testing.remote_program import RemoteProgram
from sandbox.runner.testing.specification import Specification

_LOOKING: Final = {
    "dataclasses": ("asdict", "astuple", "fields", "replace"),
    "typing": ("get_type_hints",),
    "attr": ("asdict", "astuple", "fields", "evolve"),
}
_MENTIONED: Final = re.compile(r"\b(?:dataclasses|get_type_hints|attr)\b")
_PICKLE: Final = re.compile(r"\bpickle\b")


def forward_library_functions(specification: Specification, program: RemoteProgram) -> None:
    """Have such functions asked of the program, in tests that mention them."""
    if specification.mentions(_MENTIONED, "dataclasses", "get_type_hints", "attr"):
        for module, names in _LOOKING.items():
            try:
                holder = importlib.import_module(module)
            except ImportError:
                continue
            for name in names:
                setattr(holder, name, _forwarding(program, getattr(holder, name), module, name))
    if specification.mentions(_PICKLE, "pickle"):
        _forward_pickle(program)


def _forwarding(program: RemoteProgram, function: Callable[..., Any], module: str, name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def forwarding(*arguments: Any, **keywords: Any) -> Any:
        if arguments and (isinstance(arguments[0], Remote) or type(arguments[0]) is RemoteClass):
            return _asked(program, module, name, *arguments, **keywords)
        return function(*arguments, **keywords)

    return forwarding


def _asked(program: RemoteProgram, module: str, name: str, *arguments: Any, **keywords: Any) -> Any:
    return program.operate("by library", 0, module, name, [*arguments], keywords)


def _forward_pickle(program: RemoteProgram) -> None:
    pickle: Any = importlib.import_module("pickle")
    dumps, loads = pickle.dumps, pickle.loads
    own_pickles: set[bytes] = set()

    def dump_text(value: Any, *arguments: Any, **keywords: Any) -> bytes:
        try:
            data: bytes = dumps(value, *arguments, **keywords)
        except (TypeError, AttributeError, pickle.PicklingError):
            return bytes(_asked(program, "pickle", "dumps", value, *arguments, **keywords))
        own_pickles.add(data)
        return data

    def load_text(data: Any, **keywords: Any) -> Any:
        text = bytes(data)
        return loads(text, **keywords) if text in own_pickles else _asked(program, "pickle", "loads", text, **keywords)

    def refuse(*_: Any, **__: Any) -> None:
        program.give_up("tests that unpickle by a class of their own")

    pickle.dumps, pickle.loads = dump_text, load_text
    pickle.dump = lambda value, file, *positional, **keywords: file.write(dump_text(value, *positional, **keywords))
    pickle.load = lambda file, **keywords: load_text(file.read(), **keywords)
    pickle.Unpickler = refuse
