"""Known data sets: what judges a row as it is published, and which part of the row it judges against.

    row ──its columns, or a label──► data set ──a column that says how──► recipe and reference

`data_sets.yaml` is the table. A data set is told by columns that only its rows have; if the columns of two sets are
in a row, the one that is told by all columns of the other, and more, counts. Where columns are those of many sets (`problem`, `answer`), the
label `data_source` names the set, or the row must have no other column (`alone`). Nothing is told by the values of answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated, Any, Final, Literal, Self

import msgspec
from pydantic import BeforeValidator, Field, model_validator

from service.recipes import files
from service.recipes.model import Shape
from verifiers.base import InvalidItem
from verifiers.math.exact import number
from verifiers.math.solutions import final_answer

_FILE: Final = "data_sets.yaml"
_WHOLE: Final = "."
_LEAST_WORDS: Final = 3
"""A shorter solution is the answer alone."""
_MARK: Final = "####"
_MOST_CHARS: Final = 120
"""A longer solution would hold up the event loop: only its last line is read, if it has the mark. The verifier reads others."""
_LEAST_ALIKE: Final = 3
"""So many columns of a set, and more than half of its own, show that a row is meant as one of it."""
Json = dict[str, Any]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class JudgedBy(Shape):
    """What judges rows, and against what."""

    recipe: str | None = None
    verifier: str | None = None
    words: str | None = None
    """The recipe where the reference is not a plain number."""
    reference: str | tuple[str, ...] | Mapping[str, str]
    """A column, or a part of one (`a.b`; the column may be JSON text). A list: an object of these columns, or of names with
    their columns; `.`: the row."""

    worked: bool = False
    """Whether the reference is a worked solution, of which the answer counts."""
    one_answer: bool = False
    """Whether a list is one answer, in round or square brackets, and true a word."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.recipe is None) == (self.verifier is None):
            raise ValueError("give a recipe or a verifier")
        return self


class Compared(Shape):
    """What a comparison with the data set's own checker found."""

    rows: int
    pairs: int
    """Rows with responses: the reference, wrong answers and mutations of both."""
    equal: int
    differs: Texts = ()
    """Each kind of difference, and the reason."""


class DataSet(Shape):
    """A data set as it is published."""

    name: str
    """Its name at the hub or the repository, which is a label (`data_source`) as well."""
    also: Texts = ()
    """Other names of the same rows."""
    origin: str
    """The repository or the card that rows were read from."""
    licence: str
    columns: tuple[str, ...]
    told_by: tuple[str, ...] = ()
    """Columns that only rows of this set have. Empty: the label has to name the set."""
    alone: bool = False
    """Whether many sets have these columns, and only rows without any other are told by them."""
    judged: JudgedBy | None = None
    by: str | None = None
    """The column whose value says how a row is judged."""
    values: Mapping[str, JudgedBy] = {}
    """By the value of that column."""
    label: Literal["data_source"] | None = None
    """A column that is the label of the row, as in the rows of verl: routes say what judges it, against `reference`."""
    reference: str | None = None
    no_answer: Texts = ()
    """References that say that a row has no answer."""
    checker: str
    """The data set's own checker, which ours was compared with."""
    compared: Compared | None = None
    elsewhere: str | None = None
    """Where such rows are tried, if not beside the checker."""
    not_tried: str | None = None
    """What was tried to get rows, if none could be had."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        ways = (self.judged is not None, self.by is not None, self.label is not None)
        if sum(ways) != (self.not_tried is None) or bool(self.values) != (self.by is not None):
            raise ValueError("give one of judged, by with values, label; none of them if it is not tried")
        if not set(self.told_by) <= set(self.columns):
            raise ValueError("told_by: only columns of the set")
        return self

    @property
    def used(self) -> frozenset[str]:
        """The columns that a row is told and judged by."""
        paths = [*(way.reference for way in self._ways()), self.reference or ()]
        heads = {name.partition(".")[0] for path in paths for name in _columns(path)}
        columns = self.columns if _WHOLE in paths else ()
        return frozenset((*self.told_by, *heads, *columns, *filter(None, (self.by, self.label)))) - {""}

    def slim(self, row: Mapping[str, Any]) -> Json:
        """The row without what nobody reads: solutions and texts may be large."""
        if any(way.reference == _WHOLE for way in self._ways()):
            return {name: value for name, value in row.items() if name in self.columns}
        return {name: row[name] for name in sorted(self.used) if row.get(name) is not None}

    def path(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """The columns that lead to the row's reference. Empty: it is made of several."""
        way = self.judged if self.by is None else self.values.get(str(row.get(self.by)))
        reference = self.reference if way is None else way.reference
        return tuple(reference.split(".")) if isinstance(reference, str) else ()

    def _ways(self) -> Iterator[JudgedBy]:
        if self.judged is not None:
            yield self.judged
        yield from self.values.values()


