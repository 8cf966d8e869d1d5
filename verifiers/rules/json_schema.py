"""Judges whether the response is one JSON document for which a JSON schema holds.

JSON is that of RFC 8259: no NaN or infinity, no comments, one document. It is nested at most 100 deep. It may stand in
one code fence, with nothing beside it. The schema is the `reference`; `verifiers.rules.schemas` describes how schemas
are read. A schema that takes more than the limit on the smallest documents is invalid. A response that makes another
schema take more gets no reward: `too_complex`.

Deliberate differences to graders built on Python's `json.loads` and `jsonschema`: NaN, infinity and numbers beyond
doubles are refused; `$ref` never fetches anything. A schema with look-around in a pattern is invalid.
"""

from collections.abc import Sequence
from typing import Any

from propcache.api import cached_property
from pydantic import AliasChoices, ConfigDict, Field

from sandbox.workers import Workers
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.long_texts import INLINE_CHARS
from verifiers.rules import bounded
from verifiers.rules.documents import DocumentParams, Unreadable, document, read_json
from verifiers.rules.schemas import PROBES, Schema, compile_schema, parts, quick_values, too_slow_schema


class JsonSchemaParams(DocumentParams):
    """The schema, and the strictness with which JSON is read."""

    model_config = ConfigDict(populate_by_name=True)

    reference: Any = Field(validation_alias=AliasChoices("reference", "schema"))
    """The schema: an object, a boolean, or either as JSON text. It may also be given as `schema`."""
    unique_keys: bool = False
    """Whether an object that names a key twice is refused. If not, the last one counts."""
    check_formats: bool = False
    """Whether the schema's `format` (date, email, ...) is checked."""

    @cached_property
    def quick_values(self) -> int:
        """The largest number of parts of a document for which the schema is used on the event loop."""
        return quick_values(self.reference, check_formats=self.check_formats)

    @cached_property
    def schema_(self) -> Schema | str:
        """The compiled schema, or a message about its fault."""
        return compile_schema(self.reference, check_formats=self.check_formats)


class JsonSchema(Verifier[JsonSchemaParams]):
    name = "json_schema"
    version = "8"
    params = JsonSchemaParams
    summary = "The response is one JSON document that a JSON schema holds for"
    concurrency = None

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[JsonSchemaParams]]) -> Sequence[Verdict]:
        return await bounded.judge_all(self._workers, judge, items, _is_quick, PROBES, too_slow_schema)


def create(resources: Resources) -> JsonSchema:
    bounded.register(resources.workers, judge, Item("{}", JsonSchemaParams(reference={"pattern": "a"})))
    return JsonSchema(resources.workers)


def _is_quick(item: Item[JsonSchemaParams]) -> bool:
    return len(item.response) <= INLINE_CHARS and parts(item.response) <= item.params.quick_values


def judge(item: Item[JsonSchemaParams]) -> Verdict:
    params = item.params
    schema = params.schema_
    if isinstance(schema, str):
        return Verdict.invalid("bad_schema", schema)
    try:
        text = document(item.response, params, ("json",))
        value = read_json(text, unique_keys=params.unique_keys)
    except Unreadable as error:
        return Verdict.wrong(error.fault, **({"message": clip(str(error))} if item.explain else {}))
    if schema.holds(value):
        return Verdict.correct()
    return Verdict.wrong("schema_mismatch", **({"message": clip(schema.error(value))} if item.explain else {}))


_PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
}


def _example(
    response: str, score: float | None, reason: str, note: str, schema: Any = _PERSON, **fields: Any
) -> Example:
    status = Status.OK if score is not None else Status.INVALID
    return Example(response, {"reference": schema, **fields}, score, reason, note, status)


EXAMPLES = (
    _example('{"name": "Ann", "age": 3}', 1.0, "correct", "valid"),
    _example('<think>a person</think>\n```json\n{"name": "Ann"}\n```', 1.0, "correct", "in a fence"),
    _example('{"name": "Ann", "age": "3"}', 0.0, "schema_mismatch", "looks like a number, but is text"),
    _example('Sure: {"name": "Ann"}', 0.0, "not_readable", "prose stands beside the document"),
    _example('{"name": "Ann", "age": NaN}', 0.0, "not_readable", "NaN is not JSON"),
    _example('{"name": "Ann", "name": "Bob"}', 0.0, "duplicate_key", "a key is named twice", unique_keys=True),
    _example("[" * 200 + "]" * 200, 0.0, "too_deep", "valid JSON, but deeper than anything useful", schema=True),
    _example("{}", None, "bad_schema", "the caller must correct the schema", schema={"type": "strng"}),
    _example("{}", None, "bad_schema", "nothing is fetched", schema={"$ref": "https://example.com/schema.json"}),
)
