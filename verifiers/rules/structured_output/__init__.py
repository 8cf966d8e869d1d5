"""Judges whether the response is one document of a data format, and whether a JSON schema holds for its data.

    json   as `json_schema` reads it
    yaml   one YAML document with the core schema of YAML 1.2: `no` is a word, 12:30 and dates are text
    toml   TOML 1.0; dates and times become text
    csv    RFC 4180: a header and at least one row. All rows have the same number of fields; there are at least two,
           unless `columns` names only one. A schema sees a list of objects. Where it asks for a number, integer or
           boolean, a field that reads as one is one

The document may stand in one code fence, with nothing beside it. It has at most 256,000 characters (only the length of
the response limits JSON and CSV), and is nested at most 100 deep. YAML aliases and tags are refused, because they can
make a small document endless; infinities and NaN are refused, too. Any prose is a YAML scalar, so a lone scalar is a
document only if there is a schema. An empty TOML table is not a document. A response that takes a reader more than the
limit gets no reward: `too_complex`.

Deliberate differences to NeMo-Gym's `structured_outputs`: it reads YAML 1.1 with PyYAML's safe loader, where `no` is
false and aliases have no limit.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from propcache.api import cached_property
from pydantic import AliasChoices, ConfigDict, Field, model_validator

from sandbox.workers import Workers
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.long_texts import INLINE_CHARS
from verifiers.rules import bounded
from verifiers.rules.documents import DocumentParams, Unreadable, document, read_json
from verifiers.rules.schemas import PROBES, Schema, compile_schema, parts, quick_values, too_slow_schema
from verifiers.rules.structured_output.tables import objects, read_csv
from verifiers.rules.structured_output.toml_documents import read_toml
from verifiers.rules.structured_output.yaml_documents import read_yaml

Format = Literal["json", "yaml", "toml", "csv"]


class StructuredOutputParams(DocumentParams):
    """The format, and the requirements for the data."""

    model_config = ConfigDict(populate_by_name=True)

    format: Format = "json"
    """The language of the document."""
    reference: Any = Field(default=None, validation_alias=AliasChoices("reference", "schema"))
    """A JSON schema: an object, a boolean, or either as JSON text. It may also be given as `schema`."""
    unique_keys: bool = False
    """Whether a mapping of JSON or YAML that names a key twice is refused. TOML always refuses it."""
    check_formats: bool = False
    """Whether the schema's `format` (date, email, ...) is checked."""
    columns: Annotated[tuple[str, ...], Field(min_length=1, max_length=1000)] | None = None
    """The header that CSV must have, in order."""
    delimiter: Annotated[str, Field(pattern=r"^[,;|\t]$")] = ","
    """For csv: the character between columns."""

    @model_validator(mode="after")
    def _check(self) -> "StructuredOutputParams":
        if self.format != "csv" and (self.columns is not None or self.delimiter != ","):
            raise ValueError("columns and delimiter go with format csv only")
        return self

    @cached_property
    def quick_values(self) -> int:
        """The largest number of parts of a document that is read and checked on the event loop."""
        if self.format in ("yaml", "toml"):
            return 0
        limit = _MAX_QUICK_FIELDS if self.format == "csv" else INLINE_CHARS
        if self.reference is None:
            return limit
        return min(limit, quick_values(self.reference, check_formats=self.check_formats))

    @cached_property
    def schema_(self) -> Schema | str | None:
        """The compiled schema, or a message about its fault; None if there is none."""
        if self.reference is None:
            return None
        return compile_schema(self.reference, check_formats=self.check_formats)

    @cached_property
    def column_types(self) -> Mapping[str, str]:
        """The types of the columns, if the schema gives them in a simple form."""
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
    version = "8"
    params = StructuredOutputParams
    summary = "The response is one document of JSON, YAML, TOML or CSV, and a JSON schema holds for it"
    concurrency = None

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[StructuredOutputParams]]) -> Sequence[Verdict]:
        return await bounded.judge_all(self._workers, judge, items, _is_quick, PROBES, too_slow_schema)


def create(resources: Resources) -> StructuredOutput:
    bounded.register(resources.workers, judge, Item("a: 1", StructuredOutputParams(format="yaml")))
    return StructuredOutput(resources.workers)


def _is_quick(item: Item[StructuredOutputParams]) -> bool:
    if len(item.response) > INLINE_CHARS:
        return False
    if item.params.format != "csv":
        return len(item.response) < item.params.quick_values or parts(item.response) <= item.params.quick_values
    return item.response.count(item.params.delimiter) + item.response.count("\n") < item.params.quick_values


_MAX_QUICK_FIELDS = 1_500
"""The most fields of CSV that are read on the event loop. To read a number takes some microseconds."""


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
            rows = read_csv(text, params.delimiter, params.columns)
            return rows if params.reference is None else objects(rows, params.column_types)
    if len(text) > _MAX_CHARS:
        raise Unreadable("too_large")
    if params.format == "toml":
        return read_toml(text)
    return read_yaml(text, params.unique_keys, scalars=params.reference is not None)


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
    _example(
        "name,age\nAnn,three\n", 0.0, "schema_mismatch", "the field is not an integer", format="csv", reference=_TABLE
    ),
    _example("name,age\nAnn\n", 0.0, "not_readable", "a field is missing", format="csv"),
    _example("It is a list: 1, 2.", 0.0, "not_readable", "prose is not a JSON"),
    _example(
        "I would say no.",
        0.0,
        "not_readable",
        "any prose is a YAML scalar, but a scalar is not a document",
        format="yaml",
    ),
    _example(_LAUGHS, 0.0, "not_readable", "aliases are refused, because they multiply", format="yaml"),
    _example('{"a": 1}', None, "bad_schema", "the caller must correct the schema", reference={"type": 5}),
)
