r"""Grids of cells as they stand in text: nested lists, matrices of LaTeX, tables, and rows of signs.

    [[5, 3], [1, 2]]     5 3        53       | 5 | 3 |       5 & 3 \\
    ["53", "12"]         1 2        12       | 1 | 2 |       1 & 2

The rows of one grid follow each other; the lines of a table may stand between them. If the height is known, blank lines
and other ruled lines may stand between them, too. Labels that only number a table's columns and rows are not cells. A
grid is a tuple of rows of texts, which may differ in length: the puzzle checks the shape. Linear in the length of the
text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from itertools import takewhile
from typing import Any, NamedTuple

from verifiers.puzzles.notation import tabled
from verifiers.puzzles.puzzle import Offer, malformed

Row = tuple[str, ...]
Grid = tuple[Row, ...]


class Shape(NamedTuple):
    """The properties that distinguish the rows of a grid from other lines."""

    is_cell: Callable[[str], bool]
    width: int | None = None
    """The number of cells in a row, if known. A line without gaps is then a row if it has as many signs."""
    height: int | None = None
    blank: str | None = None
    """The sign that an empty cell of a table stands for, if any."""


def offers(text: str, shape: Shape) -> list[Offer[Grid]]:
    """The grids of a text, in order."""
    grids: list[Offer[Grid]] = []
    if "[" in text:
        for pattern, between in ((_NESTED, _BETWEEN_ROWS), (_LISTED, _BETWEEN_TEXTS)):
            for match in pattern.finditer(text):
                rows = [_cells(row, shape) for row in between.split(match["rows"])]
                if all(rows):
                    grids.append(Offer(match.start(), match.end(), tuple([row for row in rows if row])))
            text = pattern.sub(lambda match: "?" * len(match[0]), text)
    grids.extend(_lines(text, shape))
    return sorted(grids, key=lambda offer: offer.start)


_NESTED = re.compile(r"[\[(]\s*+[\[(](?P<rows>[^\[\]()]*+(?:[\])]\s*+,?\s*+[\[(][^\[\]()]*+)*+)[\])]\s*+,?\s*+[\])]")
_BETWEEN_ROWS = re.compile(r"[\])]\s*+,?\s*+[\[(]")
_TEXT = r"[\"'][^\"'\n\[\]]{2,400}+[\"']"
_LISTED = re.compile(rf"\[\s*+(?P<rows>{_TEXT}(?:\s*+,\s*+{_TEXT})++)\s*+,?\s*+\]")
_BETWEEN_TEXTS = re.compile(r"[\"']\s*+,\s*+[\"']")
_RULER = re.compile(r"(?=.*(?:--|[+=─━═]))[\s|+:=\-─-╿]++")
_TABLE_RULER = re.compile(r"(?=.*--)(?=.*[|+┼├┌└╔╠╚])[\s|+:=\-─-╿]++|[\s─-╿]*+[┼├┌└╔╠╚][\s─-╿]*+")
"""A ruled line of a table. It stands between rows, and does not separate two grids."""
_MARKDOWN_RULER = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+\|[-:| \t]*+")
_LABEL = re.compile(r"\s*+(?:[-*•]\s++)?(?:\*\*)?(?:row|line|r)\s?\d{1,3}\s?(?:\*\*)?[:.)=]", re.IGNORECASE)
_BULLET = re.compile(r"\s*+(?:[-*•]|\d{1,3}[.)])\s++")
_NUMBERED = re.compile(r"(?:[a-z]{1,7}\s?)?(\d{1,3})", re.IGNORECASE)
_GAPS = re.compile(r"[\s,;|│┃║&\[\](){}`*\"'$]+")
_MAX_CELL_CHARS = 8


def _lines(text: str, shape: Shape) -> list[Offer[Grid]]:
    text = tabled(text)
    grids: list[Offer[Grid]] = []
    rows: list[tuple[int, int, Row]] = []
    start = 0
    names: _Heading | None = None
    is_labelled = False
    lines = text.split("\n")
    for at, line in enumerate(lines):
        end = start + len(line)
        was_heading, names = names is not None, _heading(lines, at, shape)
        is_labelled = names is _Heading.OF_ROWS_TOO if names else is_labelled and "|" in line
        row = None
        if not (was_heading or names):
            row = _row(_behind_label(line) if is_labelled else line, shape)
        if row is not None:
            rows.append((start, end, row))
        elif not _may_stand_between(line, shape):
            grids.extend(_stacked(rows, shape.height))
            rows = []
        start = end + 1
    grids.extend(_stacked(rows, shape.height))
    return grids


def _may_stand_between(line: str, shape: Shape) -> bool:
    if shape.height and (not line.strip() or _RULER.fullmatch(line)):
        return True
    return ("-" in line or "─" in line) and _TABLE_RULER.fullmatch(line) is not None


class _Heading(Enum):
    """The meaning of the first line of a Markdown table, if it is not a row."""

    OF_COLUMNS = 1
    OF_ROWS_TOO = 2
    """The rows begin with names, too."""


def _heading(lines: Sequence[str], at: int, shape: Shape) -> _Heading | None:
    line = lines[at]
    if "|" not in line or at + 1 == len(lines) or not _MARKDOWN_RULER.fullmatch(lines[at + 1]):
        return None
    corner, *names = [cell.strip(" \t*`") for cell in _between_pipes(line)]
    if _are_numbers(names) and not _NUMBERED.fullmatch(corner):
        return _Heading.OF_ROWS_TOO
    if not any((corner, *names)):
        return _Heading.OF_COLUMNS
    if not shape.height or not _are_numbers([corner, *names]):
        return None
    body = lines[at + 2 : at + 2 + 2 * shape.height]
    rows = [line for line in takewhile(lambda line: "|" in line, body) if not _RULER.fullmatch(line)]
    return _Heading.OF_COLUMNS if len(rows) == shape.height else None


def _are_numbers(names: Sequence[str]) -> bool:
    """Whether names number something from 0 or 1 on (`C1`, `C2`, ...)."""
    numbers = [match[1] if (match := _NUMBERED.fullmatch(name)) else "" for name in names]
    return any(numbers == [str(first + at) for at in range(len(names))] for first in (0, 1)) and len(names) > 1


def _between_pipes(line: str) -> list[str]:
    return line.strip().removeprefix("|").removesuffix("|").split("|")


def _behind_label(line: str) -> str:
    return "|" + line.strip().removeprefix("|").partition("|")[2]


def _stacked(rows: Sequence[tuple[int, int, Row]], height: int | None) -> Iterable[Offer[Grid]]:
    """One grid of these rows, or several grids if the number of rows is a multiple of the height."""
    if not rows:
        return
    step = height if height and len(rows) % height == 0 else len(rows)
    for at in range(0, len(rows), step):
        chunk = rows[at : at + step]
        yield Offer(chunk[0][0], chunk[-1][1], tuple(row for _, _, row in chunk))


def _row(line: str, shape: Shape) -> Row | None:
    if not line or line.isspace():
        return None
    if (labelled := _LABEL.match(line)) is not None:
        line = line[labelled.end() :]
    if _RULER.fullmatch(line) and not _BLANKS.fullmatch(line):
        return None
    if shape.blank and line.count("|") > 1 and not _RULER.fullmatch(line):
        line = "|".join([cell if cell.strip() else shape.blank for cell in _between_pipes(line)])
    cells = _cells(line, shape)
    is_complete = cells is not None and (shape.width is None or len(cells) == shape.width)
    if not is_complete and (bullet := _BULLET.match(line)) is not None:
        cells = _cells(line[bullet.end() :], shape) or cells
    return cells or None


_BLANKS = re.compile(r"\s*+(?:-\s++)*+-\s*+")


def _cells(text: str, shape: Shape) -> Row | None:
    """The cells between gaps, or the signs of one long word; None if one of them is not a cell."""
    cells = [cell for cell in _GAPS.split(text) if cell]
    if len(cells) == 1 and len(cells[0]) > 1 and (shape.width is None or len(cells[0]) == shape.width):
        cells = list(cells[0])
    elif shape.width and len(cells) < shape.width and _are_groups(cells, shape.width):
        cells = list("".join(cells))
    if not all(len(cell) <= _MAX_CELL_CHARS and shape.is_cell(cell) for cell in cells):
        return None
    return tuple(cells)


def _are_groups(cells: Sequence[str], width: int) -> bool:
    """Whether a row is written in groups of equal length: `534|678|912`."""
    return len(cells) > 1 and len({len(cell) for cell in cells}) == 1 and sum(map(len, cells)) == width


# --- references


def given(value: Any, is_cell: Callable[[str], bool], max_side: int) -> Grid:
    """The rectangular grid of a reference: rows of cells, rows of text, or one text. None becomes a blank, `_`.

    Raises:
        InvalidItem: the value is no such grid.
    """
    rows: list[Row] = []
    lines = [line for line in value.strip().splitlines() if line.strip()] if isinstance(value, str) else value
    if not isinstance(lines, list | tuple) or not 0 < len(lines) <= 2 * max_side:
        raise malformed(f"expected a grid of at most {max_side} rows, found {str(value)[:60]!r}")
    for line in lines:
        if isinstance(line, str):
            if _RULER.fullmatch(line) and ("+" in line or "|" in line or len(line) != len(str(lines[0]))):
                continue
            rows.append(_cells(line, Shape(lambda _: True)) or ())
        elif isinstance(line, list | tuple) and len(line) <= max_side:
            rows.append(tuple(["_" if cell is None or cell == "" else str(cell).strip() for cell in line]))
        else:
            raise malformed(f"expected a row of at most {max_side} cells, found {str(line)[:60]!r}")
    if len(rows) > max_side or len({len(row) for row in rows}) != 1 or not rows[0] or len(rows[0]) > max_side:
        raise malformed("the rows of the grid are missing, too many, or not of the same length")
    unknown = next((cell for row in rows for cell in row if not is_cell(cell)), None)
    if unknown is not None:
        raise malformed(f"{unknown[:20]!r} is not a cell of such a grid")
    return tuple(rows)
