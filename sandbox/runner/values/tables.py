"""Images of pandas tables, in addition to those of `sandbox.runner.values.encoding`.

    DataFrame: [[column, ...], labels of columns, labels of rows]    Series: [column, labels, name]
    Index: labels    Timestamp, Timedelta: ISO 8601, or [ISO 8601, time zone]    NaT, NA: null

    column      [dtype, [item, ...]], instants and spans as whole numbers of their unit
                ["category", [code, ...], labels of the categories, whether they are ordered]
    labels      ["range", start, stop, step, name]
                ["levels", [labels, ...], [[code, ...], ...], [name, ...]]
                ["items", column, name, frequency]

Other kinds (intervals, periods, sparse columns) have no image here. Tests get tables of their own, so that no code of
the program decides a comparison.
"""

import contextlib
import importlib
import re
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, Final

from sandbox.runner.values.encoding import Decoder, Encoder, Image, Opaque, Undecodable

_PLAIN_DTYPE: Final = re.compile(
    "bool|boolean|object|str|string|(?:u?int|float)(?:8|16|32|64)|complex(?:64|128)|(?:U?Int)(?:8|16|32|64)|Float(?:32|64)"
)
_ZONE: Final = re.compile(r"[A-Za-z0-9_+\-/:]{1,64}")
_INSTANTS_DTYPE: Final = re.compile(rf"(datetime|timedelta)64\[(s|ms|us|ns)(?:, ({_ZONE.pattern}))?\]")
_MAX_CHARS: Final = 80
"""Longest text for pandas to parse: an instant, a span, a time zone, a frequency."""
_TAGS: Final = ("DataFrame", "Series", "Index", "Timestamp", "Timedelta", "NaT", "NA")


class _Unknown(Exception):
    """The value has no image."""


def image_of_table(encoder: Encoder, value: Any) -> Image:
    """The image of a pandas value. None: it is not from pandas, or has no image."""
    pandas: Any = sys.modules.get("pandas")
    if type(pandas) is not types.ModuleType:
        return None
    names = vars(pandas)
    if value is names.get("NaT") or value is names.get("NA"):
        return {"NaT" if value is names.get("NaT") else "NA": None}
    bases = type(value).__mro__
    for tag, encode in _ENCODE.items():
        if any(base is names.get(tag) for base in bases):
            try:
                return {tag: encode(pandas, encoder, value)}
            except _Unknown:
                return None
    return None


def _frame(pandas: Any, encoder: Encoder, value: Any) -> Image:
    columns = [_column(encoder, value.iloc[:, column]) for column in range(value.shape[1])]
    return [columns, _labels(pandas, encoder, value.columns), _labels(pandas, encoder, value.index)]


def _series(pandas: Any, encoder: Encoder, value: Any) -> Image:
    return [_column(encoder, value), _labels(pandas, encoder, value.index), encoder.part(value.name)]


def _column(encoder: Encoder, holder: Any) -> Image:
    """The image of a column, from a series or from labels."""
    dtype = str(holder.dtype)
    if dtype == "category":
        array = holder.array
        labels = ["items", _column(encoder, array.categories), None, None]
        return [dtype, encoder.parts(array.codes.tolist()), labels, bool(array.ordered)]
    if _INSTANTS_DTYPE.fullmatch(dtype):
        return [dtype, encoder.parts(holder.array.asi8.tolist())]
    if not _PLAIN_DTYPE.fullmatch(dtype):
        raise _Unknown
    return [dtype, encoder.parts(holder.tolist())]


def _labels(pandas: Any, encoder: Encoder, value: Any) -> Image:
    if isinstance(value, pandas.RangeIndex):
        return ["range", value.start, value.stop, value.step, encoder.part(value.name)]
    if isinstance(value, pandas.MultiIndex):
        levels = [_labels(pandas, encoder, level) for level in value.levels]
        return [
            "levels",
            levels,
            [encoder.parts(codes.tolist()) for codes in value.codes],
            encoder.part([*value.names]),
        ]
    return ["items", _column(encoder, value), encoder.part(value.name), getattr(value, "freqstr", None)]


def _instant(pandas: Any, encoder: Encoder, value: Any) -> Image:
    if value.tzinfo is None:
        return value.isoformat()
    zone = str(value.tzinfo)
    if not _ZONE.fullmatch(zone):
        raise _Unknown
    return [value.isoformat(), zone]


