"""Images of more values of the standard library that are compared by what they hold, for tests and programs.

    path: [class, text]    uuid: hex    timezone: [seconds, name | null]    zone: key    array: [type code, hex]    memoryview: hex
    zoned: [ISO 8601 without zone, fold, zone]    function: [module, name]    hint: [name, [argument, ...]]
    defaultdict: [[[key, value], ...], factory]    singleton: name
    address: [class, text]    slice: [start, stop, step]    read only: [[key, value], ...]

A value is recognised by the identity of its class in a module that is loaded, so nothing is imported for the others.
"""

import collections
import datetime
import importlib
import math
import operator
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final

from sandbox.runner.values.encoding import Decoder, Encoder, Image, Undecodable

_PATHS: Final = ("PosixPath", "PurePosixPath", "PureWindowsPath")
_SINGLETONS: Final = {"Ellipsis": ..., "NotImplemented": NotImplemented}
_SHARED_BUILTINS: Final = (
    *(len, sum, min, max, abs, sorted, any, all, round, repr, ord, chr, pow, divmod, hash, bin, hex, oct, ascii),
)
_SHARED: Final[Mapping[int, tuple[str, str]]] = {
    **{id(function): ("builtins", function.__name__) for function in _SHARED_BUILTINS},
    **{
        id(function): (module.__name__, name)
        for module in (math, operator)
        for name, function in vars(module).items()
        if type(function) is types.BuiltinFunctionType and not name.startswith("_")
    },
}
"""Functions that are the same for tests and programs, and do nothing but compute."""
_MAX_CHARS: Final = 4096
_HINTS: Final = (types.GenericAlias, types.UnionType, type(typing.List[int]), type(typing.Optional[int]))  # noqa: UP006, UP045


def image_of_library(encoder: Encoder, value: Any) -> Image:
    """The image of such a value. None: it is none."""
    kind = type(value)
    if id(value) in _SHARED:
        return {"function": [*_SHARED[id(value)]]}
    encode = (
        _ENCODE.get((kind.__module__, kind.__name__)) if type(kind) is type or kind.__module__ == "typing" else None
    )
    if encode is None:
        return next(({"singleton": name} for name, singleton in _SINGLETONS.items() if singleton is value), None)
    if kind is not vars(sys.modules[kind.__module__]).get(kind.__name__) and kind not in (*_HINTS, *_UNNAMED):
        return None
    image: Image = encode(encoder, value)
    return image


def _path(_: Encoder, value: Any) -> Image:
    return {"path": [type(value).__name__, str(value)]}


def _timezone(encoder: Encoder, value: datetime.timezone) -> Image:
    name = value.tzname(None)
    is_usual = name == datetime.timezone(value.utcoffset(None)).tzname(None)
    return {"timezone": [value.utcoffset(None).total_seconds(), None if is_usual else name]}


def _array(_: Encoder, value: Any) -> Image:
    return {"array": [value.typecode, value.tobytes().hex()]}


def _memory(encoder: Encoder, value: Any) -> Image:
    is_of_bytes = value.format == "B" and value.ndim == 1 and value.c_contiguous
    return {"memoryview": value.hex()} if is_of_bytes else None


def _hint(encoder: Encoder, value: Any) -> Image:
    name = getattr(value, "_name", None) or typing.get_origin(value).__name__
    if typing.get_origin(value) in (typing.Union, types.UnionType):
        name = "Union"
    elif type(value) is types.GenericAlias:
        name = f"builtins.{typing.get_origin(value).__name__}"
    elif name not in typing.__all__:
        return None  # Box[int] of a class of the program
    arguments = [None if argument is type(None) else argument for argument in typing.get_args(value)]
    return {"hint": [str(name), encoder.parts(arguments)]}


def _address(_: Encoder, value: Any) -> Image:
    return {"address": [type(value).__name__, str(value)]}


_ADDRESSES: Final = tuple(f"IPv{version}{kind}" for version in (4, 6) for kind in ("Address", "Network", "Interface"))
_UNNAMED: Final = (types.MappingProxyType,)
"""Classes that have no name in their module."""
_ENCODE: Final[Mapping[tuple[str, str], Callable[[Encoder, Any], Image]]] = {
    **{("pathlib", name): _path for name in _PATHS},
    ("uuid", "UUID"): lambda _, value: {"uuid": value.hex},
    ("datetime", "timezone"): _timezone,
    ("zoneinfo", "ZoneInfo"): lambda encoder, value: {"zone": value.key} if value.key else encoder.foreign(value),
    ("array", "array"): _array,
    ("builtins", "memoryview"): _memory,
    **{("ipaddress", name): _address for name in _ADDRESSES},
    ("builtins", "slice"): lambda encoder, value: {"slice": encoder.parts([value.start, value.stop, value.step])},
    ("builtins", "mappingproxy"): lambda encoder, value: {"read only": encoder.pairs([*value.items()])},
    **{(kind.__module__, kind.__name__): _hint for kind in _HINTS},
}


