"""Plain data as JSON: encodes values that leave a judged program, and decodes them elsewhere.

    value ──Encoder──► image (JSON) ──► bytes ──► image ──Decoder──► value

None, booleans, strings, finite floats, integers below 2**53 and lists are their own images. Every other image is an
object with one key, its tag:

    int: hex    float: "nan" | "math.nan" | "numpy.nan" | "inf" | "-inf"    complex: [real, imaginary]    bytes, bytearray: hex
    tuple, set, frozenset: [item, ...]    deque: [[item, ...], length limit]    named: [name, [field, ...], [item, ...]]
    dict, OrderedDict, Counter: [[key, value], ...]    keys, values: [item, ...]    items: [[key, value], ...]
    range: [start, stop, step]    Decimal: text    Fraction: [numerator, denominator]
    date, time, datetime: ISO 8601    timedelta: [days, seconds, microseconds]
    ndarray: [dtype | [[field, dtype], ...], [length, ...], nested lists]    scalar: [dtype, item]    opaque: name of the type

A value that is not plain data becomes `opaque`, which equals nothing. Types are recognised by identity. An instance of
a subclass is reduced to its base's value by the base's own methods: no `__eq__`, `__iter__` or `__class__` of the
program is called. An image is what the program claims to have computed, and code that controls the program's process
can claim anything. So decoding trusts nothing, and needs time and memory in proportion to the bounded length of its
input.
"""

import collections
import datetime
import decimal
import fractions
import importlib
import itertools
import json
import math
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

MAX_BYTES: Final = 16 << 20
MAX_DEPTH: Final = 128
_MAX_IMAGE_DEPTH: Final = 2 * (MAX_DEPTH + 1)
"""A tuple's image is two levels deep: the tag, and the list of items."""
_PART_BYTES: Final = 8
"""What each item counts towards MAX_BYTES, whatever its text: an empty list has three bytes of text, but needs much
more memory.
"""
_MAX_PARTS: Final = 2 * MAX_BYTES // _PART_BYTES
_EXACT_INTEGERS: Final = 1 << 53
_MAX_FRACTION_BITS: Final = 4096
_MAX_DECIMAL_CHARS: Final = 20_000
_MAX_DECIMAL_EXPONENT: Final = 100_000
_MAX_COLLISIONS: Final = 64
_MAX_DIMENSIONS: Final = 64
"""Those of numpy."""
_MAX_NAME_CHARS: Final = 100

Image: TypeAlias = Any
"""JSON data, as `json` reads and writes it."""


class Undecodable(Exception):
    """The input is not an image of plain data, or is larger than any honest box sends."""


class TooLarge(Exception):
    """The value has more parts than an image may have."""


