"""Reads from the URL or the label how to judge an item of a compat door.

    URL      ?verifier=math   ?recipe=think_math   ?tag= ?data_source= ?domain=   ?params={"extract":"boxed"}
    label    text, or any JSON: the reference          {"verifier": "math", "reference": "0.5"}: fields of an item

Most of these clients let a user set only a URL, and send only one column, the label. The label comes before the URL,
because it belongs to the row. If neither names a verifier or recipe, the routing table decides; an item that no route
matches is invalid.
"""

from collections.abc import Mapping, Set
from typing import Annotated, Any, Final, TypeAlias, TypeVar
from urllib.parse import parse_qsl

import msgspec

from service.errors import FieldError, Unprocessable
from service.wire import CacheMode, Message, ScoreItem, encode, parse

_NAMES: Final = ("verifier", "recipe", "checks")
_KINDS: Final = ("domain", "data_source", "tag")
_TRUTHS: Final = ("reference", "ground_truth")
ITEM_FIELDS: Final[Set[str]] = frozenset(ScoreItem.__struct_fields__) - {"response", "id", "reference_id"}
MAX_DEADLINE_S: Final = 86_400.0

JSON: TypeAlias = dict[str, Any]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]


class PatienceOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How long the client waits, in seconds."""

    deadline_s: Annotated[float, msgspec.Meta(ge=1, le=MAX_DEADLINE_S)] | msgspec.UnsetType = msgspec.UNSET


class CachedOptions(PatienceOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    cache: CacheMode = "use"


class RequestOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The options in a URL."""

    verifier: Name | msgspec.UnsetType = msgspec.UNSET
    recipe: Name | msgspec.UnsetType = msgspec.UNSET
    domain: Name | msgspec.UnsetType = msgspec.UNSET
    data_source: Name | msgspec.UnsetType = msgspec.UNSET
    tag: Name | msgspec.UnsetType = msgspec.UNSET
    params: Annotated[str, msgspec.Meta(max_length=8192)] | msgspec.UnsetType = msgspec.UNSET
    """A JSON object: the verifier's parameters."""
    deadline_s: Annotated[float, msgspec.Meta(ge=1, le=MAX_DEADLINE_S)] | msgspec.UnsetType = msgspec.UNSET
    """How long the caller waits. The default is a little less than the client's own time limit."""
    cache: CacheMode = "use"

    def fields(self) -> JSON:
        """The options as fields of an item.

        Raises:
            Unprocessable: `params` is not a JSON object, or the URL names both a verifier and a recipe.
        """
        if self.verifier is not msgspec.UNSET and self.recipe is not msgspec.UNSET:
            raise refusal(["recipe"], "the URL names a verifier and a recipe; it must name one of them")
        names = ("verifier", "recipe", *_KINDS)
        options = {name: value for name in names if (value := getattr(self, name)) is not msgspec.UNSET}
        if isinstance(self.params, str):
            options["params"] = _object(self.params)
        return options


W = TypeVar("W", bound=msgspec.Struct)


def read(query: bytes, kind: type[W]) -> W:
    """Decode a query string.

    Raises:
        Unprocessable: a name is unknown or occurs twice, or a value is wrong. The error names the option.
    """
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    values = dict(pairs)
    names = sorted(kind.__struct_fields__)
    if len(values) < len(pairs):
        raise refusal([], f"the URL has an option twice; it takes {names}, each once")
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise refusal([], f"the URL takes {names}: {error}") from error


def item_of(
    response: str, options: RequestOptions, label: Any = None, prompt: str | list[Message] | None = None
) -> ScoreItem:
    """The item of a response and its label: text or JSON. An empty label means no reference.

    Raises:
        Unprocessable: the label has fields that an item has not. The error names them.
    """
    row_fields = fields_of(label)
    if row_fields is None:
        row_fields = {} if label is None or label == "" else {"reference": label}
    return built(response, options, row_fields, prompt)


def built(
    response: str | list[Message], options: RequestOptions, row_fields: Mapping[str, Any], prompt: Any = None
) -> ScoreItem:
    """The item. Fields of the row come before those of the URL.

    Raises:
        Unprocessable
    """
    fields = options.fields()
    if any(row_fields.get(name) is not None for name in _NAMES):
        fields = {name: value for name, value in fields.items() if name not in _NAMES}
    params = row_fields.get("params")
    if isinstance(params, dict):
        row_fields = {**row_fields, "params": {**fields.get("params", {}), **params}}
    if prompt is not None:
        fields["prompt"] = prompt
    return parse(_item_decoder, encode({**fields, **row_fields, "response": response}), ["item"])


def fields_of(label: Any) -> JSON | None:
    """The fields of an item in a label (JSON, also as text). None if the label is a reference."""
    value = label
    if isinstance(label, str) and label.lstrip().startswith("{"):
        try:
            value = msgspec.json.decode(label)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return None
    if not isinstance(value, dict):
        return None
    if any(isinstance(value.get(name), str) for name in _NAMES[:2]) or isinstance(value.get("checks"), list):
        return value
    if value.keys() <= ITEM_FIELDS and any(name in value for name in (*_KINDS, *_TRUTHS)):
        return value
    return None


def refusal(loc: list[str | int], message: str) -> Unprocessable:
    return Unprocessable(message, errors=[FieldError(loc, message)])


def _object(text: str) -> JSON:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise refusal(["params"], f"params: expected a JSON object, percent-encoded: {error}") from error
    if not isinstance(value, dict):
        raise refusal(["params"], f"params: expected a JSON object, found {type(value).__name__}")
    return value


_item_decoder = msgspec.json.Decoder(ScoreItem)