_ENCODE: Final[Mapping[str, Callable[[Any, Encoder, Any], Image]]] = {
    "DataFrame": _frame,
    "Series": _series,
    "Index": _labels,
    "Timestamp": _instant,
    "Timedelta": lambda pandas, encoder, value: value.isoformat(),
}


def _to_frame(pandas: Any, decoder: Decoder, content: Any) -> Any:
    columns, names, labels = content
    index = _to_labels(pandas, decoder, labels)
    frame = pandas.DataFrame({position: _to_column(pandas, decoder, column) for position, column in enumerate(columns)})
    frame = frame if columns else pandas.DataFrame(index=index)
    frame.index, frame.columns = index, _to_labels(pandas, decoder, names)
    return frame


def _to_series(pandas: Any, decoder: Decoder, content: Any) -> Any:
    column, labels, name = content
    return pandas.Series(
        _to_column(pandas, decoder, column), _to_labels(pandas, decoder, labels), name=decoder.part(name)
    )


def _to_column(pandas: Any, decoder: Decoder, content: Any) -> Any:
    """Decode a column to an array."""
    dtype, items, *tail = content
    items = decoder.parts(items)
    if dtype == "category":
        labels, has_order = tail
        categories = _to_labels(pandas, decoder, labels)
        return pandas.Categorical.from_codes(items, categories=categories, ordered=has_order)
    instants = _INSTANTS_DTYPE.fullmatch(dtype)
    if instants is not None:
        kind, unit, zone = instants.groups()
        numbers = importlib.import_module("numpy").array(items, "int64").view(f"{kind}64[{unit}]")
        if zone is None:
            return pandas.array(numbers)
        return pandas.DatetimeIndex(numbers).tz_localize("UTC").tz_convert(zone).array
    if not _PLAIN_DTYPE.fullmatch(dtype):
        raise Undecodable("not a dtype of plain data")
    return pandas.Series(items, dtype=dtype).array


def _to_labels(pandas: Any, decoder: Decoder, content: Any) -> Any:
    how, *fields = content
    if how == "range":
        start, stop, step, name = fields
        return pandas.RangeIndex(start, stop, step, name=decoder.part(name))
    if how == "levels":
        levels, codes, names = fields
        labels = [_to_labels(pandas, decoder, level) for level in levels]
        return pandas.MultiIndex(labels, [decoder.parts(code_list) for code_list in codes], names=decoder.part(names))
    column, name, frequency = fields
    labels = pandas.Index(_to_column(pandas, decoder, column), name=decoder.part(name), tupleize_cols=False)
    if frequency is not None and hasattr(labels, "freqstr"):
        with contextlib.suppress(ValueError):  # for some frequencies, such as custom holidays, the name is not enough
            labels.freq = _short(frequency)
    return labels


def _to_instant(pandas: Any, decoder: Decoder, content: Any) -> Any:
    if type(content) is str:
        return pandas.Timestamp(_short(content))
    text, zone = content
    return pandas.Timestamp(_short(text)).tz_convert(_short(zone))


def _short(text: Any) -> str:
    if type(text) is not str or len(text) > _MAX_CHARS:
        raise Undecodable("not a short text")
    return text


_DECODE: Final[Mapping[str, Callable[[Any, Decoder, Any], Any]]] = {
    "DataFrame": _to_frame,
    "Series": _to_series,
    "Index": _to_labels,
    "Timestamp": _to_instant,
    "Timedelta": lambda pandas, decoder, content: pandas.Timedelta(_short(content)),
    "NaT": lambda pandas, decoder, content: pandas.NaT,
    "NA": lambda pandas, decoder, content: pandas.NA,
}


def _builder(tag: str) -> Callable[[Decoder, Any], Any]:
    def build(decoder: Decoder, content: Any) -> Any:
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            return Opaque(tag)
        try:
            return _DECODE[tag](pandas, decoder, content)
        except (RuntimeError, AssertionError, AttributeError) as error:
            raise Undecodable(f"not the content of a {tag}") from error

    return build


TABLE_BUILDERS: Final[Mapping[str, Callable[[Decoder, Any], Any]]] = {tag: _builder(tag) for tag in _TAGS}
