"""Reads the criteria for judging a response, in the forms that data sets use.

    ["事实准确性", "逻辑连贯性"]                                     names alone, each of weight 1
    [{"id": "c1", "text": "...", "weight": 2, "must_pass": true}]   `text` may be called description, criterion, name
    {"Factual accuracy": 0.6, "Clarity": 0.4}                       names and weights

A weight below 0 belongs to a fault: the weight is subtracted to the degree that the fault is present.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from pydantic import BaseModel, ConfigDict, Field

MAX_CRITERIA: Final = 64
MAX_TEXT_CHARS: Final = 2_000
_TEXT_NAMES: Final = ("text", "description", "criterion", "name", "rubric_item", "Ingredient", "Question", "title")
_KNOWN: Final = frozenset({"id", "weight", "must_pass", *_TEXT_NAMES})


class Criterion(BaseModel):
    """One criterion."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    id: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,40}$")
    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARS)
    weight: float = Field(default=1.0, ge=-1e6, le=1e6)
    must_pass: bool = False
    """If the criterion scores below 1, the whole score is 0."""


def read(value: Any) -> Any:
    """Any of the forms above as fields of `Criterion`; any other value is returned unchanged and fails its validation.

    Raises:
        ValueError: a criterion has no text, or two have the same id.
    """
    if isinstance(value, str):
        value = _decoded(value)
    if isinstance(value, Mapping):
        value = [{"text": text, "weight": weight} for text, weight in value.items()]
    if not isinstance(value, list | tuple):
        return value
    if not 0 < len(value) <= MAX_CRITERIA:
        raise ValueError(f"{len(value)} criteria; there must be 1 to {MAX_CRITERIA}")
    found = [_fields(number, each) for number, each in enumerate(value, 1)]
    ids = [each.get("id") if isinstance(each, dict) else None for each in found]
    repeated = sorted({name for name in ids if name is not None and ids.count(name) > 1})
    if repeated:
        raise ValueError(f"several criteria have the id {repeated[0]!r}")
    return found


def _decoded(text: str) -> Any:
    """Decode criteria given as text; a text that is no JSON is one criterion.

    Data sets keep lists in columns of text.
    """
    if text.lstrip()[:1] not in ("[", "{"):
        return [text]
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(f"criteria are given as text that is not JSON: {error}") from error


def _fields(number: int, given: Any) -> Any:
    if isinstance(given, str):
        return {"id": f"c{number}", "text": given.strip()}
    if isinstance(given, Criterion):
        return given.model_dump()
    if not isinstance(given, Mapping):
        raise ValueError(f"criterion {number}: expected a text or an object, found {type(given).__name__}")
    unknown = given.keys() - _KNOWN
    if unknown:
        raise ValueError(f"criterion {number}: unknown field {min(map(str, unknown))!r}; there are {sorted(_KNOWN)}")
    texts = [given[name] for name in _TEXT_NAMES if given.get(name) is not None]
    if not texts:
        raise ValueError(f"criterion {number} has no text")
    fields = {name: given[name] for name in ("weight", "must_pass") if given.get(name) is not None}
    return {"id": str(given.get("id") or f"c{number}"), "text": texts[0], **fields}


def total(criteria: Iterable[Criterion], scores: Mapping[str, float]) -> float:
    """The weighted mean, from 0 to 1, with faults subtracted; 0 if a criterion that must pass does not."""
    chosen = tuple(criteria)
    if any(each.must_pass and scores[each.id] < 1.0 for each in chosen):
        return 0.0
    earnable = sum(each.weight for each in chosen if each.weight > 0)
    if earnable <= 0:
        faults = sum(-each.weight for each in chosen)
        lost = sum(-each.weight * scores[each.id] for each in chosen)
        return 1.0 - lost / faults if faults else 0.0
    return min(1.0, max(0.0, sum(each.weight * scores[each.id] for each in chosen) / earnable))