class Opaque:
    """Stands for a value that is not plain data. It equals nothing, not even itself."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<opaque {self.type_name}>"


class Named(tuple[Any, ...]):
    """Stands for a named tuple: equals a tuple, and has its items under names too."""

    names: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name not in self.names:
            raise AttributeError(f"no field '{name}'")
        return self[self.names.index(name)]

    @property
    def _fields(self) -> tuple[str, ...]:
        return tuple(self.names)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self.names, self, strict=True))


def encode(value: object) -> bytes:
    """Encode a value for `decode`.

    Runs no code of the value's own classes. A value that is too large becomes opaque.
    """
    try:
        data = dumped(Encoder(opaque).image(value))
    except TooLarge:
        return dumped(opaque(value))
    return data if len(data) <= MAX_BYTES else dumped(opaque(value))


def decode(data: bytes) -> object:
    """Decode plain data: builtin types and the types of the standard library named above.

    A `range` may have any length.

    Named tuples become tuples, ordered dictionaries and counters become dictionaries, and arrays become lists.

    Raises:
        Undecodable: malformed, too deep or too large.
    """
    return decode_image(parsed(data))


def decode_image(image: Image) -> Any:
    """`decode` for JSON that has been parsed already."""
    return Decoder(PLAIN_BUILDERS).value(image)


def parsed(data: bytes) -> Image:
    """Parse JSON from an untrusted side.

    Raises:
        Undecodable: it is not JSON, or too deep or too large.
    """
    if len(data) > MAX_BYTES or data.count(b",") + data.count(b"[") + data.count(b"{") > _MAX_PARTS:
        raise Undecodable("too large")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Undecodable("not JSON, or too deep") from error


def dumped(image: Image) -> bytes:
    return json.dumps(image, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def opaque(value: object) -> Image:
    """The image of a value that is not plain data."""
    return {"opaque": type_name(type(value))}


def type_name(kind: type) -> str:
    """The name of a type, cut to a reasonable length."""
    name: str = _name_of(kind)
    return name[:_MAX_NAME_CHARS]


def in_namespace(kind: type, name: str) -> Any:
    """What a class or one of its bases defines under this name, or None. No descriptor or metaclass is called."""
    for base in mro_of(kind):
        namespace = namespace_of(base)
        if name in namespace:
            return namespace[name]
    return None


def bases_of(kind: type) -> tuple[type, ...]:
    """The bases that a class was made with."""
    bases: tuple[type, ...] = type.__dict__["__bases__"].__get__(kind)
    return bases


# The descriptors of `type` itself: a metaclass cannot override them.
mro_of: Final[Callable[[type], tuple[type, ...]]] = type.__dict__["__mro__"].__get__
_name_of: Final[Callable[[type], str]] = type.__dict__["__name__"].__get__
namespace_of: Final[Callable[[type], Mapping[str, object]]] = type.__dict__["__dict__"].__get__


class Encoder:
    """Makes images of values.

    Args:
        foreign: Makes the image of a value that is not plain data.
    """

    def __init__(self, foreign: Callable[[Any], Image]) -> None:
        self.foreign = foreign
        self._room = 0
        self._depth = 0

    def image(self, value: object) -> Image:
        """The image of one value.

        Raises:
            TooLarge: it has more parts or text than an image may have.
        """
        self._room = MAX_BYTES
        self._depth = 0
        return self.part(value)

    def part(self, value: Any) -> Image:
        """The image of a value inside the one that `image` was called with."""
        kind = type(value)
        encode_exactly = _EXACTLY.get(id(kind))
        if encode_exactly is None:
            return self.reduced(value, kind)
        return encode_exactly(self, value)

    def parts(self, items: list[Any]) -> Image:
        """The images of a container's items."""
        self.charge(_PART_BYTES * len(items))
        if _are_their_own_images(items):
            return items
        if self._depth >= MAX_DEPTH:
            return [self.foreign(item) for item in items]
        self._depth += 1
        images = [self.part(item) for item in items]
        self._depth -= 1
        return images

    def pairs(self, items: list[tuple[Any, Any]]) -> Image:
        """The images of a dictionary's items."""
        keys = self.parts([key for key, _ in items])
        return [*map(list, zip(keys, self.parts([value for _, value in items]), strict=True))]

    def charge(self, count: int) -> None:
        """Use up this many bytes of an image's allowance."""
        self._room -= count
        if self._room < 0:
            raise TooLarge

    def reduced(self, value: Any, kind: type) -> Image:
        """The image of an instance of a subclass: the value of its base, if a base is plain data."""
        names = _numpys_names()
        if names is not None:
            bases = mro_of(kind)
            if any(base is names.get("generic") for base in bases):
                return self._scalar(value, names["generic"])
            if any(base is names.get("ndarray") for base in bases):
                return self._array(value, names["ndarray"])
        for base in mro_of(kind):
            reduce = _REDUCED.get(id(base))
            if reduce is not None:
                return reduce(self, value)
        return self.foreign(value)

    def _scalar(self, value: Any, generic: Any) -> Image:
        item = generic.item(value)
        if id(type(item)) not in _EXACTLY:
            return self.foreign(value)
        return {"scalar": [str(generic.dtype.__get__(value)), self.part(item)]}

    def _array(self, value: Any, ndarray: Any) -> Image:
        shape = [*ndarray.shape.__get__(value)]
        self.charge(_PART_BYTES * math.prod(shape))
        dtype = ndarray.dtype.__get__(value)
        return {"ndarray": [fields_of(dtype) or str(dtype), shape, self.part(ndarray.tolist(value))]}


def fields_of(dtype: Any) -> list[list[str]]:
    """The names and types of a structured array's fields; none if one of them is not of numbers."""
    fields = [[name, str(dtype[name])] for name in dtype.names or ()]
    return fields if all(_DTYPE.fullmatch(kind) for _, kind in fields) else []


