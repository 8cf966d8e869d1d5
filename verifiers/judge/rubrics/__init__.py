"""Reads the rubric of a data set's row: its criteria, their weights and answers, and the formula of its authors.

    formats.yaml   where each data set keeps these
    formulas       what the judge's answers come to
    rules          criteria that another verifier decides, without a model

A row is recognised by its columns. What is not a row of the table is not a rubric.
"""

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from verifiers import tables

_TABLE: Final = Path(__file__).with_name("formats.yaml")
_MAX_TEXT_BYTES: Final = 8_000_000
_MAX_DEPTH: Final = 40
_SLOT: Final = re.compile(r"\{([a-z_.]{1,80})\}")
_SCALE: Final = re.compile(r"\bbetween ([0-9]{1,2}) and ([0-9]{1,2})\b")
GRADES: Final = tuple(str(grade) for grade in range(1, 11))
"""The answers of a rubric that is judged as one."""


class Format(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the table; `formats.yaml` says what each field means."""

    original: str
    formula: str
    list: str
    columns: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    name: str | None = None
    weight: str | None = None
    words: Mapping[str, float] = {}
    tags: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    choices_at: str | None = None
    passes_at: str | None = None
    levels: str | None = None
    scale_at: str | None = None
    grade: tuple[str, ...] = ()
    parts: str | None = None
    question: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()


FORMATS: Final[Mapping[str, Format]] = msgspec.convert(tables.values(_TABLE), dict[str, Format])


COLUMNS: Final = frozenset(
    path.partition(".")[0]
    for each in FORMATS.values()
    for path in (*each.columns, *each.question, *each.reference, *(each.fields if each.list == "." else (each.list,)))
) | frozenset(
    each.levels.format(choice)
    for each in FORMATS.values()
    if each.list == "." and each.levels
    for choice in each.choices
)
"""The columns of all rows of the table."""
_LISTS: Final = frozenset(each.list for each in FORMATS.values()) - {"."}
_MARKS: Final = ("weight", "points", "choices", "criterion_weight")
"""What a criterion has, and an answer has not."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """The rubric of a row. `criteria` are the fields of `Criterion`."""

    format: str
    criteria: Sequence[Mapping[str, Any]]
    formula: str
    question: str | None = None
    reference: str | None = None


def find(value: Any, name: str | None = None) -> Rubric | None:
    """The rubric of a row, of the JSON text of one, or of the list of its criteria. None: it is not a row of the table.

    `name`: the format, if it is not to be told by the columns.

    Raises:
        ValueError: the row lacks what its format needs, or there is no format of that name.
    """
    if name is not None and name not in FORMATS:
        raise ValueError(f"format: no {name!r}; there are {sorted(FORMATS)}")
    row = _decoded(value)
    for key, form in FORMATS.items() if name is None else [(name, FORMATS[name])]:
        entries = _entries(form, row)
        if entries is not None:
            criteria = [as_one(entries, form.grade)] if form.grade else list(_criteria(form, entries))
            is_scaled = form.scale_at is not None and any(criterion["choices"] for criterion in criteria)
            formula = "grade" if is_scaled else form.formula
            return Rubric(key, criteria, formula, _column(row, form.question), _column(row, form.reference))
    if name is not None:
        raise ValueError(f"criteria: they are not those of format {name!r}, whose row has {FORMATS[name].list!r}")
    return None


def columns_of(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The columns of a data set's row that hold its rubric; None if it has none."""
    columns = {name: row[name] for name in COLUMNS if row.get(name) is not None}
    try:
        return columns if find(columns) is not None else None
    except ValueError:
        return columns  # the verdict says what it lacks


def listed(value: Any) -> Any:
    """The list of criteria of a value that is a rubric and no answer, though no row of the table; None if it is another."""
    row = _decoded(value)
    if isinstance(row, Mapping):
        return next((at for path in sorted(_LISTS) if isinstance(at := _at(row, path), list | str | Mapping)), None)
    is_marked = isinstance(row, list) and any(isinstance(e, Mapping) and not e.keys().isdisjoint(_MARKS) for e in row)
    return row if is_marked else None


def as_one(texts: Sequence[str], choices: Sequence[str] = GRADES) -> dict[str, Any]:
    """One criterion of several: a grade for all of them."""
    lines = "\n".join(f"- {text}" for text in texts)
    return {
        "id": "c1",
        "text": f"The response as a whole, by this list and what else matters:\n{lines}",
        "choices": choices,
    }


def _entries(form: Format, row: Any) -> Sequence[Any] | None:
    """The criteria of the row as they are; None if the row has another format."""
    if isinstance(row, list):
        entries: Any = row if form.fields and form.list not in (".", "criteria") else None
    elif not isinstance(row, Mapping) or not all(column in row for column in form.columns):
        return None
    else:
        entries = row if form.list == "." else _at(row, form.list)
        entries = [entries] if isinstance(entries, Mapping) else entries
    if not isinstance(entries, list) or not entries:
        return None
    if not form.fields:
        return entries if all(isinstance(entry, str) for entry in entries) else None
    groups = [name.split("|") for name in form.fields]
    has_all = all(
        isinstance(entry, Mapping) and all(any(name in entry for name in group) for group in groups)
        for entry in entries
    )
    return entries if has_all else None


def _criteria(form: Format, entries: Sequence[Any]) -> Iterator[dict[str, Any]]:
    if form.parts and len(entries) == 1 and entries[0].get(form.parts):
        entries = entries[0][form.parts]  # the root's weight counts for nothing
    leaves = _leaves(form, entries, ()) if form.parts else ((entry, ()) for entry in entries)
    for number, (entry, path) in enumerate(leaves, 1):
        yield {"id": f"c{number}", **_criterion(form, entry, number), "path": path}


def _leaves(
    form: Format, entries: Sequence[Any], path: tuple[tuple[str, float], ...]
) -> Iterator[tuple[Any, tuple[tuple[str, float], ...]]]:
    """The parts of a tree that have no parts, with the groups that they are in, outermost first."""
    if len(path) > _MAX_DEPTH:
        raise ValueError(f"criteria: they are nested deeper than {_MAX_DEPTH} levels")
    assert form.parts is not None
    assert form.weight is not None
    for position, entry in enumerate(entries):
        children = entry.get(form.parts) if isinstance(entry, Mapping) else None
        if isinstance(children, list) and children:
            yield from _leaves(form, children, (*path, (str(position), _number(entry.get(form.weight)))))
        else:
            yield entry, path


def _criterion(form: Format, entry: Any, number: int) -> dict[str, Any]:
    if isinstance(entry, str):
        return {"text": entry, "choices": form.choices}
    text = _column(entry, form.text)
    if not text:
        raise ValueError(f"criterion {number} has no text in {' or '.join(form.text)}")
    criterion: dict[str, Any] = {"text": text, "weight": _weight(form, entry, number), "choices": _choices(form, entry)}
    name = _at(entry, form.name) if form.name else None
    if name not in (None, "", text):
        criterion["name"] = str(name)
    tags = [tag for path in form.tags for tag in _texts(_at(entry, path))]
    if tags:
        criterion["tags"] = tuple(dict.fromkeys(tags))
    if form.levels:
        described = ((choice, entry.get(form.levels.format(choice))) for choice in form.choices)
        criterion["levels"] = {choice: str(level) for choice, level in described if level}
    return criterion


def _weight(form: Format, entry: Any, number: int) -> float:
    raw_weight = _at(entry, form.weight) if form.weight else None
    if isinstance(raw_weight, str) and form.words:
        if raw_weight not in form.words:
            raise ValueError(f"criterion {number}: the weight {raw_weight[:40]!r} is not one of {list(form.words)}")
        return form.words[raw_weight]
    if raw_weight is None and form.weight and "{" in form.weight:
        raise ValueError(f"criterion {number} has no weight at {form.weight}")
    return 1.0 if raw_weight is None else _number(raw_weight)


def _choices(form: Format, entry: Any) -> tuple[str, ...]:
    raw_choices = _at(entry, form.choices_at) if form.choices_at else None
    choices = tuple(map(str, raw_choices)) if isinstance(raw_choices, list | tuple) and raw_choices else form.choices
    passes = _at(entry, form.passes_at) if form.passes_at else None
    if isinstance(passes, str):
        best = [choice for choice in choices if choice.casefold() == passes.strip().casefold()]
        if not best:
            raise ValueError(f"{form.passes_at}: expected one of {list(choices)}, found {passes[:40]!r}")
        choices = (*(choice for choice in choices if choice not in best), *best)
    scale = _SCALE.search(str(_at(entry, form.scale_at))) if form.scale_at else None
    if scale is not None and scale.groups() != ("0", "1"):
        choices = tuple(map(str, range(int(scale[1]), int(scale[2]) + 1)))
    return choices


def _column(row: Any, paths: Sequence[str]) -> str | None:
    """The text at the first of these paths that has one. A conversation is a text, too."""
    return next((text for path in paths if isinstance(row, Mapping) and (text := _text(_at(row, path)))), None)


def _text(value: Any) -> str | None:
    if isinstance(value, list) and value and all(isinstance(turn, Mapping) and "content" in turn for turn in value):
        return "\n\n".join(f"{turn.get('role', 'user')}: {turn['content']}" for turn in value)
    return value if isinstance(value, str) and value.strip() else None


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{name}:{text}" for name, member in value.items() for text in _texts(member)]
    entries = value if isinstance(value, list | tuple) else [value]
    return [str(entry) for entry in entries if isinstance(entry, str | int | float) and str(entry)]


def _at(value: Any, path: str) -> Any:
    """The value at a path; None if there is none."""
    filled = _SLOT.sub(lambda slot: str(_at(value, slot[1]) or "").replace(" ", "_").replace(".", "_"), path)
    for step in filled.split("."):
        value = _decoded(value)
        if not isinstance(value, Mapping):
            return None
        if "*" in step:
            keys = [key for key in value if fnmatch.fnmatchcase(str(key), step) and value[key] is not None]
            value = value[keys[-1]] if keys else None
        else:
            value = value.get(step)
    return _decoded(value)


def _decoded(value: Any) -> Any:
    """The value of a text that is a JSON object or list; any other value as it is. Tables keep lists as text."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{") or len(value) > _MAX_TEXT_BYTES:
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.MsgspecError, RecursionError):
        return value


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"criteria: the weight {str(value)[:40]!r} is not a number") from error