def image_of_zoned(encoder: Encoder, value: datetime.datetime) -> Image:
    """The image of a time with a zone of `zoneinfo`; None: it has another zone."""
    zone = image_of_library(encoder, value.tzinfo)
    return {"zoned": [value.replace(tzinfo=None).isoformat(), value.fold, zone]} if zone and "zone" in zone else None


def image_of_defaults(encoder: Encoder, value: Any) -> Image:
    """The image of a `defaultdict`. Its factory may be a function of the program, which is asked for what is missing."""
    return {"defaultdict": [encoder.pairs([*dict.items(value)]), encoder.part(value.default_factory)]}


def _checked(text: Any) -> str:
    if type(text) is not str or len(text) > _MAX_CHARS:
        raise Undecodable("not a short text")
    return text


def _to_path(_: Decoder, content: Any) -> Any:
    kind, text = content
    if kind not in _PATHS:
        raise Undecodable("not a path")
    return getattr(importlib.import_module("pathlib"), kind)(_checked(text))


def _to_timezone(_: Decoder, content: Any) -> Any:
    seconds, name = content
    arguments = () if name is None else (_checked(name),)
    return datetime.timezone(datetime.timedelta(seconds=seconds), *arguments)


def _to_zone(_: Decoder, content: Any) -> Any:
    return importlib.import_module("zoneinfo").ZoneInfo(_checked(content))


def _to_zoned(decoder: Decoder, content: Any) -> Any:
    text, fold, zone = content
    moment = datetime.datetime.fromisoformat(_checked(text))
    return moment.replace(tzinfo=decoder.part(zone), fold=1 if fold else 0)


def _to_array(_: Decoder, content: Any) -> Any:
    code, data = content
    array = importlib.import_module("array").array(_checked(code))
    array.frombytes(bytes.fromhex(data))
    return array


def _to_function(_: Decoder, content: Any) -> Any:
    module, name = content
    function = (
        vars(importlib.import_module(module)).get(name)
        if module in ("builtins", "math", "operator", "_operator")
        else None
    )
    if id(function) not in _SHARED:
        raise Undecodable("not a function that computes")
    return function


def _to_hint(decoder: Decoder, content: Any) -> Any:
    name, images = content
    arguments = tuple(decoder.parts(images))
    module, _, last = _checked(name).rpartition(".")
    if module == "builtins":
        if last not in ("list", "dict", "set", "frozenset", "tuple", "type"):
            raise Undecodable("not a hint")
        return types.GenericAlias(getattr(importlib.import_module("builtins"), last), arguments)
    if module or last not in typing.__all__:
        raise Undecodable("not a hint")
    return getattr(typing, last)[arguments if len(arguments) != 1 else arguments[0]]


def _to_address(_: Decoder, content: Any) -> Any:
    kind, text = content
    if kind not in _ADDRESSES:
        raise Undecodable("not an address")
    return getattr(importlib.import_module("ipaddress"), kind)(_checked(text))


def _to_defaults(decoder: Decoder, content: Any) -> Any:
    pairs, factory = content
    return collections.defaultdict(decoder.part(factory), dict(decoder.pairs(pairs)))


LIBRARY_BUILDERS: Final[Mapping[str, Callable[[Decoder, Any], Any]]] = {
    "path": _to_path,
    "uuid": lambda _, content: importlib.import_module("uuid").UUID(hex=_checked(content)),
    "timezone": _to_timezone,
    "zone": _to_zone,
    "zoned": _to_zoned,
    "array": _to_array,
    "memoryview": lambda _, content: memoryview(bytearray.fromhex(content)),
    "function": _to_function,
    "hint": _to_hint,
    "defaultdict": _to_defaults,
    "address": _to_address,
    "slice": lambda decoder, content: slice(*decoder.parts(content)),
    "read only": lambda decoder, content: types.MappingProxyType(dict(decoder.pairs(content))),
    "singleton": lambda _, content: _SINGLETONS[content],
}
