r"""Reads the criteria for judging a response, in the forms that data sets use.

    ["事实准确性", "逻辑连贯性"]                                     names alone, each of weight 1
    [{"id": "c1", "text": "...", "weight": 2, "must_pass": true}]   `text` may be called description, criterion, name
    {"Factual accuracy": 0.6, "Clarity": 0.4}                       names and weights

    "- Names Paris\n- Names the river"                               a checklist as text, a criterion in each line

A weight below 0 belongs to a fault: the weight is subtracted to the degree that the fault is present. Rows of known data
sets are read by `rubrics`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

import msgspec
import re2
from pydantic import BaseModel, ConfigDict, Field, model_validator

MAX_CRITERIA: Final = 2_000
MAX_TEXT_CHARS: Final = 20_000
_TEXT_NAMES: Final = ("text", "description", "criterion", "name", "rubric_item", "Ingredient", "Question", "title")
_FIELDS: Final = ("weight", "must_pass", "choices", "levels", "tags", "path", "rule")
_KNOWN: Final = frozenset({"id", *_FIELDS, *_TEXT_NAMES})
_MARK: Final = re2.compile(r"\s*(?:[-*+•◦▪–☐☑]|\[[ xX]?\]|\(?[0-9]{1,3}[.):、]|\(?[a-zA-Z][.)])\s+")
"""The mark before an entry of a list."""


class Rule(BaseModel):
    """Another verifier that decides a criterion: 1 if it scores the response with 1, else its score."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    verifier: str
    """One of `rules.VERIFIERS`."""
    reference: Any = None
    """The reference for that verifier."""
    params: dict[str, Any] = {}
    """The parameters for that verifier."""


class Criterion(BaseModel):
    """One criterion."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    id: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,40}$")
    """Its name in verdicts."""
    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARS)
    """What the response must do, as the judge reads it."""
    weight: float = Field(default=1.0, ge=-1e6, le=1e6)
    """Its weight in the score; below 0 for what the response must not do."""
    must_pass: bool = False
    """If the criterion scores below 1, the whole score is 0."""
    name: str | None = Field(default=None, max_length=MAX_TEXT_CHARS)
    """Its title."""
    choices: tuple[str, ...] = Field(default=(), max_length=101)
    """The answers that a judge may give, from worst (0) to best (1), evenly spaced. Empty: 0, 0.5 and 1."""
    levels: dict[str, str] = {}
    """What an answer means, by answer."""
    tags: tuple[str, ...] = Field(default=(), max_length=100)
    """Words that group criteria in the detail of a verdict."""
    path: tuple[tuple[str, float], ...] = Field(default=(), max_length=50)
    """The groups of a tree that it is in, outermost first: the group's place and its weight."""
    rule: Rule | None = None
    """What decides it without a judge."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        folded = [choice.strip().casefold() for choice in self.choices]
        if len(set(folded)) < len(folded) or len(folded) == 1 or not all(folded):
            raise ValueError("choices: expected two or more different answers, from worst to best")
        return self


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
    criteria = [_fields(number, entry) for number, entry in enumerate(value, 1)]
    ids = [entry.get("id") if isinstance(entry, dict) else None for entry in criteria]
    repeated = sorted({name for name in ids if name is not None and ids.count(name) > 1})
    if repeated:
        raise ValueError(f"several criteria have the id {repeated[0]!r}")
    return criteria


def _decoded(text: str) -> Any:
    """Decode criteria given as text: JSON, or a checklist with a criterion in each line.

    Data sets keep lists in columns of text.
    """
    if text.lstrip()[:1] not in ("[", "{") or _MARK.match(text) is not None:
        return _lines(text)
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(f"criteria are given as text that is not JSON: {error}") from error


def _lines(text: str) -> list[str]:
    """The entries of a checklist. With marks (`- `, `1. `, `[ ] `), lines without one go on, and a heading is none."""
    lines = [line for line in text.splitlines() if line.strip()]
    marks = [_MARK.match(line) for line in lines]
    if not any(marks):
        return [line.strip() for line in lines]
    entries: list[str] = []
    for line, mark in zip(lines, marks, strict=True):
        if mark is not None:
            entries.append(line[mark.end() :].strip())
        elif entries:
            entries[-1] += f" {line.strip()}"
        elif not line.rstrip().endswith((":", "：")):
            entries.append(line.strip())
    return entries


def _fields(number: int, criterion: Any) -> Any:
    if isinstance(criterion, str):
        return {"id": f"c{number}", "text": criterion.strip()}
    if isinstance(criterion, Criterion):
        return criterion.model_dump()
    if not isinstance(criterion, Mapping):
        raise ValueError(f"criterion {number}: expected a text or an object, found {type(criterion).__name__}")
    unknown = criterion.keys() - _KNOWN
    if unknown:
        raise ValueError(f"criterion {number}: unknown field {min(map(str, unknown))!r}; there are {sorted(_KNOWN)}")
    texts = [criterion[name] for name in _TEXT_NAMES if criterion.get(name) is not None]
    if not texts:
        raise ValueError(f"criterion {number} has no text")
    fields = {name: criterion[name] for name in _FIELDS if criterion.get(name) is not None}
    if isinstance(criterion.get("name"), str) and criterion["name"] != texts[0]:
        fields["name"] = criterion["name"]
    return {"id": str(criterion.get("id") or f"c{number}"), "text": texts[0], **fields}


def total(criteria: Iterable[Criterion], scores: Mapping[str, float]) -> float:
    """The weighted mean, from 0 to 1, with faults subtracted; 0 if a criterion that must pass does not."""
    chosen = tuple(criteria)
    if any(criterion.must_pass and scores[criterion.id] < 1.0 for criterion in chosen):
        return 0.0
    earnable = sum(criterion.weight for criterion in chosen if criterion.weight > 0)
    if earnable <= 0:
        faults = sum(-criterion.weight for criterion in chosen)
        penalty = sum(-criterion.weight * scores[criterion.id] for criterion in chosen)
        return 1.0 - penalty / faults if faults else 0.0
    return min(1.0, max(0.0, sum(criterion.weight * scores[criterion.id] for criterion in chosen) / earnable))
