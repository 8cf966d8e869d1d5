"""Which fields of a row make its item. A response is text or messages; messages are a list, or its JSON text, as tables
hold it.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from service.wire import RowFields
from verifiers.base import InvalidItem
from verifiers.conversation import dialects

REFERENCES = ("reference", "ground_truth", "gold", "answer", "solution")
RESPONSES = ("response", "completion", "output")
LABELS = ("expected", "label", "is_correct")
_KEPT = (
    *("id", "verifier", "params", "prompt", "metadata", "recipe", "checks", "domain", "data_source", "tag"),
    *(name for name in RowFields.__struct_fields__ if name not in ("ground_truth", "source")),
)

_WHOLE = "response_messages"
"""In an audit log: the whole response, if it was not cut."""

Json = dict[str, Any]


class BadInput(Exception):
    """The file cannot be scored as it is. The message says what to change."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The fields of a line for each purpose. None: the first of the usual names that exists."""

    verifier: str | None = None
    """A verifier that judges all lines, whatever they name themselves."""
    recipe: str | None = None
    """A recipe that judges all lines, whatever they name themselves."""
    response: str | None = None
    reference: str | None = None
    label: str | None = None

    def need_response(self, there: Collection[str], place: str) -> None:
        """
        Raises:
            BadInput: none of these fields, which `place` has, is a response.
        """
        if set(there).isdisjoint((self.response,) if self.response else RESPONSES):
            wanted = self.response or f"one of {list(RESPONSES)}"
            raise BadInput(f"{place} has no field {wanted}; it has {sorted(there)[:20]}")

    def used(self) -> frozenset[str]:
        """The names of all fields that an item or a label may be made of."""
        chosen = [name for name in (self.response, self.reference, self.label) if name is not None]
        return frozenset([*_KEPT, _WHOLE, *RESPONSES, *REFERENCES, *LABELS, *chosen])

    def item_of(self, fields: Mapping[str, Any]) -> Json | None:
        """The item of a row. None: the row has no response."""
        response = _pick(fields, self.response, RESPONSES)
        if response is None:
            return None
        item = {name: fields[name] for name in _KEPT if fields.get(name) is not None}
        whole = fields.get(_WHOLE)
        item["response"] = whole if isinstance(whole, list) else _response(fields[response])
        reference = _pick(fields, self.reference, REFERENCES)
        if reference is not None:
            item["reference"] = fields[reference]
        chosen = {name: value for name in ("verifier", "recipe") if (value := getattr(self, name)) is not None}
        if chosen:
            item = {name: value for name, value in item.items() if name not in ("verifier", "recipe", "checks")}
        return item | chosen

    def label_of(self, fields: Mapping[str, Any]) -> bool | None:
        """Whether the row says that its response is right."""
        label = _pick(fields, self.label, LABELS)
        value = fields[label] if label is not None else None
        return value if isinstance(value, bool) else None


def without_nulls(value: Any) -> Any:
    """The row without the nulls that a table adds to give all its structs the same fields."""
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def _response(value: Any) -> Any:
    """The response as messages if it is a list of them or the JSON text of one. Otherwise it stays as it is."""
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        with suppress(ValueError, RecursionError, InvalidItem):
            messages = json.loads(value)
            return messages if dialects.read(messages).turns else value
    return value


def _pick(fields: Mapping[str, Any], chosen: str | None, usual: Sequence[str]) -> str | None:
    names = usual if chosen is None else (chosen,)
    return next((name for name in names if fields.get(name) is not None), None)
