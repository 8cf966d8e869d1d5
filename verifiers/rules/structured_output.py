"""The response is one document of a data format, and a JSON schema holds for what is in it.

    json   as `json_schema` reads it
    yaml   one YAML document with the core schema of YAML 1.2: `no` is a word, 12:30 and dates are text
    toml   TOML 1.0; dates and times become text
    csv    RFC 4180: a header and at least one row, all of the same number of fields, two at least unless `columns`
           says one. A schema sees a list of objects; where it asks for a number, integer or boolean, fields that
           read as one are one

The document may stand in one code fence, with nothing beside it. It has at most 256,000 characters (JSON and CSV are
bounded by the response only) and is nested at most 100 deep; YAML aliases and tags, which can make a
small document endless, are refused, and so are infinities and NaN. A lone YAML scalar, which any prose is, is a
document only where a schema says so; an empty TOML table is none. What makes a reader take more than the limit is
not rewarded: `too_complex`.

Deliberate differences to NeMo-Gym's `structured_outputs`: it reads YAML 1.1 with PyYAML's safe loader, where `no` is
false and aliases are unbounded.
"""

import csv
import io
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from functools import cached_property
from typing import Annotated, Any, Literal

import yaml
from pydantic import AliasChoices, ConfigDict, Field, model_validator

from sandbox.workers import Exit, Workers
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.long_texts import INLINE_CHARS
from verifiers.rules import bounded
from verifiers.rules.documents import MAX_DEPTH, DocumentParams, Unreadable, check_depth, document, read_json
from verifiers.rules.schemas import Schema, compile_schema, parts, quick_values

Format = Literal["json", "yaml", "toml", "csv"]


class StructuredOutputParams(DocumentParams):
    """The format, and what the data must be."""

    model_config = ConfigDict(populate_by_name=True)

    format: Format = "json"
    reference: Any = Field(default=None, validation_alias=AliasChoices("reference", "schema"))
    """A JSON schema: an object, a boolean, or either as JSON text. It may also be given as `schema`."""
    unique_keys: bool = False
    """Whether a mapping of JSON or YAML that names a key twice is refused; TOML always does."""
    check_formats: bool = False
    """Whether the schema's `format` (date, email, ...) is checked."""
    columns: Annotated[tuple[str, ...], Field(min_length=1, max_length=1000)] | None = None
    """The header of CSV, in order."""
    delimiter: Annotated[str, Field(pattern=r"^[,;|\t]$")] = ","

    @model_validator(mode="after")
    def _check(self) -> "StructuredOutputParams":
        if self.format != "csv" and (self.columns is not None or self.delimiter != ","):
            raise ValueError("columns and delimiter go with format csv")
        return self

    @cached_property
    def quick_values(self) -> int:
        """For documents of how many parts reading, and compiling and using the schema, may be done on the event loop."""
        if self.format in ("yaml", "toml"):
            return 0
        most = _MAX_QUICK_FIELDS if self.format == "csv" else INLINE_CHARS
        if self.reference is None:
            return most
        return min(most, quick_values(self.reference, check_formats=self.check_formats))

    @cached_property
    def schema_(self) -> Schema | str | None:
        """The schema made ready, or what is wrong with it; None when there is none."""
        if self.reference is None:
            return None
        return compile_schema(self.reference, check_formats=self.check_formats)

    @cached_property
    def column_types(self) -> Mapping[str, str]:
        """What the schema says its rows' fields are, where it says it simply."""
        rows = self.reference.get("items") if isinstance(self.reference, dict) else None
        properties = rows.get("properties") if isinstance(rows, dict) else None
        if not isinstance(properties, dict):
            return {}
        return {
            name: kind["type"]
            for name, kind in properties.items()
            if isinstance(kind, dict) and isinstance(kind.get("type"), str)
        }


class StructuredOutput(Verifier[StructuredOutputParams]):
    name = "structured_output"
    version = "1"
    params = StructuredOutputParams
    summary = "The response is one document of JSON, YAML, TOML or CSV, and a JSON schema holds for it"
    concurrency = None

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[StructuredOutputParams]]) -> Sequence[Verdict]:
        return await bounded.judge_all(self._workers, judge, items, _is_quick, _stopped)