class Table(Shape):
    """The file."""

    data_sets: tuple[DataSet, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a row says."""

    data_set: DataSet
    judged: JudgedBy | None
    """None: the label of the row decides."""
    label: str | None
    reference: Any


class DataSets:
    """All known data sets."""

    def __init__(self, sets: Sequence[DataSet]) -> None:
        self.all = sets
        self._by_label = {name: s for s in sets if s.not_tried is None for name in (s.name, *s.also)}
        self._told = [s for s in sets if s.told_by and s.not_tried is None]
        self._judged = [s for s in sets if s.not_tried is None and s.label is None]
        self.used = frozenset(name for s in sets for name in s.used)
        """All columns that a row of some set is told or judged by."""

    def told(self, row: Mapping[str, Any]) -> DataSet | None:
        """The data set whose columns the row has. None: they are those of none, or of several."""
        fit = [s for s in self._told if row.keys() >= set(s.told_by) and not (s.alone and row.keys() - s.told_by)]
        best = [s for s in fit if not any(set(s.told_by) < set(r.told_by) for r in fit)]
        return best[0] if len(best) == 1 else None

    def named(self, label: str | None) -> DataSet | None:
        return None if label is None else self._by_label.get(label)

    def of(self, row: Any, label: str | None) -> DataSet | None:
        """The data set of a row: the one that the label names if the row has its columns, or the one it is told as.

        A row may hold the label itself.
        """
        labelled = self.named(label)
        if not isinstance(row, dict):
            return labelled
        if labelled is None and label is None:
            labelled = self.named(_label(row, "data_source"))
        if labelled is not None and row.keys() & labelled.used:
            return labelled
        return self.told(row) or labelled

    def alike(self, row: Mapping[str, Any]) -> list[str]:
        """The names of sets that a row may belong to, but is not told as one of."""
        return [s.name for s in self._judged if row.keys() >= set(s.told_by or s.columns)]

    def untried(self, row: Mapping[str, Any]) -> str | None:
        """The name of a set that has the columns of a row, and none of whose rows was tried."""
        sets = [s for s in self.all if s.not_tried is not None and row.keys() >= set(s.columns)]
        return max(sets, key=lambda s: len(s.columns)).name if sets else None

    def lacking(self, row: Mapping[str, Any]) -> tuple[str, Sequence[str]] | None:
        """A set that has most of the row's columns, and those that tell it and that the row lacks."""
        nearest = max(self._judged, key=lambda s: len(row.keys() & set(s.columns)))
        missing = [name for name in nearest.told_by if name not in row]
        is_near = len(row.keys() & set(nearest.columns)) > max(len(row) // 2, _LEAST_ALIKE)
        return (nearest.name, missing) if is_near and missing else None

    def read(self, row: Any, label: str | None) -> Reading | None:
        """What a row says. None: it is not a row of a known data set.

        Args:
            row: The reference of an item. A row of a set that the label names may be a bare reference; without a label, it
                may be JSON as text.
            label: The item's `data_source`.

        Raises:
            InvalidItem: the row has no answer, or does not say how it is judged.
        """
        if label is None and isinstance(row, str) and row.lstrip().startswith("{"):
            row = _opened(row)
        data_set = self.of(row, label)
        if data_set is None:
            return None
        if not isinstance(row, dict) or not row.keys() & data_set.used:
            return _bare(data_set, row)
        if data_set.label is not None:
            assert data_set.reference is not None
            own_label = _label(row, data_set.label)
            labelled = self.named(own_label)
            return Reading(
                data_set,
                None if labelled is None else labelled.judged,
                own_label,
                _part(row, data_set.reference, data_set),
            )
        way = data_set.judged if data_set.by is None else _way(data_set, row)
        assert way is not None
        return _against(data_set, way, _part(row, way.reference, data_set))


def _against(data_set: DataSet, way: JudgedBy, part: Any) -> Reading:
    reference = _answer(data_set, way, part)
    is_words = way.words is not None and number(str(reference)) is None
    return Reading(data_set, way.model_copy(update={"recipe": way.words}) if is_words else way, None, reference)


def _bare(data_set: DataSet, reference: Any) -> Reading | None:
    """A reference alone, of a set that the label names."""
    way = data_set.judged
    return _against(data_set, way, reference) if way is not None else None


def _way(data_set: DataSet, row: Mapping[str, Any]) -> JudgedBy:
    assert data_set.by is not None
    value = row.get(data_set.by)
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    way = data_set.values.get(value) if isinstance(value, str) else None
    if way is None:
        raise InvalidItem(
            "unroutable",
            f"a row of {data_set.name}: its {data_set.by} is {str(value)[:60]!r}; {sorted(data_set.values)} are judged",
        )
    return way


def _columns(reference: str | tuple[str, ...] | Mapping[str, str]) -> tuple[str, ...]:
    """The columns, or parts of columns, that a reference is made of."""
    if isinstance(reference, str):
        return (reference,)
    return tuple(reference.values()) if isinstance(reference, Mapping) else reference


def _label(row: Mapping[str, Any], column: str) -> str | None:
    value = row.get(column)
    return value if isinstance(value, str) and value else None


def _part(row: Mapping[str, Any], reference: str | tuple[str, ...] | Mapping[str, str], data_set: DataSet) -> Any:
    if reference == _WHOLE:
        return row
    if isinstance(reference, Mapping):
        named = {name: row.get(column) for name, column in reference.items()}
        return {
            name: value for name, value in named.items() if not (value is None or str(value).isspace() or value == "")
        }
    if not isinstance(reference, str):
        return {name: row[name] for name in reference if row.get(name) is not None}
    value: Any = row
    for name in reference.split("."):
        if isinstance(value, str):
            value = _opened(value)
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is None:
        raise InvalidItem("bad_reference", f"a row of {data_set.name}: it has no {reference!r}")
    return value


def _opened(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _answer(data_set: DataSet, way: JudgedBy, reference: Any) -> Any:
    if way.worked and isinstance(reference, str):
        last_line = reference.rstrip().rpartition("\n")[2]
        if len(reference) > _MOST_CHARS and not (_MARK in last_line and len(last_line) <= _MOST_CHARS):
            return reference
        solution = reference if len(reference) <= _MOST_CHARS else last_line
        reference = final_answer(solution)
        if reference == solution and len(solution.split()) >= _LEAST_WORDS:
            raise InvalidItem(
                "bad_reference",
                f"a row of {data_set.name}: its solution {solution[:80]!r} neither boxes nor announces an answer; drop the "
                "row, or give the answer itself as the reference",
            )
    if way.one_answer:
        members = ", ".join(map(str, reference)) if isinstance(reference, list) else None
        reference = str(reference) if members is None else [f"({members})", f"[{members}]"]
    if isinstance(reference, str) and reference.strip() in data_set.no_answer:
        raise InvalidItem(
            "empty_reference",
            f"a row of {data_set.name}: {reference.strip()!r} says that the row has no answer; drop the row",
        )
    return reference


@cache
def known() -> DataSets:
    """The table that ships."""
    text = resources.files("service.recipes").joinpath(_FILE).read_text(encoding="utf-8")
    return DataSets(files.parsed_as(Table, _FILE, text).data_sets)
