"""Zebra puzzles (Einstein's riddle): the answer is a table of the attributes of every house.

The reference is the solution in ZebraLogic's form, `{"header": ["House", "Name", …], "rows": [["1", "Eric", …], …]}`,
or as houses, `{"House 1": {"Name": "Eric", …}, …}`. Either form may stand in `solution`. The reference is needed
because the clues are prose and cannot be checked; such puzzles have one solution. The answer is one of these: either
form as an object, a list of one object for each house (`[{"House": 1, "Name": "Eric", …}, …]`), a Markdown or LaTeX
table with a row or a column for each house, or a list of each house's attributes under its number. Case and space do
not count.

The score is 1 if every cell is right, else 0. With `partial` it is the share of right cells (without the column of the
houses), like ZebraLogic's cell accuracy. If a column holds a value more often than the solution does, none of the cells
with this value counts. An empty table, or one with a single name in every house, is therefore worth 0.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any

from verifiers import commitment
from verifiers.base import Example, InvalidItem, Item, Resources, Status, Verdict
from verifiers.puzzles import notation, structures
from verifiers.puzzles.puzzle import MAX_PARTS, Offer, PuzzleParams, PuzzleVerifier, decoded, field, find, malformed


class ZebraParams(PuzzleParams):
    """The solution."""

    partial: bool = False
    """Whether the score is the share of right cells."""


class Zebra(PuzzleVerifier[ZebraParams]):
    name = "zebra"
    version = "21"
    params = ZebraParams
    summary = "A table of houses and their attributes equals the solution, as a whole or by its cells (ZebraLogic)"


def create(resources: Resources) -> Zebra:
    return Zebra(resources.workers, judge, Item("{}", ZebraParams(reference=_HOUSES)))


Table = Mapping[str, Mapping[str, str]]
"""The values by house and column, all in one form."""


def judge(item: Item[ZebraParams]) -> Verdict:
    if item.params.parts > MAX_PARTS:
        return Verdict.invalid("puzzle_too_large", f"the reference holds more than {MAX_PARTS} values")
    try:
        solution = _read(item.params)
    except InvalidItem as error:
        return Verdict.invalid(error.reason, str(error))
    finding = find(item, lambda text: _offers(text, solution), is_whole=lambda table: table.keys() >= solution.keys())
    if finding.answer is None:
        return Verdict.wrong(finding.reason, finding.text, **finding.detail)
    right, cells = _count(finding.answer, solution)
    detail = {**finding.detail, "right_cells": right, "cells": cells}
    if right == cells:
        return Verdict.correct(finding.text, **detail)
    wrong = Verdict.wrong("wrong_answer", finding.text, **detail)
    if not item.params.partial or not right:
        return wrong
    return Verdict(wrong.status, float(Fraction(right, cells)), "partly_right", wrong.extracted, wrong.detail)


# --- the solution

_MAX_HOUSES = 100
_HIDDEN = re.compile(r"[_?.*\s-]*")


def _read(params: ZebraParams) -> Table:
    reference: Any = decoded(params.reference)
    if isinstance(reference, Mapping):
        content = decoded(field(reference, "solution", "answer") or reference)
        reference = content if isinstance(content, Mapping) else reference
    table = _table(reference)
    if table is None or not 0 < len(table) <= _MAX_HOUSES:
        raise malformed(f"expected `header` and `rows`, or an object for each of up to {_MAX_HOUSES} houses")
    columns = [set(row) for row in table.values()]
    if not columns[0] or any(names != columns[0] for names in columns):
        raise malformed("the houses do not all have the same attributes")
    if any(_HIDDEN.fullmatch(value) for row in table.values() for value in row.values()):
        raise malformed("cells of the solution are empty or hidden (___)")
    return table


def _table(value: Any) -> Table | None:
    """The table of a value in any form; None if it has none of them."""
    # `[{"House": 1, "Name": "Eric"}, …]`
    if isinstance(value, list | tuple):
        return _of_records(value)
    if not isinstance(value, Mapping):
        return None
    header, rows = value.get("header"), value.get("rows")
    # `{"header": ["House", "Name"], "rows": [["1", "Eric"]]}`
    if isinstance(header, list | tuple) and isinstance(rows, list | tuple):
        return _of_rows(header, rows)
    table: dict[str, Mapping[str, str]] = {}
    # `{"House 1": {"Name": "Eric"}}`
    for house, row in value.items():
        if not isinstance(row, Mapping):
            return None
        cells = {_form(name): _form(cell) for name, cell in row.items()}
        cells.pop("house", None)
        key = _house(house)
        # `House 1` and `house_1` are one house with two rows.
        if key in table:
            return None
        table[key] = cells
    return table or None


def _of_rows(header: Sequence[Any], rows: Sequence[Any]) -> Table | None:
    names = [_form(name) for name in header]
    # Two columns of one name, or no column beside that of the houses.
    if len(set(names)) < len(names) or len(names) < 2:
        return None
    at = next((at for at, name in enumerate(names) if name in _HOUSE_COLUMNS), 0)
    houses: dict[str, Mapping[str, str]] = {}
    for row in rows:
        if not isinstance(row, list | tuple) or len(row) != len(names):
            return None
        cells = [_form(cell) for cell in row]
        key = _house(cells[at])
        if key in houses:
            return None
        houses[key] = {name: cell for column, (name, cell) in enumerate(zip(names, cells, strict=True)) if column != at}
    return houses or None


_HOUSE_COLUMNS = ("house", "house number", "position", "#", "no.")


def _of_records(rows: Sequence[Any]) -> Table | None:
    """The table of one object for each house, which contains the number of the house."""
    if not rows or not all(isinstance(row, Mapping) and row.keys() == rows[0].keys() for row in rows):
        return None
    header = list(rows[0])
    if not any(_form(name) in _HOUSE_COLUMNS for name in header):
        return None
    return _of_rows(header, [list(map(row.get, header)) for row in rows])


def _house(value: Any) -> str:
    """The name of a house in one form: `House 1`, `house_1` and `1` are the same house."""
    return _HOUSE.sub("", _form(value)).strip() or _form(value)


_HOUSE = re.compile(r"^(?:house|position)?[\s_#:.-]*(?=\d)")


def _form(value: Any) -> str:
    if isinstance(value, Mapping | list | tuple) or value is None:
        return ""
    return " ".join(commitment.fold(str(value)).replace("_", " ").casefold().strip(" *`'\".").split())


# --- the answer


def _offers(text: str, solution: Table) -> list[Offer[Table]]:
    tables: list[Offer[Table]] = []
    for start, end, value in sorted([*structures.offers(text, "{"), *structures.offers(text, "[")], key=itemgetter(0)):
        content = (
            field(value, "solution", "answer", "table", "grid", "final_answer", "houses")
            if isinstance(value, Mapping)
            else None
        )
        table = _table(content if isinstance(content, Mapping | list) else value)
        # A table of blanks is the form to fill in.
        if table is not None and any(cell for row in table.values() for cell in row.values()):
            tables.append(Offer(start, end, table))
    text = notation.tabled(notation.plain(text))
    return tables or _tables(text, solution) or _lists(text, solution)


_RULER = re.compile(r"[\s|:+-]*")
_MAX_COLUMNS = 50


def _tables(text: str, solution: Table) -> list[Offer[Table]]:
    """The Markdown tables of a text: lines of cells between `|`. The first line is the header, or names the houses."""
    tables: list[Offer[Table]] = []
    lines: list[list[str]] = []
    first = 0
    for start, line in notation.lines(f"{text}\n"):
        if "|" in line and line.count("|") <= _MAX_COLUMNS:
            first = first if lines else start
            if not _RULER.fullmatch(line):
                lines.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif lines:
            # `| | House 1 | House 2 |`: the houses are columns.
            if {_house(name) for name in lines[0][1:]} == solution.keys() and len({*map(len, lines)}) == 1:
                lines = [list(column) for column in zip(*lines, strict=True)]
            table = _of_rows(lines[0], lines[1:])
            if table is not None:
                tables.append(Offer(first, start, table))
            lines = []
    return tables


_HOUSE_LINE = re.compile(
    r"[\s#>*•\d.-]{0,12}?(?:house|position)\s?#?(?P<house>\d{1,3})\b(?P<rest>.{0,2000})", re.IGNORECASE
)
_MARKS = " \t*`-•–—:([])"
_ATTRIBUTE = re.compile(r"(?P<name>[^:=→]{1,60}?)[*`]{0,2}\s?(?:[:=→]|\bis\b)(?P<value>[^:=→]{1,100})", re.IGNORECASE)


def _lists(text: str, solution: Table) -> list[Offer[Table]]:
    """The tables written as lines of attributes behind or below the number of a house.

    An attribute with two values has none.
    """
    columns = set(next(iter(solution.values())))
    tables: list[Offer[Table]] = []
    houses: dict[str, dict[str, str]] = {}
    house = ""
    first = last = 0
    for start, line in notation.lines(text):
        heading = _HOUSE_LINE.fullmatch(line)
        attributes = _attributes(heading["rest"] if heading else line, columns) if heading or house else []
        # `House 1` a second time, or a line of other words, ends the table.
        if houses and (heading["house"] in houses if heading else line.strip() and not attributes):
            tables.append(Offer(first, last, houses))
            houses, house = {}, ""
        if heading and (attributes or not heading["rest"].strip(_MARKS)):
            first = first if houses else start
            house = heading["house"]
            houses[house] = {}
        if house and attributes:
            for name, value in attributes:
                # `Name: Eric, Name: Arnold`
                houses[house][name] = value if houses[house].get(name, value) == value else ""
            last = start + len(line)
    if houses:
        tables.append(Offer(first, last, houses))
    return [offer for offer in tables if any(offer.answer.values())]


def _attributes(text: str, columns: set[str]) -> list[tuple[str, str]]:
    """The attributes in `Name: Eric, Color = red`; empty if the text says anything else."""
    attributes: list[tuple[str, str]] = []
    for piece in re.split(r"[,;|]\s", text.strip(_MARKS)):
        match = _ATTRIBUTE.fullmatch(piece.strip(_MARKS))
        if match is None or (name := _form(match["name"].strip(_MARKS))) not in columns:
            return []
        attributes.append((name, _form(match["value"].strip(_MARKS))))
    return attributes


def _count(answer: Table, solution: Table) -> tuple[int, int]:
    """The number of right cells, and of all cells. A house or column that the solution lacks makes the table wrong."""
    columns = list(next(iter(solution.values())))
    cells = len(solution) * len(columns)
    # `House 7` of six, or a column `Pet` that the solution lacks.
    if not answer.keys() <= solution.keys() or not all(row.keys() <= set(columns) for row in answer.values()):
        return 0, cells
    right = 0
    for column in columns:
        answered = Counter(row.get(column, "") for row in answer.values())
        true = Counter(row[column] for row in solution.values())
        for house, row in solution.items():
            value = row[column]
            # `Eric` in every house is right in none of them.
            if answer.get(house, {}).get(column) == value and answered[value] <= true[value]:
                right += 1
    return right, cells


# --- examples

_HOUSES = {"header": ["House", "Name", "Color"], "rows": [["1", "Eric", "red"], ["2", "Arnold", "blue"]]}
_RIGHT = '{"solution": {"House 1": {"Name": "Eric", "Color": "Red"}, "House 2": {"Name": "Arnold", "Color": "blue"}}}'
_HALF = "| House | Name | Color |\n|---|---|---|\n| 1 | Eric | blue |\n| 2 | Arnold | red |"
_ONE_NAME = '{"House 1": {"Name": "Eric"}, "House 2": {"Name": "Eric"}}'

EXAMPLES = (
    Example(_RIGHT, {"reference": _HOUSES}, 1.0, "correct", "an object for each house"),
    Example(_HALF, {"reference": {"solution": _HOUSES}}, 0.0, "wrong_answer", "a table with two wrong cells"),
    Example(_HALF, {"reference": _HOUSES, "partial": True}, 0.5, "partly_right", "cell accuracy, when asked for"),
    Example(_ONE_NAME, {"reference": _HOUSES, "partial": True}, 0.0, "wrong_answer", "one name for all is a guess"),
    Example(
        _RIGHT,
        {"reference": {"header": ["House", "Name"], "rows": [["___", "___"]]}},
        None,
        "bad_puzzle",
        "a solution that was hidden",
        Status.INVALID,
    ),
)