def create(resources: Resources) -> StructuredOutput:
    bounded.register(resources.workers, judge, Item("a: 1", StructuredOutputParams(format="yaml")))
    return StructuredOutput(resources.workers)


def _is_quick(item: Item[StructuredOutputParams]) -> bool:
    if len(item.response) > INLINE_CHARS:
        return False
    if item.params.format != "csv":
        return parts(item.response) <= item.params.quick_values
    return item.response.count(item.params.delimiter) + item.response.count("\n") < item.params.quick_values


_MAX_QUICK_FIELDS = 1_500
"""Reading a number of CSV takes some microseconds."""


def _stopped(exit_: Exit) -> Verdict:
    return Verdict.wrong("too_complex", limit=str(exit_))


def judge(item: Item[StructuredOutputParams]) -> Verdict:
    params = item.params
    schema = params.schema_
    if isinstance(schema, str):
        return Verdict.invalid("bad_schema", schema)
    try:
        value = _read(document(item.response, params, _TAGS[params.format]), params)
    except Unreadable as error:
        return Verdict.wrong(error.fault, **({"message": clip(str(error))} if item.explain else {}))
    if schema is None and params.format != "json" and not value:
        return Verdict.wrong("empty")
    if schema is None or schema.holds(value):
        return Verdict.correct()
    return Verdict.wrong("schema_mismatch", **({"message": clip(schema.error(value))} if item.explain else {}))


_TAGS: Mapping[Format, tuple[str, ...]] = {
    "json": ("json",),
    "yaml": ("yaml", "yml"),
    "toml": ("toml",),
    "csv": ("csv", "tsv"),
}
_MAX_CHARS = 256_000


def _read(text: str, params: StructuredOutputParams) -> Any:
    match params.format:
        case "json":
            return read_json(text, unique_keys=params.unique_keys)
        case "csv":
            rows = _read_csv(text, params)
            return rows if params.reference is None else _objects(rows, params.column_types)
    if len(text) > _MAX_CHARS:
        raise Unreadable("too_large")
    if params.format == "toml":
        return _read_toml(text)
    return _read_yaml(text, params.unique_keys, scalars=params.reference is not None)


# --- CSV


def _read_csv(text: str, params: StructuredOutputParams) -> list[list[str]]:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=params.delimiter, strict=True))
    except csv.Error as error:
        raise Unreadable("not_readable", str(error)) from error
    header = rows[0] if rows else []
    if params.columns is not None and tuple(header) != params.columns:
        raise Unreadable("wrong_columns", f"the header is {header[:20]}")
    if len(rows) < 2 or (len(header) < 2 and params.columns is None):
        raise Unreadable("not_readable", "no header and rows of two fields or more")
    if len(set(header)) < len(header) or not all(name.strip() for name in header):
        raise Unreadable("wrong_columns", "names of columns are missing or the same")
    uneven = next((number for number, row in enumerate(rows, start=1) if len(row) != len(header)), None)
    if uneven is not None:
        raise Unreadable("not_readable", f"row {uneven} has {len(rows[uneven - 1])} fields, the header {len(header)}")
    return rows


def _objects(rows: list[list[str]], types: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows as a schema sees them."""
    header, *rest = rows
    return [{name: _field(cell, types.get(name)) for name, cell in zip(header, row, strict=True)} for row in rest]


def _field(text: str, kind: str | None) -> Any:
    if kind not in ("integer", "number", "boolean"):
        return text
    try:
        value = read_json(text.strip().lower() if kind == "boolean" else text.strip(), unique_keys=False)
    except Unreadable:
        return text
    return value if isinstance(value, bool) is (kind == "boolean") else text


# --- TOML


def _read_toml(text: str) -> Any:
    if _has_long_key(text):  # tomllib takes quadratic time for it, and then it is too deep
        raise Unreadable("too_deep")
    try:
        value = tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError as error:
        raise Unreadable("too_deep") from error
    except ValueError as error:
        raise Unreadable("not_readable", str(error)) from error
    check_depth(value)
    return _plain(value)


def _has_long_key(text: str) -> bool:
    """Whether a key may have more than `MAX_DEPTH` parts; keys stand on one line."""
    if text.count(".") < MAX_DEPTH:
        return False
    return any(line.count(".") >= MAX_DEPTH and _LONG_KEY.search(line) for line in text.split("\n"))


_LONG_KEY = re.compile(rf"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){{{MAX_DEPTH}}}[\w"'-]""")