def _numpys_names() -> Mapping[str, Any] | None:
    numpy: Any = sys.modules.get("numpy")
    return vars(numpy) if type(numpy) is types.ModuleType else None


def _are_their_own_images(items: list[Any]) -> bool:
    """Whether all items are small and of one exact scalar type. Most long lists are, and then encoding is fast."""
    kinds = set(map(id, map(type, items)))
    if len(kinds) != 1:
        return not kinds
    kind = type(items[0])
    if kind is int:
        return bool(min(items) > -_EXACT_INTEGERS and max(items) < _EXACT_INTEGERS)
    return kind is bool or (kind is float and all(map(math.isfinite, items)))


def _unchanged(encoder: Encoder, value: Any) -> Image:
    return value


def _string(encoder: Encoder, value: str) -> Image:
    encoder.charge(len(value))
    return value


def _integer(encoder: Encoder, value: int) -> Image:
    if -_EXACT_INTEGERS < value < _EXACT_INTEGERS:
        return value
    encoder.charge(value.bit_length() // 4)
    return {"int": hex(value)}


def _float(encoder: Encoder, value: float) -> Image:
    return value if math.isfinite(value) else {"float": _name_of_nan(value) or repr(value)}


def _name_of_nan(value: float) -> str:
    """What is a library's own object, since `[math.nan] == [math.nan]` holds for one object, and not for two."""
    if value is math.nan:
        return "math.nan"
    return "numpy.nan" if value is (_numpys_names() or {}).get("nan") else ""


def _complex(encoder: Encoder, value: complex) -> Image:
    return {"complex": [_float(encoder, part.__get__(value)) for part in (_real_of, _imaginary_of)]}


_real_of: Final[Any] = complex.__dict__["real"]
_imaginary_of: Final[Any] = complex.__dict__["imag"]


def _bytes(encoder: Encoder, value: bytes) -> Image:
    encoder.charge(2 * bytes.__len__(value))
    return {"bytes": bytes.hex(value)}


def _bytearray(encoder: Encoder, value: bytearray) -> Image:
    encoder.charge(2 * bytearray.__len__(value))
    return {"bytearray": bytearray.hex(value)}


def _list(encoder: Encoder, value: list[Any]) -> Image:
    return encoder.parts([*list.__iter__(value)])


def _tuple(encoder: Encoder, value: tuple[Any, ...]) -> Image:
    return {"tuple": encoder.parts([*tuple.__iter__(value)])}


def _tuple_or_named(encoder: Encoder, value: tuple[Any, ...]) -> Image:
    fields = in_namespace(type(value), "_fields")
    if type(fields) is not tuple or any(type(field) is not str for field in fields):
        return _tuple(encoder, value)
    return {"named": [type_name(type(value)), [*fields], encoder.parts([*tuple.__iter__(value)])]}


def _set(encoder: Encoder, value: set[Any]) -> Image:
    return {"set": encoder.parts([*set.__iter__(value)])}


def _frozenset(encoder: Encoder, value: frozenset[Any]) -> Image:
    return {"frozenset": encoder.parts([*frozenset.__iter__(value)])}


def _deque(encoder: Encoder, value: collections.deque[Any]) -> Image:
    return {"deque": [encoder.parts([*collections.deque.__iter__(value)]), _length_limit_of.__get__(value)]}


_length_limit_of: Final[Any] = collections.deque.__dict__["maxlen"]


def _dict(encoder: Encoder, value: dict[Any, Any]) -> Image:
    return {"dict": encoder.pairs([*dict.items(value)])}


def _counter(encoder: Encoder, value: dict[Any, Any]) -> Image:
    return {"Counter": encoder.pairs([*dict.items(value)])}


def _ordered_dict(encoder: Encoder, value: collections.OrderedDict[Any, Any]) -> Image:
    # Iterating an ordered dictionary in its own order looks up each key, which may run the key's `__hash__`.
    hashed_by_builtins = all(id(type(key)) in _EXACTLY for key in dict.keys(value))
    items = collections.OrderedDict.items(value) if hashed_by_builtins else dict.items(value)
    return {"OrderedDict": encoder.pairs([*items])}


def _dict_keys(encoder: Encoder, value: Iterable[Any]) -> Image:
    return {"keys": encoder.parts([*value])}


def _dict_values(encoder: Encoder, value: Iterable[Any]) -> Image:
    return {"values": encoder.parts([*value])}


def _dict_items(encoder: Encoder, value: Iterable[tuple[Any, Any]]) -> Image:
    return {"items": encoder.pairs([*value])}


def _range(encoder: Encoder, value: range) -> Image:
    return {"range": [_integer(encoder, number) for number in (value.start, value.stop, value.step)]}


def _decimal(encoder: Encoder, value: decimal.Decimal) -> Image:
    digits = value.as_tuple()
    too_long = len(digits.digits) + 40 > _MAX_DECIMAL_CHARS or value.is_snan()
    if too_long or (value.is_finite() and abs(value.adjusted()) > _MAX_DECIMAL_EXPONENT):
        return encoder.foreign(value)
    encoder.charge(len(digits.digits))
    return {"Decimal": str(value)}


def _fraction(encoder: Encoder, value: fractions.Fraction) -> Image:
    terms = (value.numerator, value.denominator)
    if any(type(part) is not int or part.bit_length() > _MAX_FRACTION_BITS for part in terms):
        return encoder.foreign(value)
    return {"Fraction": [_integer(encoder, part) for part in terms]}


def _date(encoder: Encoder, value: datetime.date) -> Image:
    return {"date": value.isoformat()}


def _time(encoder: Encoder, value: datetime.time) -> Image:
    return {"time": value.isoformat()} if _has_known_zone(value) else encoder.foreign(value)


def _datetime(encoder: Encoder, value: datetime.datetime) -> Image:
    return {"datetime": value.isoformat()} if _has_known_zone(value) else encoder.foreign(value)


def _has_known_zone(value: datetime.time | datetime.datetime) -> bool:
    return value.tzinfo is None or type(value.tzinfo) is datetime.timezone


def _timedelta(encoder: Encoder, value: datetime.timedelta) -> Image:
    return {"timedelta": [value.days, value.seconds, value.microseconds]}


# Keyed by the type's id: a look-up by the type would call its metaclass's `__hash__`.
_EXACTLY: Final[Mapping[int, Callable[[Encoder, Any], Image]]] = {
    id(kind): encode_exactly
    for kind, encode_exactly in (
        (type(None), _unchanged),
        (bool, _unchanged),
        (str, _string),
        (int, _integer),
        (float, _float),
        (complex, _complex),
        (bytes, _bytes),
        (bytearray, _bytearray),
        (list, _list),
        (tuple, _tuple),
        (set, _set),
        (frozenset, _frozenset),
        (collections.deque, _deque),
        (dict, _dict),
        (collections.Counter, _counter),
        (collections.OrderedDict, _ordered_dict),
        (type({}.keys()), _dict_keys),
        (type({}.values()), _dict_values),
        (type({}.items()), _dict_items),
        (range, _range),
        (decimal.Decimal, _decimal),
        (fractions.Fraction, _fraction),
        (datetime.date, _date),
        (datetime.time, _time),
        (datetime.datetime, _datetime),
        (datetime.timedelta, _timedelta),
    )
}

_REDUCED: Final[Mapping[int, Callable[[Encoder, Any], Image]]] = {
    id(kind): reduce
    for kind, reduce in (
        (str, lambda encoder, value: _string(encoder, str.__str__(value))),
        (int, lambda encoder, value: _integer(encoder, int.__add__(value, 0))),
        (float, lambda encoder, value: _float(encoder, float.__float__(value))),
        (complex, _complex),
        (bytes, _bytes),
        (bytearray, _bytearray),
        (list, _list),
        (tuple, _tuple_or_named),
        (set, _set),
        (frozenset, _frozenset),
        (collections.deque, _deque),
        (dict, _dict),
    )
}


class Decoder:
    """Makes values of untrusted images.

    Args:
        builders: By tag, a function that makes the value from the tag's content. It calls `part` and `parts` for nested
            images. Its `TypeError`, `ValueError`, `ArithmeticError` and `LookupError` mean a malformed image.
    """

    def __init__(self, builders: Mapping[str, Callable[["Decoder", Any], Any]]) -> None:
        self._builders = builders
        self._depth = 0
        self.deepest = 0
        """How deep the deepest image was."""

    def value(self, image: Image) -> Any:
        """The value of one image.

        Raises:
            Undecodable: it is malformed, or too deep.
        """
        self._depth = 0
        try:
            return self.part(image)
        except RecursionError as error:
            raise Undecodable("too deep") from error

    def part(self, image: Image) -> Any:
        """The value of an image inside the one that `value` was called with."""
        kind = type(image)
        if kind is list:
            return self.parts(image)
        if kind is dict:
            return self._tagged(image)
        return image

    def parts(self, images: Image) -> list[Any]:
        if type(images) is not list:
            raise Undecodable("not a list")
        kinds = set(map(type, images))
        if list not in kinds and dict not in kinds:
            return [*images]
        self._go_deeper()
        values = [self.part(image) for image in images]
        self._depth -= 1
        return values

    def pairs(self, images: Image) -> list[tuple[Any, Any]]:
        """The items of a dictionary. Keys with too many hash collisions are refused."""
        keys = self.parts([key for key, _ in images])
        return [*zip(_checked_keys(keys), self.parts([value for _, value in images]), strict=True)]

    def _tagged(self, image: dict[str, Any]) -> Any:
        if len(image) != 1:
            raise Undecodable("not one tag")
        [(tag, content)] = image.items()
        build = self._builders.get(tag)
        if build is None:
            raise Undecodable("an unknown tag")
        self._go_deeper()
        try:
            value = build(self, content)
        except (TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise Undecodable(f"not the content of a {tag}") from error
        self._depth -= 1
        return value

    def _go_deeper(self) -> None:
        self._depth += 1
        self.deepest = max(self.deepest, self._depth)
        if self._depth > _MAX_IMAGE_DEPTH:
            raise Undecodable("too deep")


def _checked_keys(keys: list[Any]) -> list[Any]:
    """The keys of a set or dictionary. Keys made to have equal hashes are refused: they would cost quadratic time."""
    if len(keys) - len(set(map(hash, keys))) > _MAX_COLLISIONS:
        raise Undecodable("keys with equal hashes")
    return keys


def _to_integer(decoder: Decoder, content: Any) -> int:
    return int(_text(content), 16)


def _to_float(decoder: Decoder, content: Any) -> float:
    if content in ("math.nan", "numpy.nan"):
        nan: Any = (_numpys_names() or {}).get("nan") if content == "numpy.nan" else None
        return nan if type(nan) is float else math.nan
    if content not in ("nan", "inf", "-inf"):
        raise Undecodable("not one of the floats nan, inf and -inf")
    return float(content)


def _to_complex(decoder: Decoder, content: Any) -> complex:
    real, imaginary = decoder.parts(content)
    return complex(real, imaginary)


def _to_deque(decoder: Decoder, content: Any) -> collections.deque[Any]:
    items, length_limit = content
    return collections.deque(decoder.parts(items), length_limit)


def _to_tuple_without_names(decoder: Decoder, content: Any) -> tuple[Any, ...]:
    _, _, items = content
    return tuple(decoder.parts(items))


def _to_range(decoder: Decoder, content: Any) -> range:
    start, stop, step = decoder.parts(content)
    return range(start, stop, step)


def _to_decimal(decoder: Decoder, content: Any) -> decimal.Decimal:
    if len(_text(content)) > _MAX_DECIMAL_CHARS:
        raise Undecodable("too many digits")
    number = decimal.Decimal(content)
    if number.is_snan() or (number.is_finite() and abs(number.adjusted()) > _MAX_DECIMAL_EXPONENT):
        raise Undecodable("a signalling NaN, or an exponent too large to compute with")
    return number


def _to_fraction(decoder: Decoder, content: Any) -> fractions.Fraction:
    numerator, denominator = decoder.parts(content)
    if type(numerator) is not int or type(denominator) is not int:
        raise Undecodable("not two integers")
    if max(numerator.bit_length(), denominator.bit_length()) > _MAX_FRACTION_BITS:
        raise Undecodable("too many digits")
    return fractions.Fraction(numerator, denominator)


def _to_timedelta(decoder: Decoder, content: Any) -> datetime.timedelta:
    days, seconds, microseconds = content
    return datetime.timedelta(days, seconds, microseconds)


def _to_nested_lists(decoder: Decoder, content: Any) -> Any:
    _, _, items = content
    return decoder.part(items)


def _to_item(decoder: Decoder, content: Any) -> Any:
    _, item = content
    return decoder.part(item)


def _text(content: Any) -> str:
    if type(content) is not str:
        raise Undecodable("not a text")
    return content


PLAIN_BUILDERS: Final[Mapping[str, Callable[[Decoder, Any], Any]]] = {
    "int": _to_integer,
    "float": _to_float,
    "complex": _to_complex,
    "bytes": lambda decoder, content: bytes.fromhex(content),
    "bytearray": lambda decoder, content: bytearray.fromhex(content),
    "tuple": lambda decoder, content: tuple(decoder.parts(content)),
    "named": _to_tuple_without_names,
    "set": lambda decoder, content: set(_checked_keys(decoder.parts(content))),
    "frozenset": lambda decoder, content: frozenset(_checked_keys(decoder.parts(content))),
    "deque": _to_deque,
    "dict": lambda decoder, content: dict(decoder.pairs(content)),
    "Counter": lambda decoder, content: dict(decoder.pairs(content)),
    "OrderedDict": lambda decoder, content: dict(decoder.pairs(content)),
    "keys": lambda decoder, content: dict.fromkeys(_checked_keys(decoder.parts(content))).keys(),
    "values": lambda decoder, content: dict(enumerate(decoder.parts(content))).values(),
    "items": lambda decoder, content: dict(decoder.pairs(content)).items(),
    "range": _to_range,
    "Decimal": _to_decimal,
    "Fraction": _to_fraction,
    "date": lambda decoder, content: datetime.date.fromisoformat(content),
    "time": lambda decoder, content: datetime.time.fromisoformat(content),
    "datetime": lambda decoder, content: datetime.datetime.fromisoformat(content),
    "timedelta": _to_timedelta,
    "ndarray": _to_nested_lists,
    "scalar": _to_item,
    "opaque": lambda decoder, content: Opaque(_text(content)[:_MAX_NAME_CHARS]),
}


def _to_named(decoder: Decoder, content: Any) -> Named:
    _, names, items = content
    named_tuple = Named(decoder.parts(items))
    if len(names) != len(named_tuple) or any(type(name) is not str for name in names):
        raise Undecodable("not a name for each item")
    named_tuple.names = names
    return named_tuple


def _to_array(decoder: Decoder, content: Any) -> Any:
    dtype, shape, items = content
    values = decoder.part(items)
    numpy = _numpy()
    if numpy is None:
        return values
    if isinstance(dtype, list):
        return numpy.array(values, _fields(dtype, values, len(shape))).reshape(shape)
    is_plain = _DTYPE.fullmatch(_text(dtype)) or dtype == "object"
    return numpy.array(values, dtype if is_plain else None).reshape(shape)


def _fields(content: list[Any], values: Any, depth: int) -> list[tuple[str, str]]:
    """The fields of a structured array, of numbers.

    Numpy would copy a lone number into each field, so every item must have all of them.
    """
    fields = [(_text(name), _text(kind)) for name, kind in content]
    items = [values]
    for _ in range(min(depth, _MAX_DIMENSIONS)):
        items = [*itertools.chain.from_iterable(items)]
    if not all(type(item) is tuple and len(item) == len(fields) for item in items):
        raise Undecodable("not an item for each field")
    if not all(_DTYPE.fullmatch(kind) for _, kind in fields):
        raise Undecodable("not fields of plain data")
    return fields


def _to_scalar(decoder: Decoder, content: Any) -> Any:
    dtype, item = content
    value = decoder.part(item)
    numpy = _numpy()
    if numpy is None:
        return value
    if type(value) in (str, bytes):
        return (numpy.str_ if type(value) is str else numpy.bytes_)(value)
    return numpy.array(value, dtype)[()] if _DTYPE.fullmatch(_text(dtype)) else value


def _numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


_DTYPE: Final = re.compile(r"bool|(int|uint|float|complex)(8|16|32|64|128)|(datetime|timedelta)64(\[\w{1,10}\])?")

FAITHFUL_BUILDERS: Final[Mapping[str, Callable[[Decoder, Any], Any]]] = {
    **PLAIN_BUILDERS,
    "named": _to_named,
    "Counter": lambda decoder, content: collections.Counter(dict(decoder.pairs(content))),
    "OrderedDict": lambda decoder, content: collections.OrderedDict(decoder.pairs(content)),
    "ndarray": _to_array,
    "scalar": _to_scalar,
}
"""For readers that need the original types, not only plain values: tests, and the programs they call."""
