"""Which fields of a row make its item. A response is text or messages; messages are a list, or its JSON text, as tables
hold it.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from service.recipes import data_sets
from service.recipes.data_sets import DataSet
from service.rollouts.bad_input import BadInput, Json
from service.row_files.names import ABSENT, LABELS, REFERENCES, part_at, reference_path
from service.wire import RowFields
from verifiers.base import InvalidItem
from verifiers.conversation import dialects
from verifiers.judge import rubrics
from verifiers.near_names import near

RESPONSES = (
    *("response", "completion", "output", "prediction", "generation", "generated_text", "model_output"),
    *("completions", "responses", "outputs", "generations", "resps", "filtered_resps", "messages", "answer"),
)
"""`resps` is lm-eval's, what its filters left of that stands in `filtered_resps`. `responses` is verl's. `messages` are a response if an assistant has the last word, `answer` beside another reference."""
_KEPT = (
    *("id", "verifier", "params", "prompt", "metadata", "recipe", "checks", "domain", "data_source", "tag"),
    *(name for name in RowFields.__struct_fields__ if name not in ("ground_truth", "source")),
)

JUDGES = ("verifier", "recipe", "checks", "data_source", "domain", "tag")
"""Fields of a row that say how it is judged."""

_JSON_CELLS = ("params", "checks", "metadata", "reward_weights")
"""A table holds them as JSON text."""
_ASKED = "input"
"""The prompt in rollouts of verl and logs of Inspect, whose `messages` are the whole conversation."""
_WHOLE = "response_messages"
"""In an audit log: the whole response, if it was not cut."""


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
    params: Mapping[str, Any] | None = None
    """Parameters of all lines. They replace those that a line has itself."""

    def check(self, present: Collection[str], origin: str) -> None:
        """Check the fields of the first row.

        Raises:
            BadInput: a field that was named is not there, or none is a response.
        """
        field_names = {"response": self.response, "reference": self.reference, "label": self.label}
        for purpose, name in field_names.items():
            column = name.split(".")[0] if name is not None and purpose == "reference" else name
            if name is not None and {name, column}.isdisjoint(present):
                raise BadInput(
                    f"{origin} has no field {name!r} (--{purpose}-field); it has {sorted(present)[:20]}{near(name, present)}"
                )
        self.need_response(present, origin)

    def need_response(self, present: Collection[str], origin: str) -> None:
        """
        Raises:
            BadInput: none of these fields, which `origin` has, is a response.
        """
        if set(present).isdisjoint((self.response,) if self.response else RESPONSES):
            needed = repr(self.response) if self.response else f"of {', '.join(RESPONSES)}"
            meant = next(filter(None, (near(name, RESPONSES) for name in present)), ".")
            raise BadInput(
                f"{origin} has no field {needed}; it has {sorted(present)[:20]}{meant} Name one with --response-field"
            )

    def has_no_reference(self, fields: Mapping[str, Any]) -> bool:
        """Whether a row has no field for a reference, not even an empty one."""
        if self.reference is not None or reference_path(fields, None):
            return False
        return not any(name in fields and fields[name] is None for name in REFERENCES)

    def lack_of_reference(self, fields: Mapping[str, Any]) -> str:
        """What a message about a missing reference adds: the fields that are there, and how to name one of them."""
        column, _, part = (self.reference or "").partition(".")
        if part and column in fields:
            return f"; {column!r} of this row has no {part!r}"
        names = REFERENCES if self.reference is None else (self.reference,)
        empty = next((name for name in names if name in fields and fields[name] is None), None)
        if empty is not None:
            return f"; {empty!r} of this row is empty"
        meant = next(filter(None, (near(name, REFERENCES) for name in fields if name not in REFERENCES)), ".")
        return f"; of the fields {sorted(fields)[:20]} none is one{meant} Name one with --reference-field"

    def used(self) -> frozenset[str]:
        """The names of all fields that an item or a label may be made of."""
        chosen = [name for name in (self.response, self.reference, self.label) if name is not None]
        chosen += [name.split(".")[0] for name in chosen]
        item_columns = frozenset([*_KEPT, _ASKED, _WHOLE, *RESPONSES, *REFERENCES, *LABELS, *chosen])
        return item_columns | rubrics.COLUMNS | data_sets.known().used

    def says_judge(self, fields: Mapping[str, Any]) -> bool:
        """Whether a row says how it is judged, by itself or by the columns of a known data set."""
        return any(fields.get(name) is not None for name in JUDGES) or self._data_set(fields) is not None

    def item_of(self, fields: Mapping[str, Any]) -> Json | None:
        """The item of a row. None: the row has no response."""
        data_set = self._data_set(fields)
        response = self._response_of(fields, data_set)
        if response is None:
            return None
        if data_set is not None:
            return self._item_of_row(fields, response, data_set)
        item = {name: _plain(name, fields[name]) for name in _KEPT if name != response and _is_there(fields.get(name))}
        conversation = fields.get(_WHOLE)
        item["response"] = conversation if isinstance(conversation, list) else _response(fields[response])
        reference = part_at(fields, reference_path(fields, self.reference, response))
        if reference is not ABSENT and reference is not None:
            item["reference"] = reference
        if (self.verifier or item.get("verifier")) == "judge" and "evaluation_criteria" not in item:
            rubric = rubrics.columns_of({name: value for name, value in fields.items() if name != response})
            if rubric is not None:
                item["evaluation_criteria"] = rubric
        if isinstance(fields.get(_ASKED), str | list) and "prompt" not in item and response != _ASKED:
            messages = item.pop("messages", None)
            is_whole = messages is None or _ends_with_assistant(messages)
            item |= {"prompt": fields[_ASKED]} if is_whole else {"messages": messages}
        chosen = {name: value for name in ("verifier", "recipe") if (value := getattr(self, name)) is not None}
        if chosen:
            item = {name: value for name, value in item.items() if name not in ("verifier", "recipe", "checks")}
        if self.params:
            row_params = item.get("params")
            item["params"] = {**row_params, **self.params} if isinstance(row_params, dict) else dict(self.params)
        return item | chosen

    def _data_set(self, fields: Mapping[str, Any]) -> DataSet | None:
        """The known data set of a row that does not say itself how it is judged."""
        names = ("verifier", "recipe", "checks", "reference")
        if self.verifier or self.recipe or self.reference or any(_is_there(fields.get(name)) for name in names):
            return None
        label = fields.get("data_source")
        row_label = label if isinstance(label, str) else None
        added = {"id", self.response, *RESPONSES} - {"messages", "answer"}
        known = data_sets.known()
        return known.of(fields, row_label) or known.told({n: v for n, v in fields.items() if n not in added})

    def _item_of_row(self, fields: Mapping[str, Any], response: str, data_set: DataSet) -> Json:
        """The item of a row of a known data set, whose other columns may be anything."""
        item: Json = {"response": _response(fields[response]), "reference": data_set.slim(fields)}
        for name in ("id", "data_source"):
            if isinstance(fields.get(name), str | int):
                item[name] = fields[name]
        if isinstance(fields.get("prompt"), str | list):
            item["prompt"] = fields["prompt"]
        params = {**_object(fields.get("params")), **(self.params or {})}
        return item | ({"params": params} if params else {})

    def _response_of(self, fields: Mapping[str, Any], data_set: DataSet | None) -> str | None:
        if self.response is not None:
            return _pick(fields, self.response, ())
        for name in RESPONSES:
            if fields.get(name) is None or (data_set is not None and name in data_set.columns):
                continue
            if name == "messages" and not _ends_with_assistant(fields[name]):
                continue
            if name == "answer" and not reference_path(fields, self.reference, name):
                continue
            return name
        return None

    def label_of(self, fields: Mapping[str, Any]) -> bool | None:
        """Whether the row says that its response is right."""
        label = _pick(fields, self.label, LABELS)
        value = fields[label] if label is not None else None
        return value if isinstance(value, bool) else None


def without_nulls(value: Any) -> Any:
    """The row without the nulls that a table adds to give all its structs the same fields."""
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    return [without_nulls(member) for member in value] if isinstance(value, list) else value


def _response(value: Any) -> Any:
    """The response as messages if it is a list of them or the JSON text of one. Otherwise it stays as it is."""
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], str | list):
        (value,) = value  # lm-eval has a list of samples
    if isinstance(value, dict) and isinstance(value.get("output"), list):
        return value["output"]  # OpenAI's Responses, as in rollouts of NeMo-Gym
    if isinstance(value, dict) and isinstance(value.get("body"), dict):
        value = value["body"]  # of OpenAI's batches
    if isinstance(value, dict) and isinstance(value.get("choices"), list):
        return [choice["message"] for choice in value["choices"] if isinstance(choice, dict) and "message" in choice]
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        with suppress(ValueError, RecursionError, InvalidItem):
            messages = json.loads(value)
            return messages if dialects.read(messages).turns else value
    return value


def _ends_with_assistant(messages: Any) -> bool:
    messages = _response(messages)
    last = messages[-1] if isinstance(messages, list) and messages else None
    return isinstance(last, dict) and last.get("role") == "assistant"


def _is_there(value: Any) -> bool:
    """Whether a field says something. The empty cells of CSV are empty texts."""
    return value is not None and value != ""


def _object(value: Any) -> Json:
    plain = _plain("params", value)
    return plain if isinstance(plain, dict) else {}


def _plain(name: str, value: Any) -> Any:
    if name in _JSON_CELLS and isinstance(value, str):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _pick(fields: Mapping[str, Any], chosen: str | None, usual: Sequence[str]) -> str | None:
    names = usual if chosen is None else (chosen,)
    return next((name for name in names if fields.get(name) is not None), None)