def _plain(value: Any) -> Any:
    """The value with dates and times as text."""
    match value:
        case dict():
            return {key: _plain(inner) for key, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case float() if value - value != 0:
            raise Unreadable("not_readable", f"{value} is not in JSON")
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return value


# --- YAML


def _read_yaml(text: str, unique_keys: bool, scalars: bool) -> Any:
    try:
        _check_events(text)
        node = yaml.compose(text, Loader=_CoreLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable("not_readable", str(error)) from error
    if node is None or (isinstance(node, yaml.ScalarNode) and not scalars):
        raise Unreadable("not_readable", "no mapping and no list")
    return _value(node, unique_keys)


def _check_events(text: str) -> None:
    """Before anything is built: no aliases, no tags, no nesting that building would choke on."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise Unreadable("not_readable", "anchors and aliases are refused")
        if getattr(event, "tag", None) is not None:
            raise Unreadable("not_readable", "tags are refused")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise Unreadable("too_deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _value(node: yaml.Node, unique_keys: bool) -> Any:
    match node:
        case yaml.ScalarNode():
            return _SCALARS.get(node.tag, str)(node.value)
        case yaml.SequenceNode():
            return [_value(inner, unique_keys) for inner in node.value]
        case _:
            return _mapping(node, unique_keys)


def _mapping(node: yaml.Node, unique_keys: bool) -> dict[str, Any]:
    """Keys are text, as they are written; a JSON schema knows no others."""
    found: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise Unreadable("not_readable", "a key is a list or a mapping")
        if unique_keys and key.value in found:
            raise Unreadable("duplicate_key")
        found[key.value] = _value(value, unique_keys)
    return found


class _CoreLoader(yaml.CSafeLoader):
    """Resolves plain scalars by the core schema of YAML 1.2 (section 10.3.2)."""


def _integer(text: str) -> int:
    if text[:2] in ("0o", "0x"):
        return int(text[2:], 8 if text[1] == "o" else 16)
    try:
        return int(text)
    except ValueError as error:  # more digits than Python reads
        raise Unreadable("not_readable", str(error)) from error


def _float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.inf  # .inf and .nan
    if not math.isfinite(value):
        raise Unreadable("not_readable", f"{text[:40]} is not in JSON")
    return value


_SCALARS: Mapping[str, Callable[[str], Any]] = {
    "null": lambda _: None,
    "bool": lambda text: text[0] in "tT",
    "int": _integer,
    "float": _float,
}
_RESOLVED = (
    ("null", r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", list("tTfF")),
    ("int", r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z", list("-+0123456789")),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z", list("-+.0123456789")),
    ("float", r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z", list("-+.")),
)
_CoreLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in _RESOLVED:
    _CoreLoader.add_implicit_resolver(_tag, re.compile(_pattern), _first)


# --- examples

_TABLE = {
    "type": "array",
    "items": {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["name", "age"]},
}
_LAUGHS = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]"


def _example(response: str, score: float | None, reason: str, note: str, **params: Any) -> Example:
    return Example(response, params, score, reason, note, Status.OK if score is not None else Status.INVALID)


EXAMPLES = (
    _example('{"a": [1, 2]}', 1.0, "correct", "JSON"),
    _example("name: Ann\nage: 3", 1.0, "correct", "YAML", format="yaml", reference={"required": ["name", "age"]}),
    _example('name = "Ann"\n[pet]\nage = 3', 1.0, "correct", "TOML", format="toml"),
    _example("name,age\nAnn,3\n", 1.0, "correct", "CSV by a schema", format="csv", reference=_TABLE),
    _example("name,age\nAnn,three\n", 0.0, "schema_mismatch", "no integer", format="csv", reference=_TABLE),
    _example("name,age\nAnn\n", 0.0, "not_readable", "a field is missing", format="csv"),
    _example("It is a list: 1, 2.", 0.0, "not_readable", "looks like JSON to nobody"),
    _example("I would say no.", 0.0, "not_readable", "any prose is YAML, but a scalar is no data", format="yaml"),
    _example(_LAUGHS, 0.0, "not_readable", "aliases, which multiply", format="yaml"),
    _example('{"a": 1}', None, "bad_schema", "the caller must mend it", reference={"type": 5}),
)
